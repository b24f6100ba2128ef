//! What must hold for every document, whatever bytes it was read from.

use midstride_core::format::document::Document;
use midstride_core::format::finding::{Finding, Severity};
use midstride_core::format::header::HeaderLocation;
use midstride_core::format::stage::Stages;
use midstride_core::handoff::check::{StandaloneContext, check, check_pull_request};
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::span::Span;
use midstride_core::text::yaml::{YamlData, YamlNode, YamlValue};
use std::sync::LazyLock;

/// Reading the table costs more than reading a document, so it is read once.
static STAGES: LazyLock<Stages> = LazyLock::new(Stages::shipped);

/// Reads bytes and holds the result against what reading promises.
pub fn read(bytes: &[u8]) -> Document {
    let document = Document::parse(bytes);
    let text = document.text();
    assert_eq!(text.len(), bytes.len(), "a byte moved");
    assert_eq!(document.is_exact(), std::str::from_utf8(bytes).is_ok());
    if document.is_exact() {
        assert_eq!(text.as_bytes(), bytes, "the text is not the bytes");
    }
    assert_eq!(document.render(), text, "the parts do not make up the whole");
    for section in document.sections() {
        inside(text, section.at, "a section");
        inside(text, section.own, "the own text of a section");
        inside(text, section.title.at, "a title");
        assert!(section.at.contains(section.own) && section.at.contains(section.title.at));
    }
    for block in document.blocks() {
        inside(text, block.at, "a block");
    }
    for code in document.code() {
        inside(text, *code, "code");
    }
    if let Some(header) = document.header() {
        inside(text, header.at, "the header");
        nodes_inside(text, &header.root);
        for comment in &header.comments {
            inside(text, *comment, "a comment");
            if header.location != HeaderLocation::Section {
                assert!(header.at.contains(*comment), "a comment outside the header");
            }
        }
    }
    findings_inside(&document, document.findings());
    document
}

/// Judges a document as a handoff and as the description of a pull request.
pub fn judge(document: &Document) {
    let location = Location { stem: "it".to_owned(), stage: None };
    let handoff = Handoff::new(document, &location, &STAGES);
    let verdict = check(&handoff, &STAGES, Some(&handoff.key()), &StandaloneContext);
    findings_inside(document, &verdict.findings);
    assert!(verdict.findings.is_sorted_by_key(|finding| (finding.at.start, finding.code)));
    findings_inside(document, &check_pull_request(document, &StandaloneContext).findings);
}

/// Formats a document, where that is not refused, and holds the result against what `fmt` promises.
pub fn format(document: &Document) {
    let Ok(strict) = document.format() else { return };
    let strict = read(strict.text().as_bytes());
    let again = strict.format().expect("what was formatted can be formatted");
    assert_eq!(again.text(), strict.text(), "formatting twice changes something");
    let errors = |document: &Document| {
        let error = |finding: &&Finding| finding.severity() == Severity::Error;
        document.findings().iter().filter(error).count()
    };
    // A section that became the header is inspected for the first time; it may well have errors.
    if document.handoff_header().is_some() {
        assert!(
            errors(&strict) <= errors(document),
            "formatting made an error: {:?}",
            strict.text()
        );
        assert!(strict.handoff_header().is_some(), "formatting lost the header");
        let body =
            |document: &Document| document.body().slice(document.text()).trim_end().to_owned();
        assert_eq!(body(&strict), body(document), "formatting changed the body");
        assert!(comments_kept(document, &strict), "formatting lost a comment");
    }
}

/// Whether every comment of the header is still there, as often as it was.
pub fn comments_kept(before: &Document, after: &Document) -> bool {
    let comments = |document: &Document| -> Vec<String> {
        let header = document.header().filter(|header| header.location != HeaderLocation::Section);
        let spans = header.map(|header| header.comments.clone()).unwrap_or_default();
        spans.iter().map(|at| at.slice(document.text()).trim_end().to_owned()).collect()
    };
    let mut left = comments(after);
    comments(before).iter().all(|comment| {
        let found = left.iter().position(|other| other == comment);
        found.map(|index| left.swap_remove(index)).is_some()
    })
}

/// The values of the front matter.
pub fn values(document: &Document) -> Option<YamlData> {
    let header = document.header().filter(|header| header.location != HeaderLocation::Section)?;
    Some(header.root.data())
}

fn findings_inside(document: &Document, findings: &[Finding]) {
    for finding in findings {
        inside(document.text(), finding.at, &finding.message);
        // Positions are what people see of a finding.
        let position = document.position(finding.at.start);
        assert!(position.line >= 1 && position.column >= 1);
    }
}

fn nodes_inside(text: &str, node: &YamlNode) {
    inside(text, node.at, "a value");
    match &node.value {
        YamlValue::List(items) => {
            for item in items {
                if let Some(dash) = item.dash {
                    assert_eq!(text.as_bytes()[dash], b'-', "no dash at byte {dash}");
                }
                nodes_inside(text, &item.node);
            }
        }
        YamlValue::Map(entries) => {
            for entry in entries {
                inside(text, entry.key.at, "a key");
                nodes_inside(text, &entry.node);
            }
        }
        YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => {}
    }
}

fn inside(text: &str, at: Span, what: &str) {
    assert!(text.get(at.range()).is_some(), "{what} lies outside the text: {at:?}");
}

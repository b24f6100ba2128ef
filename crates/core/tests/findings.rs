//! Tests that core finds what the fixtures of the codes show, without a project around them.

use midstride_core::format::document::Document;
use midstride_core::format::finding::Code;
use midstride_core::format::stage::Stages;
use midstride_core::handoff::check::{StandaloneContext, check, check_pull_request};
use midstride_core::handoff::{Handoff, Location};
use midstride_testkit::fixtures;
use std::collections::BTreeSet;

/// Codes that need more than the document: a large file, other files, a session, or rules.
const NEED_MORE: [&str; 10] =
    ["C011", "C012", "G001", "G002", "H013", "P004", "R004", "S006", "S007", "X001"];

/// The codes found in a document.
fn found(code: &str, text: &[u8]) -> BTreeSet<String> {
    let document = Document::parse(text);
    let location = Location::default();
    // Only a project with a pipeline decides on capabilities.
    let stages = Stages { has_pipeline: true, ..Stages::shipped() };
    let checked = match code.starts_with('P') {
        true => check_pull_request(&document, &StandaloneContext),
        false => {
            let handoff = Handoff::new(&document, &location, &stages);
            check(&handoff, &stages, None, &StandaloneContext)
        }
    };
    checked.findings.iter().map(|finding| finding.code.to_string()).collect()
}

#[test]
fn a_document_alone_gives_the_finding_of_its_code() {
    for code in Code::ALL {
        let code = code.rule().code;
        let folder = fixtures("findings").join(code);
        if folder.join("bad").is_dir() || NEED_MORE.contains(&code) {
            continue;
        }
        let read = |side: &str| std::fs::read(folder.join(side)).unwrap();
        let (bad, good) = (found(code, &read("bad.md")), found(code, &read("good.md")));
        assert!(bad.contains(code), "{code}: its bad document gives {bad:?}");
        assert!(!good.contains(code), "{code}: its good document gives {good:?}");
    }
}

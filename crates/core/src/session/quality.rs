//! The quality gate of a session handoff: what is missing before the next session can continue.
//!
//! It checks form and coverage without a model. The gate never blocks a save: it lists what is
//! missing, and an author may accept that with a reason.

mod record;

pub use record::{
    QualityStamp, asked_session, has_been_resaved, passes_quality_check, quality_node, record_edit,
    recorded_reflection,
};

use crate::format::document::Document;
use crate::format::finding::{Code, Finding, FindingFix, Severity};
use crate::format::generated_section::{GeneratedSection, GeneratedSectionKind};
use crate::format::header::Header;
use crate::format::section::SectionMeaning;
use crate::handoff::check::CheckFindings;
use crate::session::author_notes::{Reflection, ReflectionAnswer};
use crate::session::coverage::{Coverage, CoverageKind, CoverageLevel};

/// Appended to an item that the document names but does not explain.
const NAMED_ONLY: &str = " (mentioned but not explained)";

/// Something that is missing from a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualityIssue {
    /// The code of a format finding, or the kind of the uncovered item.
    pub code: String,
    /// Whether it is a format finding.
    pub is_finding: bool,
    /// What is missing, in one line.
    pub what: String,
    /// Where it was seen.
    pub seen: Option<String>,
    /// What to write to fix it.
    pub hint: String,
}

impl QualityIssue {
    /// What is missing, as the handoff lists it. For a finding this is only the rule: quoting the
    /// text would trigger the finding again.
    pub fn title(&self) -> String {
        let rule = Code::parse(&self.code).filter(|_| self.is_finding).map(Code::rule);
        rule.map_or_else(|| self.what.clone(), |rule| format!("{}: {}", rule.code, rule.title))
    }

    /// What is missing, with the hint.
    pub fn line(&self) -> String {
        let seen = self.seen.as_ref().map(|seen| format!(" ({seen})")).unwrap_or_default();
        format!("{}{seen}: {}", self.what, self.hint)
    }
}

/// The result of the quality gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QualityReport {
    /// What is missing, most important first.
    pub issues: Vec<QualityIssue>,
}

impl QualityReport {
    /// Checks a handoff for its form, and for how much of the session it covers.
    pub fn check(
        document: &Document,
        verdict: &CheckFindings,
        coverage: Option<&Coverage>,
    ) -> Self {
        let form = verdict.findings.iter().filter(|finding| is_counted(finding));
        let (broken, hollow): (Vec<&Finding>, Vec<&Finding>) =
            form.partition(|finding| finding.severity() == Severity::Error);
        let form = |finding: &Finding| issue_from_finding(document, finding);
        let uncovered =
            coverage.into_iter().flat_map(Coverage::uncovered).map(|item| QualityIssue {
                code: kind_key(item.kind).to_owned(),
                is_finding: false,
                what: format!(
                    "{}: {}{}",
                    item.kind.singular(),
                    one_line(&item.name),
                    if item.level == CoverageLevel::Named { NAMED_ONLY } else { "" }
                ),
                seen: item.seen.as_ref().map(|seen| format!("record {}", seen.record)),
                hint: kind_hint(item.kind).to_owned(),
            });
        let gaps = broken.into_iter().map(form).chain(uncovered);
        Self { issues: gaps.chain(hollow.into_iter().map(form)).collect() }
    }

    /// Adds the author's own answers: an author who would not inherit the handoff knows that
    /// something is missing.
    #[must_use]
    pub fn with_reflection(mut self, reflection: &Reflection) -> Self {
        if let Some(ReflectionAnswer { yes: false, why }) = &reflection.inherit {
            let why = why.as_ref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
            self.issues.push(QualityIssue {
                code: "reflection".to_owned(),
                is_finding: false,
                what: format!("the author would not want to inherit this handoff{why}"),
                seen: None,
                hint: "add what is missing and answer again".to_owned(),
            });
        }
        self
    }

    /// Whether nothing is missing.
    pub fn passes(&self) -> bool {
        self.issues.is_empty()
    }

    /// Each code once, in order.
    pub fn codes(&self) -> Vec<&str> {
        let mut codes: Vec<&str> = Vec::new();
        for gap in &self.issues {
            if !codes.contains(&gap.code.as_str()) {
                codes.push(&gap.code);
            }
        }
        codes
    }
}

/// The document without a generated title and without unedited generated sections, next steps
/// aside. Only the author's text counts as coverage. Spaces replace the removed parts, so that all other positions stay the
/// same.
pub fn author_document(document: &Document, given_title: Option<&str>) -> Document {
    let inserts = GeneratedSection::all(document).into_iter();
    let inserts = inserts
        .filter(|one| one.kind != GeneratedSectionKind::Next && one.is_unmodified)
        .map(|one| one.at);
    let header = document.handoff_header();
    let title = header.and_then(|header| header.text("title"));
    let title = title.filter(|title| Some(title.value.trim()) == given_title).map(|one| one.at);
    let state = header.and_then(|header| header.get("state")).map(|node| node.at);
    let mut bytes = document.text().as_bytes().to_vec();
    for part in inserts.chain(title).chain(state) {
        for byte in &mut bytes[part.range()] {
            *byte = if matches!(byte, b'\r' | b'\n') { *byte } else { b' ' };
        }
    }
    Document::parse(&bytes)
}

/// Whether a finding counts: an error, or text that looks like content but is none. A blocking
/// question does not count; handoffs exist to state those.
fn is_counted(finding: &Finding) -> bool {
    let code = finding.code.rule().code;
    match finding.severity() {
        Severity::Error => true,
        Severity::Warning => code.starts_with('C'),
        Severity::Hint => false,
    }
}

fn issue_from_finding(document: &Document, finding: &Finding) -> QualityIssue {
    let rule = finding.code.rule();
    let line = document.position(finding.at.start).line;
    let own = || match &finding.fix {
        Some(FindingFix::Hint(hint)) => hint.clone(),
        Some(FindingFix::Command(words)) => format!("`{}`", words.join(" ")),
        Some(FindingFix::Edit(_)) | None => rule.fix.to_owned(),
    };
    let add = known_hint(document, finding).map_or_else(own, str::to_owned);
    QualityIssue {
        code: rule.code.to_owned(),
        is_finding: true,
        what: finding.message.clone(),
        seen: Some(format!("line {line}")),
        hint: add,
    }
}

/// The hint for sections and fields that every session has.
fn known_hint(document: &Document, finding: &Finding) -> Option<&'static str> {
    let mut continuation = document.sections_about(SectionMeaning::Continuation);
    let fields = document.handoff_header().map(Header::fields);
    let summary = fields.and_then(|fields| fields.get("context_summary"));
    let is = |code: Code| finding.code == code;
    if is(Code::EmptySection) && continuation.any(|section| section.at.contains(finding.at)) {
        return Some("say what to do next, in order, and where to begin");
    }
    let is_about_summary = summary.is_none_or(|node| node.at == finding.at);
    let is_missing = is(Code::MissingField) || is(Code::EmptyField);
    (is_missing && is_about_summary).then_some(
        "write a summary that says in one to three sentences what this is about and what its \
         status is",
    )
}

/// The name of a kind, as it is recorded.
pub(crate) fn kind_key(what: CoverageKind) -> &'static str {
    match what {
        CoverageKind::FailedCommand => "failed_command",
        CoverageKind::RevertedEdit => "reverted_edit",
        CoverageKind::Correction => "correction",
        CoverageKind::ChangedFile => "changed_file",
        CoverageKind::Decision => "decision",
        CoverageKind::OpenTask => "open_task",
        CoverageKind::AgentInFlight => "agent_in_flight",
    }
}

fn kind_hint(what: CoverageKind) -> &'static str {
    match what {
        CoverageKind::FailedCommand => {
            "say why it fails and name the test, file or message that shows it (as a landmine or \
             a wrong turn)"
        }
        CoverageKind::RevertedEdit => {
            "say what was tried there and why it was reverted (as a wrong turn)"
        }
        CoverageKind::Correction => {
            "quote it, or say what the user wants (as a constraint or a decision)"
        }
        CoverageKind::ChangedFile => "say what was changed there and why",
        CoverageKind::Decision => "say what the user decided, and why, if known (as a decision)",
        CoverageKind::OpenTask => "state its status, or make it a next step",
        CoverageKind::AgentInFlight => "say what it is doing, and what to do when it reports",
    }
}

fn one_line(text: &str) -> String {
    const LENGTH_MAX: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(LENGTH_MAX).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

//! The judge of form: is a handoff well-formed, complete for its kind and stage, and not vacuous?
//!
//! What lies around a document (other artifacts, sources of generated text) is asked through
//! [`Surroundings`]; the judge itself looks at nothing.

mod allow;
mod assumption;
mod capability;
pub(crate) mod content;
mod generated;
mod proof;
mod pull_request;
mod question;
mod reference;
mod required;
mod startup;
mod status;
mod upstream;

pub use allow::SilencedFinding;
pub use pull_request::check_pull_request;
pub use reference::{IdClaim, duplicate_id_finding};

use crate::format::document::Document;
use crate::format::finding::{Code, Finding, FindingFix, Severity};
use crate::format::header::{HeaderLocation, Status};
use crate::format::stage::{StageRule, Stages};
use crate::handoff::Handoff;
use crate::handoff::merge;
use crate::text::id::HandoffKey;
use crate::text::span::{Span, line_end};
use crate::text::yaml::YamlValue;

/// What the judge may ask about the world around a document.
pub trait CheckContext {
    /// What an upstream reference leads to: a path, or the id of a handoff.
    fn artifact(&self, reference: &str) -> ReferencedArtifact;
    /// Whether a handoff of this id is known.
    fn has_handoff(&self, id: &str) -> bool;
    /// The SHA-256 of a file that something was generated from, in lower-case hexadecimal.
    fn source_hash(&self, path: &str) -> Option<String>;
    /// What a path leads to that counts from the root of the project.
    fn path_access(&self, path: &str) -> PathAccess;
}

/// What a file is to whoever is asked to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAccess {
    /// It can be read.
    Readable,
    /// Nothing is there.
    Missing,
    /// A link on the way leads out of the project.
    Outside,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferencedArtifact {
    /// Nothing is there.
    Missing,
    /// Something is there that nobody judges.
    Plain,
    /// A handoff without errors and open blocking questions.
    Complete,
    /// A handoff that is not complete.
    Incomplete {
        /// How to name it on the command line.
        name: String,
        /// Why.
        why: String,
    },
}

/// Nothing is around: for judging a document alone.
#[derive(Clone, Copy, Debug)]
pub struct StandaloneContext;

impl CheckContext for StandaloneContext {
    fn artifact(&self, _: &str) -> ReferencedArtifact {
        ReferencedArtifact::Plain
    }

    fn has_handoff(&self, _: &str) -> bool {
        true
    }

    fn source_hash(&self, _: &str) -> Option<String> {
        None
    }

    fn path_access(&self, _: &str) -> PathAccess {
        PathAccess::Readable
    }
}

/// What was found in one document.
#[derive(Clone, Debug, Default)]
pub struct CheckFindings {
    /// In the order of the text.
    pub findings: Vec<Finding>,
    /// What was silenced, and why.
    pub silenced: Vec<SilencedFinding>,
}

impl CheckFindings {
    /// Adds what was found by comparing; it can be silenced like everything else.
    pub fn add(&mut self, document: &Document, finding: Finding) {
        match allow::reason_for(document, finding.code) {
            Some(reason) => self.silenced.push(SilencedFinding { finding, reason }),
            None => {
                self.findings.push(finding);
                self.findings.sort_by_key(|finding| (finding.at.start, finding.code));
            }
        }
    }

    /// What keeps the work from going on from here, in the order of the text.
    pub fn blocking(&self) -> Vec<&Finding> {
        self.findings.iter().filter(|finding| finding.blocks()).collect()
    }

    /// Why the work may not go on from here, if something blocks.
    pub fn incomplete_reason(&self) -> Option<String> {
        let first = self.blocking().into_iter().next()?;
        Some(match self.count(Severity::Error) {
            0 => first.message.clone(),
            1 => "it has an error".to_owned(),
            errors => format!("it has {errors} errors"),
        })
    }

    /// How many findings have a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
    }
}

/// Judges a handoff.
///
/// `place` is the key its place on a shelf stands for, where the place says one.
pub fn check(
    handoff: &Handoff<'_>,
    stages: &Stages,
    place: Option<&HandoffKey>,
    around: &dyn CheckContext,
) -> CheckFindings {
    let mut findings = handoff.document().findings().to_vec();
    explain_two_handoffs(handoff.document(), &mut findings);
    generated::check(handoff, around, &mut findings);
    if handoff.is_handoff() {
        // A header that says nothing is judged; one that could not be read has its own finding.
        let too_large = findings.iter().any(|finding| finding.code == Code::HeaderTooLarge);
        let fields = handoff.header().map(|header| &header.fields().value);
        let readable = matches!(fields, Some(YamlValue::Map(_) | YamlValue::Null)) && !too_large;
        if readable {
            check_advance_rules(handoff, stages, around, &mut findings);
            status::check(handoff, around, &mut findings);
            reference::check(handoff, place, &mut findings);
            proof::check(handoff, &mut findings);
            startup::check(handoff, around, &mut findings);
        }
        // Between conflict markers a text says two things at once; its content can wait.
        let torn = findings.iter().any(|finding| finding.code == Code::ConflictMarker);
        if !torn && !too_large {
            content::check(handoff, stages, &mut findings);
        }
    } else if handoff.header().is_some_and(|header| header.location == HeaderLocation::Section) {
        question::check(handoff, &mut findings);
    } else {
        findings.push(missing_header_finding(handoff));
    }
    let (findings, silenced) = allow::apply(handoff.document(), findings);
    CheckFindings { findings, silenced }
}

/// An unfinished merge of two handoffs cannot be joined; they have to be parted.
fn explain_two_handoffs(document: &Document, findings: &mut [Finding]) {
    let torn = findings.iter_mut().find(|finding| finding.code == Code::ConflictMarker);
    if let Some(finding) = torn.filter(|_| merge::has_two_handoffs(document)) {
        finding.message = "these are two handoffs with one id".to_owned();
        finding.fix = Some(FindingFix::Hint(
            "keep one here; put the other into a file of its own, named after the new `id` you give it"
                .to_owned(),
        ));
    }
}

/// The five rules for advancing.
fn check_advance_rules(
    handoff: &Handoff<'_>,
    stages: &Stages,
    around: &dyn CheckContext,
    findings: &mut Vec<Finding>,
) {
    let stage = required::stage_rule(handoff, stages, findings);
    required::check(handoff, stages, stage, findings);
    check_undecided(handoff, stage, findings);
    upstream::check(handoff, stages, stage, around, findings);
    if stage.is_some_and(StageRule::decides_capabilities) {
        capability::check(handoff, stages, findings);
    }
}

/// What is not known for sure, as far as somebody still has to care: in an open handoff all of it.
/// A resolved stage is what the next ones build on, so what blocks them is not over with it.
fn check_undecided(handoff: &Handoff<'_>, stage: Option<&StageRule>, findings: &mut Vec<Finding>) {
    let mut found = Vec::new();
    question::check(handoff, &mut found);
    question::check_blocking_flag(handoff, &mut found);
    assumption::check(handoff, &mut found);
    assumption::check_confidence(handoff, &mut found);
    match handoff.status() {
        Status::Planned | Status::InProgress => {}
        Status::Resolved if stage.is_some() => found.retain(Finding::blocks),
        Status::Resolved | Status::Superseded | Status::Abandoned => found.clear(),
    }
    findings.extend(found);
}

fn missing_header_finding(handoff: &Handoff<'_>) -> Finding {
    let text = handoff.document().text();
    let at = Span::new(0, line_end(text, 0).min(text.trim_end().len()));
    let message = "a note without a handoff header: its status and questions cannot be told";
    let advice = "put a `handoff:` header on top, with at least `id`, `title` and `status`";
    Finding::new(Code::NoHeader, at, message).with_hint(advice)
}

/// The bytes of the key `handoff`, where findings about absent fields point.
pub(crate) fn header_key_span(handoff: &Handoff<'_>) -> Span {
    let entry = handoff.header().and_then(|header| header.root.entry("handoff"));
    entry.map(|entry| entry.key.at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::Location;

    /// The codes about a text that block, and why it is incomplete.
    fn blocking(text: &str) -> (Vec<String>, Option<String>) {
        let document = Document::parse(text.as_bytes());
        let (whereabouts, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &whereabouts, &stages);
        let verdict = check(&handoff, &stages, None, &StandaloneContext);
        let codes = verdict.blocking().iter().map(|finding| finding.code.to_string()).collect();
        (codes, verdict.incomplete_reason())
    }

    const PRICING: &str = "---
handoff:
  id: feat-042
  stage: pricing
  status: planned
  from: commercial-strategist
  to: [architect]
  context_summary: By the gigabyte.
  decisions_made: [{decision: By size, rationale: Cost grows with it}]
  open_questions: [{question: How much?, blocking: true}]
  assumptions: [{assumption: Few keep more than ten, confidence: medium, validation_needed: true}]
---
";

    #[test]
    fn errors_and_blocking_questions_block_and_nothing_else() {
        let question = Some("a blocking question is open: How much?".to_owned());
        assert_eq!(blocking(PRICING), (vec!["S003".to_owned()], question));
        let shaky = PRICING.replace("medium", "low");
        let (codes, why) = blocking(&shaky);
        assert_eq!(codes, ["S003", "S004"]);
        assert_eq!(why.as_deref(), Some("it has an error"));
        let answered = PRICING.replace("blocking: true", "blocking: true, answer: Little");
        assert_eq!(blocking(&answered), (Vec::new(), None));
    }

    #[test]
    fn what_blocks_a_stage_is_not_over_when_it_is_resolved() {
        let with =
            |status: &str| blocking(&PRICING.replace("medium", "low").replace("planned", status)).0;
        assert_eq!(with("resolved"), ["S003", "S004"]);
        assert!(with("superseded").is_empty() && with("abandoned").is_empty());
        // What does not block is history then, and so is all of it where nothing is derived.
        let resolved = PRICING.replace("planned", "resolved");
        let document = Document::parse(resolved.as_bytes());
        let (whereabouts, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &whereabouts, &stages);
        let found = check(&handoff, &stages, None, &StandaloneContext).findings;
        assert!(!found.iter().any(|finding| finding.code == Code::AssumptionUnchecked));
        let investigation = resolved.replace("stage: pricing", "kind: investigation");
        assert!(!blocking(&investigation).0.contains(&"S003".to_owned()));
    }
}

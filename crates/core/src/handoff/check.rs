//! The judge of form: is a handoff well-formed, complete for its kind and stage, and not vacuous?
//!
//! What lies around a document (other artifacts, sources of generated text) is asked through
//! [`Surroundings`]; the judge itself looks at nothing.

mod allow;
mod assumption;
mod boot;
mod capability;
pub(crate) mod content;
mod generated;
mod proof;
mod pull_request;
mod question;
mod reference;
mod required;
mod status;
mod upstream;

pub use allow::Silenced;
pub use pull_request::pull_request;
pub use reference::{Claim, one_id_two_uids};

use crate::format::document::Document;
use crate::format::finding::{Code, Finding, Severity, WayOut};
use crate::format::header::{Place, Status};
use crate::format::stage::{StageRule, Stages};
use crate::handoff::Handoff;
use crate::handoff::merge;
use crate::text::id::HandoffKey;
use crate::text::span::{Span, line_end};
use crate::text::yaml::Value;

/// What the judge may ask about the world around a document.
pub trait Surroundings {
    /// What an upstream reference leads to: a path, or the id of a handoff.
    fn artifact(&self, reference: &str) -> Artifact;
    /// Whether a handoff of this id is known.
    fn knows(&self, id: &str) -> bool;
    /// The SHA-256 of a file that something was generated from, in lower-case hexadecimal.
    fn source_hash(&self, path: &str) -> Option<String>;
    /// What a path leads to that counts from the root of the project.
    fn reading(&self, path: &str) -> Reading;
}

/// What a file is to whoever is asked to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It can be read.
    Here,
    /// Nothing is there.
    Missing,
    /// A link on the way leads out of the project.
    Outside,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
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
pub struct Alone;

impl Surroundings for Alone {
    fn artifact(&self, _: &str) -> Artifact {
        Artifact::Plain
    }

    fn knows(&self, _: &str) -> bool {
        true
    }

    fn source_hash(&self, _: &str) -> Option<String> {
        None
    }

    fn reading(&self, _: &str) -> Reading {
        Reading::Here
    }
}

/// What was found in one document.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// In the order of the text.
    pub findings: Vec<Finding>,
    /// What was silenced, and why.
    pub silenced: Vec<Silenced>,
}

impl Verdict {
    /// Adds what was found by comparing; it can be silenced like everything else.
    pub fn add(&mut self, document: &Document, finding: Finding) {
        match allow::reason_for(document, finding.code) {
            Some(reason) => self.silenced.push(Silenced { finding, reason }),
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
    pub fn incomplete(&self) -> Option<String> {
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
    around: &dyn Surroundings,
) -> Verdict {
    let mut findings = handoff.document().findings().to_vec();
    two_handoffs(handoff.document(), &mut findings);
    generated::rules(handoff, around, &mut findings);
    if handoff.is_handoff() {
        // A header that says nothing is judged; one that could not be read has its own finding.
        let too_large = findings.iter().any(|finding| finding.code == Code::HeaderTooLarge);
        let fields = handoff.header().map(|header| &header.fields().value);
        let readable = matches!(fields, Some(Value::Map(_) | Value::Null)) && !too_large;
        if readable {
            advancing(handoff, stages, around, &mut findings);
            status::rules(handoff, around, &mut findings);
            reference::rules(handoff, place, &mut findings);
            proof::rules(handoff, &mut findings);
            boot::rules(handoff, around, &mut findings);
        }
        // Between conflict markers a text says two things at once; its content can wait.
        let torn = findings.iter().any(|finding| finding.code == Code::ConflictMarker);
        if !torn && !too_large {
            content::rules(handoff, stages, &mut findings);
        }
    } else if handoff.header().is_some_and(|header| header.place == Place::Section) {
        question::rules(handoff, &mut findings);
    } else {
        findings.push(no_header(handoff));
    }
    let (findings, silenced) = allow::apply(handoff.document(), findings);
    Verdict { findings, silenced }
}

/// An unfinished merge of two handoffs cannot be joined; they have to be parted.
fn two_handoffs(document: &Document, findings: &mut [Finding]) {
    let torn = findings.iter_mut().find(|finding| finding.code == Code::ConflictMarker);
    if let Some(finding) = torn.filter(|_| merge::holds_two_handoffs(document)) {
        finding.message = "these are two handoffs with one id".to_owned();
        finding.way_out = Some(WayOut::Think(
            "keep one here; put the other into a file of its own, named after the new `id` you give it"
                .to_owned(),
        ));
    }
}

/// The five rules for advancing.
fn advancing(
    handoff: &Handoff<'_>,
    stages: &Stages,
    around: &dyn Surroundings,
    findings: &mut Vec<Finding>,
) {
    let stage = required::stage_rule(handoff, stages, findings);
    required::rules(handoff, stages, stage, findings);
    undecided(handoff, stage, findings);
    upstream::rules(handoff, stages, stage, around, findings);
    if stage.is_some_and(StageRule::decides_capabilities) {
        capability::rules(handoff, stages, findings);
    }
}

/// What is not known for sure, as far as somebody still has to care: in an open handoff all of it.
/// A resolved stage is what the next ones build on, so what blocks them is not over with it.
fn undecided(handoff: &Handoff<'_>, stage: Option<&StageRule>, findings: &mut Vec<Finding>) {
    let mut found = Vec::new();
    question::rules(handoff, &mut found);
    question::unclear(handoff, &mut found);
    assumption::rules(handoff, &mut found);
    assumption::unrated(handoff, &mut found);
    match handoff.status() {
        Status::Planned | Status::InProgress => {}
        Status::Resolved if stage.is_some() => found.retain(Finding::blocks),
        Status::Resolved | Status::Superseded | Status::Abandoned => found.clear(),
    }
    findings.extend(found);
}

fn no_header(handoff: &Handoff<'_>) -> Finding {
    let text = handoff.document().text();
    let at = Span::new(0, line_end(text, 0).min(text.trim_end().len()));
    let message = "a note without a handoff header: its status and questions cannot be told";
    let advice = "put a `handoff:` header on top, with at least `id`, `title` and `status`";
    Finding::new(Code::NoHeader, at, message).think(advice)
}

/// The bytes of the key `handoff`, where findings about absent fields point.
pub(crate) fn heading(handoff: &Handoff<'_>) -> Span {
    let entry = handoff.header().and_then(|header| header.root.entry("handoff"));
    entry.map(|entry| entry.key.at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::Whereabouts;

    /// The codes about a text that block, and why it is incomplete.
    fn blocking(text: &str) -> (Vec<String>, Option<String>) {
        let document = Document::parse(text.as_bytes());
        let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
        let handoff = Handoff::of(&document, &whereabouts, &stages);
        let verdict = check(&handoff, &stages, None, &Alone);
        let codes = verdict.blocking().iter().map(|finding| finding.code.to_string()).collect();
        (codes, verdict.incomplete())
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
        let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
        let handoff = Handoff::of(&document, &whereabouts, &stages);
        let found = check(&handoff, &stages, None, &Alone).findings;
        assert!(!found.iter().any(|finding| finding.code == Code::AssumptionUnchecked));
        let investigation = resolved.replace("stage: pricing", "kind: investigation");
        assert!(!blocking(&investigation).0.contains(&"S003".to_owned()));
    }
}

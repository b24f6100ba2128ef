//! The judge of form: is a handoff well-formed, complete for its kind and stage, and not vacuous?
//!
//! What lies around a document (other artifacts, sources of generated text) is asked through
//! [`Surroundings`]; the judge itself looks at nothing.

mod allow;
mod assumption;
mod capability;
mod content;
mod generated;
mod pull_request;
mod question;
mod reference;
mod required;
mod status;
mod upstream;

pub use allow::Silenced;
pub use pull_request::pull_request;
pub use reference::{Claim, one_id_two_uids};

use crate::document::Document;
use crate::finding::{Code, Finding, Severity};
use crate::handoff::Handoff;
use crate::header::Place;
use crate::id::HandoffKey;
use crate::span::{Span, line_end};
use crate::stage::{StageRule, Stages};
use crate::yaml::Value;

/// What the judge may ask about the world around a document.
pub trait Surroundings {
    /// What an upstream reference leads to: a path, or the id of a handoff.
    fn artifact(&self, reference: &str) -> Artifact;
    /// Whether a handoff of this id is known.
    fn knows(&self, id: &str) -> bool;
    /// The SHA-256 of a file that something was generated from, in lower-case hexadecimal.
    fn source_hash(&self, path: &str) -> Option<String>;
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
    /// Adds what was found by comparing documents; it can be silenced like everything else.
    pub fn add(&mut self, document: &Document, finding: Finding) {
        match allow::reason_for(document, finding.code) {
            Some(reason) => self.silenced.push(Silenced { finding, reason }),
            None => {
                self.findings.push(finding);
                self.findings.sort_by_key(|finding| (finding.at.start, finding.code));
            }
        }
    }

    /// Why the work may not go on from here, if it may not: an error, or a blocking question.
    pub fn incomplete(&self) -> Option<String> {
        let errors = self.count(Severity::Error);
        let blocking = self.findings.iter().find(|f| f.code == Code::BlockingQuestion);
        match (errors, blocking) {
            (0, None) => None,
            (0, Some(question)) => Some(question.message.clone()),
            (1, _) => Some("it has an error".to_owned()),
            (errors, _) => Some(format!("it has {errors} errors")),
        }
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

/// The five rules for advancing.
fn advancing(
    handoff: &Handoff<'_>,
    stages: &Stages,
    around: &dyn Surroundings,
    findings: &mut Vec<Finding>,
) {
    let stage = required::stage_rule(handoff, stages, findings);
    required::rules(handoff, stages, stage, findings);
    if handoff.status().is_open() {
        question::rules(handoff, findings);
        assumption::rules(handoff, findings);
    }
    upstream::rules(handoff, stage, around, findings);
    if stage.is_some_and(StageRule::decides_capabilities) {
        capability::rules(handoff, stages, findings);
    }
}

fn no_header(handoff: &Handoff<'_>) -> Finding {
    let text = handoff.document().text();
    let at = Span::new(0, line_end(text, 0).min(text.trim_end().len()));
    let message = "a note without a handoff header: its status and questions cannot be told";
    let advice = "put a `handoff:` header on top, with at least `id`, `title` and `status`";
    Finding::new(Code::NoHeader, at, message).think(advice)
}

/// The bytes of the key `handoff`, where findings about absent fields point.
fn heading(handoff: &Handoff<'_>) -> Span {
    let entry = handoff.header().and_then(|header| header.root.entry("handoff"));
    entry.map(|entry| entry.key.at).unwrap_or_default()
}

//! Checks a handoff: is it well-formed, complete for its kind and stage, and specific enough?
//!
//! The check asks a [`CheckContext`] about the world around the document, such as other artifacts
//! and the sources of generated text. It reads nothing itself.

mod allow;
mod assumption;
mod capability;
pub(crate) mod content;
mod draft;
mod generated;
mod proof;
mod pull_request;
mod question;
mod reference;
mod required;
mod secret;
mod startup;
mod status;
mod upstream;

pub use allow::SilencedFinding;
pub use pull_request::check_pull_request;
pub use reference::{IdClaim, duplicate_id_finding};
pub use secret::{secret_findings, secret_name_finding};

use crate::format::document::Document;
use crate::format::finding::{Code, Finding, FindingFix, Severity};
use crate::format::header::{HeaderLocation, Status};
use crate::format::stage::{StageRule, Stages};
use crate::handoff::Handoff;
use crate::handoff::merge;
use crate::text::id::HandoffKey;
use crate::text::span::{Span, line_end};
use crate::text::yaml::YamlValue;

/// What the check may ask about the world around a document.
pub trait CheckContext {
    /// What an upstream reference points to. A reference is a path or a handoff id.
    fn artifact(&self, reference: &str) -> ReferencedArtifact;
    /// Whether a handoff with this id exists.
    fn has_handoff(&self, id: &str) -> bool;
    /// The SHA-256 of a source file, in lowercase hexadecimal.
    fn source_hash(&self, path: &str) -> Option<String>;
    /// Whether the file at a path, relative to the project root, can be read.
    fn path_access(&self, path: &str) -> PathAccess;
}

/// Whether a file in the project can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAccess {
    /// It can be read.
    Readable,
    /// It does not exist.
    Missing,
    /// A symlink in the path leads out of the project.
    Outside,
}

/// What a reference points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferencedArtifact {
    /// It does not exist.
    Missing,
    /// It exists and is not a handoff, so it is not checked.
    Plain,
    /// A handoff without errors and without open blocking questions.
    Complete,
    /// A handoff that is not complete.
    Incomplete {
        /// The handoff's name on the command line.
        name: String,
        /// Why it is not complete.
        why: String,
    },
}

/// A context in which every reference resolves, for checking a document alone.
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

/// The findings for one document.
#[derive(Clone, Debug, Default)]
pub struct CheckFindings {
    /// The findings, in text order.
    pub findings: Vec<Finding>,
    /// The silenced findings, with their reasons.
    pub silenced: Vec<SilencedFinding>,
}

impl CheckFindings {
    /// Adds a finding that needed a comparison with other documents. `allow` comments silence it
    /// too.
    pub fn add(&mut self, document: &Document, finding: Finding) {
        match allow::reason_for(document, finding.code) {
            Some(reason) => self.silenced.push(SilencedFinding { finding, reason }),
            None => {
                self.findings.push(finding);
                self.findings.sort_by_key(|finding| (finding.at.start, finding.code));
            }
        }
    }

    /// The findings that block advancing, in text order.
    pub fn blocking(&self) -> Vec<&Finding> {
        self.findings.iter().filter(|finding| finding.blocks()).collect()
    }

    /// Why the handoff is incomplete, if something blocks.
    pub fn incomplete_reason(&self) -> Option<String> {
        let first = self.blocking().into_iter().next()?;
        Some(match self.count(Severity::Error) {
            0 => first.message.clone(),
            1 => "it has an error".to_owned(),
            errors => format!("it has {errors} errors"),
        })
    }

    /// The number of findings with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
    }
}

/// Checks a handoff.
///
/// `place` is the key that the file's path implies, if it implies one.
///
/// ```
/// use midstride_core::format::document::Document;
/// use midstride_core::format::finding::Code;
/// use midstride_core::format::stage::Stages;
/// use midstride_core::handoff::check::{StandaloneContext, check};
/// use midstride_core::handoff::{Handoff, Location};
///
/// let document = Document::parse(b"# Search is slow\n\nThe cause is unknown.\n");
/// let (location, stages) = (Location::default(), Stages::shipped());
/// let handoff = Handoff::new(&document, &location, &stages);
/// let checked = check(&handoff, &stages, None, &StandaloneContext);
/// assert_eq!(checked.findings[0].code, Code::NoHeader);
/// assert!(checked.blocking().is_empty(), "a note needs no header");
/// ```
pub fn check(
    handoff: &Handoff<'_>,
    stages: &Stages,
    place: Option<&HandoffKey>,
    context: &dyn CheckContext,
) -> CheckFindings {
    let mut findings = handoff.document().findings().to_vec();
    explain_two_handoffs(handoff.document(), &mut findings);
    generated::check(handoff, context, &mut findings);
    if handoff.is_handoff() {
        // An empty header is checked too. An unreadable one already has its own finding.
        let too_large = findings.iter().any(|finding| finding.code == Code::HeaderTooLarge);
        let fields = handoff.header().map(|header| &header.fields().value);
        let readable = matches!(fields, Some(YamlValue::Map(_) | YamlValue::Null)) && !too_large;
        let draft = draft::check(handoff, stages).filter(|_| readable);
        let is_draft = draft.is_some();
        findings.extend(draft);
        if is_draft {
            upstream::check_complete(handoff, context, &mut findings);
        } else if readable {
            check_advance_rules(handoff, stages, context, &mut findings);
        }
        if readable {
            status::check(handoff, context, &mut findings);
            reference::check(handoff, place, &mut findings);
            proof::check(handoff, &mut findings);
            startup::check(handoff, context, &mut findings);
        }
        // A text with conflict markers holds two versions, so its content is not checked yet.
        let has_conflict = findings.iter().any(|finding| finding.code == Code::ConflictMarker);
        if !has_conflict && !too_large && !is_draft {
            content::check(handoff, stages, &mut findings);
        }
    } else if handoff.header().is_some_and(|header| header.location == HeaderLocation::Section) {
        question::check(handoff, &mut findings);
        content::prose::check_placeholders(handoff.document(), &mut findings);
    } else {
        findings.push(missing_header_finding(handoff));
        content::prose::check_unfilled(handoff.document(), &mut findings);
    }
    let (findings, silenced) = allow::apply(handoff.document(), findings);
    CheckFindings { findings, silenced }
}

/// Conflict markers between two different handoffs need splitting, not merging. Says so.
fn explain_two_handoffs(document: &Document, findings: &mut [Finding]) {
    let conflict = findings.iter_mut().find(|finding| finding.code == Code::ConflictMarker);
    if let Some(finding) = conflict.filter(|_| merge::has_two_handoffs(document)) {
        finding.message = "the conflict is between two handoffs with the same id".to_owned();
        finding.fix = Some(FindingFix::Hint(
            "keep one here and move the other to its own file, named after its new `id`".to_owned(),
        ));
    }
}

/// Checks the five rules for advancing.
fn check_advance_rules(
    handoff: &Handoff<'_>,
    stages: &Stages,
    context: &dyn CheckContext,
    findings: &mut Vec<Finding>,
) {
    let stage = required::stage_rule(handoff, stages, findings);
    required::check(handoff, stages, stage, findings);
    check_undecided(handoff, stage, findings);
    upstream::check(handoff, stages, stage, context, findings);
    if stage.is_some_and(StageRule::decides_capabilities) {
        capability::check(handoff, stages, findings);
    }
}

/// Checks open questions and assumptions. In an open handoff all findings count. In a resolved
/// stage only the blocking ones do, because later stages build on it.
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
    let message =
        "this note has no handoff header, so midstride cannot determine its status or questions";
    let hint = "add a `handoff:` header with at least `id`, `title` and `status`";
    Finding::new(Code::NoHeader, at, message).with_hint(hint)
}

/// The span of the key `handoff`. Findings about missing fields point to it.
pub(crate) fn header_key_span(handoff: &Handoff<'_>) -> Span {
    let entry = handoff.header().and_then(|header| header.root.entry("handoff"));
    entry.map(|entry| entry.key.at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::Location;

    /// The codes of the findings that block, and why the text is incomplete.
    fn blocking(text: &str) -> (Vec<String>, Option<String>) {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &location, &stages);
        let result = check(&handoff, &stages, None, &StandaloneContext);
        let codes = result.blocking().iter().map(|finding| finding.code.to_string()).collect();
        (codes, result.incomplete_reason())
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
    fn only_errors_and_blocking_questions_block() {
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
    fn blocking_questions_in_a_handoff_section_block() {
        let section = "# Spec\n\n## Handoff\n\n- **From**: planner\n- **Open Questions**:\n  1. [BLOCKING] Who pays?\n  2. ~~[BLOCKING] When?~~ **RESOLVED**: now\n  3. [BLOCKING] Where?\n";
        let (codes, why) = blocking(section);
        assert_eq!(codes, ["S003", "S003"]);
        assert_eq!(why.as_deref(), Some("a blocking question is open: Who pays?"));
    }

    #[test]
    fn a_note_that_was_never_filled_in_is_reported() {
        let found = |text: &str| {
            let document = Document::parse(text.as_bytes());
            let (location, stages) = (Location::default(), Stages::shipped());
            let handoff = Handoff::new(&document, &location, &stages);
            let result = check(&handoff, &stages, None, &StandaloneContext);
            result.findings.iter().filter(|one| one.code == Code::Placeholder).count()
        };
        let note = "# Handoff notes\n\n## Next steps\n\n1. [Next step 1]\n2. [Next step 2]\n\n## Decisions\n\n- [Decision]: [rationale]\n\nTo be filled in later\n";
        assert_eq!(found(note), 4);
        assert_eq!(found("# T\n\n## Handoff\n\n- **From**: {{agent}}\n\n## Plan\n\n- TODO\n"), 2);
        // A note may list TODOs, show a template in code, and use links.
        assert_eq!(
            found(
                "# T\n\n- TODO: warm it\n\n```\n[Next step 1]\n```\n\n- `[Next step 1]`\n- [the plan]\n\n[the plan]: plan.md\n"
            ),
            0
        );
    }

    #[test]
    fn a_resolved_stage_keeps_its_blocking_findings() {
        let with =
            |status: &str| blocking(&PRICING.replace("medium", "low").replace("planned", status)).0;
        assert_eq!(with("resolved"), ["S003", "S004"]);
        assert!(with("superseded").is_empty() && with("abandoned").is_empty());
        // Non-blocking findings disappear once resolved, and outside a stage all of them do.
        let resolved = PRICING.replace("planned", "resolved");
        let document = Document::parse(resolved.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &location, &stages);
        let found = check(&handoff, &stages, None, &StandaloneContext).findings;
        assert!(!found.iter().any(|finding| finding.code == Code::AssumptionUnchecked));
        let investigation = resolved.replace("stage: pricing", "kind: investigation");
        assert!(!blocking(&investigation).0.contains(&"S003".to_owned()));
    }
}

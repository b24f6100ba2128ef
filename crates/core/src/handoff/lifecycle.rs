//! The lifecycle of a handoff: which edits each verb makes, or why it is refused.

use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::header::{RecordedOutcome, RevisionVerb, Status, Validation};
use crate::format::stage::{StageRule, Stages};
use crate::handoff::Handoff;
use crate::handoff::proof::{self, Number, ProofSpec};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::id::{CommitId, HandoffKey};
use crate::text::time;
use crate::text::yaml::{YamlData, YamlNode};
use jiff::Timestamp;
use std::path::{Component, Path as FilePath, PathBuf};

mod measurement;

pub use crate::format::header::ReviewVerdict;
pub use measurement::{MeasuredValue, MeasurementSide};

/// Why a verb was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleRefusal {
    /// The handoff is closed.
    #[error("already {0}")]
    AlreadyClosed(Status),
    /// The handoff is not closed.
    #[error("{0}, not closed")]
    NotClosed(Status),
    /// The handoff is already in progress.
    #[error("already in progress")]
    AlreadyStarted,
    /// There is no question with this number.
    #[error("it has {}; there is no q{wanted}", count_noun(*has, "question"))]
    NoQuestion {
        /// The requested number, counted from one.
        wanted: usize,
        /// The number of questions.
        has: usize,
    },
    /// There is no assumption with this number.
    #[error("it has {}; there is no a{wanted}", count_noun(*has, "assumption"))]
    NoAssumption {
        /// The requested number, counted from one.
        wanted: usize,
        /// The number of assumptions.
        has: usize,
    },
    /// The question already has exactly this answer.
    #[error("q{0} already has this answer")]
    AlreadyAnswered(usize),
    /// The proof changed after it was run.
    #[error("proof {0} changed after it was run")]
    ProofChanged(usize),
    /// The handoff is a review, and it blocks.
    #[error("the review is blocking: {0}")]
    ReviewBlocks(String),
    /// The handoff has a different number or unit for this measurement.
    #[error("`{name}` has `{field}: {has}`, not {given}")]
    MeasurementDiffers {
        /// The name of the measurement.
        name: String,
        /// The field that differs.
        field: &'static str,
        /// What the handoff has.
        has: String,
        /// What was given.
        given: String,
    },
    /// A handoff cannot supersede itself.
    #[error("a handoff cannot supersede itself")]
    SupersedesItself,
    /// An approving review cannot drop or correct anything.
    #[error("a review with the verdict `held` cannot drop or correct anything")]
    HeldWithCorrection,
    /// The step changes nothing and is already in the history.
    #[error("its history already records this")]
    AlreadyRecorded,
    /// The next stage does not build on this handoff's stage.
    #[error("{}", not_derived_message(to, from, is.as_deref()))]
    NotDerived {
        /// The next stage.
        to: String,
        /// The stages it builds on.
        from: Vec<String>,
        /// The stage of this handoff, if it has one.
        is: Option<String>,
        /// The stages that build on this one.
        next: Vec<String>,
    },
}

fn count_noun(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

fn not_derived_message(to: &str, from: &[String], is: Option<&str>) -> String {
    let from = from.join(" and ");
    match is {
        _ if from.is_empty() => format!("{to} does not build on another stage"),
        Some(is) => format!("{to} builds on {from}, not on {is}"),
        None => format!("{to} builds on {from}, but this handoff has no stage"),
    }
}

/// How a handoff is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The work is done.
    Resolved {
        /// The commit that resolved it.
        commit: Option<CommitId>,
        /// The outcome.
        outcome: Option<String>,
    },
    /// Another handoff replaces it.
    Superseded(String),
    /// It was abandoned, for this reason.
    Abandoned(String),
}

/// A proof that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedProof {
    /// The number of the proof, counted from one.
    pub number: usize,
    /// What was run.
    pub spec: ProofSpec,
    /// The outcome.
    pub outcome: RecordedOutcome,
    /// The number measured from its output.
    pub measured: Option<Number>,
}

/// When proofs were run, by whom, and at which commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialContext {
    /// When they were run.
    pub at: Timestamp,
    /// Who ran them.
    pub by: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<CommitId>,
}

/// What a review found to be wrong, and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewCorrection {
    /// What was tried or believed.
    pub tried: String,
    /// Why it was wrong.
    pub why_wrong: Option<String>,
    /// What replaces it.
    pub replaced_by: Option<String>,
}

fn set_field(field: &str, value: YamlData) -> Edit {
    Edit::Set(HeaderPath::field(field), value)
}

fn set_status(status: Status) -> Edit {
    set_field("status", YamlData::Bare(status.word().to_owned()))
}

/// Starts work on a handoff.
pub fn start(handoff: &Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal> {
    match handoff.status() {
        Status::Planned => Ok(vec![set_status(Status::InProgress)]),
        Status::InProgress => Err(LifecycleRefusal::AlreadyStarted),
        closed @ (Status::Resolved | Status::Superseded | Status::Abandoned) => {
            Err(LifecycleRefusal::AlreadyClosed(closed))
        }
    }
}

/// Reopens a closed handoff. It is in progress again if work on it had begun: it was resolved, or its
/// history has a start. The history keeps the text with its resolution.
pub fn reopen(handoff: &Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal> {
    let status = handoff.status();
    if status.is_open() {
        return Err(LifecycleRefusal::NotClosed(status));
    }
    let is_start = |entry: &YamlNode| RevisionVerb::from_entry(entry) == Some(RevisionVerb::Start);
    let has_begun =
        status == Status::Resolved || handoff.revision_nodes().into_iter().any(is_start);
    let next = if has_begun { Status::InProgress } else { Status::Planned };
    let endings = ["resolution", "superseded_by"].into_iter();
    let endings = endings.filter(|field| handoff.node(field).is_some());
    let removals = endings.map(|field| Edit::Remove(HeaderPath::field(field)));
    Ok(std::iter::once(set_status(next)).chain(removals).collect())
}

/// Closes a handoff.
pub fn resolve(
    handoff: &Handoff<'_>,
    reason: &CloseReason,
    measured: &[MeasuredValue],
    now: Timestamp,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    if !handoff.status().is_open() {
        return Err(LifecycleRefusal::AlreadyClosed(handoff.status()));
    }
    if let (CloseReason::Resolved { .. }, Some(why)) = (reason, handoff.review_block_reason()) {
        return Err(LifecycleRefusal::ReviewBlocks(why));
    }
    let at = ("at", YamlData::Bare(time::format_time(now)));
    let text =
        |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, YamlData::Text(t)));
    let mut edits = measurement::record_values(handoff, measured)?;
    match reason {
        CloseReason::Resolved { commit, outcome } => {
            let commit = commit.as_ref().map(|commit| ("commit", YamlData::text(commit.as_str())));
            let parts = commit.into_iter().chain([at]).chain(text("outcome", outcome));
            edits.extend([
                set_status(Status::Resolved),
                set_field("resolution", YamlData::map(parts)),
            ]);
        }
        CloseReason::Superseded(by) if *by == handoff.key().to_string() => {
            return Err(LifecycleRefusal::SupersedesItself);
        }
        CloseReason::Superseded(by) => {
            edits.extend([
                set_status(Status::Superseded),
                set_field("superseded_by", YamlData::text(by)),
            ]);
        }
        CloseReason::Abandoned(reason) => {
            let parts = [at, ("reason", YamlData::text(reason))];
            edits.extend([
                set_status(Status::Abandoned),
                set_field("resolution", YamlData::map(parts)),
            ]);
        }
    }
    Ok(edits)
}

/// Records the results of proofs. A measured number goes to the measurement that the proof names:
/// to `before` if that is still empty, else to `after`.
pub fn verify(
    handoff: &Handoff<'_>,
    proven: &[CompletedProof],
    side: Option<MeasurementSide>,
    occasion: &TrialContext,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let now = proof::numbered_proofs(handoff);
    let mut edits = Vec::new();
    let mut numbers: Vec<(&str, &Number)> = Vec::new();
    for run in proven {
        let same = |other: &proof::NumberedProof<'_>| {
            other.number == run.number && other.spec.as_ref() == Ok(&run.spec)
        };
        if !now.iter().any(same) {
            return Err(LifecycleRefusal::ProofChanged(run.number));
        }
        let proof = HeaderPath::field("proofs").item(run.number - 1);
        edits.push(Edit::Set(proof.key("last"), last_result(run, occasion)));
        if let (Some(name), Some(number)) = (&run.spec.measures, &run.measured) {
            // If two proofs measure the same thing, the last one counts.
            numbers.retain(|(other, _)| other != name);
            numbers.push((name, number));
        }
    }
    let measured = numbers
        .into_iter()
        .map(|(name, number)| measurement::record_proof_number(handoff, name, number, side));
    Ok(edits.into_iter().chain(measured).collect())
}

fn last_result(run: &CompletedProof, occasion: &TrialContext) -> YamlData {
    let text =
        |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, YamlData::Text(t)));
    let commit = &occasion.commit;
    let commit = commit.as_ref().map(|commit| ("commit", YamlData::text(commit.as_str())));
    let number = run.measured.as_ref().map(|number| ("number", YamlData::Bare(number.to_string())));
    let parts = [("at", YamlData::Bare(time::format_time(occasion.at)))]
        .into_iter()
        .chain(text("by", &occasion.by))
        .chain(commit)
        .chain([("outcome", YamlData::Bare(run.outcome.word().to_owned()))])
        .chain(number);
    YamlData::map(parts)
}

/// Checks whether a handoff can advance to a stage: the stage builds on this one, and this one was
/// not superseded or abandoned. A resolved handoff can still advance, because several stages may
/// build on it.
pub fn check_advance(
    handoff: &Handoff<'_>,
    to: &str,
    stages: &Stages,
) -> Result<(), LifecycleRefusal> {
    let from = stages.stages.get(to).map(StageRule::upstream).unwrap_or_default();
    let is = handoff.stage().filter(|_| handoff.is_handoff());
    if !is.is_some_and(|is| from.iter().any(|stage| stage == is)) {
        let next = is.map(|is| stages.derived_from(is).map(str::to_owned).collect());
        return Err(LifecycleRefusal::NotDerived {
            to: to.to_owned(),
            from: from.to_vec(),
            is: is.map(str::to_owned),
            next: next.unwrap_or_default(),
        });
    }
    match handoff.status() {
        Status::Planned | Status::InProgress | Status::Resolved => Ok(()),
        closed @ (Status::Superseded | Status::Abandoned) => {
            Err(LifecycleRefusal::AlreadyClosed(closed))
        }
    }
}

/// The recorded reason for advancing to a stage.
pub fn advance_reason(stage: &str) -> String {
    format!("advanced to {stage}")
}

/// Advances to the next stage, whose document is `artifact`. A blocked handoff stays open.
pub fn advance(
    handoff: &Handoff<'_>,
    to: &str,
    artifact: &str,
    stages: &Stages,
    blocked: bool,
    now: Timestamp,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    check_advance(handoff, to, stages)?;
    let next = HandoffKey { id: handoff.id().to_owned(), stage: Some(to.to_owned()) };
    let downstream = handoff.dependencies().downstream;
    let mut named = downstream.iter().filter_map(|dependency| dependency.artifact);
    let mut edits = Vec::new();
    if !named.any(|entry| is_next_stage(entry.value, artifact, &next, stages)) {
        let entry =
            [("artifact", YamlData::text(artifact)), ("relationship", YamlData::text("enables"))];
        let downstream = HeaderPath::field("dependencies").key("downstream");
        edits.push(Edit::Append(downstream, YamlData::map(entry)));
    }
    if handoff.status().is_open() && !blocked {
        let ending = CloseReason::Resolved { commit: None, outcome: Some(advance_reason(to)) };
        edits.extend(resolve(handoff, &ending, &[], now)?);
    }
    Ok(edits)
}

/// Returns the edits, or refuses if there are none and the history already has this reason.
/// Repeating a step does not record it again.
pub fn reject_if_recorded(
    handoff: &Handoff<'_>,
    edits: Vec<Edit>,
    reason: &str,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let revisions = handoff.revisions();
    let mut reasons = revisions.iter().filter_map(|revision| revision.reason);
    let is_recorded = reasons.any(|recorded| recorded.value.trim() == reason);
    if edits.is_empty() && is_recorded { Err(LifecycleRefusal::AlreadyRecorded) } else { Ok(edits) }
}

/// Whether an entry of `dependencies.downstream` means the document of the next stage: by its key,
/// by the end of its path, or as a file with that id in the stage's folder.
fn is_next_stage(entry: &str, artifact: &str, next: &HandoffKey, stages: &Stages) -> bool {
    let path = entry.split('#').next().unwrap_or_default().trim();
    let normal = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let path: PathBuf = FilePath::new(path).components().filter(normal).collect();
    let is_path = !entry.contains("://") && !path.as_os_str().is_empty();
    stages.is_reference_to(entry, next) || (is_path && FilePath::new(artifact).ends_with(&path))
}

/// Findings that `answer` can settle: the code, the header field, and the letter used for counting.
const ANSWERABLE: [(Code, &str, char); 3] = [
    (Code::BlockingQuestion, "open_questions", 'q'),
    (Code::AssumptionUnvalidated, "assumptions", 'a'),
    (Code::AssumptionUnchecked, "assumptions", 'a'),
];

/// The question or assumption that a finding is about, as `answer` numbers them: `q2`, `a1`.
pub fn answer_target(document: &Document, finding: &Finding) -> Option<String> {
    let (_, field, letter) = ANSWERABLE.into_iter().find(|(code, ..)| *code == finding.code)?;
    let items = document.handoff_header()?.fields().get(field)?.items();
    let index = items.iter().position(|item| item.at.contains(finding.at))?;
    Some(format!("{letter}{}", index + 1))
}

/// Answers a question. Questions are counted from one.
pub fn answer(
    handoff: &Handoff<'_>,
    wanted: usize,
    text: &str,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let has = handoff.node("open_questions").map_or(0, |node| node.items().len());
    let index = wanted.checked_sub(1).filter(|index| *index < has);
    let index = index.ok_or(LifecycleRefusal::NoQuestion { wanted, has })?;
    if current_answer(handoff, index) == Some(text.trim()) {
        return Err(LifecycleRefusal::AlreadyAnswered(wanted));
    }
    let question = HeaderPath::field("open_questions").item(index);
    Ok(vec![Edit::Set(question.key("answer"), YamlData::text(text))])
}

/// Records whether an assumption holds. Assumptions are counted from one.
pub fn validate(
    handoff: &Handoff<'_>,
    wanted: usize,
    holds: bool,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let has = handoff.node("assumptions").map_or(0, |node| node.items().len());
    let index = wanted.checked_sub(1).filter(|index| *index < has);
    let index = index.ok_or(LifecycleRefusal::NoAssumption { wanted, has })?;
    let assumption = HeaderPath::field("assumptions").item(index);
    let found = if holds { Validation::Holds } else { Validation::Disproved };
    Ok(vec![Edit::Set(assumption.key("validated"), YamlData::Bare(found.word().to_owned()))])
}

/// The current answer to a question.
fn current_answer<'h>(handoff: &'h Handoff<'_>, index: usize) -> Option<&'h str> {
    let questions = handoff.node("open_questions")?.items();
    Some(questions.get(index)?.get("answer")?.text()?.value.trim())
}

/// Records a review. Anything it dropped becomes a wrong turn.
pub fn review(
    handoff: &Handoff<'_>,
    by: &str,
    challenged: &str,
    verdict: ReviewVerdict,
    dropped: Option<&ReviewCorrection>,
    now: Timestamp,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    if verdict == ReviewVerdict::Held && dropped.is_some() {
        return Err(LifecycleRefusal::HeldWithCorrection);
    }
    let revision = handoff.replaced_texts().len() + 1;
    let entry = YamlData::map([
        ("at", YamlData::Bare(time::format_time(now))),
        ("by", YamlData::text(by)),
        ("challenged", YamlData::text(challenged)),
        ("verdict", YamlData::Bare(verdict.word().to_owned())),
        ("revision", YamlData::Bare(revision.to_string())),
    ]);
    let review = Edit::Append(HeaderPath::field("reviews"), entry);
    Ok(dropped.map(append_wrong_turn).into_iter().chain([review]).collect())
}

fn append_wrong_turn(dropped: &ReviewCorrection) -> Edit {
    let text =
        |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, YamlData::Text(t)));
    let entry = [("tried", YamlData::text(&dropped.tried))]
        .into_iter()
        .chain(text("why_wrong", &dropped.why_wrong))
        .chain(text("replaced_by", &dropped.replaced_by));
    Edit::Append(HeaderPath::field("wrong_turns"), YamlData::map(entry))
}

/// The start of an undo's reason. The number of the text that is undone follows.
const UNDO_PREFIX: &str = "undo of @";

/// What the next undo would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoStep {
    /// Restore this text, counted from one, with this reason.
    To(usize, String),
    /// Nothing is left to undo.
    Nothing,
    /// The previous change is a merge or a share, which cannot be undone.
    Blocked(RevisionVerb),
}

/// The next step of undo. Changes that were already undone are skipped, so repeated undo walks back
/// in time.
pub fn next_undo(handoff: &Handoff<'_>) -> UndoStep {
    let revisions: Vec<HistoryStep<'_>> =
        handoff.revision_nodes().into_iter().map(HistoryStep::from_entry).collect();
    let replaced = handoff.replaced_texts();
    let mut undoable: Vec<usize> = Vec::new();
    let mut barrier = None;
    for (index, done) in revisions.iter().enumerate() {
        match (done.verb, done.undone_text()) {
            (Some(verb), _) if verb.ends_undo() => {
                undoable.clear();
                barrier = Some(verb);
            }
            // Undo cannot restore a text that was not kept, nor go back beyond it.
            _ if replaced[index].is_none() => undoable.clear(),
            (_, Some(undone)) => undoable.retain(|made| *made != undone),
            // The first history entry produced the second text.
            (_, None) => undoable.push(index + 2),
        }
    }
    match (undoable.pop(), barrier) {
        (Some(made), _) => UndoStep::To(made - 1, undo_reason(made, revisions[made - 2].reason)),
        (None, Some(verb)) => UndoStep::Blocked(verb),
        (None, None) => UndoStep::Nothing,
    }
}

/// The number of revisions that changed the content, rather than recording a step of the lifecycle.
pub fn content_revisions(handoff: &Handoff<'_>) -> usize {
    let nodes = handoff.revision_nodes();
    if nodes.is_empty() {
        return handoff.revisions().len();
    }
    let mut changed: Vec<bool> = Vec::new();
    for node in nodes {
        let step = HistoryStep::from_entry(node);
        let undone = step.undone_text().and_then(|made| made.checked_sub(2));
        let undone = undone.and_then(|index| changed.get(index).copied());
        let changes = step.verb.is_none_or(|verb| verb.changes_content(step.reason));
        changed.push(!node.is_blank() && undone.unwrap_or(changes));
    }
    changed.into_iter().filter(|changed| *changed).count()
}

/// A history entry, reduced to what undo needs.
struct HistoryStep<'d> {
    verb: Option<RevisionVerb>,
    reason: &'d str,
}

impl<'d> HistoryStep<'d> {
    fn from_entry(entry: &'d YamlNode) -> Self {
        let reason = entry.get("reason").and_then(YamlNode::text).or_else(|| entry.text());
        Self {
            verb: RevisionVerb::from_entry(entry),
            reason: reason.map_or("", |reason| reason.value),
        }
    }

    /// The number of the text that this entry undid.
    fn undone_text(&self) -> Option<usize> {
        let rest = self
            .reason
            .strip_prefix(UNDO_PREFIX)
            .filter(|_| self.verb == Some(RevisionVerb::Undo))?;
        rest.split(':').next()?.trim().parse().ok()
    }
}

/// The reason for undoing the change that produced text number `made`.
pub fn undo_reason(made: usize, reason: &str) -> String {
    format!("{UNDO_PREFIX}{made}: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    fn after(
        text: &str,
        decide: impl Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    ) -> Result<String, LifecycleRefusal> {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let edits = decide(&Handoff::new(&document, &location, &stages))?;
        Ok(document.edit(&edits).unwrap().0.text().to_owned())
    }

    const PROOFS: &str = "---\nhandoff:\n  id: a\n  proofs:\n    - claim: fast\n      run: bench # slow\n      measures: Austin\n    - claim: green\n      run: test\n  measurements:\n    - name: Berlin\n      before: 7\n---\n";

    fn proven(text: &str, number: usize, measured: Option<&str>) -> CompletedProof {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let mut proofs = proof::numbered_proofs(&Handoff::new(&document, &location, &stages));
        let test = proofs.swap_remove(number - 1).spec.unwrap();
        let measured = measured.and_then(Number::parse);
        CompletedProof { number, spec: test, outcome: RecordedOutcome::Holds, measured }
    }

    #[test]
    fn a_proof_run_is_recorded_with_its_number() {
        let at: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let occasion =
            TrialContext { at, by: Some("bob".into()), commit: Some(CommitId::new("4f2c9d1")) };
        let run = |text: &str, runs: &[CompletedProof], side| {
            after(text, |handoff| verify(handoff, runs, side, &occasion))
        };
        let fast = |number| proven(PROOFS, 1, Some(number));
        let once = run(PROOFS, &[fast("14290"), proven(PROOFS, 2, None)], None).unwrap();
        let last = "last:\n        at: 2026-03-25T06:30:00Z\n        by: bob\n        commit: 4f2c9d1\n        outcome: holds\n";
        assert_eq!(once.matches(last).count(), 2, "{once}");
        assert!(once.contains("        number: 14290\n"), "{once}");
        assert!(once.contains("    - name: Austin\n      before: 14290\n"), "{once}");
        assert!(once.contains("run: bench # slow\n"), "{once}");
        let twice = run(&once, &[fast("108")], None).unwrap();
        assert!(
            twice.contains("    - name: Austin\n      before: 14290\n      after: 108\n"),
            "{twice}"
        );
        let again = run(&twice, &[fast("9")], Some(MeasurementSide::Before)).unwrap();
        assert!(again.contains("      before: 9\n      after: 108\n"), "{again}");
        let other = PROOFS.replace("run: bench", "run: rm -rf /");
        assert_eq!(run(&other, &[fast("1")], None), Err(LifecycleRefusal::ProofChanged(1)));
    }

    const OPEN: &str = "---\nhandoff:\n  id: a\n  status: planned # now\n  open_questions:\n    - question: q\n      blocking: true\n  assumptions:\n    - assumption: x\n---\n";

    #[test]
    fn the_same_answer_twice_is_refused() {
        let answered = after(OPEN, |h| answer(h, 1, "Yes")).unwrap();
        assert_eq!(
            after(&answered, |h| answer(h, 1, "Yes ")),
            Err(LifecycleRefusal::AlreadyAnswered(1))
        );
        assert!(after(&answered, |h| answer(h, 1, "No")).is_ok());
        // Validating an assumption again is allowed, with either result.
        let held = after(OPEN, |h| validate(h, 1, true)).unwrap();
        assert!(after(&held, |h| validate(h, 1, true)).is_ok());
    }

    #[test]
    fn a_closed_handoff_cannot_be_started_or_closed_again() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let started = after(OPEN, start).unwrap();
        assert!(started.contains("  status: in_progress # now\n"));
        assert_eq!(after(&started, start), Err(LifecycleRefusal::AlreadyStarted));
        let ending =
            CloseReason::Resolved { commit: Some(CommitId::new("4f2c9d1")), outcome: None };
        let fast = MeasuredValue {
            name: "Austin".into(),
            before: Some("14290".into()),
            after: "108".into(),
            unit: Some("ms".into()),
        };
        let ended =
            after(&started, |h| resolve(h, &ending, std::slice::from_ref(&fast), now)).unwrap();
        assert!(ended.contains("  status: resolved # now\n"));
        assert!(
            ended.contains("  resolution:\n    commit: 4f2c9d1\n    at: 2026-03-25T06:30:00Z\n")
        );
        assert!(ended.contains(
            "    - name: Austin\n      before: 14290\n      after: 108\n      unit: ms\n"
        ));
        assert_eq!(after(&ended, start), Err(LifecycleRefusal::AlreadyClosed(Status::Resolved)));
        assert_eq!(
            after(&ended, |h| resolve(h, &ending, &[], now)),
            Err(LifecycleRefusal::AlreadyClosed(Status::Resolved))
        );
        assert_eq!(
            after(OPEN, |h| resolve(h, &CloseReason::Superseded("a".into()), &[], now)),
            Err(LifecycleRefusal::SupersedesItself)
        );
    }

    #[test]
    fn a_reopened_handoff_is_in_progress_if_work_had_begun() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let close =
            |text: &str, reason: &CloseReason| after(text, |h| resolve(h, reason, &[], now));
        let done = CloseReason::Resolved { commit: None, outcome: Some("It is fast".into()) };
        let resolved = close(OPEN, &done).unwrap();
        let reopened = after(&resolved, reopen).unwrap();
        assert_eq!(reopened, OPEN.replace("planned", "in_progress"));
        assert_eq!(after(&reopened, reopen), Err(LifecycleRefusal::NotClosed(Status::InProgress)));
        let superseded = close(OPEN, &CloseReason::Superseded("b".into())).unwrap();
        assert!(superseded.contains("superseded_by: b"), "{superseded}");
        assert_eq!(after(&superseded, reopen).unwrap(), OPEN);
        let started =
            OPEN.replace("---\nhandoff:", "---\nhandoff:\n  revisions:\n    - {verb: start}");
        let abandoned = close(&started, &CloseReason::Abandoned("no time".into())).unwrap();
        let reopened = after(&abandoned, reopen).unwrap();
        assert!(reopened.contains("status: in_progress"), "{reopened}");
        assert!(!reopened.contains("no time"), "{reopened}");
    }

    #[test]
    fn a_blocking_review_cannot_be_resolved() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let passed = CloseReason::Resolved { commit: None, outcome: Some("reviewed".into()) };
        let review = |decision: &str, question: &str| {
            format!(
                "---\nhandoff:\n  id: feat-042\n  stage: review\n  decisions_made:\n    - decision: {decision}\n{question}---\n"
            )
        };
        let refused =
            |text: &str, ending: &CloseReason| after(text, |h| resolve(h, ending, &[], now)).err();
        let blocked = review("Review blocked", "");
        let why = "the review is blocking: Review blocked";
        assert_eq!(refused(&blocked, &passed).unwrap().to_string(), why);
        assert_eq!(refused(&blocked, &CloseReason::Abandoned("no budget".into())), None);
        assert_eq!(refused(&blocked, &CloseReason::Superseded("feat-043".into())), None);
        let question = "  open_questions:\n    - question: Who pays?\n      blocking: true\n";
        let open = review("Review approved", question);
        assert_eq!(
            refused(&open, &passed).unwrap().to_string(),
            "the review is blocking: q1 is open: Who pays?"
        );
        let answered = format!("{question}      answer: We do\n");
        assert_eq!(refused(&review("Review approved", &answered), &passed), None);
        assert_eq!(refused(&blocked.replace("stage: review", "stage: design"), &passed), None);
    }

    #[test]
    fn a_dropped_idea_becomes_a_wrong_turn() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let dropped = ReviewCorrection {
            tried: "Blaming the cache".into(),
            why_wrong: Some("It is cold".into()),
            replaced_by: None,
        };
        let reviewed = |verdict, dropped: Option<&ReviewCorrection>| {
            after(OPEN, |h| review(h, "eve", "the code path", verdict, dropped, now))
        };
        let corrected = reviewed(ReviewVerdict::Corrected, Some(&dropped)).unwrap();
        assert!(corrected.contains(
            "  wrong_turns:\n    - tried: Blaming the cache\n      why_wrong: It is cold\n"
        ));
        assert!(corrected.contains("      verdict: corrected\n      revision: 1\n"));
        assert!(!reviewed(ReviewVerdict::Rejected, None).unwrap().contains("wrong_turns"));
        assert!(reviewed(ReviewVerdict::Held, None).is_ok());
        assert_eq!(
            reviewed(ReviewVerdict::Held, Some(&dropped)),
            Err(LifecycleRefusal::HeldWithCorrection)
        );
    }

    /// Advances a document of feat-042 to a stage whose document is `artifact`.
    fn advanced(
        text: &str,
        to: &str,
        artifact: &str,
        blocked: bool,
    ) -> Result<String, LifecycleRefusal> {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        after(text, |h| advance(h, to, artifact, &Stages::shipped(), blocked, now))
    }

    const BRIEF: &str =
        "---\nhandoff:\n  id: feat-042\n  stage: discovery\n  status: in_progress\n---\n";
    const SPEC: &str = ".claude/pipeline/specs/feat-042-x.md";

    #[test]
    fn a_stage_that_advances_names_the_next_and_is_resolved() {
        let text = advanced(BRIEF, "spec", SPEC, false).unwrap();
        assert_eq!(
            text,
            "---\nhandoff:\n  id: feat-042\n  stage: discovery\n  status: resolved\n  \
             dependencies:\n    downstream:\n      - artifact: .claude/pipeline/specs/feat-042-x.md\n        \
             relationship: enables\n  resolution:\n    at: 2026-03-25T06:30:00Z\n    \
             outcome: advanced to spec\n---\n"
        );
        // A discovery leads to a pricing as well; the first outcome stays.
        let both = advanced(&text, "pricing", "feat-042/pricing", false).unwrap();
        assert!(both.contains("      - artifact: feat-042/pricing\n"), "{both}");
        assert!(both.contains("    outcome: advanced to spec\n"), "{both}");
        let forced = advanced(BRIEF, "spec", SPEC, true).unwrap();
        assert!(forced.contains("  status: in_progress\n"), "{forced}");
        assert!(!forced.contains("resolution"), "{forced}");
    }

    #[test]
    fn a_repeated_step_is_not_recorded_again() {
        let recorded =
            BRIEF.replace("  status", "  revisions:\n    - reason: advanced to spec\n  status");
        let edits = vec![set_status(Status::Resolved)];
        assert_eq!(
            after(&recorded, |h| reject_if_recorded(h, Vec::new(), "advanced to spec")),
            Err(LifecycleRefusal::AlreadyRecorded)
        );
        assert!(
            after(&recorded, |h| reject_if_recorded(h, Vec::new(), "advanced to pricing")).is_ok()
        );
        assert!(
            after(&recorded, |h| reject_if_recorded(h, edits.clone(), "advanced to spec")).is_ok()
        );
    }

    #[test]
    fn the_next_document_is_named_once() {
        let naming = |entry: &str| {
            BRIEF.replace(
                "  status",
                &format!("  dependencies:\n    downstream:\n      - artifact: {entry}\n  status"),
            )
        };
        for known in [
            "feat-042/spec",
            "specs/feat-042-x.md",
            "../specs/feat-042-x.md#scope",
            "./.claude/pipeline/specs/feat-042-x.md",
            "specs/feat-042.md",
            "specs/feat-042-as-it-was-called-first.md",
        ] {
            let text = advanced(&naming(known), "spec", SPEC, true).unwrap();
            assert_eq!(text, naming(known));
        }
        for other in [
            "pricing/feat-042-x.md",
            "specs/feat-0421.md",
            "feat-042/pricing",
            "https://example.org/specs/feat-042-x.md",
            "..",
        ] {
            let text = advanced(&naming(other), "spec", SPEC, true).unwrap();
            assert!(text.contains(SPEC), "{other}: {text}");
        }
    }

    #[test]
    fn a_handoff_advances_only_to_stages_that_build_on_it() {
        let refused = |text: &str, to: &str| advanced(text, to, SPEC, false).unwrap_err();
        let design = refused(BRIEF, "design");
        assert_eq!(design.to_string(), "design builds on spec and pricing, not on discovery");
        let LifecycleRefusal::NotDerived { next, .. } = design else { panic!("{design}") };
        assert_eq!(next, ["pricing", "spec"]);
        assert_eq!(
            refused(BRIEF, "request").to_string(),
            "request does not build on another stage"
        );
        let of_none = "spec builds on discovery, but this handoff has no stage";
        assert_eq!(refused(OPEN, "spec").to_string(), of_none);
        assert_eq!(refused("# A note\n", "spec").to_string(), of_none);
        let over = BRIEF.replace("in_progress", "superseded");
        assert_eq!(refused(&over, "spec"), LifecycleRefusal::AlreadyClosed(Status::Superseded));
        assert!(advanced(&BRIEF.replace("in_progress", "done"), "spec", SPEC, false).is_ok());
    }

    #[test]
    fn findings_map_to_question_and_assumption_numbers() {
        let text = "---\nhandoff:\n  id: a\n  open_questions:\n    -\n    - which?\n    - question: q\n      blocking: true\n  assumptions:\n    - assumption: x\n      confidence: low\n      validation_needed: true\n---\n";
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &location, &stages);
        let result = crate::handoff::check::check(
            &handoff,
            &stages,
            None,
            &crate::handoff::check::StandaloneContext,
        );
        let named = |code| {
            let finding = result.findings.iter().find(|finding| finding.code == code);
            finding.and_then(|finding| answer_target(&document, finding))
        };
        assert_eq!(named(Code::BlockingQuestion).as_deref(), Some("q3"));
        assert_eq!(named(Code::AssumptionUnvalidated).as_deref(), Some("a1"));
        assert_eq!(named(Code::MissingField), None);
    }

    /// The next undo after these history entries, each with a verb and a reason.
    fn undone(entries: &[(&str, &str)]) -> UndoStep {
        let entry = |(index, (verb, reason)): (usize, &(&str, &str))| {
            let verb =
                if verb.is_empty() { String::new() } else { format!("      verb: {verb}\n") };
            let was = if verb.contains("merge") {
                String::new()
            } else {
                format!("      was: a{index}\n")
            };
            format!("    - reason: \"{reason}\"\n{verb}{was}")
        };
        let entries: String = entries.iter().enumerate().map(entry).collect();
        undone_after(&entries)
    }

    fn undone_after(revisions: &str) -> UndoStep {
        let text = format!("---\nhandoff:\n  id: a\n  revisions:\n{revisions}---\n");
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        next_undo(&Handoff::new(&document, &location, &stages))
    }

    #[test]
    fn repeated_undo_walks_back() {
        let to = |number: usize, reason: &str| UndoStep::To(number, reason.to_owned());
        let (a, b) = (("start", "a"), ("", "b"));
        let (undo_b, undo_a) = (("undo", "undo of @3: b"), ("undo", "undo of @2: a"));
        assert_eq!(undone(&[a, b]), to(2, "undo of @3: b"));
        assert_eq!(undone(&[a, b, undo_b]), to(1, "undo of @2: a"));
        assert_eq!(undone(&[a, b, undo_b, undo_a]), UndoStep::Nothing);
        assert_eq!(undone(&[a, undo_a, ("", "c")]), to(3, "undo of @4: c"));
        assert_eq!(undone(&[a, ("merge", "merged"), ("", "c")]), to(3, "undo of @4: c"));
        assert_eq!(undone(&[a, ("merge", "merged")]), UndoStep::Blocked(RevisionVerb::Merge));
        assert_eq!(undone(&[a, ("share", "shared")]), UndoStep::Blocked(RevisionVerb::Share));
    }

    #[test]
    fn undo_does_not_go_back_beyond_a_text_that_was_not_kept() {
        let kept = "    - {reason: a, was: a0}\n";
        let lost = "    - {reason: b}\n";
        let (next, undo) = (
            "    - {reason: c, was: a2}\n",
            "    - {reason: 'undo of @4: c', verb: undo, was: a3}\n",
        );
        assert_eq!(undone_after(kept), UndoStep::To(1, "undo of @2: a".to_owned()));
        assert_eq!(undone_after(&[kept, lost].concat()), UndoStep::Nothing);
        let last = UndoStep::To(3, "undo of @4: c".to_owned());
        assert_eq!(undone_after(&[kept, lost, next].concat()), last);
        assert_eq!(undone_after(&[kept, lost, next, undo].concat()), UndoStep::Nothing);
    }

    #[test]
    fn a_typed_reason_does_not_change_undo() {
        let to = |number: usize, reason: &str| UndoStep::To(number, reason.to_owned());
        assert_eq!(undone(&[("", "merged")]), to(1, "undo of @2: merged"));
        let typed = [("", "a"), ("", "undo of @2: I typed this")];
        assert_eq!(undone(&typed), to(2, "undo of @3: undo of @2: I typed this"));
    }

    #[test]
    fn questions_and_assumptions_are_numbered_from_one() {
        let answered = after(OPEN, |h| answer(h, 1, "ten days")).unwrap();
        assert!(answered.contains("      blocking: true\n      answer: ten days\n"));
        assert_eq!(
            after(OPEN, |h| answer(h, 0, "x")),
            Err(LifecycleRefusal::NoQuestion { wanted: 0, has: 1 })
        );
        assert_eq!(
            after(OPEN, |h| answer(h, 2, "x")),
            Err(LifecycleRefusal::NoQuestion { wanted: 2, has: 1 })
        );
        let holds = after(OPEN, |h| validate(h, 1, true)).unwrap();
        assert!(holds.contains("    - assumption: x\n      validated: true\n"));
        let fails = after(OPEN, |h| validate(h, 1, false)).unwrap();
        assert!(fails.contains("    - assumption: x\n      validated: failed\n"));
    }
}

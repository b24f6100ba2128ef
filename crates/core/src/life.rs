//! The life of a handoff, decided: which edits a verb makes, or why it is refused.

use crate::edit::{Edit, Path};
use crate::handoff::Handoff;
use crate::header::Status;
use crate::merge::MERGED;
use crate::time;
use crate::yaml::{Data, Node};
use jiff::Timestamp;

pub use crate::header::ReviewVerdict;

/// Why a verb does not fit the handoff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is over.
    #[error("it is {0} already")]
    Ended(Status),
    /// Somebody works on it.
    #[error("it is in progress already")]
    Started,
    /// There are fewer questions.
    #[error("it has {has} questions, there is no q{wanted}")]
    NoQuestion {
        /// What was asked for, from one.
        wanted: usize,
        /// How many there are.
        has: usize,
    },
    /// There are fewer assumptions.
    #[error("it has {has} assumptions, there is no a{wanted}")]
    NoAssumption {
        /// What was asked for, from one.
        wanted: usize,
        /// How many there are.
        has: usize,
    },
    /// It cannot take its own place.
    #[error("a handoff cannot supersede itself")]
    Itself,
    /// Nothing changes where the handoff was right.
    #[error("a review that held neither drops nor corrects anything")]
    Held,
}

/// How a handoff ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was carried out.
    Resolved {
        /// By this commit.
        commit: Option<String>,
        /// With this outcome.
        outcome: Option<String>,
    },
    /// Another handoff took its place.
    Superseded(String),
    /// It was given up, for this reason.
    Abandoned(String),
}

/// A number before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What was measured.
    pub name: String,
    /// The number before.
    pub before: String,
    /// The number after.
    pub after: String,
    /// The unit of both.
    pub unit: Option<String>,
}

/// What a review found to be wrong, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// What was tried or believed.
    pub tried: String,
    /// Why it was wrong.
    pub why_wrong: Option<String>,
    /// What takes its place.
    pub replaced_by: Option<String>,
}

fn set(field: &str, value: Data) -> Edit {
    Edit::Set(Path::field(field), value)
}

fn status(status: Status) -> Edit {
    set("status", Data::Bare(status.word().to_owned()))
}

/// Somebody begins to work on it.
pub fn start(handoff: &Handoff<'_>) -> Result<Vec<Edit>, Refusal> {
    match handoff.status() {
        Status::Planned => Ok(vec![status(Status::InProgress)]),
        Status::InProgress => Err(Refusal::Started),
        ended @ (Status::Resolved | Status::Superseded | Status::Abandoned) => {
            Err(Refusal::Ended(ended))
        }
    }
}

/// It ends.
pub fn resolve(
    handoff: &Handoff<'_>,
    ending: &Ending,
    measured: &[Measured],
    now: Timestamp,
) -> Result<Vec<Edit>, Refusal> {
    if !handoff.status().is_open() {
        return Err(Refusal::Ended(handoff.status()));
    }
    let at = ("at", Data::Bare(time::write(now)));
    let text =
        |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, Data::Text(t)));
    let mut edits: Vec<Edit> = measured.iter().map(measurement).collect();
    match ending {
        Ending::Resolved { commit, outcome } => {
            let parts =
                text("commit", commit).into_iter().chain([at]).chain(text("outcome", outcome));
            edits.extend([status(Status::Resolved), set("resolution", Data::map(parts))]);
        }
        Ending::Superseded(by) if *by == handoff.key().to_string() => return Err(Refusal::Itself),
        Ending::Superseded(by) => {
            edits.extend([status(Status::Superseded), set("superseded_by", Data::text(by))]);
        }
        Ending::Abandoned(reason) => {
            let parts = [at, ("reason", Data::text(reason))];
            edits.extend([status(Status::Abandoned), set("resolution", Data::map(parts))]);
        }
    }
    Ok(edits)
}

fn measurement(measured: &Measured) -> Edit {
    let unit = measured.unit.clone().map(|unit| ("unit", Data::Text(unit)));
    let entry = [
        ("name", Data::text(&measured.name)),
        ("before", Data::Bare(measured.before.clone())),
        ("after", Data::Bare(measured.after.clone())),
    ];
    Edit::Append(Path::field("measurements"), Data::map(entry.into_iter().chain(unit)))
}

/// A question is answered. Questions count from one.
pub fn answer(handoff: &Handoff<'_>, wanted: usize, text: &str) -> Result<Vec<Edit>, Refusal> {
    let has = handoff.node("open_questions").map_or(0, |node| node.items().len());
    let index = wanted.checked_sub(1).filter(|index| *index < has);
    let index = index.ok_or(Refusal::NoQuestion { wanted, has })?;
    let question = Path::field("open_questions").item(index);
    Ok(vec![Edit::Set(question.key("answer"), Data::text(text))])
}

/// Somebody looked whether an assumption holds. Assumptions count from one.
pub fn validate(handoff: &Handoff<'_>, wanted: usize, holds: bool) -> Result<Vec<Edit>, Refusal> {
    let has = handoff.node("assumptions").map_or(0, |node| node.items().len());
    let index = wanted.checked_sub(1).filter(|index| *index < has);
    let index = index.ok_or(Refusal::NoAssumption { wanted, has })?;
    let assumption = Path::field("assumptions").item(index);
    Ok(vec![Edit::Set(assumption.key("validated"), Data::flag(holds))])
}

/// Somebody called it into question; what was dropped over it becomes a wrong turn.
pub fn review(
    handoff: &Handoff<'_>,
    by: &str,
    challenged: &str,
    verdict: ReviewVerdict,
    dropped: Option<&Dropped>,
    now: Timestamp,
) -> Result<Vec<Edit>, Refusal> {
    if verdict == ReviewVerdict::Held && dropped.is_some() {
        return Err(Refusal::Held);
    }
    let revision = handoff.replaced_texts().len() + 1;
    let entry = Data::map([
        ("at", Data::Bare(time::write(now))),
        ("by", Data::text(by)),
        ("challenged", Data::text(challenged)),
        ("verdict", Data::Bare(verdict.word().to_owned())),
        ("revision", Data::Bare(revision.to_string())),
    ]);
    let review = Edit::Append(Path::field("reviews"), entry);
    Ok(dropped.map(wrong_turn).into_iter().chain([review]).collect())
}

fn wrong_turn(dropped: &Dropped) -> Edit {
    let text =
        |name: &'static str, text: &Option<String>| text.clone().map(|t| (name, Data::Text(t)));
    let entry = [("tried", Data::text(&dropped.tried))]
        .into_iter()
        .chain(text("why_wrong", &dropped.why_wrong))
        .chain(text("replaced_by", &dropped.replaced_by));
    Edit::Append(Path::field("wrong_turns"), Data::map(entry))
}

/// How the reason of an undo starts; the number of the text that it takes back follows.
const UNDO: &str = "undo of @";

/// The text that the next undo goes back to, counted from one, and the reason it is recorded with.
/// What was undone already is passed over, so one undo after the other walks back in time.
pub fn undo<'d>(handoff: &Handoff<'d>) -> Option<(usize, String)> {
    let reason_of = |entry: &&'d Node| {
        let reason = entry.get("reason").and_then(Node::text).or_else(|| entry.text());
        reason.map_or("", |reason| reason.value)
    };
    let reasons: Vec<&str> = handoff.revision_nodes().iter().map(reason_of).collect();
    let replaced = handoff.replaced_texts();
    let can_be_undone = |index: usize| replaced[index].is_some() && reasons[index] != MERGED;
    let made = to_undo(&reasons, can_be_undone)?;
    let reason = reasons.get(made - 2).copied().unwrap_or_default();
    Some((made - 1, format!("{UNDO}{made}: {reason}")))
}

/// The newest text that was not taken back. The first entry made text 2. What lies behind a merge,
/// or behind a text that was not kept, stays: numbers from before it mean something else.
fn to_undo(reasons: &[&str], can_be_undone: impl Fn(usize) -> bool) -> Option<usize> {
    let mut standing: Vec<usize> = Vec::new();
    for (index, reason) in reasons.iter().enumerate() {
        let number = |rest: &str| rest.split(':').next()?.trim().parse::<usize>().ok();
        match reason.strip_prefix(UNDO).and_then(number) {
            _ if !can_be_undone(index) => standing.clear(),
            Some(undone) => standing.retain(|made| *made != undone),
            None => standing.push(index + 2),
        }
    }
    standing.pop()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::handoff::Whereabouts;
    use crate::stage::Stages;

    fn after(
        text: &str,
        decide: impl Fn(&Handoff<'_>) -> Result<Vec<Edit>, Refusal>,
    ) -> Result<String, Refusal> {
        let document = Document::parse(text.as_bytes());
        let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
        let edits = decide(&Handoff::of(&document, &whereabouts, &stages))?;
        Ok(document.edit(&edits).unwrap().0.text().to_owned())
    }

    const OPEN: &str = "---\nhandoff:\n  id: a\n  status: planned # now\n  open_questions:\n    - question: q\n      blocking: true\n  assumptions:\n    - assumption: x\n---\n";

    #[test]
    fn a_life_goes_one_way() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let started = after(OPEN, start).unwrap();
        assert!(started.contains("  status: in_progress # now\n"));
        assert_eq!(after(&started, start), Err(Refusal::Started));
        let ending = Ending::Resolved { commit: Some("4f2c9d1".into()), outcome: None };
        let fast = Measured {
            name: "Austin".into(),
            before: "14290".into(),
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
        assert_eq!(after(&ended, start), Err(Refusal::Ended(Status::Resolved)));
        assert_eq!(
            after(&ended, |h| resolve(h, &ending, &[], now)),
            Err(Refusal::Ended(Status::Resolved))
        );
        assert_eq!(
            after(OPEN, |h| resolve(h, &Ending::Superseded("a".into()), &[], now)),
            Err(Refusal::Itself)
        );
    }

    #[test]
    fn what_a_review_drops_is_a_wrong_turn() {
        let now: Timestamp = "2026-03-25T06:30:00Z".parse().unwrap();
        let dropped = Dropped {
            tried: "Blaming the cache".into(),
            why_wrong: Some("It is cold".into()),
            replaced_by: None,
        };
        let reviewed = |verdict, dropped: Option<&Dropped>| {
            after(OPEN, |h| review(h, "eve", "the code path", verdict, dropped, now))
        };
        let corrected = reviewed(ReviewVerdict::Corrected, Some(&dropped)).unwrap();
        assert!(corrected.contains(
            "  wrong_turns:\n    - tried: Blaming the cache\n      why_wrong: It is cold\n"
        ));
        assert!(corrected.contains("      verdict: corrected\n      revision: 1\n"));
        assert!(!reviewed(ReviewVerdict::Rejected, None).unwrap().contains("wrong_turns"));
        assert!(reviewed(ReviewVerdict::Held, None).is_ok());
        assert_eq!(reviewed(ReviewVerdict::Held, Some(&dropped)), Err(Refusal::Held));
    }

    #[test]
    fn one_undo_after_the_other_walks_back() {
        assert_eq!(to_undo(&[], |_| true), None);
        assert_eq!(to_undo(&["a", "b"], |_| true), Some(3));
        assert_eq!(to_undo(&["a", "b", "undo of @3: b"], |_| true), Some(2));
        assert_eq!(to_undo(&["a", "b", "undo of @3: b", "undo of @2: a"], |_| true), None);
        assert_eq!(to_undo(&["a", "undo of @2: a", "c"], |_| true), Some(4));
        assert_eq!(to_undo(&["a", "merged", "undo of @2: a", "c"], |index| index > 1), Some(5));
        assert_eq!(to_undo(&["a", "merged"], |index| index != 1), None);
    }

    #[test]
    fn questions_and_assumptions_count_from_one() {
        let answered = after(OPEN, |h| answer(h, 1, "ten days")).unwrap();
        assert!(answered.contains("      blocking: true\n      answer: ten days\n"));
        assert_eq!(
            after(OPEN, |h| answer(h, 0, "x")),
            Err(Refusal::NoQuestion { wanted: 0, has: 1 })
        );
        assert_eq!(
            after(OPEN, |h| answer(h, 2, "x")),
            Err(Refusal::NoQuestion { wanted: 2, has: 1 })
        );
        let holds = after(OPEN, |h| validate(h, 1, true)).unwrap();
        assert!(holds.contains("    - assumption: x\n      validated: true\n"));
    }
}

//! The mission state of the whole work, recorded as events. The last one counts.

use crate::store::Store;
use crate::store::ledger::{AppendError, Ledger, LedgerError, LedgerRecord, StreamId};
use crate::verbs::task::decision::{DecidedEvent, append_decided};
use crate::verbs::task::redactor::Redactor;
use crate::verbs::task::{TaskError, actor, open_ledger};
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, MissionEvent};
use midstride_core::work::mission::{self, Mission};

/// A new mission state.
#[derive(Clone, Debug, Default)]
pub struct NewMission {
    /// Decisions.
    pub decisions: Vec<String>,
    /// Open questions.
    pub questions: Vec<String>,
    /// Next steps.
    pub next: Vec<String>,
    /// The working mode.
    pub mode: Option<String>,
    /// The current iteration.
    pub iteration: Option<u64>,
    /// Whether to discard the previous state.
    pub fresh: bool,
    /// Previous decisions to drop, counted from one.
    pub dropped_decisions: Vec<usize>,
    /// Previous questions to drop, counted from one.
    pub dropped_questions: Vec<usize>,
}

/// Why the mission state was not recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MissionError {
    /// A newer version of midstride wrote an event that may change the meaning of the others.
    #[error("the mission contains `{0}`, which was written by a newer version of midstride")]
    Newer(String),
    /// The previous state has no such entry.
    #[error("there is no {what} {number}; the previous state has {has}")]
    NoSuch {
        /// The kind of entry.
        what: &'static str,
        /// Its number.
        number: usize,
        /// How many entries there are.
        has: usize,
    },
    /// The ledger failed.
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl From<AppendError> for MissionError {
    fn from(error: AppendError) -> Self {
        Self::Task(error.into())
    }
}

impl From<LedgerError> for MissionError {
    fn from(error: LedgerError) -> Self {
        Self::Task(error.into())
    }
}

/// All recorded states, oldest first.
pub fn missions(store: &Store) -> Result<Vec<Mission>, TaskError> {
    let records = open_ledger(store)?.read(&StreamId::mission(), None)?;
    Ok(mission::states(events(&records)))
}

fn events(records: &[LedgerRecord]) -> impl Iterator<Item = &Envelope> {
    records.iter().flat_map(|record| &record.events)
}

/// Records a mission state; earlier states are kept as history. Decisions and questions stay until
/// they are dropped.
pub fn record_mission(
    store: &Store,
    new: &NewMission,
    by: Option<&str>,
) -> Result<(Mission, Vec<Redaction>), MissionError> {
    let workspace = store.workspace();
    let mut redactor = Redactor::for_project(workspace);
    let source = redactor.clean(&actor(workspace, by));
    let clean = NewMission {
        decisions: redactor.clean_each(&new.decisions),
        questions: redactor.clean_each(&new.questions),
        next: redactor.clean_each(&new.next),
        mode: new.mode.as_deref().map(|mode| redactor.clean(mode)),
        ..new.clone()
    };
    let ledger = open_ledger(store)?;
    let stream = StreamId::mission();
    let envelope = append_decided(workspace, ledger, &source, || {
        let records = ledger.read(&stream, None)?;
        if let Some(kind) = events(&records).find_map(|envelope| envelope.event.newer_kind()) {
            return Err(MissionError::Newer(kind.to_owned()));
        }
        let last = events(&records).map(|envelope| envelope.time).max();
        let before = mission::states(events(&records)).pop();
        let event = Event::Mission(next_state(before.as_ref(), &clean)?);
        let version = records.last().map(|record| record.version);
        Ok(DecidedEvent { stream: stream.clone(), version, last, event })
    })?;
    let state = mission::states([&envelope]).pop().expect("it was just made");
    Ok((state, redactor.redactions))
}

/// The state that follows the previous one.
fn next_state(before: Option<&Mission>, new: &NewMission) -> Result<MissionEvent, MissionError> {
    let before = before.filter(|_| !new.fresh);
    let old = |of: fn(&Mission) -> &[String]| before.map(of).unwrap_or_default();
    let (decisions, questions) = (old(|state| &state.decisions), old(|state| &state.questions));
    Ok(MissionEvent::Stated {
        decisions: merge_entries("decision", decisions, &new.dropped_decisions, &new.decisions)?,
        questions: merge_entries("question", questions, &new.dropped_questions, &new.questions)?,
        next: match new.next.as_slice() {
            [] => old(|state| &state.next).to_vec(),
            next => next.to_vec(),
        },
        mode: new.mode.clone().or_else(|| before?.mode.clone()),
        iteration: new.iteration.or_else(|| before?.iteration),
    })
}

/// The previous entries without the dropped ones, plus the new ones, without duplicates.
fn merge_entries(
    what: &'static str,
    before: &[String],
    dropped: &[usize],
    new: &[String],
) -> Result<Vec<String>, MissionError> {
    let has = before.len();
    if let Some(&number) = dropped.iter().find(|number| !(1..=has).contains(*number)) {
        return Err(MissionError::NoSuch { what, number, has });
    }
    let kept = (1..).zip(before).filter(|(number, _)| !dropped.contains(number));
    let mut all: Vec<String> = kept.map(|(_, text)| text.clone()).collect();
    for text in new {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn decisions_are_kept_until_they_are_dropped() {
        let before = texts(&["a", "b", "c"]);
        let carry = |dropped: &[usize], new: &[&str]| {
            merge_entries("decision", &before, dropped, &texts(new))
                .map_err(|error| error.to_string())
        };
        assert_eq!(carry(&[], &[]), Ok(texts(&["a", "b", "c"])));
        assert_eq!(carry(&[2], &["d", "a"]), Ok(texts(&["a", "c", "d"])));
        assert_eq!(carry(&[1, 2, 3], &["b"]), Ok(texts(&["b"])));
        for number in [0, 4] {
            let why = format!("there is no decision {number}; the previous state has 3");
            assert_eq!(carry(&[number], &[]), Err(why));
        }
    }
}

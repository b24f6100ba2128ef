//! The mission: how the work as a whole stands, captured as an event. The last one counts.

use super::clean::Sieve;
use super::task::{TaskError, ledger_of, who};
use crate::ids::new_uid;
use crate::ledger::{AppendError, Expected, Ledger, LedgerError, Recorded, StreamId};
use crate::project::Project;
use midstride_core::event::{Envelope, Event, MissionEvent};
use midstride_core::mission::{self, Mission};
use midstride_core::redact::Redaction;

/// Somebody else may capture it again and again; not for ever.
const TRIES_MAX: usize = 20;

/// What somebody says about the mission.
#[derive(Clone, Debug, Default)]
pub struct NewMission {
    /// What was decided.
    pub decisions: Vec<String>,
    /// What is not known.
    pub questions: Vec<String>,
    /// What to do when the work goes on.
    pub next: Vec<String>,
    /// How it is being worked.
    pub mode: Option<String>,
}

/// Why the state of the mission was not captured.
#[derive(Debug, thiserror::Error)]
pub enum MissionError {
    /// A newer midstride wrote something that may change what the rest means.
    #[error("the mission has `{0}`, which a newer midstride wrote")]
    Newer(String),
    /// The ledger cannot be used.
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl From<LedgerError> for MissionError {
    fn from(error: LedgerError) -> Self {
        Self::Task(error.into())
    }
}

/// Every state that was captured, the oldest first.
pub fn missions(project: &Project) -> Result<Vec<Mission>, TaskError> {
    let records = ledger_of(project)?.read(&StreamId::mission(), None)?;
    Ok(mission::states(events(&records)))
}

fn events(records: &[Recorded]) -> impl Iterator<Item = &Envelope> {
    records.iter().flat_map(|record| &record.events)
}

/// Captures the state of the mission; the one before is kept as history.
pub fn state_mission(
    project: &Project,
    new: &NewMission,
    by: Option<&str>,
) -> Result<(Mission, Vec<Redaction>), MissionError> {
    let mut sieve = Sieve::default();
    let source = sieve.clean(who(project, by));
    let event = Event::Mission(MissionEvent::Stated {
        decisions: sieve.clean_each(&new.decisions),
        questions: sieve.clean_each(&new.questions),
        next: sieve.clean_each(&new.next),
        mode: new.mode.as_deref().map(|mode| sieve.clean(mode)),
    });
    let ledger = ledger_of(project)?;
    let stream = StreamId::mission();
    let mut last = None;
    for _ in 0..TRIES_MAX {
        let records = ledger.read(&stream, None)?;
        if let Some(kind) = events(&records).find_map(|envelope| envelope.event.newer()) {
            return Err(MissionError::Newer(kind.to_owned()));
        }
        // Clocks differ, and what is captured later counts.
        let newest = events(&records).map(|envelope| envelope.time).max();
        let later = newest.map(|time| time.checked_add(jiff::SignedDuration::from_nanos(1)));
        let now = project.environment().clock.now();
        let time = later.and_then(Result::ok).map_or(now, |later| later.max(now));
        let envelope =
            Envelope { id: new_uid(time), time, source: source.clone(), event: event.clone() };
        let expected = Expected::after(records.last().map(|record| record.version));
        match ledger.append(&stream, expected, std::slice::from_ref(&envelope)) {
            Err(conflict @ AppendError::Conflict { .. }) => last = Some(conflict),
            appended => {
                appended.map_err(TaskError::from)?;
                let state = mission::states([&envelope]).pop().expect("it was just made");
                return Ok((state, sieve.found));
            }
        }
    }
    Err(TaskError::from(last.expect("there is at least one try")).into())
}

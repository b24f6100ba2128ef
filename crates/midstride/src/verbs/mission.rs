//! The mission: how the work as a whole stands, captured as an event. The last one counts.

use super::clean::Sieve;
use super::decided::{Decided, append_decided};
use super::task::{TaskError, ledger_of, who};
use crate::ledger::{Ledger, LedgerError, Recorded, StreamId};
use crate::project::Project;
use midstride_core::event::{Envelope, Event, MissionEvent};
use midstride_core::mission::{self, Mission};
use midstride_core::redact::Redaction;

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
    let envelope = append_decided(project, &ledger, &source, || {
        let records = ledger.read(&stream, None)?;
        if let Some(kind) = events(&records).find_map(|envelope| envelope.event.newer()) {
            return Err(MissionError::Newer(kind.to_owned()));
        }
        let last = events(&records).map(|envelope| envelope.time).max();
        let version = records.last().map(|record| record.version);
        Ok(Decided { stream: stream.clone(), version, last, event: event.clone() })
    })?;
    let state = mission::states([&envelope]).pop().expect("it was just made");
    Ok((state, sieve.found))
}

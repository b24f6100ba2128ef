//! Dismiss what an earlier session left open, so that no briefing carries it over again.

use super::brief::carried;
use super::receipts::{ReceiptError, envelope};
use super::task::named;
use crate::ledger::{Ledger as _, Patience, SqliteLedger, StreamId};
use crate::project::{Project, SetUp};
use midstride_core::briefing::carry::Carried;
use midstride_core::event::SessionEvent;

/// Why nothing was dismissed.
#[derive(Debug, thiserror::Error)]
pub enum DismissError {
    /// Nothing that is carried over has this handle.
    #[error("nothing open has the handle `{handle}`")]
    NoSuch {
        /// What was typed.
        handle: String,
        /// The handles that there are.
        known: Vec<String>,
    },
    /// It could not be recorded.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
}

/// Dismisses an item by its handle. `wrong` says that the item was not true.
pub fn dismiss(project: &Project, handle: &str, wrong: bool) -> Result<Carried, DismissError> {
    if project.set_up() == SetUp::Not {
        return Err(ReceiptError::NotSetUp.into());
    }
    let open = carried(project).map_err(ReceiptError::from)?;
    let Some(item) = open.iter().find(|one| one.handle == handle).cloned() else {
        let known = open.into_iter().map(|one| one.handle).collect();
        return Err(DismissError::NoSuch { handle: handle.to_owned(), known });
    };
    let client = item.client.name().to_owned();
    let event = SessionEvent::Dismissed {
        client: client.clone(),
        session: item.session.clone(),
        handle: handle.to_owned(),
        wrong,
        by_session: project.environment().session.as_ref().map(|session| session.id.clone()),
    };
    let id = named(&[&client, &item.session, "dismissed", handle]);
    let stream = StreamId::session(&client, &item.session);
    let events = vec![envelope(project, id, event)];
    let ledger = SqliteLedger::open(project, Patience::Command).map_err(ReceiptError::from)?;
    ledger.unite(&[(stream, events)]).map_err(ReceiptError::from)?;
    Ok(item)
}

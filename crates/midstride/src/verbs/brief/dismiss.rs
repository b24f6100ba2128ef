//! Closes what briefings repeat: items earlier sessions left open, and standing instructions.

use crate::store::Store;
use crate::store::ledger::{LedgerError, LocalLedger as _, StreamId};
use crate::sys::files::FileError;
use crate::verbs::brief::open_session_items;
use crate::verbs::handoff::deliveries::{DeliveryError, session_envelope};
use crate::verbs::task::content_id;
use crate::verbs::work::instructions::{self, instructions, read_instructions};
use crate::workspace::dismissed_notes::DismissedNotes;
use crate::workspace::{SetupMode, Workspace};
use jiff::Timestamp;
use midstride_core::brief::unsettled::UnsettledItem;
use midstride_core::session::instruction::{Instruction, InstructionState};
use midstride_core::text::id::{HandoffKey, SessionId};
use midstride_core::work::event::{Event, InstructionEvent, SessionEvent};
use std::path::{Path, PathBuf};

/// Something briefings repeat until it is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DismissableItem {
    /// The handle that closes it.
    pub handle: String,
    /// Its kind, as a word.
    pub kind: &'static str,
    /// The statement, command or question.
    pub text: String,
    /// The session it comes from.
    pub session: SessionId,
}

impl From<&UnsettledItem> for DismissableItem {
    fn from(one: &UnsettledItem) -> Self {
        Self {
            handle: one.handle.clone(),
            kind: one.item.kind.word(),
            text: one.item.text.clone(),
            session: one.session.clone(),
        }
    }
}

impl From<&Instruction> for DismissableItem {
    fn from(one: &Instruction) -> Self {
        Self {
            handle: one.id.short(),
            kind: "instruction",
            text: one.text.clone(),
            session: one.session.clone(),
        }
    }
}

/// Why nothing was dismissed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DismissError {
    /// Nothing open has this handle.
    #[error("no open item has the handle `{handle}`")]
    NoSuch {
        /// The handle that was given.
        handle: String,
        /// The handles that exist.
        known: Vec<String>,
    },
    /// More than one instruction matches.
    #[error("`{handle}` matches {} instructions", known.len())]
    Several {
        /// The handle that was given.
        handle: String,
        /// The handles that match.
        known: Vec<String>,
    },
    /// The instruction is already closed.
    #[error("instruction `{handle}` was already {how} on {}", at.strftime("%Y-%m-%d %H:%M"))]
    AlreadyClosed {
        /// The handle that was given.
        handle: String,
        /// How it was closed.
        how: &'static str,
        /// When it was closed.
        at: Timestamp,
    },
    /// An agent asked, and only the user can close a standing instruction.
    #[error("only the user can close instruction `{handle}`")]
    OnlyUser {
        /// The handle that was given.
        handle: String,
    },
    /// An agent asked, and only the user can keep a note out of briefings.
    #[error("only the user can dismiss the note `{}`", .0.display())]
    OnlyUserNote(PathBuf),
    /// The name is that of a handoff, which is closed instead.
    #[error("`{0}` is a handoff")]
    IsHandoff(HandoffKey),
    /// No dismissed note has this name.
    #[error("no dismissed note is named `{0}`")]
    NotDismissed(String),
    /// The list of dismissed notes could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger could not record it.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
}

impl From<LedgerError> for DismissError {
    fn from(error: LedgerError) -> Self {
        Self::Delivery(error.into())
    }
}

/// What can be dismissed in this project: standing instructions first, then unsettled items.
pub fn dismissable_items(store: &Store) -> Result<Vec<DismissableItem>, LedgerError> {
    let instructions = instructions(store)?;
    let carried = open_session_items(store)?;
    let items = carried.iter().map(DismissableItem::from);
    Ok(instructions.iter().map(DismissableItem::from).chain(items).collect())
}

/// Closes an item or an instruction by its handle. `wrong` says it was never true.
pub fn dismiss(store: &Store, handle: &str, wrong: bool) -> Result<DismissableItem, DismissError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(DeliveryError::NotSetUp.into());
    }
    let handle = handle.trim().to_lowercase();
    match is_instruction(&handle) {
        true => dismiss_instruction(store, &handle, wrong),
        false => dismiss_item(store, &handle, wrong),
    }
}

/// What was dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DismissOutcome {
    /// An item or an instruction.
    Item(DismissableItem),
    /// A note: sessions are not briefed from it any more.
    Note(PathBuf),
}

/// Closes an item or an instruction by its handle, or keeps a note out of briefings.
pub fn dismiss_named(
    store: &Store,
    name: &str,
    wrong: bool,
) -> Result<DismissOutcome, DismissError> {
    let unknown = match dismiss(store, name, wrong) {
        Err(error @ DismissError::NoSuch { .. }) => error,
        done => return done.map(DismissOutcome::Item),
    };
    let workspace = store.workspace();
    let Ok(stored) = workspace.find(name) else { return Err(unknown) };
    let handoff = stored.handoff(workspace);
    if handoff.is_handoff() {
        return Err(DismissError::IsHandoff(handoff.key()));
    }
    check_user(workspace, &stored.path)?;
    DismissedNotes::change(workspace, &stored.path, true)?;
    Ok(DismissOutcome::Note(stored.path))
}

/// Briefs sessions from a dismissed note again. Returns its path.
pub fn undo_dismiss(store: &Store, name: &str) -> Result<PathBuf, DismissError> {
    let workspace = store.workspace();
    // The note may be deleted.
    let path = workspace.find(name).map_or_else(|_| PathBuf::from(name), |stored| stored.path);
    check_user(workspace, &path)?;
    match DismissedNotes::change(workspace, &path, false)? {
        true => Ok(path),
        false => Err(DismissError::NotDismissed(name.to_owned())),
    }
}

/// The notes that the user keeps out of briefings, and since when.
pub fn dismissed_notes(workspace: &Workspace) -> Vec<(PathBuf, Timestamp)> {
    DismissedNotes::read(workspace).into_notes().into_iter().collect()
}

fn check_user(workspace: &Workspace, path: &Path) -> Result<(), DismissError> {
    match workspace.environment().automation() {
        Some(_) => Err(DismissError::OnlyUserNote(path.to_owned())),
        None => Ok(()),
    }
}

/// Closes an item an agent says it settled. Only the user can close instructions.
pub fn settle(store: &Store, handle: &str) -> Result<DismissableItem, DismissError> {
    match is_instruction(&handle.trim().to_lowercase()) {
        true => Err(DismissError::OnlyUser { handle: handle.to_owned() }),
        false => dismiss(store, handle, false),
    }
}

/// How much of what briefings said was dismissed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dismissals {
    /// Dismissed items and instructions.
    pub all: usize,
    /// Those dismissed as wrong.
    pub wrong: usize,
}

/// Counts dismissals, within the latest session records.
pub fn count_dismissals(store: &Store) -> Result<Dismissals, LedgerError> {
    const RECORDS_MAX: usize = 10_000;
    let workspace = store.workspace();
    let Some(ledger) = store.existing_ledger()? else {
        return Ok(Dismissals::default());
    };
    let records = ledger.latest_with_prefix(StreamId::SESSIONS, RECORDS_MAX)?;
    let events = records.iter().flat_map(|record| &record.events);
    let items = events.filter_map(|envelope| {
        let Event::Session(SessionEvent::Dismissed { wrong, .. }) = &envelope.event else {
            return None;
        };
        Some(*wrong)
    });
    let all = read_instructions(workspace, ledger)?;
    let closed = all.iter().filter_map(|one| match one.state {
        InstructionState::Dismissed { wrong } => Some(wrong),
        InstructionState::Active | InstructionState::Revoked => None,
    });
    Ok(items.chain(closed).fold(Dismissals::default(), |sum, wrong| Dismissals {
        all: sum.all + 1,
        wrong: sum.wrong + usize::from(wrong),
    }))
}

fn is_instruction(handle: &str) -> bool {
    handle.starts_with("i-")
}

fn dismiss_item(store: &Store, handle: &str, wrong: bool) -> Result<DismissableItem, DismissError> {
    let workspace = store.workspace();
    let open = open_session_items(store)?;
    let Some(item) = open.iter().find(|one| one.handle == handle) else {
        let known = dismissable_items(store)?.into_iter().map(|one| one.handle).collect();
        return Err(DismissError::NoSuch { handle: handle.to_owned(), known });
    };
    let client = item.client.to_string();
    let event = SessionEvent::Dismissed {
        client: client.clone(),
        session: item.session.clone(),
        handle: handle.to_owned(),
        wrong,
        by_session: workspace.environment().session.as_ref().map(|session| session.id.clone()),
    };
    let id = content_id(&[&client, item.session.as_str(), "dismissed", handle]);
    let stream = StreamId::session(&client, &item.session);
    let events = vec![session_envelope(workspace, id, event)];
    let ledger = store.ledger()?;
    ledger.append_missing(&[(stream, events)]).map_err(DeliveryError::from)?;
    Ok(item.into())
}

fn dismiss_instruction(
    store: &Store,
    handle: &str,
    wrong: bool,
) -> Result<DismissableItem, DismissError> {
    let workspace = store.workspace();
    if workspace.environment().automation().is_some() {
        return Err(DismissError::OnlyUser { handle: handle.to_owned() });
    }
    let ledger = store.ledger()?;
    let all = read_instructions(workspace, ledger)?;
    let found = all.find(handle);
    let [instruction] = found.as_slice() else {
        let handle = handle.to_owned();
        return Err(match found.is_empty() {
            true => {
                let known = dismissable_items(store)?.into_iter().map(|one| one.handle).collect();
                DismissError::NoSuch { handle, known }
            }
            false => {
                let known = found.iter().map(|one| one.id.short()).collect();
                DismissError::Several { handle, known }
            }
        });
    };
    if let Some((how, at)) = closed_state(instruction, wrong) {
        return Err(DismissError::AlreadyClosed { handle: handle.to_owned(), how, at });
    }
    let event = InstructionEvent::Dismissed { id: instruction.id.as_str().to_owned(), wrong };
    let now = workspace.environment().clock.now();
    let events = vec![instructions::instruction_envelope(event, now, "cli")];
    ledger.append_missing(&[(StreamId::instructions(), events)]).map_err(DeliveryError::from)?;
    Ok((*instruction).into())
}

/// How and when an instruction was closed, if dismissing it adds nothing. A closed instruction can
/// still be marked as wrong.
fn closed_state(instruction: &Instruction, wrong: bool) -> Option<(&'static str, Timestamp)> {
    let how = match instruction.state {
        InstructionState::Active => return None,
        InstructionState::Dismissed { wrong: false } | InstructionState::Revoked if wrong => {
            return None;
        }
        InstructionState::Dismissed { .. } => "dismissed",
        InstructionState::Revoked => "revoked in a prompt",
    };
    instruction.closed.map(|at| (how, at))
}

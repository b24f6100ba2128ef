//! Standing instructions from the user. They are stored separately from the sessions in which they
//! were given, and outlive them.

use crate::store::Store;
use crate::store::ledger::{Ledger, LedgerError, StreamId};
use crate::sys::git::Repository;
use crate::verbs::task::content_id;
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::session::checkpoint::Checkpoint;
use midstride_core::session::instruction::{Instruction, Instructions};
use midstride_core::work::event::{Envelope, Event, InstructionEvent};
use std::path::Path;

/// All standing instructions, active or not. If the current branch was renamed, its instructions
/// use the new name.
pub(in crate::verbs) fn read_instructions(
    workspace: &Workspace,
    ledger: &dyn Ledger,
) -> Result<Instructions, LedgerError> {
    let records = ledger.read(&StreamId::instructions(), None)?;
    let mut all = Instructions::fold(records.iter().flat_map(|record| &record.events));
    let Some((repository, branch)) =
        workspace.repository().and_then(|git| Some((git, git.branch()?)))
    else {
        return Ok(all);
    };
    if all.has_elsewhere(&branch) {
        for (name, until) in repository.former_names(&branch) {
            all = all.with_renamed_branch(&name, &branch, until);
        }
    }
    Ok(all)
}

/// The active instructions on the current branch, oldest first.
pub fn instructions(store: &Store) -> Result<Vec<Instruction>, LedgerError> {
    let workspace = store.workspace();
    let Some(ledger) = store.existing_ledger()? else {
        return Ok(Vec::new());
    };
    let branch = workspace.repository().and_then(Repository::branch);
    let all = read_instructions(workspace, ledger)?;
    Ok(all.active(branch.as_deref()).into_iter().cloned().collect())
}

/// Active instructions on this branch that are not in a file every session reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnwrittenInstructions {
    /// The instructions, oldest first.
    pub instructions: Vec<Instruction>,
    /// The file to put them in.
    pub file: &'static str,
}

/// The files clients read at every start.
const FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The instructions that could move into AGENTS.md or CLAUDE.md. midstride never edits those files.
pub fn unwritten_instructions(store: &Store) -> Result<UnwrittenInstructions, LedgerError> {
    let workspace = store.workspace();
    let mut instructions = instructions(store)?;
    let mut file = FILES[0];
    for name in FILES.into_iter().rev() {
        let Ok(bytes) = workspace.root().read(Path::new(name)) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        instructions.retain(|one| !text.contains(one.text.trim()));
        file = name;
    }
    Ok(UnwrittenInstructions { instructions, file })
}

/// The events a session adds: instructions its user gave, and those the user revoked.
pub(in crate::verbs) fn instructions_given_in(
    workspace: &Workspace,
    ledger: &dyn Ledger,
    checkpoint: &Checkpoint,
) -> Result<Vec<Envelope>, LedgerError> {
    let session = &checkpoint.session;
    let branch = session.branch.as_deref().or(checkpoint.git.branch.as_deref());
    let given = read_instructions(workspace, ledger)?.events_from_session(session, branch);
    let now = workspace.environment().clock.now();
    let events = given.into_iter().map(|given| {
        let mut event = given.event;
        if let InstructionEvent::Given { text, branch, .. } = &mut event {
            let clean = |text: &str| workspace.clean(text).0.as_str().to_owned();
            (*text, *branch) = (clean(text), branch.as_deref().map(clean));
        }
        instruction_envelope(event, given.at.unwrap_or(now), session.client.as_str())
    });
    Ok(events.collect())
}

/// The envelope for an instruction event. For a session's event the id is the same however often it
/// is captured.
pub(in crate::verbs) fn instruction_envelope(
    event: InstructionEvent,
    time: Timestamp,
    source: &str,
) -> Envelope {
    let by = match &event {
        InstructionEvent::Given { session, .. } | InstructionEvent::Revoked { session, .. } => {
            session.to_string()
        }
        InstructionEvent::Dismissed { wrong: true, .. } => format!("{time} wrong"),
        InstructionEvent::Dismissed { wrong: false, .. } | _ => time.to_string(),
    };
    let instruction = event.id().to_owned();
    let event = Event::Instruction(event);
    let id = content_id(&[event.kind(), &instruction, &by]);
    Envelope { id, time, source: source.to_owned(), received_from: None, event }
}

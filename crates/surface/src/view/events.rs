//! Renders the events of the ledger.

use super::{one_line, sanitize};
use crate::text::escape_json;
use midstride::store::ledger::LedgerRecord;
use midstride_core::session::instruction::InstructionId;
use midstride_core::text::id::TaskId;
use midstride_core::work::event::{
    DeliveredHandoff, Envelope, Event, HandoffEvent, InstructionEvent, MissionEvent, ProofEvent,
    SessionEvent, TaskEvent, TextEvent, WorkflowEvent,
};

/// The width at which texts are truncated.
const WIDTH: usize = 72;

/// The source of events whose author is unknown.
const PROGRAM: &str = "midstride";

/// One line per event.
pub fn lines(record: &LedgerRecord, json: bool) -> String {
    let line = |envelope: &Envelope| match json {
        true => cloud_event_line(record, envelope),
        false => human_line(record, envelope),
    };
    record.events.iter().map(|envelope| format!("{}\n", line(envelope))).collect()
}

fn cloud_event_line(record: &LedgerRecord, envelope: &Envelope) -> String {
    let mut event = envelope.to_cloud_event(record.stream.as_str());
    event["sequence"] = record.cursor.to_engine().into();
    escape_json(&event.to_string())
}

fn human_line(record: &LedgerRecord, envelope: &Envelope) -> String {
    let task = || record.stream.task_id().map_or_else(|| "task".to_owned(), |id| id.short());
    let (about, what) = match &envelope.event {
        Event::Handoff(HandoffEvent::Captured { key, .. }) => (key.clone(), "captured".to_owned()),
        Event::Handoff(HandoffEvent::Revised { key, reason, .. }) => {
            (key.clone(), one_line(reason.as_deref().unwrap_or("changed"), usize::MAX))
        }
        Event::Proof(ProofEvent::Ran { key, number, claim, outcome, .. }) => {
            let claim = claim.as_deref().map_or_else(String::new, |claim| format!(": {claim}"));
            (key.clone(), format!("proof {number} {}{claim}", outcome.replace('_', " ")))
        }
        Event::Task(event) => (task(), task_event_text(event)),
        Event::Mission(MissionEvent::Stated { .. }) => {
            ("mission".to_owned(), "state captured".to_owned())
        }
        Event::Session(SessionEvent::Checkpointed { client, session, about, .. }) => {
            let about = about.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
            (format!("session {session}"), format!("{client} session captured{about}"))
        }
        Event::Text(TextEvent::Forgotten { hash, what, of, reason, .. }) => {
            let of = of.as_deref().map(|of| format!(" of {of}")).unwrap_or_default();
            let why = reason.as_deref().map(|why| format!(": {}", one_line(why, WIDTH)));
            let did = match record.stream.is_proposal() {
                true => format!("proposed to forget {hash}"),
                false => format!("{hash} forgotten"),
            };
            (format!("{what}{of}"), format!("{did}{}", why.unwrap_or_default()))
        }
        Event::Text(TextEvent::Redacted { hash, clean }) => {
            ("redaction".to_owned(), format!("{hash} stored as {clean}, with a secret removed"))
        }
        Event::Session(SessionEvent::Briefed { client, session, handoffs, tokens, .. }) => {
            let names = handoff_names(handoffs);
            (
                format!("session {session}"),
                format!("{client} session briefed{names}, {tokens} tokens"),
            )
        }
        Event::Session(SessionEvent::Dismissed { session, handle, wrong, .. }) => {
            let wrong = if *wrong { " as wrong" } else { "" };
            (format!("session {session}"), format!("{handle} dismissed{wrong}"))
        }
        Event::Session(SessionEvent::Acknowledged { client, session, handoff, verb }) => {
            let what = format!(
                "{client} session picked up{} ({verb})",
                handoff_names(std::slice::from_ref(handoff))
            );
            (format!("session {session}"), what)
        }
        Event::Workflow(WorkflowEvent::Saved { name, bytes, .. }) => {
            (format!("workflow {name}"), format!("state saved, {bytes} bytes"))
        }
        Event::Instruction(event) => instruction_text(event),
        Event::Unknown(_) | _ => {
            (envelope.event.kind().to_owned(), "written by a newer midstride".to_owned())
        }
    };
    let time = envelope.time.strftime("%Y-%m-%d %H:%M");
    // An event without a known author has the name of the program as its source.
    let by = match envelope.author().as_str() {
        PROGRAM => String::new(),
        author => format!("  (by {author})"),
    };
    sanitize(&format!("{time}  {about}  {what}{by}"))
}

/// Describes an event of a standing instruction.
fn instruction_text(event: &InstructionEvent) -> (String, String) {
    let what = match event {
        InstructionEvent::Given { text, .. } => format!("given: {}", one_line(text, WIDTH)),
        InstructionEvent::Revoked { .. } => "revoked by the user".to_owned(),
        InstructionEvent::Dismissed { wrong: true, .. } => "dismissed as wrong".to_owned(),
        InstructionEvent::Dismissed { .. } => "dismissed".to_owned(),
        _ => "written by a newer midstride".to_owned(),
    };
    let id =
        InstructionId::parse(event.id()).map_or_else(|| event.id().to_owned(), |id| id.short());
    (format!("instruction {id}"), what)
}

/// The ids of some handoffs, for use in a sentence.
fn handoff_names(handoffs: &[DeliveredHandoff]) -> String {
    let names = handoffs.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
    if names.is_empty() { names } else { format!(": {}", one_line(&names, WIDTH)) }
}

/// Describes an event of a task.
fn task_event_text(event: &TaskEvent) -> String {
    match event {
        TaskEvent::Added { subject, .. } => format!("added: {}", one_line(subject, WIDTH)),
        TaskEvent::Carried { subject, .. } => {
            format!("came with a handoff: {}", one_line(subject, WIDTH))
        }
        TaskEvent::Captured(captured) => {
            let subject = one_line(&captured.subject, WIDTH);
            format!("{} in {}: {subject}", captured.status, captured.key.client)
        }
        TaskEvent::Linked { task } => {
            let id = TaskId::parse(task).map_or_else(|| task.clone(), |id| id.short());
            format!("same task as {id}")
        }
        TaskEvent::Noted { text } => format!("noted: {}", one_line(text, WIDTH)),
        TaskEvent::Changed(change) => match (change.status, &change.reason) {
            (Some(status), Some(reason)) => format!("{status}: {}", one_line(reason, WIDTH)),
            (Some(status), None) => status.to_string(),
            (None, _) => "changed".to_owned(),
        },
        _ => "written by a newer midstride".to_owned(),
    }
}

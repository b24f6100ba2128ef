//! Renders the inbox: what is waiting for an answer, in progress or planned, and what to do next.

use super::{count, display_title, heading, one_line, shell_word};
use midstride::store::Store;
use midstride::workspace::{Catalog, SetupMode, StoredHandoff, Workspace};
use midstride_core::format::header::{Question, Status};
use serde::Serialize;

const TITLE_WIDTH: usize = 72;

/// The open handoffs and the questions that wait for an answer.
#[derive(Serialize)]
pub struct InboxJson {
    waiting: Vec<WaitingQuestionJson>,
    in_progress: Vec<super::handoff::HandoffJson>,
    planned: Vec<super::handoff::HandoffJson>,
    notes: usize,
    next: String,
}

#[derive(Serialize)]
struct WaitingQuestionJson {
    handoff: String,
    question: String,
    owner: Option<String>,
}

/// The JSON for the inbox of open handoffs.
pub fn json(store: &Store, open: &[&StoredHandoff]) -> InboxJson {
    let workspace = store.workspace();
    let InboxGroups { in_progress, planned, notes } = group_handoffs(workspace, open);
    let list =
        |list: &[&StoredHandoff]| list.iter().map(|s| super::handoff::json(store, s)).collect();
    let waiting = waiting_questions(workspace, open)
        .into_iter()
        .map(|(handoff, question)| WaitingQuestionJson {
            handoff,
            question: question
                .question
                .map_or_else(String::new, |text| text.value.trim().to_owned()),
            owner: question.owner.map(|owner| owner.value.to_owned()),
        })
        .collect();
    InboxJson {
        waiting,
        in_progress: list(&in_progress),
        planned: list(&planned),
        notes: notes.len(),
        next: next_command(workspace, open),
    }
}

/// The inbox: open questions, open handoffs, and the command to run next.
pub fn text(workspace: &Workspace, open: &[&StoredHandoff]) -> String {
    let InboxGroups { in_progress, planned, notes } = group_handoffs(workspace, open);
    let waiting = waiting_questions(workspace, open);
    let mut out = String::new();
    let blocked = match waiting.len() {
        0 => String::new(),
        1 => ", 1 question blocks".to_owned(),
        more => format!(", {more} questions block"),
    };
    let open_count = in_progress.len() + planned.len();
    out.push_str(&match open_count {
        0 => "Nothing is open.\n".to_owned(),
        1 => format!("1 handoff is open{blocked}.\n"),
        more => format!("{more} handoffs are open{blocked}.\n"),
    });
    if !waiting.is_empty() {
        out.push('\n');
        out.push_str(&heading("Waits for an answer"));
        for (key, question) in &waiting {
            let text = question.question.map_or("(no text)", |text| text.value);
            let owner = question
                .owner
                .map_or_else(String::new, |o| format!("  → {}", one_line(o.value, TITLE_WIDTH)));
            out.push_str(&format!("  {key}  {}{owner}\n", one_line(text, TITLE_WIDTH)));
        }
    }
    for (name, list) in [("In progress", &in_progress), ("Planned", &planned), ("Notes", &notes)] {
        if list.is_empty() {
            continue;
        }
        out.push('\n');
        out.push_str(&heading(name));
        for stored in list {
            let handoff = stored.handoff(workspace);
            out.push_str(&format!(
                "  {}  {}\n",
                handoff.key(),
                display_title(&handoff, TITLE_WIDTH)
            ));
        }
    }
    out.push_str(&format!("\nNext: {}\n", next_command(workspace, open)));
    out
}

struct InboxGroups<'p> {
    in_progress: Vec<&'p StoredHandoff>,
    planned: Vec<&'p StoredHandoff>,
    notes: Vec<&'p StoredHandoff>,
}

fn group_handoffs<'p>(workspace: &Workspace, open: &[&'p StoredHandoff]) -> InboxGroups<'p> {
    let (handoffs, notes): (Vec<&StoredHandoff>, Vec<&StoredHandoff>) =
        open.iter().partition(|stored| stored.handoff(workspace).has_status());
    let (in_progress, planned) = handoffs
        .into_iter()
        .partition(|stored| stored.handoff(workspace).status() == Status::InProgress);
    InboxGroups { in_progress, planned, notes }
}

fn waiting_questions<'p>(
    workspace: &'p Workspace,
    open: &[&'p StoredHandoff],
) -> Vec<(String, Question<'p>)> {
    open.iter()
        .flat_map(|stored| {
            let handoff = stored.handoff(workspace);
            let key = handoff.key().to_string();
            let blocking = handoff.questions().into_iter().filter(Question::blocks);
            blocking.map(move |question| (key.clone(), question)).collect::<Vec<_>>()
        })
        .collect()
}

/// The most useful command to run next.
fn next_command(workspace: &Workspace, open: &[&StoredHandoff]) -> String {
    if workspace.setup() == SetupMode::NotSetUp {
        return match open.len() {
            0 => "midstride init".to_owned(),
            more => {
                let found = count(more, "document");
                format!("midstride init sets midstride up here; {found} found already")
            }
        };
    }
    let is_handoff = |stored: &&&StoredHandoff| stored.handoff(workspace).is_handoff();
    let handoffs: Vec<&StoredHandoff> = open.iter().filter(is_handoff).copied().collect();
    let blocked = handoffs.iter().find_map(|stored| {
        let handoff = stored.handoff(workspace);
        let number = handoff.questions().iter().position(Question::blocks)? + 1;
        let key = shell_word(&handoff.key().to_string());
        Some(format!("midstride answer {key} q{number} \"the answer\""))
    });
    match (blocked, handoffs.first()) {
        (Some(answer), _) => answer,
        (None, Some(first)) => {
            let key = shell_word(&first.handoff(workspace).key().to_string());
            let show = || format!("midstride show {key}");
            advance_command(workspace, first).unwrap_or_else(show)
        }
        (None, None) => "midstride new \"what you found out\"".to_owned(),
    }
}

/// The command that advances a handoff to its next stage, if nothing blocks it and there is one.
fn advance_command(workspace: &Workspace, stored: &StoredHandoff) -> Option<String> {
    let handoff = stored.handoff(workspace);
    let next = workspace.settings().stages.derived_from(handoff.stage()?);
    let next: Vec<String> = next.map(shell_word).collect();
    let key = shell_word(&handoff.key().to_string());
    let complete = !next.is_empty() && Catalog::new(workspace).check(stored).blocking().is_empty();
    let command = || format!("midstride advance {key} --to {}", next.join(", or --to "));
    complete.then(command)
}

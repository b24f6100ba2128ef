//! Renders a checkpoint as the body of a handoff: facts only, with all messages quoted.

use super::{ArtifactState, Checkpoint, CheckpointContext};
use crate::session::{AgentState, CommandStatus, ExecutedCommand, Provenance};
use crate::text::hidden;
use crate::text::time;

/// The maximum number of entries shown per section. The checkpoint has all of them.
const SHOWN_MAX: usize = 30;

pub(super) fn render_checkpoint(checkpoint: &Checkpoint) -> String {
    let parts = [
        requests_section(checkpoint),
        status_section(checkpoint),
        tasks_section(checkpoint),
        agents_section(checkpoint),
        failures_section(checkpoint),
        changed_section(checkpoint),
        decisions_section(checkpoint),
        plans_section(checkpoint),
        facts_section(checkpoint),
    ];
    let page = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    // Make hidden characters visible, so that a reader of the handoff sees everything in it.
    hidden::visible_text(&page)
}

/// Renders the facts of work without a client session. The observation time is omitted.
pub(super) fn render_without_session(context: &CheckpointContext) -> String {
    let mut items = vec!["- Done without an agent client".to_owned()];
    if let Some(commit) = &context.commit {
        let branch = context.branch.as_deref().unwrap_or("no branch");
        items.push(format!("- Commit {commit} on {}", line(branch)));
    }
    let found =
        context.plan_documents.iter().map(|path| format!("- Plan document `{}`", line(path)));
    items.extend(found);
    if context.plan_documents.is_empty() {
        items.push("- Plan documents: none found".to_owned());
    }
    hidden::visible_text(&section("Facts", &items))
}

/// A section with a heading and a limited number of items.
fn section(heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut text = format!("### {heading}\n\n");
    for item in items.iter().take(SHOWN_MAX) {
        text.push_str(item);
        text.push('\n');
    }
    if items.len() > SHOWN_MAX {
        text.push_str(&format!("- and {} more in the checkpoint\n", items.len() - SHOWN_MAX));
    }
    text
}

/// A quoted text, indented below an item.
fn quote_block(text: &str) -> String {
    text.lines().map(|line| format!("  > {line}\n")).collect()
}

fn line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim().replace('`', "'");
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// A reference to a record, and whether it was abandoned.
fn record_reference(checkpoint: &Checkpoint, seen: &Provenance) -> String {
    let left = if checkpoint.is_abandoned(seen) { ", in a part that the user rewound" } else { "" };
    match &seen.agent {
        Some(agent) => format!("record {}, agent {}{left}", seen.record, line(agent)),
        None => format!("record {}{left}", seen.record),
    }
}

fn requests_section(checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    let before =
        session.asked_before.iter().map(|request| (request, ", before this session forked"));
    let items: Vec<String> = before
        .chain(session.requests.iter().map(|request| (request, "")))
        .map(|(request, when)| {
            let kind = if request.correction.is_some() { "Corrected" } else { "Asked" };
            let at = record_reference(checkpoint, &request.seen);
            format!("- {kind} ({at}{when}):\n{}", quote_block(&request.text))
        })
        .chain(session.queued.iter().filter(|queued| !queued.text.starts_with('<')).map(|queued| {
            format!(
                "- Queued, but not processed ({}):\n{}",
                record_reference(checkpoint, &queued.seen),
                quote_block(&queued.text)
            )
        }))
        .collect();
    section("What the user asked", &items)
}

fn status_section(checkpoint: &Checkpoint) -> String {
    let mut items = Vec::new();
    if let Some(words) = &checkpoint.session.last_words {
        items.push(format!(
            "- Last message from the agent ({}):\n{}",
            record_reference(checkpoint, &words.seen),
            quote_block(&words.text)
        ));
    }
    let waiting = checkpoint.in_flight.iter();
    for call in waiting.filter(|call| !checkpoint.is_abandoned(&call.seen)) {
        let runs = checkpoint.command_for(call).map(|text| format!(": `{}`", line(text)));
        items.push(format!(
            "- `{}` was called and has not returned ({}){}",
            line(&call.tool),
            record_reference(checkpoint, &call.seen),
            runs.unwrap_or_default(),
        ));
    }
    section("Status", &items)
}

fn tasks_section(checkpoint: &Checkpoint) -> String {
    let items: Vec<String> = checkpoint
        .session
        .tasks
        .iter()
        .map(|task| {
            let done = if task.status.is_open() { ' ' } else { 'x' };
            format!(
                "- [{done}] {} ({}; {})",
                line(&task.subject),
                task.status.as_str(),
                record_reference(checkpoint, &task.changed)
            )
        })
        .collect();
    section("Tasks", &items)
}

fn agents_section(checkpoint: &Checkpoint) -> String {
    let flying = checkpoint.session.agents.iter().filter(|agent| {
        agent.state == AgentState::InFlight && !checkpoint.is_abandoned(&agent.seen)
    });
    let items: Vec<String> = flying
        .map(|agent| {
            let id = line(agent.id.as_deref().unwrap_or("without an id"));
            let asked = agent.prompt.as_deref().or(agent.about.as_deref()).unwrap_or_default();
            format!(
                "- {id} ({}), asked:\n{}",
                record_reference(checkpoint, &agent.seen),
                quote_block(asked)
            )
        })
        .collect();
    section("Agents in flight", &items)
}

fn failures_section(checkpoint: &Checkpoint) -> String {
    let failed = checkpoint.session.commands.iter().filter(|c| c.exit == CommandStatus::Failed);
    let mut items: Vec<String> = failed.map(|command| failure(checkpoint, command)).collect();
    items.extend(checkpoint.session.errors.iter().map(|error| {
        let path =
            error.path.as_deref().map(|path| format!(" on `{}`", line(path))).unwrap_or_default();
        format!(
            "- {}{path} ({}):\n{}",
            line(&error.tool),
            record_reference(checkpoint, &error.seen),
            quote_block(&error.text)
        )
    }));
    let mut text = section("What failed", &items);
    if let Some(older) = checkpoint.session.failed_left_out.filter(|older| *older > 0) {
        text.push_str(&format!("- and {older} older failed commands that were not kept\n"));
    }
    text
}

fn failure(checkpoint: &Checkpoint, command: &ExecutedCommand) -> String {
    let code = command.code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let mut text = format!(
        "- `{}` ({}{code})",
        line(&command.text),
        record_reference(checkpoint, &command.seen)
    );
    match &command.passed_later {
        Some(later) if later.changed.is_empty() => {
            text.push_str(&format!(
                "; it passed later ({})",
                record_reference(checkpoint, &later.seen)
            ));
        }
        Some(later) => {
            let changed: Vec<String> = later.changed.iter().map(|path| line(path)).collect();
            let changed = changed.join(", ");
            text.push_str(&format!(
                "; it passed later ({}), after {changed} changed",
                record_reference(checkpoint, &later.seen)
            ));
        }
        None => {}
    }
    text.push('\n');
    text.push_str(&quote_block(command.error.as_deref().unwrap_or_default()));
    text
}

fn changed_section(checkpoint: &Checkpoint) -> String {
    let state = |path: &str| {
        let artifact = checkpoint.artifacts.iter().find(|artifact| artifact.path == path);
        match artifact.map(|artifact| artifact.state) {
            Some(ArtifactState::Partial) => "; the file on disk differs",
            Some(ArtifactState::Missing) => "; the file is missing",
            Some(ArtifactState::Match) | None => "",
        }
    };
    let items: Vec<String> = checkpoint
        .session
        .files
        .changed()
        .map(|(path, file)| {
            let reverted = match file.reverted.last() {
                Some(seen) => {
                    format!("; a change was reverted ({})", record_reference(checkpoint, seen))
                }
                None => String::new(),
            };
            let left = if checkpoint.is_abandoned_file(file) {
                ", in a part that the user rewound"
            } else {
                ""
            };
            let times = file.writes + file.edits + file.deletions;
            format!("- `{}`: changed {times}×{left}{reverted}{}", line(path), state(path))
        })
        .collect();
    section("Changed files", &items)
}

fn decisions_section(checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    let answers = session.answers.iter().map(|answer| {
        let question = line(&answer.question);
        format!(
            "- {question} ({}):\n{}",
            record_reference(checkpoint, &answer.seen),
            quote_block(&answer.answer)
        )
    });
    let rejected = session.rejections.iter().map(|rejection| {
        let about = rejection.about.as_deref().map(|about| format!(" `{}`", line(about)));
        let said = rejection.said.as_deref().map(quote_block).unwrap_or_default();
        let tool = line(&rejection.tool);
        format!(
            "- Rejected: {tool}{} ({})\n{said}",
            about.unwrap_or_default(),
            record_reference(checkpoint, &rejection.seen)
        )
    });
    section("What the user decided", &answers.chain(rejected).collect::<Vec<_>>())
}

fn plans_section(checkpoint: &Checkpoint) -> String {
    let mut items: Vec<String> = checkpoint
        .session
        .plans
        .iter()
        .map(|plan| {
            let state = plan.state.description();
            let path = plan.path.as_deref().unwrap_or("without a file");
            let text = plan.text.as_deref().map(quote_block).unwrap_or_default();
            format!(
                "- `{}`: {state} ({})\n{text}",
                line(path),
                record_reference(checkpoint, &plan.seen)
            )
        })
        .collect();
    let on_disk = checkpoint.plan_documents.iter();
    items.extend(on_disk.map(|path| format!("- `{}`: found in the project", line(path))));
    if items.is_empty() {
        items.push("- None found.".to_owned());
    }
    section("Plan documents", &items)
}

fn facts_section(checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    let counts = &session.counts;
    let mut items = vec![
        format!("- Client {}, session {}", session.client, line(checkpoint.session_id().as_str())),
        format!(
            "- Records: {} seen, {} understood, {} repeated, {} skipped, {} of unknown kinds",
            counts.seen,
            counts.understood,
            counts.duplicates,
            counts.total_skipped(),
            counts.total_unknown()
        ),
    ];
    if let (Some(began), Some(ended)) = (session.began, session.ended) {
        items.push(format!("- From {} to {}", time::format_time(began), time::format_time(ended)));
    }
    let git = &checkpoint.git;
    if let Some(commit) = &git.commit {
        let branch = git.branch.as_deref().unwrap_or("no branch");
        let late = if git.late { ", long after the last record" } else { "" };
        let when = time::format_time(git.observed_at);
        items.push(format!("- Commit {commit} on {}, seen {when}{late}", line(branch)));
    }
    if let Some(percent) = checkpoint.context_percent {
        items.push(format!("- The context was {percent}% full"));
    }
    if !session.compactions.is_empty() {
        items.push(format!("- Compactions: {}", session.compactions.total()));
    }
    section("Facts", &items)
}

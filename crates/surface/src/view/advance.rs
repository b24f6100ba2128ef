//! Renders `midstride advance`: the findings that block a stage transition, or the documents it
//! wrote.

use super::findings::{self, FindingJson, findings_json};
use super::{count, shell_word};
use crate::json::JsonAnswer;
use midstride::verbs::{DocumentCheck, StageTransition};
use midstride::workspace::Workspace;
use midstride_core::format::finding::{Finding, FindingFix};
use midstride_core::handoff::lifecycle;
use serde::Serialize;

/// The result of an advance that findings block.
#[derive(Serialize)]
pub struct BlockedAdvanceJson {
    advanced: bool,
    from: String,
    to: String,
    blocking: Vec<FindingJson>,
    /// Commands that resolve the findings.
    next: Vec<String>,
}

impl JsonAnswer for BlockedAdvanceJson {
    const SCHEMA: &'static str = "blocked-advance/1";
}

/// The result of an advance to the next stage.
#[derive(Serialize)]
pub struct StageTransitionJson {
    advanced: bool,
    from: String,
    to: String,
    key: String,
    /// The path of the next stage's document.
    draft: String,
    /// Whether the document was created by this command.
    drafted: bool,
    /// The new revision number of the document that was advanced.
    revision: Option<usize>,
    reason: String,
    /// The codes of the findings overridden with `--force`.
    over: Vec<String>,
    outside: bool,
    redacted: Vec<String>,
}

impl JsonAnswer for StageTransitionJson {
    const SCHEMA: &'static str = "advance/1";
}

/// The JSON for an advance to the stage `to` that findings block.
pub fn blocked_json(check: &DocumentCheck, to: &str) -> BlockedAdvanceJson {
    BlockedAdvanceJson {
        advanced: false,
        from: check.key.to_string(),
        to: to.to_owned(),
        blocking: findings_json(check),
        next: next_commands(check),
    }
}

/// The JSON for an advance to the stage `to`.
pub fn stage_transition_json(
    workspace: &Workspace,
    passage: &StageTransition,
    to: &str,
) -> StageTransitionJson {
    let recorded = passage.recorded.as_ref();
    let of_draft = passage.created.iter().flat_map(|created| &created.redacted);
    let of_record = recorded.into_iter().flat_map(|recorded| &recorded.redacted);
    StageTransitionJson {
        advanced: true,
        from: passage.from.handoff(workspace).key().to_string(),
        to: to.to_owned(),
        key: passage.key.to_string(),
        draft: passage.path.display().to_string(),
        drafted: passage.created.is_some(),
        revision: recorded.map(|recorded| recorded.revision),
        reason: passage.reason.clone(),
        over: passage.overridden.iter().map(ToString::to_string).collect(),
        outside: recorded.is_some_and(|recorded| recorded.has_outside_edit),
        redacted: of_draft.chain(of_record).map(|secret| secret.kind.to_string()).collect(),
    }
}

/// The findings that block, with the command to run for each.
pub fn blocked_text(check: &DocumentCheck, to: &str) -> String {
    let key = &check.key;
    let number = check.verdict.findings.len();
    let ending = if number == 1 { "s" } else { "" };
    let mut out =
        format!("`{key}` did not advance to {to}: {} block{ending} it", count(number, "finding"));
    for command in next_commands(check) {
        out.push_str(&format!("\nNext: {command}"));
    }
    let (name, stage) = (shell_word(&key.to_string()), shell_word(to));
    let forced = format!("midstride advance {name} --to {stage} --force --reason \"why\"");
    out.push_str(&format!("\nTo advance anyway: {forced}"));
    out
}

/// The command that helps with each finding, without duplicates.
fn next_commands(check: &DocumentCheck) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for finding in &check.verdict.findings {
        let command = next_command(check, finding);
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

fn next_command(check: &DocumentCheck, finding: &Finding) -> String {
    let key = shell_word(&check.key.to_string());
    match (lifecycle::answer_target(check.document(), finding), &finding.fix) {
        (Some(which), _) if which.starts_with('q') => {
            format!("midstride answer {key} {which} \"the answer\"")
        }
        (Some(which), _) => format!("midstride answer {key} {which} --holds"),
        (None, Some(FindingFix::Command(words))) => findings::shell_command(words),
        (None, _) => format!("midstride edit {key}"),
    }
}

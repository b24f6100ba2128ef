//! The step from one stage to the next: what blocks it, or what was written.

use super::findings::{self, FindingJson, findings_json};
use super::{count, shell_word};
use midstride::verbs::{DocumentCheck, StageTransition};
use midstride::workspace::project::Project;
use midstride_core::format::finding::{Finding, FindingFix};
use midstride_core::handoff::lifecycle;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct BlockedAdvanceJson {
    advanced: bool,
    from: String,
    to: String,
    blocking: Vec<FindingJson>,
    /// The commands that help.
    next: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct StageTransitionJson {
    advanced: bool,
    from: String,
    to: String,
    key: String,
    /// Where the next stage's document lies.
    draft: String,
    /// Whether it was written just now.
    drafted: bool,
    /// The number of the new text of the document that the work comes from.
    revision: Option<usize>,
    reason: String,
    /// The codes that it went over by force.
    over: Vec<String>,
    outside: bool,
    redacted: Vec<String>,
}

pub(crate) fn blocked_json(judged: &DocumentCheck, to: &str) -> BlockedAdvanceJson {
    BlockedAdvanceJson {
        advanced: false,
        from: judged.key.to_string(),
        to: to.to_owned(),
        blocking: findings_json(judged),
        next: next_commands(judged),
    }
}

pub(crate) fn stage_transition_json(
    project: &Project,
    passage: &StageTransition,
    to: &str,
) -> StageTransitionJson {
    let recorded = passage.recorded.as_ref();
    let of_draft = passage.created.iter().flat_map(|created| &created.redacted);
    let of_record = recorded.into_iter().flat_map(|recorded| &recorded.redacted);
    StageTransitionJson {
        advanced: true,
        from: passage.from.handoff(project).key().to_string(),
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

/// What blocks, and what to do about each, in words.
pub(crate) fn blocked_text(judged: &DocumentCheck, to: &str) -> String {
    let key = &judged.key;
    let number = judged.verdict.findings.len();
    let ending = if number == 1 { "s" } else { "" };
    let mut out =
        format!("`{key}` does not advance to {to}: {} block{ending}", count(number, "finding"));
    for command in next_commands(judged) {
        out.push_str(&format!("\nNext: {command}"));
    }
    let (name, stage) = (shell_word(&key.to_string()), shell_word(to));
    let forced = format!("midstride advance {name} --to {stage} --force --reason \"why\"");
    out.push_str(&format!("\nOr go on anyhow: {forced}"));
    out
}

/// The command that helps with each finding, each command once.
fn next_commands(judged: &DocumentCheck) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for finding in &judged.verdict.findings {
        let command = next_command(judged, finding);
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

fn next_command(judged: &DocumentCheck, finding: &Finding) -> String {
    let key = shell_word(&judged.key.to_string());
    match (lifecycle::answer_target(judged.document(), finding), &finding.fix) {
        (Some(which), _) if which.starts_with('q') => {
            format!("midstride answer {key} {which} \"the answer\"")
        }
        (Some(which), _) => format!("midstride answer {key} {which} --holds"),
        (None, Some(FindingFix::Command(words))) => findings::shell_command(words),
        (None, _) => format!("midstride edit {key}"),
    }
}

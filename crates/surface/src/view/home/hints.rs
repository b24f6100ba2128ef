//! The commands that the home screen suggests.

use crate::view::{count, shell_path, shell_word};
use midstride::verbs::{HomeProblem, HomeScreen, NextCommand, ReopenCommand};

/// A problem, and what to do about it.
pub(super) fn problem_text(problem: &HomeProblem) -> (String, String) {
    let (message, fix) = match problem {
        HomeProblem::Untrusted { documents } => {
            let are = if *documents == 1 { "is" } else { "are" };
            let documents = count(*documents, "document");
            (
                format!("{documents} in this repository {are} not trusted"),
                "midstride trust".to_owned(),
            )
        }
        HomeProblem::NoStateFolder => {
            ("the private store is not read".to_owned(), "set HOME or XDG_STATE_HOME".to_owned())
        }
        HomeProblem::HooksOff => {
            ("hooks are off in this project".to_owned(), "midstride on".to_owned())
        }
        HomeProblem::HooksOffInEnvironment => {
            ("hooks are off in this shell".to_owned(), "unset MIDSTRIDE".to_owned())
        }
        HomeProblem::NoHooks(clients) => {
            let titles: Vec<&str> = clients.iter().map(|client| client.title()).collect();
            let verb = if clients.len() == 1 { "runs" } else { "run" };
            let message = format!("{} {verb} no hooks", titles.join(" and "));
            (message, "midstride setup".to_owned())
        }
        HomeProblem::UntrustedHooks(client) => {
            let program = client.profile().program;
            let message = format!("{} skips untrusted hooks", client.title());
            (message, format!("start {program} and trust them"))
        }
        HomeProblem::Uncaptured { sessions } => {
            let is = if *sessions == 1 { "is" } else { "are" };
            let sessions = count(*sessions, "ended session");
            (format!("{sessions} {is} not captured"), "midstride session recover".to_owned())
        }
    };
    (message, fix)
}

/// The command to run next, as typed.
pub(super) fn next_command(home: &HomeScreen) -> String {
    match &home.next {
        NextCommand::Init => "midstride init".to_owned(),
        NextCommand::Trust => "midstride trust".to_owned(),
        NextCommand::Reopen => {
            let reopen = home.last_session.as_ref().and_then(|last| last.reopen.as_ref());
            reopen.map_or_else(|| "midstride brief".to_owned(), reopen_command)
        }
        NextCommand::Answer { handoff, number } => {
            format!("midstride answer {} q{number} \"the answer\"", shell_word(handoff))
        }
        NextCommand::Brief => "midstride brief".to_owned(),
        NextCommand::Recover => "midstride session recover".to_owned(),
        NextCommand::Setup => "midstride setup".to_owned(),
        NextCommand::Advance { handoff, stages } => {
            let stages: Vec<String> = stages.iter().map(|stage| shell_word(stage)).collect();
            let stages = stages.join(", or --to ");
            format!("midstride advance {} --to {stages}", shell_word(handoff))
        }
        NextCommand::ShowHandoff(key) => format!("midstride show {}", shell_word(key)),
        NextCommand::ShowTask(name) => format!("midstride task show {}", shell_word(name)),
        NextCommand::New => "midstride new \"what you found out\"".to_owned(),
    }
}

/// The command that reopens a session.
pub(super) fn reopen_command(reopen: &ReopenCommand) -> String {
    let words: Vec<String> = reopen.words.iter().map(|word| shell_word(word)).collect();
    let folder = reopen.folder.as_deref().map(|folder| format!("cd {} && ", shell_path(folder)));
    format!("{}{}", folder.unwrap_or_default(), words.join(" "))
}

//! Decides when to remind an agent to save a handoff, and when to keep a session from stopping.

use super::BLOCKS_MAX;
use crate::session::{CommandStatus, Session, SessionTaskStatus};
use std::collections::HashMap;

/// Minimum number of failures of one command.
const FAILURES_MIN: usize = 3;
/// Minimum number of changed files.
const FILES_MIN: usize = 10;
/// Context usage in percent above which the context is about to be replaced.
const FULL_PERCENT: u64 = 75;

/// Maximum number of missing parts listed when a session is kept from stopping.
const MISSING_MAX: usize = 5;

/// Why a session should save more than the recorded facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveReason {
    /// The number of times that the user corrected it.
    Corrected(usize),
    /// The number of files with reverted changes.
    Reverted(usize),
    /// The number of times that one command failed.
    RepeatedFailure(usize),
    /// The number of open tasks of a plan that was started.
    Unfinished(usize),
    /// The number of changed files.
    ManyFiles(usize),
    /// Context usage, in percent.
    ContextFull(u64),
}

/// The first reason to save a handoff, or `None` if the recorded facts are enough.
pub fn save_reason(session: &Session) -> Option<SaveReason> {
    let left = session.abandoned();
    let requests = session.requests.iter().filter(|request| !left.has(&request.seen));
    let corrected = requests.filter(|request| request.correction.is_some()).count();
    let changed = session.files.changed();
    let taken_back = changed.filter(|(_, file)| !file.reverted.is_empty()).count();
    let mut failures: HashMap<&str, usize> = HashMap::new();
    for command in session.commands.iter().filter(|command| command.exit == CommandStatus::Failed) {
        *failures.entry(command.text.as_str()).or_default() += 1;
    }
    let failed = failures.into_values().max().unwrap_or_default();
    let is_done = |status: &SessionTaskStatus| *status == SessionTaskStatus::Completed;
    let begun = session.tasks.iter().any(|task| is_done(&task.status));
    let open = session.tasks.iter().filter(|task| begun && task.status.is_open()).count();
    let files = session.files.changed().count();
    let percent = session.context_percent().unwrap_or_default();
    [
        (corrected > 0).then_some(SaveReason::Corrected(corrected)),
        (taken_back > 0).then_some(SaveReason::Reverted(taken_back)),
        (failed >= FAILURES_MIN).then_some(SaveReason::RepeatedFailure(failed)),
        (open > 0).then_some(SaveReason::Unfinished(open)),
        (files >= FILES_MIN).then_some(SaveReason::ManyFiles(files)),
        is_nearly_full(percent).then_some(SaveReason::ContextFull(percent)),
    ]
    .into_iter()
    .flatten()
    .next()
}

fn is_nearly_full(percent: u64) -> bool {
    percent > FULL_PERCENT
}

/// Why to remind the agent to save. If the user turned reminders on, any reason counts; if the user
/// turned them off, none does. By default, only a nearly full context does.
pub fn reminder_reason(session: &Session, turned_on: Option<bool>) -> Option<SaveReason> {
    match turned_on {
        Some(true) => save_reason(session),
        Some(false) => None,
        None => {
            let percent = session.context_percent()?;
            is_nearly_full(percent).then_some(SaveReason::ContextFull(percent))
        }
    }
}

impl SaveReason {
    fn sentence(self) -> String {
        let times = |count: usize| match count {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            more => format!("{more} times"),
        };
        let some = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            more => format!("{more} {many}"),
        };
        match self {
            Self::Corrected(count) => {
                format!("The user corrected the agent {} in this session", times(count))
            }
            Self::Reverted(count) => {
                let files = some(count, "file", "files");
                format!("Changes to {files} were reverted in this session")
            }
            Self::RepeatedFailure(count) => {
                format!("A command failed {} in this session", times(count))
            }
            Self::Unfinished(count) => {
                let tasks = some(count, "task is", "tasks are");
                format!("A plan was started in this session, and {tasks} still open")
            }
            Self::ManyFiles(count) => {
                format!("This session changed {}", some(count, "file", "files"))
            }
            Self::ContextFull(percent) => {
                format!("This session's context is {percent}% full")
            }
        }
    }
}

/// The text of the reminder, which is sent once. Facts are captured without it, but the agent's
/// reasons are not.
pub fn reminder_text(reason: SaveReason) -> String {
    format!(
        "midstride: {}. What was done is captured, but only you can say why it was done, what \
         went wrong and what comes next. Save that before the work is interrupted, with \
         midstride's `save` tool or with `midstride save` (see `midstride save --help`). You \
         will not be reminded again.",
        reason.sentence()
    )
}

/// How complete the handoff of a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffCompleteness {
    /// It passed the gate or was accepted as is.
    Complete,
    /// It is incomplete or does not exist.
    Incomplete {
        /// The handoff, if there is one.
        key: Option<String>,
        /// What to add, one line each.
        gaps: Vec<String>,
    },
}

/// Why a session must not stop yet, with what to add: there is a reason to save and no complete
/// handoff. A session is kept from stopping only [`BLOCKS_MAX`] times.
pub fn stop_block_reason(
    reason: Option<SaveReason>,
    handoff: &HandoffCompleteness,
    before: u8,
) -> Option<String> {
    let reason = reason.filter(|_| before < BLOCKS_MAX)?;
    let HandoffCompleteness::Incomplete { key, gaps } = handoff else { return None };
    let (why, into) = match key {
        Some(key) => {
            (format!("handoff `{key}` did not pass the quality gate"), format!(" --id {key}"))
        }
        None => ("no complete handoff explains why".to_owned(), String::new()),
    };
    let end = if gaps.is_empty() { '.' } else { ':' };
    let mut text = format!(
        "{}, and {why}. Save it with `midstride save{into}` (see `midstride save --help`) before you stop{end}",
        reason.sentence()
    );
    for missing in gaps.iter().take(MISSING_MAX) {
        text += &format!("\n- {missing}");
    }
    if let Some(more) = gaps.len().checked_sub(MISSING_MAX).filter(|more| *more > 0) {
        text += &format!("\n- {more} more, listed when you save");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::id::ClientName;

    fn incomplete(gaps: usize) -> HandoffCompleteness {
        let gaps = (1..=gaps).map(|number| format!("gap {number}")).collect();
        HandoffCompleteness::Incomplete { key: None, gaps }
    }

    #[test]
    fn a_blocked_session_is_told_what_to_add() {
        let text =
            |gaps| stop_block_reason(Some(SaveReason::Corrected(1)), &incomplete(gaps), 0).unwrap();
        assert!(text(0).ends_with("before you stop."), "{}", text(0));
        assert!(text(5).ends_with("before you stop:\n- gap 1\n- gap 2\n- gap 3\n- gap 4\n- gap 5"));
        assert!(text(7).ends_with("\n- gap 5\n- 2 more, listed when you save"), "{}", text(7));
    }

    #[test]
    fn a_session_that_did_little_is_not_blocked() {
        let session = Session::new(ClientName::new("codex"));
        assert_eq!(save_reason(&session), None);
        assert_eq!(stop_block_reason(None, &incomplete(0), 0), None);
    }

    #[test]
    fn by_default_only_a_nearly_full_context_triggers_the_reminder() {
        let used = |context: Option<u64>, window: Option<u64>| {
            let mut session = Session::new(ClientName::new("codex"));
            (session.usage.context, session.usage.window) = (context, window);
            session
        };
        let table = [
            (Some(76_000), Some(100_000), None, Some(SaveReason::ContextFull(76))),
            (Some(75_000), Some(100_000), None, None),
            // Without the window size, the usage is unknown.
            (Some(76_000), None, None, None),
            (None, Some(100_000), None, None),
            (Some(76_000), Some(100_000), Some(false), None),
            (Some(76_000), Some(100_000), Some(true), Some(SaveReason::ContextFull(76))),
        ];
        for (context, window, turned_on, expected) in table {
            assert_eq!(reminder_reason(&used(context, window), turned_on), expected, "{context:?}");
        }
    }

    #[test]
    fn a_session_is_blocked_at_most_twice() {
        let reason = Some(SaveReason::Corrected(2));
        let blocked = |handoff, before| stop_block_reason(reason, handoff, before).is_some();
        let incomplete = &incomplete(1);
        assert_eq!([0, 1, 2].map(|before| blocked(incomplete, before)), [true, true, false]);
        assert!(!blocked(&HandoffCompleteness::Complete, 0));
        assert!(reminder_text(SaveReason::ContextFull(80)).contains("80% full"));
    }
}

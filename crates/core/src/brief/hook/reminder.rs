//! Whether a session knows something that its transcript does not tell, and who is told so.

use super::BLOCKS_MAX;
use crate::session::{CommandStatus, Session, SessionTaskStatus};
use std::collections::HashMap;

/// A command that failed so often was tried again and again.
const FAILURES_MIN: usize = 3;
/// So many changed files are much work.
const FILES_MIN: usize = 10;
/// A context that is fuller than this is soon replaced.
const FULL_PERCENT: u64 = 75;

/// So many gaps are named to whoever wants to stop.
const MISSING_MAX: usize = 5;

/// What makes the word of the agent worth more than the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveReason {
    /// So many times the user corrected it.
    Corrected(usize),
    /// Changes of so many files were taken back.
    Reverted(usize),
    /// A command failed so often.
    RepeatedFailure(usize),
    /// So many tasks of a plan that was begun are open.
    Unfinished(usize),
    /// So many files were changed.
    ManyFiles(usize),
    /// The context is so full, in percent.
    ContextFull(u64),
}

/// What is worth telling of a session, the first reason of all; none where the facts are enough.
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

/// Why the agent of a session is reminded to save: always where there is something to save and the user
/// turned reminders on, never where the user turned them off, else where the client's records show that
/// its context is nearly full.
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
            Self::Corrected(count) => format!("The user corrected this session {}", times(count)),
            Self::Reverted(count) => {
                let files = some(count, "file", "files");
                format!("Changes of {files} were taken back in this session")
            }
            Self::RepeatedFailure(count) => {
                format!("A command failed {} in this session", times(count))
            }
            Self::Unfinished(count) => {
                let tasks = some(count, "task is", "tasks are");
                format!("A plan was begun in this session, and {tasks} open")
            }
            Self::ManyFiles(count) => {
                format!("This session changed {}", some(count, "file", "files"))
            }
            Self::ContextFull(percent) => {
                format!("The context of this session is {percent} % full")
            }
        }
    }
}

/// What an agent is told once: facts are kept without it, its own words are not.
pub fn reminder_text(worth: SaveReason) -> String {
    format!(
        "midstride: {}. What was done is captured; why, what was wrong and what comes next only you \
         can say. Save that before the work is interrupted, with midstride's `save` tool or with \
         `midstride save` (see `midstride save --help`). You will not be reminded again.",
        worth.sentence()
    )
}

/// What the handoff of a session tells of it so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffCompleteness {
    /// It passed the gate, or was accepted as it is.
    Complete,
    /// Not all, or there is none.
    Incomplete {
        /// The handoff, where there is one.
        key: Option<String>,
        /// What to add, each in a line.
        gaps: Vec<String>,
    },
}

/// Why a session must not stop yet, with what to add: something is worth telling, and no handoff of
/// it tells. It is kept from stopping a few times, never for ever.
pub fn stop_block_reason(
    worth: Option<SaveReason>,
    handed: &HandoffCompleteness,
    before: u8,
) -> Option<String> {
    let worth = worth.filter(|_| before < BLOCKS_MAX)?;
    let HandoffCompleteness::Incomplete { key, gaps } = handed else { return None };
    let (why, into) = match key {
        Some(key) => (format!("handoff `{key}` did not pass the gate"), format!(" --id {key}")),
        None => ("no handoff that passed the gate tells why".to_owned(), String::new()),
    };
    let end = if gaps.is_empty() { '.' } else { ':' };
    let mut text = format!(
        "{}, and {why}. Say it with `midstride save{into}` (`midstride save --help` tells how) \
         before you stop{end}",
        worth.sentence()
    );
    for gap in gaps.iter().take(MISSING_MAX) {
        text += &format!("\n- {gap}");
    }
    if let Some(more) = gaps.len().checked_sub(MISSING_MAX).filter(|more| *more > 0) {
        text += &format!("\n- {more} more; saving names them");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Client;

    fn lacking(gaps: usize) -> HandoffCompleteness {
        let gaps = (1..=gaps).map(|number| format!("gap {number}")).collect();
        HandoffCompleteness::Incomplete { key: None, gaps }
    }

    #[test]
    fn whoever_is_kept_is_told_what_to_add() {
        let text =
            |gaps| stop_block_reason(Some(SaveReason::Corrected(1)), &lacking(gaps), 0).unwrap();
        assert!(text(0).ends_with("before you stop."), "{}", text(0));
        assert!(text(5).ends_with("before you stop:\n- gap 1\n- gap 2\n- gap 3\n- gap 4\n- gap 5"));
        assert!(text(7).ends_with("\n- gap 5\n- 2 more; saving names them"), "{}", text(7));
    }

    #[test]
    fn a_session_that_did_little_is_left_alone() {
        let session = Session::new(Client::Codex);
        assert_eq!(save_reason(&session), None);
        assert_eq!(stop_block_reason(None, &lacking(0), 0), None);
    }

    #[test]
    fn the_reminder_is_off_unless_the_context_is_over_75_percent_full_or_it_was_turned_on() {
        let used = |context: Option<u64>, window: Option<u64>| {
            let mut session = Session::new(Client::Codex);
            (session.usage.context, session.usage.window) = (context, window);
            session
        };
        let table = [
            (Some(76_000), Some(100_000), None, Some(SaveReason::ContextFull(76))),
            (Some(75_000), Some(100_000), None, None),
            // How full it is, is not known.
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
    fn nobody_is_kept_for_ever() {
        let worth = Some(SaveReason::Corrected(2));
        let blocked = |handed, before| stop_block_reason(worth, handed, before).is_some();
        let lacking = &lacking(1);
        assert_eq!([0, 1, 2].map(|before| blocked(lacking, before)), [true, true, false]);
        assert!(!blocked(&HandoffCompleteness::Complete, 0));
        assert!(reminder_text(SaveReason::ContextFull(80)).contains("80 % full"));
    }
}

//! Diagnostics for the ledger and what it stores: tasks, missions, workflow states, delivery
//! records.

use super::{CANDIDATES_MAX, Diagnostic, REDACT_HINT, trust_hint};
use crate::view::{one_line, shell_path, shell_word};
use midstride::store::ledger::{AppendError, DatabaseError, LedgerError};
use midstride::store::reconcile::ReconcileError;
use midstride::sys::files::FileError;
use midstride::sys::git::GitError;
use midstride::verbs::{
    DeliveryError, DismissError, ForgetError, ID_PREFIX_LENGTH_MIN, MissionError, SyncError,
    TaskError, WorkflowError,
};
use midstride_core::work::task;
use midstride_core::work::task::TaskNotFound;

/// How to start a new ledger. SQLite would delete a log without its database.
const NEW_LEDGER_HINT: &str = "or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks";

impl From<LedgerError> for Diagnostic {
    fn from(error: LedgerError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            LedgerError::Unavailable(_) => {
                diagnostic.hint("another process may be using it; try again")
            }
            LedgerError::Forgotten(_) => diagnostic.hint(REDACT_HINT),
            LedgerError::Cursor(_) => {
                diagnostic.hint("take it from `sequence` in `midstride events --json`")
            }
            LedgerError::Engine(engine) => match engine.downcast::<FileError>() {
                Ok(error) => (*error).into(),
                Err(engine) => match engine.downcast_ref() {
                    Some(error) => database_hints(diagnostic, error),
                    None => diagnostic,
                },
            },
            _ => diagnostic,
        }
    }
}

/// What to do about a database that cannot be used.
fn database_hints(diagnostic: Diagnostic, error: &DatabaseError) -> Diagnostic {
    match error {
        DatabaseError::Newer { .. } => diagnostic.hint("update midstride; nothing was changed"),
        DatabaseError::Damaged { path, .. } => {
            let is_database = path.extension().is_some_and(|it| it == "db");
            diagnostic.hint(format!("restore `{}` from a backup", path.display())).hint(
                match is_database {
                    true => NEW_LEDGER_HINT,
                    false => {
                        "or move it out of the way: midstride rebuilds what it can from transcripts"
                    }
                },
            )
        }
        DatabaseError::Emptied { path } => diagnostic
            .hint(format!("restore `{}` and its log `ledger.db-wal` from a backup", path.display()))
            .hint(NEW_LEDGER_HINT),
        DatabaseError::OrphanedLog { .. } => diagnostic
            .hint("nothing was changed; restore both files from a backup")
            .hint(NEW_LEDGER_HINT),
        _ => diagnostic,
    }
}

impl From<AppendError> for Diagnostic {
    fn from(error: AppendError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            AppendError::Conflict { .. } | AppendError::Busy(_) => {
                diagnostic.hint("other processes are writing to it; nothing was changed, try again")
            }
            AppendError::Unavailable(_) => diagnostic.hint(
                "nothing was changed; `midstride doctor` prints its path: check that it is intact and writable",
            ),
            AppendError::Ambiguous(_) => {
                diagnostic.hint("check whether it was recorded; if not, try again")
            }
            AppendError::TooLarge(_) => {
                diagnostic.hint("put the long text into a handoff or a file, and refer to it")
            }
            AppendError::Empty | _ => diagnostic,
        }
    }
}

impl From<ReconcileError> for Diagnostic {
    fn from(error: ReconcileError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ReconcileError::Newer(_) => diagnostic.hint("update midstride; nothing was changed"),
            ReconcileError::Read(error) => error.into(),
            ReconcileError::Append(_) => diagnostic.hint("the documents are unchanged"),
            _ => diagnostic,
        }
    }
}

impl From<DeliveryError> for Diagnostic {
    fn from(error: DeliveryError) -> Self {
        match error {
            DeliveryError::NotSetUp => Self::from_error(&error)
                .hint("run `midstride init` first; until then nothing is written"),
            DeliveryError::Read(error) => error.into(),
            DeliveryError::Append(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<DismissError> for Diagnostic {
    fn from(error: DismissError) -> Self {
        match error {
            DismissError::NoSuch { ref known, .. } => {
                let hint = match known.is_empty() {
                    true => "no earlier session left anything open here".to_owned(),
                    false => format!("open items: {}", known.join(", ")),
                };
                Self::from_error(&error).hint(hint)
            }
            DismissError::Several { ref known, .. } => Self::from_error(&error)
                .hint(format!("type more of the handle: {}", known.join(", "))),
            DismissError::AlreadyClosed { .. } => {
                Self::from_error(&error).hint("midstride dismiss lists what is open")
            }
            DismissError::OnlyUser { ref handle } => Self::from_error(&error)
                .hint(format!("ask the user to run midstride dismiss {handle} in a terminal")),
            DismissError::OnlyUserNote(ref path) => {
                let path = shell_path(path);
                Self::from_error(&error)
                    .hint(format!("ask the user to run midstride dismiss {path} in a terminal"))
            }
            DismissError::IsHandoff(ref key) => {
                let key = shell_word(&key.to_string());
                Self::from_error(&error).hint(format!("close it with midstride resolve {key}"))
            }
            DismissError::NotDismissed(_) => {
                Self::from_error(&error).hint("midstride dismiss lists dismissed notes")
            }
            DismissError::File(error) => error.into(),
            DismissError::Delivery(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<TaskNotFound> for Diagnostic {
    fn from(error: TaskNotFound) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            TaskNotFound::None(_) => diagnostic
                .hint_per_surface(
                    "`midstride task list --all` lists all tasks",
                    "`tasks` with `all` lists all tasks",
                )
                .hint("`midstride sync` fetches tasks from other clones"),
            TaskNotFound::Ambiguous { candidates, .. } => {
                let shown = candidates.iter().take(CANDIDATES_MAX);
                let shown = shown.map(|(id, subject)| format!("{id}  {}", one_line(subject, 60)));
                shown.fold(diagnostic, Self::hint).hint("specify one of them")
            }
            _ => diagnostic,
        }
    }
}

impl From<TaskError> for Diagnostic {
    fn from(error: TaskError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            TaskError::NotSetUp => diagnostic
                .hint("run `midstride init` to set it up, or `midstride init --private` to commit nothing"),
            TaskError::Untrusted(_) => trust_hint(diagnostic),
            TaskError::Find(error) => error.into(),
            TaskError::Refused { why: task::TaskRefusal::NewerEvent(_), .. } => {
                diagnostic.hint("update midstride; nothing was changed")
            }
            TaskError::Refused { why: task::TaskRefusal::DependencyCycle(circle), .. } => match &circle[..] {
                // The first dependency in the cycle is the one that was refused, so suggest
                // removing the second.
                [_, one, before, ..] => diagnostic.hint_per_surface(
                    format!(
                        "break the cycle with `midstride task update {one} --no-longer-depends-on {before}`"
                    ),
                    format!("omit it from `after`: {one} waits for {before}"),
                ),
                _ => diagnostic,
            },
            TaskError::Refused { why: task::TaskRefusal::ReasonWithoutBlock, .. } => diagnostic.hint_per_surface(
                "add `--status blocked`, or use `midstride task note`",
                "add `status` `blocked`, or give a `note`",
            ),
            TaskError::Refused { id, .. } => diagnostic.hint_per_surface(
                format!("`midstride task show {id}` shows its status"),
                format!("`tasks` with `task` `{id}` shows its status"),
            ),
            TaskError::EndOfTime(_) => diagnostic.hint(
                "nothing was changed; run `midstride events` to find the entry with the wrong time",
            ),
            TaskError::Read(error) => error.into(),
            TaskError::Append(error) => error.into(),
            TaskError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<MissionError> for Diagnostic {
    fn from(error: MissionError) -> Self {
        match error {
            MissionError::Newer(_) => {
                Self::from_error(&error).hint("update midstride; nothing was changed")
            }
            MissionError::NoSuch { .. } => Self::from_error(&error)
                .hint("`midstride task mission --history` shows the numbers; nothing was captured"),
            MissionError::Task(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<WorkflowError> for Diagnostic {
    fn from(error: WorkflowError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            WorkflowError::SecretName(_) => diagnostic.hint("give it another name"),
            WorkflowError::Name { .. } => {
                diagnostic.hint("use lowercase letters, digits and hyphens")
            }
            WorkflowError::NoObject => diagnostic
                .hint("give an object, such as {\"step\": 2, \"waiting_for\": \"review\"}"),
            WorkflowError::TooLarge(_) => diagnostic.hint(
                "keep only what the next session needs; refer to files instead of quoting them",
            ),
            WorkflowError::NoSuch { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            WorkflowError::NoSuch { .. } => diagnostic.hint_per_surface(
                "`midstride session state` lists the saved states",
                "save a complete state under this name first",
            ),
            WorkflowError::NoNumber { .. } => diagnostic.hint("state 1 is the oldest"),
            WorkflowError::Forgotten { .. } => diagnostic.hint("other states may still exist"),
            WorkflowError::Unwritable => diagnostic.hint("remove the secret"),
            WorkflowError::Newer(_) => diagnostic.hint("update midstride; nothing was changed"),
            WorkflowError::Task(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<ForgetError> for Diagnostic {
    fn from(error: ForgetError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ForgetError::NoId(_) => diagnostic
                .hint(format!("an id is hexadecimal; type at least {ID_PREFIX_LENGTH_MIN} digits"))
                .hint("`ID@2` is the second revision of a handoff"),
            ForgetError::NoSuch(_) => diagnostic
                .hint("`midstride events --json` lists the ids, in `was` and `blob`")
                .hint("`ID@2` is the second revision of a handoff"),
            ForgetError::Several { found, .. } => {
                let more = found.len().saturating_sub(CANDIDATES_MAX);
                let shown = found.iter().take(CANDIDATES_MAX);
                let diagnostic = shown.fold(diagnostic, |diagnostic, (id, what)| {
                    diagnostic.hint(format!("{id}  {}", one_line(what, 60)))
                });
                let diagnostic =
                    if more > 0 { diagnostic.hint(format!("and {more} more")) } else { diagnostic };
                diagnostic.hint("type more of the id")
            }
            ForgetError::Current { key, number } => {
                let key = shell_word(&key);
                diagnostic
                    .hint(format!("remove it first: midstride edit {key}"))
                    .hint(format!("then midstride forget {key}@{number}"))
            }
            ForgetError::Revision(error) => error.into(),
            ForgetError::Git(error) => {
                Self::from_error(&error).hint("run the command again to finish")
            }
            ForgetError::Ledger(error) => Self::from(error).hint("run the command again to finish"),
            ForgetError::Append(error) => error.into(),
            ForgetError::Index(error) => error.into(),
            ForgetError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<SyncError> for Diagnostic {
    fn from(error: SyncError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            SyncError::NoRepository => diagnostic.hint("create one with `git init`"),
            SyncError::Forbidden(_) => diagnostic.hint("ask the administrator of this machine"),
            SyncError::Untrusted => trust_hint(diagnostic),
            SyncError::NoRemote => {
                diagnostic.hint("add one with `git remote add origin URL`, then run it again")
            }
            SyncError::WhichRemote(known) => {
                let first = known.first().map(String::as_str).unwrap_or_default();
                diagnostic.hint(format!("choose one: midstride sync {}", shell_word(first)))
            }
            SyncError::UnknownRemote { known, .. } => {
                diagnostic.hint(format!("the remotes are {}", known.join(", ")))
            }
            SyncError::Tasks(error) => error.into(),
            SyncError::Git(error @ GitError::Refused { .. }) => Self::from_error(&error)
                .hint("nothing is lost; run it again when the remote is reachable and accepts it"),
            SyncError::Local(error) | SyncError::Git(error) => error.into(),
            _ => diagnostic,
        }
    }
}

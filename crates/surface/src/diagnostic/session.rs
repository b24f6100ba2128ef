//! Diagnostics for capturing and saving sessions.

use super::{Diagnostic, HasErrorCode as _, REDACT_HINT};
use crate::view::shell_word;
use midstride::clients::home_variables;
use midstride::verbs::{CheckpointError, NewError, SaveError, StartError, SubjectError, WhyError};
use midstride_core::format::header::StartupKind;
use midstride_core::session::author_notes::{AuthorNotesError, NotesJsonError};

/// The hint for MCP tools when a session has no readable transcript.
const SESSION_NONE_HINT: &str = "`session` takes a session id, or `none` to use only git and tasks";

/// The hint for transcripts that were not found.
fn transcript_hint() -> String {
    format!(
        "for a transcript stored elsewhere or from a project that was moved, use `--transcript`; if a client's home folder is in another location, set {}",
        home_variables()
    )
}

impl From<WhyError> for Diagnostic {
    fn from(error: WhyError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            WhyError::NoRepository => diagnostic.hint("change to a folder in a git repository"),
            WhyError::NoCommit(_) => {
                diagnostic.hint("give a commit, or a line such as src/app.rs:14")
            }
            WhyError::Outside(_) => diagnostic.hint("give a file in this repository"),
            WhyError::NotCommitted(_) | WhyError::LineNotCommitted { .. } => {
                diagnostic.hint("commit it first")
            }
            WhyError::Git(error) => error.into(),
            WhyError::File(error) => error.into(),
            WhyError::Ledger(error) => error.into(),
            WhyError::Workspace(error) => error.into(),
            WhyError::NoLine { .. } | _ => diagnostic,
        }
    }
}

impl From<SubjectError> for Diagnostic {
    fn from(error: SubjectError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            SubjectError::NotFound(_) => {
                diagnostic.hint("run midstride session list or midstride list to see the names")
            }
            SubjectError::NoSession => diagnostic.hint("give a handoff from midstride list"),
            SubjectError::NotCaptured(_) => {
                diagnostic.hint("midstride session recover captures it")
            }
            SubjectError::Find(error) => error.into(),
            SubjectError::Checkpoint(error) => error.into(),
            SubjectError::Ledger(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<StartError> for Diagnostic {
    fn from(error: StartError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            StartError::NotInstalled { .. } => diagnostic.hint("choose another client with --in"),
            StartError::Automation(_) | StartError::NotStarted(..) => {
                diagnostic.hint("midstride continue --print prints the command to type")
            }
            _ => diagnostic,
        }
    }
}

impl From<CheckpointError> for Diagnostic {
    fn from(error: CheckpointError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            CheckpointError::NotSetUp => diagnostic
                .hint("run `midstride init` to set it up, or `midstride init --private` to commit nothing"),
            CheckpointError::NoSession(unread) => match unread.into_iter().next() {
                Some(error) => diagnostic
                    .hint_per_surface(format!("{error}"), format!("{error}; {SESSION_NONE_HINT}")),
                None => diagnostic.hint_per_surface(transcript_hint(), SESSION_NONE_HINT),
            },
            CheckpointError::NoTranscript(_) => diagnostic.hint_per_surface(
                "use `--session` or `--transcript` to select another session",
                SESSION_NONE_HINT,
            ),
            CheckpointError::NoSuch(_) => diagnostic
                .hint_per_surface("`midstride session list` shows them all", SESSION_NONE_HINT),
            CheckpointError::Several { .. } => diagnostic.hint("type more of the id"),
            CheckpointError::OtherProject { cwd, .. } => diagnostic.hint_per_surface(
                format!("capture it there: `midstride -C {}`", shell_word(&cwd)),
                SESSION_NONE_HINT,
            ),
            CheckpointError::NotUnderstood { .. } => diagnostic.hint_per_surface(
                "check that it is a UTF-8 transcript; use `--client` to specify its client",
                SESSION_NONE_HINT,
            ),
            CheckpointError::Forgotten { .. } => diagnostic.hint(REDACT_HINT).hint_per_surface(
                "`save --no-session` saves your text without session facts",
                SESSION_NONE_HINT,
            ),
            CheckpointError::File(error) => error.into(),
            CheckpointError::Ledger(error) => error.into(),
            CheckpointError::Append(_) => diagnostic.hint("try again; nothing was lost"),
            _ => diagnostic,
        }
    }
}

impl From<SaveError> for Diagnostic {
    fn from(error: SaveError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            SaveError::NotSetUp => diagnostic
                .hint("run `midstride init` to set it up, or `midstride init --private` to commit nothing"),
            SaveError::OtherProject => diagnostic.hint("omit `-C`"),
            SaveError::TranscriptOutside(_) => {
                diagnostic.hint("`midstride session list` shows this project's sessions")
            }
            SaveError::BodyOutside(_) => diagnostic
                .hint("an agent can pass the text on standard input with `--body -`")
                .hint("or write the file inside the project"),
            SaveError::StartupStep { kind, .. } => match kind {
                StartupKind::Skill => diagnostic.hint_per_surface(
                    "`--skill` takes a skill name followed by its arguments",
                    "`skills` takes skill names, each followed by its arguments",
                ),
                StartupKind::Read => diagnostic.hint_per_surface(
                    "`--read` takes the path of a file in the project",
                    "`read` takes the paths of files in the project",
                ),
                StartupKind::Task | StartupKind::Constraint => diagnostic.hint(
                    "write one short sentence; a command that demonstrates something belongs under `proofs`",
                ),
            },
            // The conversion of `CheckpointError` already adds the `none` hint for MCP tools.
            SaveError::Checkpoint(
                error @ (CheckpointError::NoSession(_) | CheckpointError::NoTranscript(_)),
            ) => Self::from(error)
                .hint_for_terminal("`--no-session` saves your text with facts from git and tasks"),
            SaveError::Checkpoint(error) => error.into(),
            SaveError::Several { .. } => {
                diagnostic.hint_per_surface("choose one with `--id`", "choose one with `handoff`")
            }
            SaveError::OtherKind { key, .. } => diagnostic
                .hint_per_surface(
                    format!("`midstride edit {}` replaces its text", shell_word(&key)),
                    "`revise` replaces its text",
                )
                .hint_per_surface(
                    "omit `--id` to save a new handoff",
                    "omit `handoff` to save a new handoff",
                ),
            SaveError::Closed { .. } => diagnostic.hint_per_surface(
                "to save a new handoff, omit `--id` or give a new one",
                "to save a new handoff, omit `handoff` or give a new one",
            ),
            SaveError::New(error @ NewError::Nameless) => Self::from_error(&error)
                .hint_per_surface("give it a title with `--title`", "give it a title with `title`"),
            SaveError::Find(error) => error.into(),
            SaveError::New(error) => error.into(),
            SaveError::Tasks(error) => error.into(),
            SaveError::Refused(_) => diagnostic.hint_per_surface(
                "`midstride edit` changes it by hand",
                "`revise` replaces its text",
            ),
            SaveError::Journal(error) => error.into(),
            SaveError::NotReadBack { .. } => diagnostic
                .hint("another process may be writing there; look at the file, then save again"),
            SaveError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<AuthorNotesError> for Diagnostic {
    fn from(error: AuthorNotesError) -> Self {
        let message = format!("invalid input: {error}");
        let diagnostic = Self::with_code(error.code(), message);
        match error {
            AuthorNotesError::Empty => diagnostic
                .hint_per_surface(
                    "use flags, as in `midstride save --summary \"...\" --next \"...\"`",
                    "use `summary` and `next`",
                )
                .hint_per_surface(
                    "or in Markdown or JSON with `--body -`",
                    "or in Markdown with `body`",
                ),
            AuthorNotesError::Syntax(_) => diagnostic.hint("Markdown must not start with a brace"),
            AuthorNotesError::Json(NotesJsonError::UnknownKey { nearest: Some(near), .. }) => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            AuthorNotesError::Json(NotesJsonError::UnknownKey { known, .. }) => {
                diagnostic.hint(format!("valid keys are {}", known.join(", ")))
            }
            AuthorNotesError::Header(_) => diagnostic.hint("fix the header, or omit it"),
            AuthorNotesError::Json(NotesJsonError::WrongKind { .. }) | _ => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_none_hint_for_tools_is_given_once() {
        let error = SaveError::Checkpoint(CheckpointError::NoSession(Vec::new()));
        let diagnostic = Diagnostic::from(error);
        assert_eq!(diagnostic.hints_for_tools().collect::<Vec<_>>(), [SESSION_NONE_HINT]);
        assert_eq!(diagnostic.hints().count(), 2);
    }
}

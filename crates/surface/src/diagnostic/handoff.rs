//! Diagnostics for handoffs and for changes to them.

use super::{CONVERT_HINT, Diagnostic, ErrorCode};
use crate::view::{shell_path, shell_word};
use midstride::journal::JournalError;
use midstride::store::revisions::RevisionError;
use midstride::verbs::{
    AdvanceError, ApplyError, DiffError, DriverError, EditError, FmtError, MergeError, NewError,
    ResolveInputError, ReviewError, ReviseError, ShareError, UndoError,
};
use midstride::workspace::FindError;
use midstride_core::format::document::DocumentEditError;
use midstride_core::handoff::lifecycle::LifecycleRefusal;

/// The header fields that make a closed handoff open again.
const REOPEN_FIELDS: &str =
    "with `status: in_progress` and without `resolution` or `superseded_by`";

impl From<NewError> for Diagnostic {
    fn from(error: NewError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            NewError::NotSetUp => diagnostic
                .hint("run `midstride init` to set it up, or `midstride init --private` to commit nothing"),
            NewError::Nameless => diagnostic.hint("midstride new \"Market pages take 14 s\""),
            NewError::BadId { .. } => diagnostic.hint_per_surface(
                "omit `--id` to generate one from the title",
                "omit `handoff` to generate one from the title",
            ),
            NewError::SecretId(_) => {
                diagnostic.hint("give it another id, or omit the id to generate one from the title")
            }
            NewError::UnknownStage { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            NewError::UnknownStage { known, .. } => {
                diagnostic.hint(format!("the stages are {}", known.join(", ")))
            }
            NewError::Exists { key, .. } => {
                let key = shell_word(&key.to_string());
                diagnostic.hint_per_surface(
                    format!("to change it, use `midstride edit {key}`; to choose another name, use `--id`"),
                    "to change it, use `revise`; to choose another name, pass a different `handoff` or `title`",
                )
            }
            NewError::CommitsNothing => {
                diagnostic.hint("omit `--committed` to create a private handoff")
            }
            NewError::TwoTexts(_) => diagnostic.hint("omit either `--from` or `--body`"),
            NewError::NotUtf8(_) => diagnostic.hint(CONVERT_HINT),
            NewError::Folder(_) => diagnostic.hint("specify a file in it"),
            NewError::Upstream(error @ FindError::NotMarkdown(_)) => {
                Self::from(error).hint("`midstride new TITLE --body FILE` takes any text")
            }
            NewError::Upstream(error) => error.into(),
            NewError::Header(_) => diagnostic.hint("fix the header of the text, then try again"),
            NewError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<EditError> for Diagnostic {
    fn from(error: EditError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            EditError::NoEditor => diagnostic.hint("set EDITOR, for instance `EDITOR=vim`"),
            EditError::Untouched => {
                diagnostic.hint("add `--no-edit` to create it and fill it in later")
            }
            EditError::Editor { kept, .. } | EditError::NotUtf8 { kept } => {
                diagnostic.hint(format!("your text is in `{}`", kept.display()))
            }
            EditError::NotSaved { why, kept } => {
                Self::from(*why).hint(format!("your text is in `{}`", kept.display()))
            }
            EditError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<RevisionError> for Diagnostic {
    fn from(error: RevisionError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            RevisionError::NotFound { key, last, .. } => {
                diagnostic.hint(format!("the newest one is `{key}@{last}`"))
            }
            RevisionError::NotLocal { .. } => diagnostic
                .hint("`midstride sync` fetches the revisions that others have shared with it"),
            RevisionError::Forgotten { .. } => {
                diagnostic.hint("the history still lists it, but its text was permanently deleted")
            }
            RevisionError::Git(error) => error.into(),
            RevisionError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<JournalError> for Diagnostic {
    fn from(error: JournalError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            JournalError::NoHeader(path) => {
                let path = shell_path(&path);
                diagnostic
                    .hint(format!("`midstride new --from {path}` turns it into a handoff"))
                    .hint(format!("`midstride dismiss {path}` keeps it out of briefings"))
            }
            JournalError::Conflicted(path) => diagnostic
                .hint(format!(
                    "run midstride merge {} to merge what can be merged",
                    shell_path(&path)
                ))
                .hint("resolve the remaining conflicts, then run the command again"),
            JournalError::Refused(DocumentEditError::RedactionWouldCorrupt { .. }) => diagnostic
                .hint("remove the secret by hand, or fix the rule in `.midstride/config.toml`"),
            JournalError::Refused(_) => diagnostic.hint_per_surface(
                "`midstride check` shows what is wrong with it",
                "`check` shows what is wrong with it",
            ),
            JournalError::Revision(error) => error.into(),
            JournalError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<ReviseError> for Diagnostic {
    fn from(error: ReviseError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ReviseError::Conflict { key, kept, redacted, .. } => {
                let secrets = redacted.iter().map(|secret| &secret.kind);
                let secrets = secrets.map(|kind| format!("redacted a secret: {kind}"));
                secrets
                    .fold(diagnostic, Self::hint)
                    .hint(format!(
                        "`{}` contains both versions between conflict markers; resolve the conflicts there",
                        kept.display()
                    ))
                    .hint_per_surface(
                        format!(
                            "then run midstride edit {} --reason \"...\" --body {}",
                            shell_word(&key),
                            shell_path(&kept)
                        ),
                        "then call `revise` with the resolved text; or call `get` for the current text, add your changes, and pass the result to `revise`",
                    )
            }
            ReviseError::OtherHandoff { key, .. } => diagnostic
                .hint("specify the handoff that the text belongs to")
                .hint(format!("without its header, the text replaces only the body of `{key}`")),
            ReviseError::Header { fix: mend, .. } => diagnostic.hint(mend),
            ReviseError::Empty(key) => diagnostic.hint_per_surface(
                format!("abandon it with midstride resolve {} --abandon REASON", shell_word(&key)),
                "abandon it by calling `resolve` with `abandoned`",
            ),
            ReviseError::Journal(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<ReviewError> for Diagnostic {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Apply(error) => error.into(),
            ReviewError::Revise(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<ApplyError> for Diagnostic {
    fn from(error: ApplyError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ApplyError::Refused { why: LifecycleRefusal::HeldWithCorrection, .. } => {
                diagnostic.hint("omit `--dropped` and `--body`, or give `--verdict corrected`")
            }
            ApplyError::Refused {
                key,
                why: LifecycleRefusal::NotDerived { to, from, is, next },
            } => {
                let (key, to) = (shell_word(&key), shell_word(&to));
                match (from.is_empty(), is) {
                    (true, _) => {
                        diagnostic.hint(format!("create one with `midstride new --stage {to}`"))
                    }
                    (false, Some(_)) => next.iter().fold(diagnostic, |diagnostic, next| {
                        let next = shell_word(next);
                        diagnostic.hint(format!("try `midstride advance {key} --to {next}`"))
                    }),
                    (false, None) => diagnostic.hint(format!(
                        "`midstride new --stage {to} --from {key}` drafts one that builds on it"
                    )),
                }
            }
            ApplyError::Refused { key, why: LifecycleRefusal::AlreadyClosed(_) } => {
                let key = shell_word(&key);
                diagnostic.hint_per_surface(
                    format!("reopen it with midstride reopen {key}"),
                    format!("reopen it with `revise`: pass the whole text {REOPEN_FIELDS}"),
                )
            }
            ApplyError::Refused { key, why: LifecycleRefusal::ReviewBlocks(_) } => {
                let key = shell_word(&key);
                diagnostic
                    .hint_per_surface(
                        format!("answer its blocking questions, and record the new verdict with `midstride edit {key}`"),
                        "answer its blocking questions, and record the new verdict with `revise`",
                    )
                    .hint_per_surface(
                        "or close it with `--by ID` or `--abandon REASON`",
                        "or close it with `superseded_by` or `abandoned`",
                    )
            }
            ApplyError::Refused {
                why: LifecycleRefusal::MeasurementDiffers { name, .. }, ..
            } => {
                let measured = shell_word(&format!("{name}=AFTER"));
                diagnostic.hint(format!("give only the new number: `--measured {measured}`"))
            }
            ApplyError::Refused { key, .. } => {
                let key = shell_word(&key);
                diagnostic.hint_per_surface(
                    format!("`midstride show {key}` shows its status"),
                    "`get` shows its status",
                )
            }
            ApplyError::RequiresUser { .. } => diagnostic.hint_per_surface(
                "its `suggested_owner` is the user, who must answer it in a terminal",
                "ask the user to answer with `midstride answer` in a terminal",
            ),
            ApplyError::NoCommit(_) => diagnostic.hint_per_surface(
                "commit first, or give `--outcome` instead",
                "commit first, or give `outcome` instead",
            ),
            ApplyError::Journal(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<DiffError> for Diagnostic {
    fn from(error: DiffError) -> Self {
        match error {
            DiffError::NeverRevised(_) => {
                Self::from_error(&error).hint("`midstride edit` adds a second revision")
            }
            DiffError::Revision(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<ResolveInputError> for Diagnostic {
    fn from(error: ResolveInputError) -> Self {
        match error {
            ResolveInputError::NoSingleEnding => Self::from_error(&error).hint_per_surface(
                "use --commit COMMIT, --outcome TEXT, --by ID or --abandon REASON",
                "give `outcome`, `commit` or both; or only `superseded_by`; or only `abandoned`",
            ),
            ResolveInputError::Commit(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<AdvanceError> for Diagnostic {
    fn from(error: AdvanceError) -> Self {
        match error {
            AdvanceError::New(NewError::BadId { .. }) => {
                Self::from_error(&error).hint("correct the id first, with `midstride edit`")
            }
            AdvanceError::New(NewError::Exists { key, path }) => {
                let path = path.display();
                Self::with_code(
                    ErrorCode::AlreadyExists,
                    format!("another document already uses `{key}`'s path, `{path}`"),
                )
                .hint("move it out of the way, or give it a header with that id and stage")
            }
            AdvanceError::New(error) => error.into(),
            AdvanceError::Apply(error) => error.into(),
            AdvanceError::File(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<UndoError> for Diagnostic {
    fn from(error: UndoError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            UndoError::Nothing(key) => {
                let key = shell_word(&key);
                diagnostic.hint(format!("`midstride show {key}` shows what happened to it"))
            }
            UndoError::NotUndoable { key, .. } => diagnostic.hint(format!(
                "`midstride show {} --history` lists its revisions; restore one with `midstride edit`",
                shell_word(&key)
            )),
            UndoError::Journal(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<ShareError> for Diagnostic {
    fn from(error: ShareError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ShareError::NotPrivate(_) => {
                diagnostic.hint("only handoffs in the private folder need to be shared")
            }
            ShareError::CommitsNothing => {
                diagnostic.hint("`midstride init` sets up a committed folder")
            }
            ShareError::Journal(error) => error.into(),
            ShareError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<FmtError> for Diagnostic {
    fn from(error: FmtError) -> Self {
        match error {
            FmtError::Journal(error) => error.into(),
            FmtError::Refused { .. } | _ => Self::from_error(&error),
        }
    }
}

impl From<MergeError> for Diagnostic {
    fn from(error: MergeError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            MergeError::NoRepository => {
                diagnostic.hint("run it in the repository where you started the merge")
            }
            MergeError::NoConflict(path) => {
                let path = shell_path(&path);
                diagnostic.hint(format!("run `midstride check {path}` to see what remains"))
            }
            MergeError::AlreadyResolved(path) => {
                diagnostic.hint(format!("git add {}", shell_path(&path)))
            }
            MergeError::Deleted(path) => {
                let path = shell_path(&path);
                diagnostic
                    .hint(format!("keep it with git add {path}, or delete it with git rm {path}"))
            }
            MergeError::NoText(_) => {
                diagnostic.hint("use `git checkout --ours` or `--theirs` to take one side of it")
            }
            MergeError::Find(error) => error.into(),
            MergeError::Git(error) => error.into(),
            MergeError::Revision(error) => error.into(),
            MergeError::File(error) => error.into(),
            MergeError::Redaction(_) | _ => diagnostic,
        }
    }
}

impl From<DriverError> for Diagnostic {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::NoRepository => Self::from_error(&error)
                .hint("create one with `git init`, or omit `--merge-driver`"),
            DriverError::Git(error) => error.into(),
            DriverError::File(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

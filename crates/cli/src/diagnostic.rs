//! Errors as people meet them: what happened, where, and what to do now. The one place that maps
//! them.

use crate::ui::{Outcome, Ui};
use crate::view::{one_line, shell_path, shell_word};
use midstride::files::FileError;
use midstride::git::GitError;
use midstride::index::IndexError;
use midstride::install::InstallError;
use midstride::journal::JournalError;
use midstride::ledger::{AppendError, LedgerError};
use midstride::permission::PermissionError;
use midstride::project::{FindError, ProjectError};
use midstride::reconcile::ReconcileError;
use midstride::revisions::RevisionError;
use midstride::settings::SettingsError;
use midstride::verbs::{
    AdvanceError, AllowError, BEGINNING_LENGTH_MIN, CheckpointError, DriverError, EditError,
    FmtError, ForgetError, InitError, LiveError, MergeError, MissionError, NewError, PromoteError,
    PurgeError, ReceiptError, ReviewError, ReviseError, SaveError, ShareError, SyncError,
    TaskError, UndoError, WorkflowError,
};
use midstride_core::header::BootKind;
use midstride_core::judgement::{JsonError, NoJudgement};
use midstride_core::life::Refusal;
use midstride_core::search::QueryError;
use midstride_core::task::{self, NotFound};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What to do about text in another encoding.
pub(crate) const CONVERT: &str = "convert it, for instance with `iconv -f latin1 -t utf-8`";

/// What to do about something that was forgotten and is met again.
const AS_IT_WAS: &str =
    "a rule `[[redact]]` in `.midstride/config.toml` takes out what must not be kept";

/// What a tool is given where a session left nothing that can be read.
const SESSION_NONE: &str =
    "`session` takes the id of a session, or `none`: then git and the tasks tell the facts";

/// Of many that may be meant, so many are named.
const CANDIDATES_MAX: usize = 10;

/// What to do now, in the words of each surface.
#[derive(Debug)]
struct Hint {
    /// For whoever types commands.
    typed: String,
    /// For whoever calls tools.
    called: String,
}

/// Something that kept a command from running.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    message: String,
    hints: Vec<Hint>,
    /// Nobody reads any more; there is nobody to tell either.
    quiet: bool,
}

impl Diagnostic {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), quiet: false }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.hint_for(hint.clone(), hint)
    }

    /// A hint that names what is typed, and the same one with what a tool takes instead.
    #[must_use]
    fn hint_for(mut self, typed: impl Into<String>, called: impl Into<String>) -> Self {
        self.hints.push(Hint { typed: typed.into(), called: called.into() });
        self
    }

    /// What happened.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What to type now.
    pub(crate) fn hints(&self) -> impl Iterator<Item = &str> {
        self.hints.iter().map(|hint| hint.typed.as_str())
    }

    /// What to call now.
    pub(crate) fn hints_for_tools(&self) -> impl Iterator<Item = &str> {
        self.hints.iter().map(|hint| hint.called.as_str())
    }

    /// Says it and gives the exit code for "could not run".
    pub(crate) fn tell(self, ui: &mut Ui) -> ExitCode {
        if self.quiet {
            return Outcome::Clean.into();
        }
        // Where nothing can be said, the exit code has to do.
        let _ = self.say(ui, anstyle::AnsiColor::Red, "error");
        Outcome::Incomplete.into()
    }

    /// Says it about a part; the rest goes on.
    pub(crate) fn warn(&self, ui: &mut Ui) -> io::Result<()> {
        self.say(ui, anstyle::AnsiColor::Yellow, "warning")
    }

    /// What was typed or carried is quoted in it; a secret is not.
    fn say(&self, ui: &mut Ui, color: anstyle::AnsiColor, name: &str) -> io::Result<()> {
        let style = color.on_default().bold();
        ui.say(&format!("{style}{name}{style:#}: {}", ui.clean(&self.message)))?;
        let style = anstyle::AnsiColor::Cyan.on_default().bold();
        for hint in &self.hints {
            ui.say(&format!("{style}hint{style:#}: {}", ui.clean(&hint.typed)))?;
        }
        Ok(())
    }
}

impl From<io::Error> for Diagnostic {
    fn from(error: io::Error) -> Self {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        Self { quiet, ..Self::new(error.to_string()) }
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error.hint() {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }
}

impl From<SettingsError> for Diagnostic {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::File(error) => error.into(),
            SettingsError::Text { .. } => Self::new(error.to_string())
                .hint("correct the file; `midstride init` in an empty folder shows a fresh one"),
        }
    }
}

impl From<ProjectError> for Diagnostic {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::File(error) => error.into(),
            ProjectError::Settings(error) => error.into(),
            ProjectError::Bare(_) => Self::new(error.to_string())
                .hint("`git worktree add ../work` checks it out; start midstride there"),
        }
    }
}

impl From<FindError> for Diagnostic {
    fn from(error: FindError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            FindError::None { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            FindError::None { wanted, nearest: None } if is_markdown(&wanted) => {
                Self::new(format!("there is no file `{wanted}`"))
                    .hint("paths count from the folder you are in")
            }
            FindError::None { nearest: None, .. } => diagnostic.hint_for(
                "`midstride list --all` shows what there is",
                "`search` finds what there is",
            ),
            FindError::Several { candidates, .. } => {
                let shown =
                    candidates.iter().map(|(key, path)| format!("{key}  {}", path.display()));
                shown.fold(diagnostic, Self::hint).hint("name one of them")
            }
            FindError::NotMarkdown(_) => diagnostic.hint("handoffs are files that end with `.md`"),
            FindError::Outside(_) => diagnostic.hint_for(
                "midstride stays inside the project: start it there, or name the project with `-C`",
                "name a handoff of this project, by its id",
            ),
            FindError::File(error) => error.into(),
        }
    }
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

impl From<QueryError> for Diagnostic {
    fn from(error: QueryError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            QueryError::Empty => diagnostic.hint_for(
                "midstride search slow \"market*\"",
                "`words` takes what to look for, such as `slow market*`",
            ),
            QueryError::ShortPrefix(_) => diagnostic.hint("type more of the word, or all of it"),
            QueryError::TooMany(_) => diagnostic.hint_for(
                "`midstride search --prompt TEXT` takes a whole text",
                "give fewer `words`, those that matter most",
            ),
        }
    }
}

impl From<IndexError> for Diagnostic {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::File(error) => error.into(),
            IndexError::NotSetUp => Self::new(error.to_string())
                .hint("`midstride init` sets it up; `midstride init --private` commits nothing"),
            IndexError::Late | IndexError::Database(_) => Self::new(error.to_string())
                .hint("`midstride search` reads the documents instead; nothing is lost"),
        }
    }
}

impl From<GitError> for Diagnostic {
    fn from(error: GitError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            GitError::NotStarted(_) => {
                diagnostic.hint("install git, or see that it is on the PATH")
            }
            GitError::Refused { .. } => diagnostic.hint("nothing was changed"),
            GitError::File(error) => error.into(),
        }
    }
}

impl From<InitError> for Diagnostic {
    fn from(error: InitError) -> Self {
        match error {
            InitError::OtherWay(_) => Self::new(error.to_string())
                .hint("remove that file first if you want it the other way"),
            InitError::File(error) => error.into(),
        }
    }
}

impl From<CheckpointError> for Diagnostic {
    fn from(error: CheckpointError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            CheckpointError::NotSetUp => diagnostic
                .hint("`midstride init` sets it up; `midstride init --private` commits nothing"),
            CheckpointError::NoSession(unread) => match unread.into_iter().next() {
                Some(error) => diagnostic.hint(format!("{error}")),
                None => diagnostic.hint_for(
                    "a transcript that lies elsewhere, or of a project that was moved, is named with \
                     `--transcript`, a home of a client with CLAUDE_CONFIG_DIR or CODEX_HOME", SESSION_NONE),
            },
            CheckpointError::NoTranscript(_) => {
                diagnostic.hint_for("`--session` or `--transcript` names another one", "`session` takes the id of another one")
            }
            CheckpointError::NoSuch(_) => {
                diagnostic.hint_for("`midstride session list` shows them all", SESSION_NONE)
            }
            CheckpointError::Several { .. } => diagnostic.hint("type more of the id"),
            CheckpointError::OtherProject { cwd, .. } => {
                diagnostic.hint(format!("capture it there: `midstride -C {}`", shell_word(&cwd)))
            }
            CheckpointError::NotUnderstood { .. } => {
                diagnostic.hint_for("is it a transcript, in UTF-8? `--client` says whose it is", SESSION_NONE)
            }
            CheckpointError::Forgotten { .. } => diagnostic.hint(AS_IT_WAS).hint_for(
                "`save --no-session` saves what you say without the facts of the session",
                SESSION_NONE,
            ),
            CheckpointError::File(error) => error.into(),
            CheckpointError::Ledger(error) => error.into(),
            CheckpointError::Append(_) => diagnostic.hint("try again; nothing was lost"),
        }
    }
}

impl From<InstallError> for Diagnostic {
    fn from(error: InstallError) -> Self {
        const AS_IT_WAS: &str = "nothing was changed";
        let diagnostic = Self::new(error.to_string());
        match error {
            InstallError::Unreadable { .. } => {
                diagnostic.hint("mend the file, then try again; nothing was changed")
            }
            InstallError::Unexpected { .. } => {
                diagnostic.hint("change or remove it, then try again; nothing was changed")
            }
            InstallError::Unproven { .. } => diagnostic
                .hint("`--dry-run` on a simpler file shows what belongs there: add it by hand")
                .hint(AS_IT_WAS),
            InstallError::NoHome => diagnostic.hint("set HOME to the folder of the user"),
            InstallError::Receipt(_) => diagnostic.hint(
                "move it away, then try again: without it, entries like ours are taken for ours",
            ),
            InstallError::NoPerson(_) => diagnostic
                .hint("run the same command in a terminal of your own")
                .hint("without `--allow-read-tools` and `--trust-hooks` it runs here too"),
            InstallError::File(error) => error.into(),
        }
    }
}

impl From<PurgeError> for Diagnostic {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Changed => {
                Self::new(error.to_string()).hint("start over and look again; nothing was deleted")
            }
            PurgeError::Permission(error) => error.into(),
            PurgeError::Driver(error) => error.into(),
            PurgeError::Git(error) => error.into(),
            PurgeError::File(error) => error.into(),
        }
    }
}

impl From<PromoteError> for Diagnostic {
    fn from(error: PromoteError) -> Self {
        match error {
            PromoteError::Checkpoint(error) => error.into(),
            PromoteError::Save(error) => error.into(),
        }
    }
}

impl From<SaveError> for Diagnostic {
    fn from(error: SaveError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            SaveError::NotSetUp => diagnostic
                .hint("`midstride init` sets it up; `midstride init --private` commits nothing"),
            SaveError::Boot { kind, .. } => match kind {
                BootKind::Skill => diagnostic.hint("`--skill` takes the name of a skill"),
                BootKind::Read => diagnostic.hint_for(
                    "`--read` takes the path of a file beneath the root of the project",
                    "`read` takes paths of files beneath the root of the project",
                ),
                BootKind::Task | BootKind::Constraint => diagnostic.hint(
                    "say it as one short sentence; a command that shows something belongs under `proofs`",
                ),
            },
            SaveError::Checkpoint(
                error @ (CheckpointError::NoSession(_) | CheckpointError::NoTranscript(_)),
            ) => Self::from(error)
                .hint_for("`--no-session` saves what you say with what git and the tasks tell", SESSION_NONE),
            SaveError::Checkpoint(error) => error.into(),
            SaveError::Several { .. } => diagnostic.hint_for("`--id` says which one", "`handoff` says which one"),
            SaveError::OtherKind { key, .. } => {
                let key = shell_word(&key);
                diagnostic.hint_for(format!("`midstride revise {key}` gives it a new text; leave `--id` out to save a new handoff"), "`revise` gives it a new text; leave `handoff` out to save a new one")
            }
            SaveError::Ended { .. } => {
                diagnostic.hint_for("leave `--id` out, or name a new one, to save a new handoff", "leave `handoff` out, or name a new one, to save a new handoff")
            }
            SaveError::New(error @ NewError::Nameless) => {
                Self::new(error.to_string()).hint_for("`--title` says what it is about", "`title` says what it is about")
            }
            SaveError::Find(error) => error.into(),
            SaveError::New(error) => error.into(),
            SaveError::Tasks(error) => error.into(),
            SaveError::Refused(_) => diagnostic.hint_for("`midstride edit` changes it by hand", "`revise` gives it a new text"),
            SaveError::Journal(error) => error.into(),
            SaveError::NotReadBack { .. } => {
                diagnostic.hint("somebody may write there too; look at the file, then save again")
            }
            SaveError::File(error) => error.into(),
        }
    }
}

impl From<NoJudgement> for Diagnostic {
    fn from(error: NoJudgement) -> Self {
        let diagnostic = Self::new(format!("what was given cannot be used: {error}"));
        match error {
            NoJudgement::Empty => diagnostic.hint_for(
                "say it with flags, as in `midstride save --summary \"...\" --next \"...\"`, or in Markdown or JSON with `--body -`", "say it with `summary` and `next`, or in Markdown with `body`"),
            NoJudgement::Syntax(_) => {
                diagnostic.hint("Markdown may begin with anything but a brace")
            }
            NoJudgement::Json(JsonError::UnknownKey { nearest: Some(near), .. }) => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            NoJudgement::Json(JsonError::UnknownKey { known, .. }) => {
                diagnostic.hint(format!("the keys are {}", known.join(", ")))
            }
            NoJudgement::Json(JsonError::WrongKind { .. }) => diagnostic,
            NoJudgement::Header(_) => diagnostic.hint("mend the header, or leave it out"),
        }
    }
}

impl From<NewError> for Diagnostic {
    fn from(error: NewError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            NewError::NotSetUp => diagnostic
                .hint("`midstride init` sets it up; `midstride init --private` commits nothing"),
            NewError::Nameless => diagnostic.hint("midstride new \"Market pages take 14 s\""),
            NewError::BadId { .. } => diagnostic.hint_for(
                "leave `--id` out to have one made from the title",
                "leave `handoff` out to have one made from the title",
            ),
            NewError::SecretId(_) => {
                diagnostic.hint("give it another id, or none: one is made from the title")
            }
            NewError::UnknownStage { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            NewError::UnknownStage { known, nearest: None, .. } => {
                diagnostic.hint(format!("the stages are {}", known.join(", ")))
            }
            NewError::Exists { key, .. } => {
                let key = shell_word(&key.to_string());
                diagnostic.hint_for(
                    format!("`midstride edit {key}` changes it; `--id` chooses another name"),
                    "`revise` changes it; another `handoff` or `title` chooses another name",
                )
            }
            NewError::CommitsNothing => {
                diagnostic.hint("leave `--committed` out; the handoff goes to the private shelf")
            }
            NewError::TwoTexts(_) => diagnostic.hint("leave either `--from` or `--body` out"),
            NewError::NotUtf8(_) => diagnostic.hint(CONVERT),
            NewError::Folder(_) => diagnostic.hint("name one file in it"),
            NewError::Project(error) => error.into(),
            NewError::Upstream(error @ FindError::NotMarkdown(_)) => {
                Self::from(error).hint("`midstride new TITLE --body FILE` takes any text")
            }
            NewError::Upstream(error) => error.into(),
            NewError::Header(_) => diagnostic.hint("mend the header of the text, then try again"),
            NewError::File(error) => error.into(),
        }
    }
}

impl From<EditError> for Diagnostic {
    fn from(error: EditError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            EditError::NoEditor => diagnostic.hint("set EDITOR, for instance `EDITOR=vim`"),
            EditError::Editor { kept, .. } | EditError::NotUtf8 { kept } => {
                diagnostic.hint(format!("your text is in `{}`", kept.display()))
            }
            EditError::NotSaved { why, kept } => {
                Self::from(*why).hint(format!("your text is in `{}`", kept.display()))
            }
            EditError::File(error) => error.into(),
        }
    }
}

impl From<RevisionError> for Diagnostic {
    fn from(error: RevisionError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            RevisionError::NoSuch { key, last, .. } => {
                diagnostic.hint(format!("the newest one is `{key}@{last}`"))
            }
            RevisionError::NotHere { .. } => diagnostic
                .hint("`midstride sync` fetches what others shared; they run it to share theirs"),
            RevisionError::Forgotten { .. } => {
                diagnostic.hint("its place in the history stays; the text is gone for good")
            }
            RevisionError::Git(error) => error.into(),
            RevisionError::File(error) => error.into(),
        }
    }
}

impl From<JournalError> for Diagnostic {
    fn from(error: JournalError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            JournalError::Note(path) => diagnostic.hint(format!(
                "`midstride new --from {}` makes a handoff of it",
                shell_path(&path)
            )),
            JournalError::Unsettled(path) => diagnostic
                .hint(format!("midstride merge {} joins what can be joined", shell_path(&path)))
                .hint("settle the rest between the markers, then repeat the command"),
            JournalError::Refused(_) => {
                diagnostic.hint("`midstride check` shows what is wrong with it")
            }
            JournalError::Revision(error) => error.into(),
            JournalError::File(error) => error.into(),
        }
    }
}

impl From<ReviseError> for Diagnostic {
    fn from(error: ReviseError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            ReviseError::Conflict { key, kept, redacted, .. } => {
                let secrets = redacted.iter().map(|secret| &secret.kind);
                let secrets = secrets.map(|kind| format!("a secret was not written: {kind}"));
                secrets
                    .fold(diagnostic, Self::hint)
                    .hint(format!(
                        "both texts are in `{}`, between markers: settle them there",
                        kept.display()
                    ))
                    .hint_for(
                        format!(
                            "then midstride revise {} --reason \"...\" --body {}",
                            shell_word(&key),
                            shell_path(&kept)
                        ),
                        "then call `revise` with the settled text",
                    )
            }
            ReviseError::OtherHandoff { key, .. } => diagnostic
                .hint("name the handoff that the text belongs to")
                .hint(format!("without its header it replaces the body of `{key}`, and only that")),
            ReviseError::Empty(key) => diagnostic.hint_for(
                format!("midstride resolve {} --abandon REASON gives it up", shell_word(&key)),
                "`resolve` with `abandoned` gives it up",
            ),
            ReviseError::Journal(error) => error.into(),
        }
    }
}

impl From<ReviewError> for Diagnostic {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Live(error) => error.into(),
            ReviewError::Revise(error) => error.into(),
        }
    }
}

impl From<LiveError> for Diagnostic {
    fn from(error: LiveError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            LiveError::Refused { why: Refusal::Held, .. } => {
                diagnostic.hint("leave `--dropped` and `--body` out, or say `--verdict corrected`")
            }
            LiveError::Refused { key, why: Refusal::NotDerived { to, from, is, next } } => {
                let (key, to) = (shell_word(&key), shell_word(&to));
                match (from.is_empty(), is) {
                    (true, _) => {
                        diagnostic.hint(format!("`midstride new --stage {to}` begins one"))
                    }
                    (false, Some(_)) => next.iter().fold(diagnostic, |told, next| {
                        let next = shell_word(next);
                        told.hint(format!("`midstride advance {key} --to {next}` can follow"))
                    }),
                    (false, None) => diagnostic.hint(format!(
                        "`midstride new --stage {to} --from {key}` drafts one that builds on it"
                    )),
                }
            }
            LiveError::Refused { key, .. } => {
                let key = shell_word(&key);
                diagnostic.hint_for(
                    format!("`midstride show {key}` shows where it stands"),
                    "`get` shows where it stands",
                )
            }
            LiveError::NoCommit(_) => diagnostic.hint_for(
                "commit first, or say the `--outcome` instead",
                "commit first, or give `outcome` instead",
            ),
            LiveError::Journal(error) => error.into(),
        }
    }
}

impl From<MergeError> for Diagnostic {
    fn from(error: MergeError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            MergeError::NoRepository => diagnostic.hint("start it where the merge was made"),
            MergeError::NoConflict(path) => {
                let path = shell_path(&path);
                diagnostic.hint(format!("`midstride check {path}` says whether anything is left"))
            }
            MergeError::Settled(path) => diagnostic.hint(format!("git add {}", shell_path(&path))),
            MergeError::Deleted(path) => {
                let path = shell_path(&path);
                diagnostic.hint(format!("decide: git add {path} keeps it, git rm {path} does not"))
            }
            MergeError::NoText(_) => {
                diagnostic.hint("`git checkout --ours` or `--theirs` takes one side of it")
            }
            MergeError::Find(error) => error.into(),
            MergeError::Git(error) => error.into(),
            MergeError::Revision(error) => error.into(),
            MergeError::File(error) => error.into(),
        }
    }
}

impl From<DriverError> for Diagnostic {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::NoRepository => Self::new(error.to_string())
                .hint("`git init` makes one; leave `--merge-driver` out without it"),
            DriverError::Git(error) => error.into(),
            DriverError::File(error) => error.into(),
        }
    }
}

impl From<SyncError> for Diagnostic {
    fn from(error: SyncError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            SyncError::NoRepository => diagnostic.hint("`git init` makes one"),
            SyncError::NoRemote => {
                diagnostic.hint("`git remote add origin URL` names one; then run it again")
            }
            SyncError::WhichRemote(known) => {
                let first = known.first().map(String::as_str).unwrap_or_default();
                diagnostic.hint(format!("name it: midstride sync {}", shell_word(first)))
            }
            SyncError::UnknownRemote { known, .. } => {
                diagnostic.hint(format!("the remotes are {}", known.join(", ")))
            }
            SyncError::Tasks(error) => error.into(),
            SyncError::Git(error @ GitError::Refused { .. }) => Self::new(error.to_string()).hint(
                "nothing is lost; run it again when the other repository answers and takes it",
            ),
            SyncError::Here(error) | SyncError::Git(error) => error.into(),
        }
    }
}

impl From<PermissionError> for Diagnostic {
    fn from(error: PermissionError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            PermissionError::NoPerson(_) => {
                diagnostic.hint("run the same command in a terminal of your own")
            }
            PermissionError::NoHome => diagnostic.hint("set HOME, or XDG_STATE_HOME"),
            PermissionError::File(error) => error.into(),
        }
    }
}

impl From<AllowError> for Diagnostic {
    fn from(error: AllowError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            AllowError::NoProof { has, .. } if has.is_empty() => {
                diagnostic.hint("it has none; `proofs` in its header lists them")
            }
            AllowError::NoProof { has, .. } => {
                let has: Vec<String> = has.iter().map(ToString::to_string).collect();
                diagnostic.hint(format!("it has {}", has.join(", ")))
            }
            AllowError::Permission(error) => error.into(),
        }
    }
}

impl From<AdvanceError> for Diagnostic {
    fn from(error: AdvanceError) -> Self {
        match error {
            AdvanceError::New(NewError::BadId { .. }) => {
                Self::new(error.to_string()).hint("correct the id first, with `midstride edit`")
            }
            AdvanceError::New(NewError::Exists { key, path }) => {
                let path = path.display();
                Self::new(format!("another document lies where `{key}` belongs: `{path}`"))
                    .hint("move it away, or give it a header with that id and stage")
            }
            AdvanceError::New(error) => error.into(),
            AdvanceError::Live(error) => error.into(),
            AdvanceError::File(error) => error.into(),
        }
    }
}

impl From<ReceiptError> for Diagnostic {
    fn from(error: ReceiptError) -> Self {
        match error {
            ReceiptError::NotSetUp => Self::new(error.to_string())
                .hint("`midstride init` sets it up; before that nothing is written"),
            ReceiptError::Read(error) => error.into(),
            ReceiptError::Append(error) => error.into(),
        }
    }
}

impl From<LedgerError> for Diagnostic {
    fn from(error: LedgerError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            LedgerError::Newer { .. } => diagnostic.hint("update midstride; nothing was touched"),
            LedgerError::Damaged { path, .. } => diagnostic.hint(format!(
                "move `{}` away: what the documents tell is told again; tasks come with `midstride sync`",
                path.display()
            )),
            LedgerError::Unavailable(_) => diagnostic.hint("somebody writes to it; try again"),
            LedgerError::Forgotten(_) => diagnostic.hint(AS_IT_WAS),
            LedgerError::File(error) => error.into(),
        }
    }
}

impl From<ForgetError> for Diagnostic {
    fn from(error: ForgetError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            ForgetError::NoId(_) => diagnostic
                .hint(format!(
                    "an id is hexadecimal; {BEGINNING_LENGTH_MIN} digits or more name it"
                ))
                .hint("`ID@2` names the second text of a handoff"),
            ForgetError::NoSuch(_) => diagnostic
                .hint("`midstride events --json` tells the ids, as `was` and as `blob`")
                .hint("`ID@2` names the second text of a handoff"),
            ForgetError::Several { found, .. } => {
                let more = found.len().saturating_sub(CANDIDATES_MAX);
                let shown = found.iter().take(CANDIDATES_MAX);
                let told = shown.fold(diagnostic, |told, (id, what)| {
                    told.hint(format!("{id}  {}", one_line(what, 60)))
                });
                let told = if more > 0 { told.hint(format!("and {more} more")) } else { told };
                told.hint("type more of the id")
            }
            ForgetError::Current { key, number } => {
                let key = shell_word(&key);
                diagnostic
                    .hint(format!("take it out first: midstride edit {key}"))
                    .hint(format!("then midstride forget {key}@{number}"))
            }
            ForgetError::Revision(error) => error.into(),
            ForgetError::Git(error) => {
                Self::new(error.to_string()).hint("repeat the command to finish what it began")
            }
            ForgetError::Ledger(error) => {
                Self::from(error).hint("repeat the command to finish what it began")
            }
            ForgetError::Append(error) => error.into(),
            ForgetError::Index(error) => error.into(),
            ForgetError::File(error) => error.into(),
        }
    }
}

impl From<ReconcileError> for Diagnostic {
    fn from(error: ReconcileError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            ReconcileError::Newer(_) => diagnostic.hint("update midstride; nothing was changed"),
            ReconcileError::Read(error) => error.into(),
            ReconcileError::Append(_) => diagnostic.hint("the documents are as they were"),
        }
    }
}

impl From<AppendError> for Diagnostic {
    fn from(error: AppendError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            AppendError::Conflict { .. } | AppendError::Busy(_) => {
                diagnostic.hint("others write to it; nothing was changed, try again")
            }
            AppendError::Unavailable(_) => diagnostic.hint(
                "nothing was changed; `midstride doctor` says where it lies: see whether it is whole and you may write there",
            ),
            AppendError::Ambiguous(_) => {
                diagnostic.hint("look whether it is there, then try again")
            }
            AppendError::TooLarge(_) => {
                diagnostic.hint("put the long text into a handoff or a file, and name it")
            }
            AppendError::Empty => diagnostic,
        }
    }
}

impl From<NotFound> for Diagnostic {
    fn from(error: NotFound) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            NotFound::None(_) => diagnostic
                .hint_for(
                    "`midstride task list --all` shows what there is",
                    "`tasks` with `all` lists what there is",
                )
                .hint("what is only elsewhere comes with `midstride sync`"),
            NotFound::Several { candidates, .. } => {
                let shown = candidates.iter().take(CANDIDATES_MAX);
                let shown = shown.map(|(id, subject)| format!("{id}  {}", one_line(subject, 60)));
                shown.fold(diagnostic, Self::hint).hint("name one of them")
            }
        }
    }
}

impl From<TaskError> for Diagnostic {
    fn from(error: TaskError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            TaskError::NotSetUp => diagnostic
                .hint("`midstride init` sets it up; `midstride init --private` commits nothing"),
            TaskError::Find(error) => error.into(),
            TaskError::Refused { why: task::Refusal::Newer(_), .. } => {
                diagnostic.hint("update midstride; nothing was changed")
            }
            TaskError::Refused { why: task::Refusal::Circle(circle), .. } => match &circle[..] {
                // The first wait is the one that was refused.
                [_, one, before, ..] => diagnostic.hint(format!(
                    "`midstride task update {one} --no-longer-depends-on {before}` makes room"
                )),
                _ => diagnostic,
            },
            TaskError::Refused { why: task::Refusal::Reason, .. } => diagnostic.hint_for(
                "say `--status blocked` too, or `midstride task note`",
                "give `status` `blocked` too, or a `note`",
            ),
            TaskError::Refused { id, .. } => diagnostic.hint_for(
                format!("`midstride task show {id}` shows where it stands"),
                format!("`tasks` with `task` `{id}` shows where it stands"),
            ),
            TaskError::EndOfTime(_) => diagnostic.hint(
                "nothing was changed; `midstride events` shows who wrote that, by a wrong clock",
            ),
            TaskError::Read(error) => error.into(),
            TaskError::Append(error) => error.into(),
            TaskError::File(error) => error.into(),
        }
    }
}

impl From<MissionError> for Diagnostic {
    fn from(error: MissionError) -> Self {
        match error {
            MissionError::Newer(_) => {
                Self::new(error.to_string()).hint("update midstride; nothing was changed")
            }
            MissionError::NoSuch { .. } => Self::new(error.to_string())
                .hint("`midstride task mission --history` numbers them; nothing was captured"),
            MissionError::Task(error) => error.into(),
        }
    }
}

impl From<WorkflowError> for Diagnostic {
    fn from(error: WorkflowError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            WorkflowError::Name { .. } => {
                diagnostic.hint("name it with lower-case letters, digits and hyphens")
            }
            WorkflowError::NoObject => diagnostic
                .hint("give an object, such as {\"step\": 2, \"waiting_for\": \"review\"}"),
            WorkflowError::TooLarge(_) => diagnostic
                .hint("keep what the next session needs; name files instead of quoting them"),
            WorkflowError::NoSuch { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            WorkflowError::NoSuch { nearest: None, .. } => {
                diagnostic.hint("save a whole state under this name first")
            }
            WorkflowError::NoNumber { .. } => diagnostic.hint("1 is the oldest"),
            WorkflowError::Gone { .. } => diagnostic.hint("another number may be there"),
            WorkflowError::Unwritable => diagnostic.hint("leave the secret out"),
            WorkflowError::Newer(_) => diagnostic.hint("update midstride; nothing was changed"),
            WorkflowError::Task(error) => error.into(),
        }
    }
}

impl From<UndoError> for Diagnostic {
    fn from(error: UndoError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            UndoError::Nothing(key) => {
                let key = shell_word(&key);
                diagnostic.hint(format!("`midstride show {key}` shows what happened to it"))
            }
            UndoError::Behind { key, .. } => diagnostic.hint(format!(
                "`midstride show {} --history` numbers its texts; `midstride revise` brings one back",
                shell_word(&key)
            )),
            UndoError::Journal(error) => error.into(),
        }
    }
}

impl From<ShareError> for Diagnostic {
    fn from(error: ShareError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            ShareError::NotPrivate(_) => diagnostic.hint("it can be read by everybody already"),
            ShareError::CommitsNothing => {
                diagnostic.hint("`midstride init` sets up a committed shelf")
            }
            ShareError::Journal(error) => error.into(),
            ShareError::File(error) => error.into(),
        }
    }
}

impl From<FmtError> for Diagnostic {
    fn from(error: FmtError) -> Self {
        match error {
            FmtError::Refused { .. } => Self::new(error.to_string()),
            FmtError::Journal(error) => error.into(),
        }
    }
}

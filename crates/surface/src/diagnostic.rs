//! The error messages of the command line and their hints. Every library error is converted to a
//! [`Diagnostic`] here, in one file per area.

mod code;
mod handoff;
mod ledger;
mod permission;
mod session;

pub use code::{ErrorCode, HasErrorCode};

use crate::view::permission::unread_store_text;
use crate::view::{count, shell_word};
use midstride::clients::{self, Client};
use midstride::store::index::IndexError;
use midstride::sys::files::FileError;
use midstride::sys::git::GitError;
use midstride::verbs::{ConfigError, HomeError, InitError, PreviewError, SETTING_KEYS, SetupError};
use midstride::workspace::settings::SettingsError;
use midstride::workspace::user_settings::Exclusion;
use midstride::workspace::{FindError, WorkspaceError};
use midstride_core::brief::search::QueryError;
use std::io;
use std::path::Path;

/// The hint for a file that is not UTF-8.
pub const CONVERT_HINT: &str = "convert it, for instance with `iconv -f latin1 -t utf-8`";

/// The hint for text that was forgotten and turns up again.
const REDACT_HINT: &str = "to redact text, add a `[[redact]]` rule to `.midstride/config.toml`";

/// The maximum number of candidates listed for an ambiguous name.
const CANDIDATES_MAX: usize = 10;

/// Says that the documents of a project are not passed on before the user trusts it.
pub fn untrusted_project(documents: usize) -> Diagnostic {
    let message = match documents {
        // There is no state folder.
        0 => "midstride cannot record that this project's private store is yours".to_owned(),
        some => {
            let documents = count(some, "document");
            let are = if some == 1 { "is" } else { "are" };
            format!("this project is not trusted, so {documents} in it {are} not included")
        }
    };
    if documents == 0 {
        return Diagnostic::with_code(ErrorCode::NotTrusted, message)
            .hint("set HOME or XDG_STATE_HOME");
    }
    trust_hint(Diagnostic::with_code(ErrorCode::NotTrusted, message))
}

/// Says how many documents are not passed on, next to what is.
pub fn withheld_documents(documents: usize) -> Diagnostic {
    let (documents, are) =
        (count(documents, "document"), if documents == 1 { "is" } else { "are" });
    let message = format!("{documents} in this repository {are} not trusted and not included");
    trust_hint(Diagnostic::new(message))
}

/// Says that the private store is not read.
pub fn unread_store(path: &Path) -> Diagnostic {
    let (message, hint) = unread_store_text(path);
    Diagnostic::new(message).hint(hint)
}

fn trust_hint(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.hint_per_surface(
        "run `midstride trust` to review and allow it",
        "the user can trust it with `midstride trust` in a terminal",
    )
}

/// A suggestion of what to do next, worded for each [`Surface`](crate::view::Surface).
#[derive(Debug)]
struct Hint {
    /// The hint for users of the command line.
    for_terminal: String,
    /// The hint for agents that call MCP tools, if it is useful there.
    for_tools: Option<String>,
}

/// An error that kept a command from running, or a warning about a part of its work.
#[derive(Debug)]
pub struct Diagnostic {
    code: ErrorCode,
    message: String,
    hints: Vec<Hint>,
    is_silent: bool,
}

impl Diagnostic {
    /// Creates a diagnostic without hints.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::Failed, message)
    }

    /// Creates a diagnostic of a kind, without hints.
    pub fn with_code(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), is_silent: false }
    }

    /// Creates the diagnostic of an error, without hints.
    pub fn from_error(error: &impl HasErrorCode) -> Self {
        Self::with_code(error.code(), error.to_string())
    }

    /// Adds a hint for every surface.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.hint_per_surface(hint.clone(), hint)
    }

    /// Adds a hint that names a command in the terminal and a tool parameter over MCP.
    #[must_use]
    fn hint_per_surface(mut self, typed: impl Into<String>, called: impl Into<String>) -> Self {
        self.hints.push(Hint { for_terminal: typed.into(), for_tools: Some(called.into()) });
        self
    }

    /// Adds a hint that is of no use to MCP tools.
    #[must_use]
    fn hint_for_terminal(mut self, typed: impl Into<String>) -> Self {
        self.hints.push(Hint { for_terminal: typed.into(), for_tools: None });
        self
    }

    /// The kind of error.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message, without hints.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hints for the terminal.
    pub fn hints(&self) -> impl Iterator<Item = &str> {
        self.hints.iter().map(|hint| hint.for_terminal.as_str())
    }

    /// The hints for MCP tools.
    pub fn hints_for_tools(&self) -> impl Iterator<Item = &str> {
        self.hints.iter().filter_map(|hint| hint.for_tools.as_deref())
    }

    /// Whether to print nothing, because the reader has closed the pipe.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }
}

impl From<io::Error> for Diagnostic {
    fn from(error: io::Error) -> Self {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        Self { is_silent: quiet, ..Self::from_error(&error) }
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error.hint() {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }
}

impl From<ConfigError> for Diagnostic {
    fn from(error: ConfigError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            ConfigError::Unknown(_) => {
                let names: Vec<&str> = SETTING_KEYS.iter().map(|key| key.name).collect();
                diagnostic.hint(format!("the settings are {}", names.join(", ")))
            }
            ConfigError::RequiresUser(_) => diagnostic.hint("ask the user to change it"),
            ConfigError::NoRepository => diagnostic
                .hint("change to a repository; `midstride config list` shows your settings"),
            ConfigError::Untrusted(_) => {
                diagnostic.hint("its settings have no effect until you run `midstride trust`")
            }
            ConfigError::NoHome => diagnostic.hint("set HOME"),
            ConfigError::NoEditor => diagnostic.hint("set EDITOR, or use `midstride config set`"),
            ConfigError::Invalid { .. } => diagnostic.hint("fix the file"),
            ConfigError::File(error) => error.into(),
            ConfigError::Editor(_)
            | ConfigError::OneValue(_)
            | ConfigError::InvalidValue { .. }
            | _ => diagnostic,
        }
    }
}

impl From<SetupError> for Diagnostic {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::NoClient => Self::from_error(&error).hint(format!(
                "install {} and start it once, or specify it with `--client`",
                clients::one_of(clients::ALL.map(Client::title))
            )),
            SetupError::Install(error) => error.into(),
            SetupError::Config(error) => error.into(),
            SetupError::Permission(error) => error.into(),
            SetupError::File(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<&Exclusion> for Diagnostic {
    fn from(exclusion: &Exclusion) -> Self {
        let error =
            Self::with_code(exclusion.code(), format!("midstride is off here: {exclusion}"));
        match exclusion {
            Exclusion::Policy(_) => error.hint("ask the administrator of this machine"),
            Exclusion::Pattern(_) | Exclusion::NotListed => error.hint_per_surface(
                "change the setting with `midstride config edit`",
                "the user can change the setting with `midstride config edit`",
            ),
            Exclusion::HomeFolder => error.hint_per_surface(
                "set it up anyway with `midstride init`",
                "the user can set it up anyway with `midstride init`",
            ),
            Exclusion::Unreadable(_) => error.hint("fix the file"),
        }
    }
}

impl From<SettingsError> for Diagnostic {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::File(error) => error.into(),
            SettingsError::Text { .. } => Self::from_error(&error)
                .hint("fix the file; to see a valid one, run `midstride init` in an empty folder"),
            _ => Self::from_error(&error),
        }
    }
}

impl From<WorkspaceError> for Diagnostic {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::File(error) => error.into(),
            WorkspaceError::Settings(error) => error.into(),
            WorkspaceError::Bare(_) => Self::from_error(&error)
                .hint("check it out with `git worktree add ../work`, then run midstride there"),
            _ => Self::from_error(&error),
        }
    }
}

impl From<PreviewError> for Diagnostic {
    fn from(error: PreviewError) -> Self {
        match error {
            PreviewError::Workspace(error) => error.into(),
            PreviewError::Checkpoint(error) => error.into(),
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<HomeError> for Diagnostic {
    fn from(error: HomeError) -> Self {
        match error {
            HomeError::Find(error) => error.into(),
            HomeError::Workspace(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

impl From<FindError> for Diagnostic {
    fn from(error: FindError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            FindError::NotFound { nearest: Some(near), .. } => {
                diagnostic.hint(format!("did you mean `{near}`?"))
            }
            FindError::NotFound { wanted, nearest: None } if is_markdown(&wanted) => {
                Self::with_code(ErrorCode::NotFound, format!("there is no file `{wanted}`"))
                    .hint("paths are relative to the current folder")
            }
            FindError::NotFound { .. } => diagnostic.hint_per_surface(
                "`midstride list --all` lists all handoffs",
                "`search` finds handoffs",
            ),
            FindError::Several { candidates, .. } => {
                let shown =
                    candidates.iter().map(|(key, path)| format!("{key}  {}", path.display()));
                shown.fold(diagnostic, Self::hint).hint("specify one of them")
            }
            FindError::NotMarkdown(_) => {
                diagnostic.hint("a handoff is a file whose name ends in `.md`")
            }
            FindError::Outside(_) => diagnostic.hint_per_surface(
                "midstride works only inside the current project; run it in the file's project, or specify that project with `-C`",
                "give the id of a handoff in this project",
            ),
            FindError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

impl From<QueryError> for Diagnostic {
    fn from(error: QueryError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            QueryError::Empty => diagnostic.hint_per_surface(
                "midstride search slow \"market*\"",
                "`words` takes search terms, such as `slow market*`",
            ),
            QueryError::ShortPrefix(_) => diagnostic.hint("type more of the word"),
            QueryError::TooMany(_) => diagnostic.hint_per_surface(
                "to search with a longer text, use `midstride search --prompt TEXT`",
                "give only the `words` that matter most",
            ),
            _ => diagnostic,
        }
    }
}

impl From<IndexError> for Diagnostic {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::File(error) => error.into(),
            IndexError::NotSetUp => Self::from_error(&error)
                .hint("run `midstride init` to set it up, or `midstride init --private` to commit nothing"),
            IndexError::TimedOut | IndexError::Database(_) => Self::from_error(&error)
                .hint("`midstride search` reads the documents instead; nothing is lost"),
            _ => Self::from_error(&error),
        }
    }
}

impl From<GitError> for Diagnostic {
    fn from(error: GitError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            GitError::NotStarted(_) => diagnostic.hint("install git, or add it to PATH"),
            GitError::Died(_) | GitError::Unreadable { .. } => {
                diagnostic.hint("`git fsck` finds damaged objects")
            }
            GitError::Refused { .. } => diagnostic.hint("nothing was changed"),
            GitError::RepositoryProgram { setting } => diagnostic.hint(format!(
                "if you trust it, set the same value in your own configuration: git config --global {} VALUE",
                shell_word(&setting)
            )),
            GitError::MixedRemote { .. } => {
                diagnostic.hint("split it into two remotes and sync with each")
            }
            GitError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<InitError> for Diagnostic {
    fn from(error: InitError) -> Self {
        match error {
            InitError::OtherSetup(_) => {
                Self::from_error(&error).hint("to change it, remove that file first")
            }
            InitError::File(error) => error.into(),
            InitError::Trust(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

//! The codes of errors, which programs read under `--json`. One table maps kinds of errors to codes.

use midstride::clients::install::InstallError;
use midstride::journal::JournalError;
use midstride::store::index::IndexError;
use midstride::store::ledger::{AppendError, DatabaseError, LedgerError};
use midstride::store::reconcile::ReconcileError;
use midstride::store::revisions::RevisionError;
use midstride::sys::files::FileError;
use midstride::sys::git::GitError;
use midstride::verbs::{
    AdvanceError, AllowError, AnswerInputError, ApplyError, CheckpointError, ConfigError,
    DeliveryError, DiffError, DismissError, DriverError, EditError, FmtError, ForgetError,
    HomeError, InitError, MergeError, MissionError, NewError, OtherAuthors, PurgeError,
    ResolveInputError, ReviewError, ReviseError, SaveError, SetupError, ShareError, StartError,
    SubjectError, SyncError, TaskError, TrustError, UndoError, WhyError, WorkflowError,
};
use midstride::workspace::consent::ConsentError;
use midstride::workspace::permission::PermissionError;
use midstride::workspace::settings::SettingsError;
use midstride::workspace::user_settings::Exclusion;
use midstride::workspace::{FindError, WorkspaceError};
use midstride_core::brief::search::QueryError;
use midstride_core::session::author_notes::AuthorNotesError;
use midstride_core::work::task::TaskNotFound;
use std::fmt::Display;

/// Defines the codes, with what each one means.
macro_rules! error_codes {
    ($($code:ident $name:literal: $about:literal,)+) => {
        /// What kind of error ended a command. The names never change; new ones may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = $about] $code,)+
        }

        impl ErrorCode {
            /// All codes with what they mean, for the documentation.
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self::$code, $about),)+];

            /// The name that programs read.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }
        }
    };
}

error_codes! {
    Usage "usage": "The arguments are invalid or cannot be combined.",
    InvalidInput "invalid-input": "A name, value or other text is invalid.",
    InvalidSettings "invalid-settings": "A settings file is invalid.",
    NotFound "not-found": "Nothing matches this name.",
    Ambiguous "ambiguous": "The name is ambiguous.",
    AlreadyExists "already-exists": "The name is already taken.",
    WrongState "wrong-state": "The handoff, task or project is not in a state that allows this.",
    Conflict "conflict": "Another writer changed it first.",
    Forgotten "forgotten": "The text was deleted with `midstride forget`.",
    NotSetUp "not-set-up": "The project is not set up, or there is no repository.",
    NotTrusted "not-trusted": "The project is not trusted.",
    RequiresUser "requires-user": "Only you can do this, in a terminal.",
    Excluded "excluded": "midstride is off here.",
    NewerFormat "newer-format": "A newer midstride wrote the data.",
    Busy "busy": "Another process is writing. Try again.",
    Storage "storage": "The ledger or the index is damaged or cannot be opened.",
    File "file": "A file cannot be read or written.",
    Git "git": "git failed.",
    Failed "failed": "Any other error.",
}

/// An error whose kind is known.
pub trait HasErrorCode: Display {
    /// The kind of error.
    fn code(&self) -> ErrorCode;
}

/// Gives each kind of error its code. Kinds that wrap another error get the code of that error.
macro_rules! codes {
    ($($error:ident: $($($variant:ident)|+ => $code:ident,)* _ => $other:ident;)+) => {
        $(impl HasErrorCode for $error {
            fn code(&self) -> ErrorCode {
                match self {
                    $($(Self::$variant { .. })|+ => ErrorCode::$code,)*
                    _ => ErrorCode::$other,
                }
            }
        })+
    };
}

codes! {
    AdvanceError: _ => Failed;
    AllowError: NoProof => NotFound, _ => Failed;
    AnswerInputError: UnknownName => NotFound, _ => Usage;
    AppendError: Conflict | Ambiguous | Busy => Busy, TooLarge | Empty => InvalidInput, _ => Storage;
    ApplyError: RequiresUser => RequiresUser, _ => WrongState;
    AuthorNotesError: _ => InvalidInput;
    CheckpointError: NotSetUp => NotSetUp, NoSession | NoTranscript | NoSuch => NotFound,
        Several => Ambiguous, Forgotten => Forgotten, Append => Storage, _ => InvalidInput;
    ConfigError: Unknown => NotFound, OneValue | InvalidValue => InvalidInput,
        NoRepository => NotSetUp, Untrusted => NotTrusted,
        Invalid => InvalidSettings, RequiresUser => RequiresUser, _ => Failed;
    ConsentError: _ => RequiresUser;
    DeliveryError: NotSetUp => NotSetUp, _ => Storage;
    DiffError: NeverRevised => WrongState, _ => Failed;
    DismissError: NoSuch => NotFound, Several => Ambiguous, AlreadyClosed => WrongState,
        OnlyUser | OnlyUserNote => RequiresUser, IsHandoff => WrongState, NotDismissed => NotFound,
        _ => Failed;
    DriverError: NoRepository => NotSetUp, _ => Failed;
    EditError: NotUtf8 => InvalidInput, _ => Failed;
    Exclusion: Unreadable => InvalidSettings, _ => Excluded;
    FindError: NotFound => NotFound, Several => Ambiguous, _ => InvalidInput;
    FmtError: _ => WrongState;
    ForgetError: NoId => InvalidInput, NoSuch => NotFound, Several => Ambiguous,
        Current => WrongState, _ => Failed;
    GitError: _ => Git;
    HomeError: _ => Failed;
    IndexError: NotSetUp => NotSetUp, TimedOut => Busy, _ => Storage;
    InitError: OtherSetup => WrongState, _ => Failed;
    InstallError: RunByAgent => RequiresUser, Unreadable | Unexpected => InvalidSettings, _ => Failed;
    JournalError: NoHeader => WrongState, Conflicted => Conflict, _ => InvalidInput;
    MergeError: NoRepository => NotSetUp, _ => WrongState;
    MissionError: Newer => NewerFormat, NoSuch => NotFound, _ => Failed;
    NewError: NotSetUp => NotSetUp, Exists => AlreadyExists, CommitsNothing => WrongState,
        Nameless | TwoTexts => Usage, UnknownStage => NotFound, _ => InvalidInput;
    PermissionError: _ => Failed;
    PurgeError: Changed => Conflict, _ => Failed;
    QueryError: _ => InvalidInput;
    ReconcileError: Newer => NewerFormat, _ => Storage;
    ResolveInputError: NoSingleEnding => Usage, _ => Failed;
    ReviewError: _ => Failed;
    ReviseError: Conflict => Conflict, _ => InvalidInput;
    RevisionError: Forgotten => Forgotten, _ => NotFound;
    SaveError: NotSetUp => NotSetUp, Several => Ambiguous, OtherKind | Closed => WrongState,
        NotReadBack => Conflict, _ => InvalidInput;
    SettingsError: _ => InvalidSettings;
    SetupError: NoClient => NotFound, _ => Failed;
    ShareError: _ => WrongState;
    StartError: NotInstalled => NotFound, Automation => RequiresUser, _ => Failed;
    SubjectError: NotFound | NoSession | NotCaptured => NotFound, _ => Failed;
    SyncError: NoRepository | NoRemote => NotSetUp, Forbidden => Excluded, Untrusted => NotTrusted,
        WhichRemote => Ambiguous, UnknownRemote => NotFound, _ => Git;
    TaskError: NotSetUp => NotSetUp, Untrusted => NotTrusted, Refused => WrongState, _ => Failed;
    TaskNotFound: Ambiguous => Ambiguous, _ => NotFound;
    TrustError: _ => Failed;
    UndoError: _ => WrongState;
    WhyError: NoRepository => NotSetUp, NoCommit => NotFound,
        NotCommitted | LineNotCommitted => WrongState, _ => InvalidInput;
    WorkflowError: NoSuch | NoNumber => NotFound, Forgotten => Forgotten, Newer => NewerFormat,
        _ => InvalidInput;
    WorkspaceError: Bare => NotSetUp, _ => Failed;
}

impl HasErrorCode for LedgerError {
    fn code(&self) -> ErrorCode {
        let is_newer = || matches!(self.engine(), Some(DatabaseError::Newer { .. }));
        match self {
            Self::Unavailable(_) => ErrorCode::Busy,
            Self::Forgotten(_) => ErrorCode::Forgotten,
            Self::Cursor(_) => ErrorCode::InvalidInput,
            Self::Engine(_) if is_newer() => ErrorCode::NewerFormat,
            Self::Engine(_) | _ => ErrorCode::Storage,
        }
    }
}

impl HasErrorCode for FileError {
    fn code(&self) -> ErrorCode {
        ErrorCode::File
    }
}

impl HasErrorCode for std::io::Error {
    fn code(&self) -> ErrorCode {
        ErrorCode::File
    }
}

impl HasErrorCode for OtherAuthors {
    fn code(&self) -> ErrorCode {
        ErrorCode::NotTrusted
    }
}

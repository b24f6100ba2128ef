//! Diagnostics for permissions that only the user can grant, and for installing into and removing
//! from client files.

use super::Diagnostic;
use crate::view::{count, escape_hidden};
use midstride::clients::install::InstallError;
use midstride::store::merge::StoreMergeError;
use midstride::verbs::{AllowError, OtherAuthors, PurgeError, TrustError};
use midstride::workspace::consent::ConsentError;
use midstride::workspace::permission::PermissionError;

impl From<PermissionError> for Diagnostic {
    fn from(error: PermissionError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            PermissionError::Consent(error) => error.into(),
            PermissionError::NoHome => diagnostic.hint("set HOME, or XDG_STATE_HOME"),
            PermissionError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<ConsentError> for Diagnostic {
    fn from(error: ConsentError) -> Self {
        Self::from_error(&error)
    }
}

impl From<OtherAuthors> for Diagnostic {
    fn from(error: OtherAuthors) -> Self {
        const LISTED_MAX: usize = 20;
        let mut diagnostic = Self::from_error(&error);
        for (author, documents) in error.others.iter().take(LISTED_MAX) {
            let documents = count(*documents, "document");
            let author = escape_hidden(&author.to_string());
            diagnostic = diagnostic.hint(format!("{documents} by {author}"));
        }
        if error.unknown > 0 {
            let documents = count(error.unknown, "document");
            diagnostic =
                diagnostic.hint(format!("{documents} not committed, or changed since the commit"));
        }
        diagnostic.hint("run `midstride trust` without `--author` to review all of them")
    }
}

impl From<TrustError> for Diagnostic {
    fn from(error: TrustError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            TrustError::Permission(error) => error.into(),
            TrustError::Workspace(error) => error.into(),
            TrustError::Merge(StoreMergeError::File(error)) => error.into(),
            TrustError::Merge(StoreMergeError::Ledger(error)) => error.into(),
            TrustError::Merge(_) => diagnostic
                .hint("nothing was lost: the store is still there. Run `midstride trust` again"),
            _ => diagnostic,
        }
    }
}

impl From<AllowError> for Diagnostic {
    fn from(error: AllowError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            AllowError::NoProof { has, .. } if has.is_empty() => {
                diagnostic.hint("it has none; list proofs under `proofs` in its header")
            }
            AllowError::NoProof { has, .. } => {
                let has: Vec<String> = has.iter().map(ToString::to_string).collect();
                diagnostic.hint(format!("it has {}", has.join(", ")))
            }
            AllowError::Permission(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<InstallError> for Diagnostic {
    fn from(error: InstallError) -> Self {
        let diagnostic = Self::from_error(&error);
        match error {
            InstallError::Unreadable { .. } => {
                diagnostic.hint("fix the file, then try again; nothing was changed")
            }
            InstallError::Unexpected { .. } => {
                diagnostic.hint("change or remove it, then try again; nothing was changed")
            }
            InstallError::Unverified { .. } => diagnostic
                .hint("add the entry by hand; to see what it looks like, use `--dry-run` on a simpler file")
                .hint("nothing was changed"),
            InstallError::NoHome => diagnostic.hint("set HOME to your home directory"),
            InstallError::DamagedRecord(_) => diagnostic.hint(
                "move it out of the way, then try again: without it, midstride treats matching entries as its own",
            ),
            InstallError::RunByAgent(_) => diagnostic
                .hint("run the same command in your own terminal")
                .hint("without `--allow` and `--trust-hooks`, it also runs here"),
            InstallError::File(error) => error.into(),
            _ => diagnostic,
        }
    }
}

impl From<PurgeError> for Diagnostic {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Changed => Self::from_error(&error)
                .hint("nothing was deleted; start over and review the plan again"),
            PurgeError::Permission(error) => error.into(),
            PurgeError::Driver(error) => error.into(),
            PurgeError::Git(error) => error.into(),
            PurgeError::File(error) => error.into(),
            _ => Self::from_error(&error),
        }
    }
}

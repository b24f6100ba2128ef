//! The remotes whose clones the user trusts, if the remote itself has what is in the clone.

use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, Root};
use crate::sys::ids::sha256;
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{Grant, PermissionError};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The folder of the remotes, below the state folder.
const FOLDER: &str = "midstride/trusted-remotes";

/// The remotes that the user trusts.
pub(crate) struct TrustedRemotes<'e> {
    environment: &'e Environment,
}

impl<'e> TrustedRemotes<'e> {
    pub(crate) fn for_environment(environment: &'e Environment) -> Self {
        Self { environment }
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.environment.state.as_ref()?.join(FOLDER))
    }

    /// Whether the user trusts a remote.
    pub(crate) fn contains(&self, url: &str) -> bool {
        self.grant(url).is_some()
    }

    /// The grant for a remote, if the user trusts it. Ignores files that another user could have
    /// written.
    pub(crate) fn grant(&self, url: &str) -> Option<Grant> {
        let folder = Root::open(&self.folder()?).ok()?;
        let name = file_name(url);
        let bytes = folder.is_owner_only(&name).then(|| folder.read(&name).ok()).flatten()?;
        let record: Value = serde_json::from_slice(&bytes).ok()?;
        let at = record["at"].as_str().and_then(|at| at.parse().ok());
        (record["url"] == url).then(|| Grant { about: url.to_owned(), shown: String::new(), at })
    }

    /// Records that the user trusts a remote.
    pub(crate) fn add(&self, url: &str, _consent: &UserConsent) -> Result<(), PermissionError> {
        let folder = self.folder().ok_or(PermissionError::NoHome)?;
        let record = json!({ "url": url, "at": self.environment.clock.now().to_string() });
        let folder = Root::make_owner_only(&folder)?;
        Ok(folder.put_owner_only(&file_name(url), format!("{record:#}\n").as_bytes())?)
    }

    /// Takes the trust in a remote back. Returns whether there was any.
    pub(crate) fn remove(&self, url: &str) -> Result<bool, FileError> {
        let was_trusted = self.contains(url);
        if let Some(folder) = self.folder() {
            files::remove_if_exists(&folder.join(file_name(url)))?;
        }
        Ok(was_trusted)
    }
}

fn file_name(url: &str) -> PathBuf {
    PathBuf::from(format!("{}.json", sha256(url.as_bytes())))
}

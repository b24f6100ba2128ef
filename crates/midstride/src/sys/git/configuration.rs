//! The repository's local git configuration and its remotes.

use super::{GitError, Repository};

impl Repository {
    /// Sets a value in the local configuration.
    pub(crate) fn configure(&self, name: &str, value: &str) -> Result<(), GitError> {
        self.run(&["config", "--local", "--replace-all", name, value], b"").map(|_| ())
    }

    /// Returns a value of the local configuration.
    pub(crate) fn configured(&self, name: &str) -> Option<String> {
        let value = self.run(&["config", "--local", "--get", name], b"").ok()?;
        Some(String::from_utf8_lossy(&value).trim_end_matches('\n').to_owned())
    }

    /// Removes a section from the local configuration.
    pub(crate) fn unconfigure(&self, section: &str) -> Result<(), GitError> {
        self.run(&["config", "--local", "--remove-section", section], b"").map(|_| ())
    }

    /// Whether a remote has objects that this clone does not have.
    pub(crate) fn is_partial_clone(&self) -> bool {
        let asked = ["config", "--local", "--get-regexp", r"^remote\..*\.promisor$"];
        self.run(&asked, b"").is_ok()
    }

    /// The names of the remotes.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let names = self.run(&["remote"], b"")?;
        Ok(String::from_utf8_lossy(&names).lines().map(str::to_owned).collect())
    }
}

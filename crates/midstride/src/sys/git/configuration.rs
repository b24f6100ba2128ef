//! The configuration of this repository, as far as it is ours.

use super::{GitError, Repository};

impl Repository {
    /// Sets a value in the repository's own configuration.
    pub fn configure(&self, name: &str, value: &str) -> Result<(), GitError> {
        self.run(&["config", "--local", "--replace-all", name, value], b"").map(|_| ())
    }

    /// A value of the repository's own configuration.
    pub fn configured(&self, name: &str) -> Option<String> {
        let value = self.run(&["config", "--local", "--get", name], b"").ok()?;
        Some(String::from_utf8_lossy(&value).trim_end_matches('\n').to_owned())
    }

    /// Takes a section out of the repository's own configuration.
    pub fn unconfigure(&self, section: &str) -> Result<(), GitError> {
        self.run(&["config", "--local", "--remove-section", section], b"").map(|_| ())
    }

    /// The names of the repositories that this one knows.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let names = self.run(&["remote"], b"")?;
        Ok(String::from_utf8_lossy(&names).lines().map(str::to_owned).collect())
    }
}

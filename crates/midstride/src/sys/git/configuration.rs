//! The repository's git configuration and its remotes.

use super::run::{check_status, output_outside};
use super::{GitError, Repository};
use std::path::Path;

/// Git's `user.name` in a folder, with or without a repository.
pub(crate) fn user_name(folder: &Path) -> Option<String> {
    let asked = ["config", "--get", "user.name"];
    let name = match Repository::discover(folder).ok().flatten() {
        Some(repository) => repository.run(&asked, b""),
        None => output_outside(folder, &asked).and_then(|output| check_status(&asked, output)),
    };
    Some(String::from_utf8_lossy(&name.ok()?).into_owned())
}

/// Git's `core.editor` in the user's own configuration, else in that of the system. A repository's
/// configuration cannot choose a program.
pub(crate) fn user_editor() -> Option<String> {
    ["--global", "--system"].into_iter().find_map(|scope| {
        let asked = ["config", scope, "--includes", "--get", "core.editor"];
        let output = output_outside(Path::new("/"), &asked).ok()?;
        let editor = String::from_utf8(check_status(&asked, output).ok()?).ok()?;
        let editor = editor.trim();
        (!editor.is_empty()).then(|| editor.to_owned())
    })
}

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

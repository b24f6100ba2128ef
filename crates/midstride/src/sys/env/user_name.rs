//! The name of the user: the one they set, git's, or that of their account.

use super::Variables;
use crate::sys::git;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum length of a name from git's configuration.
const LENGTH_MAX: usize = 100;

/// The name where neither git nor the system has one.
const UNNAMED: &str = "user";

/// The name of the user.
#[derive(Clone, Debug)]
pub enum UserName {
    /// This name.
    Given(String),
    /// The name of the account. Starts no process.
    Account,
    /// Git's `user.name`, otherwise the name of the account.
    Git(GitNameLookup),
}

/// Asks git once for each folder, when the name is needed: commands that only read do not pay for it.
#[derive(Clone, Debug, Default)]
pub struct GitNameLookup(Arc<Mutex<Option<AskedName>>>);

/// The answer of git in a folder.
#[derive(Clone, Debug)]
struct AskedName {
    folder: PathBuf,
    name: Option<String>,
}

impl UserName {
    /// This name.
    pub fn given(name: &str) -> Self {
        Self::Given(name.to_owned())
    }

    /// The name that the variables give, otherwise the one that git knows.
    pub(super) fn from_variables(variables: &Variables) -> Self {
        variables
            .get("MIDSTRIDE_USER")
            .map_or_else(|| Self::Git(GitNameLookup::default()), Self::Given)
    }

    /// The same name without asking git.
    #[must_use]
    pub fn without_git(self) -> Self {
        match self {
            Self::Git(_) | Self::Account => Self::Account,
            Self::Given(name) => Self::Given(name),
        }
    }

    /// The name that the user chose, in the configuration that applies to a folder.
    pub(super) fn chosen(&self, folder: &Path) -> Option<String> {
        match self {
            Self::Given(name) => Some(name.clone()),
            Self::Account => None,
            Self::Git(lookup) => lookup.name_in(folder),
        }
    }

    /// The name to record.
    pub(super) fn resolve(&self, folder: &Path, variables: &Variables) -> String {
        let account = || variables.get("USER").or_else(login_name);
        self.chosen(folder).or_else(account).unwrap_or_else(|| UNNAMED.to_owned())
    }
}

impl GitNameLookup {
    fn name_in(&self, folder: &Path) -> Option<String> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = asked.as_ref().filter(|known| known.folder == folder) {
            return known.name.clone();
        }
        let name = git::user_name(folder).as_deref().and_then(plain_name);
        *asked = Some(AskedName { folder: folder.to_owned(), name: name.clone() });
        name
    }
}

/// A configured name without control characters and blanks around it.
fn plain_name(configured: &str) -> Option<String> {
    let plain: String = configured.chars().filter(|c| !c.is_control()).take(LENGTH_MAX).collect();
    let name = plain.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name of the user in the system's list of users.
pub(super) fn login_name() -> Option<String> {
    let id = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_name_is_one_short_line() {
        assert_eq!(plain_name(" Ada Lovelace\n").as_deref(), Some("Ada Lovelace"));
        assert_eq!(plain_name("Ada\u{1b}[2J\nX").as_deref(), Some("Ada[2JX"));
        assert_eq!(plain_name(" \n"), None);
        assert_eq!(plain_name(&"a".repeat(500)).map(|name| name.len()), Some(LENGTH_MAX));
    }

    #[test]
    fn without_git_a_name_comes_from_the_account() {
        let folder = Path::new("/");
        let variables = Variables::Fixed([("USER".to_owned(), "ada".to_owned())].into());
        let name = UserName::from_variables(&variables).without_git();
        assert_eq!(name.resolve(folder, &variables), "ada");
        assert_eq!(name.chosen(folder), None);
        let variables = Variables::Fixed([("MIDSTRIDE_USER".to_owned(), "lin".to_owned())].into());
        let name = UserName::from_variables(&variables).without_git();
        assert_eq!(name.resolve(folder, &variables), "lin");
    }
}

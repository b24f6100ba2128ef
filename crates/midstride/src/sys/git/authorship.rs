//! Who wrote files, as the history says. The author of a commit can be any text.

use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of folders passed to git, which compares every path with every pattern.
const FOLDERS_MAX: usize = 16;

/// The author of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitAuthor {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl fmt::Display for GitAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

impl Repository {
    /// The authors of all files in some folders, by path. Both are relative to the working tree. A
    /// file that no commit has is missing.
    pub(crate) fn authors(
        &self,
        folders: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, BTreeSet<GitAuthor>>, GitError> {
        let mut asked: Vec<String> =
            ["log", "-z", "--name-only", "--format=%x01%an%x02%ae", "HEAD"]
                .map(str::to_owned)
                .into();
        if folders.len() <= FOLDERS_MAX && !folders.contains("") {
            asked.push("--".to_owned());
            asked.extend(folders.iter().map(|folder| format!(":(top,literal){folder}")));
        }
        let log = self.run(&asked, b"")?;
        Ok(parse_authors(&String::from_utf8_lossy(&log)))
    }

    /// The user's address, from their own configuration and not from the repository's.
    pub(crate) fn user_email(&self) -> Option<String> {
        let value = self.run(&["config", "--global", "--get", "user.email"], b"").ok()?;
        let value = String::from_utf8_lossy(&value).trim().to_owned();
        (!value.is_empty()).then_some(value)
    }
}

fn parse_authors(log: &str) -> BTreeMap<String, BTreeSet<GitAuthor>> {
    let mut authors: BTreeMap<String, BTreeSet<GitAuthor>> = BTreeMap::new();
    let mut author = None;
    for part in log.split('\0') {
        if let Some((name, email)) =
            part.strip_prefix('\u{1}').and_then(|it| it.split_once('\u{2}'))
        {
            author = Some(GitAuthor { name: name.to_owned(), email: email.trim().to_owned() });
            continue;
        }
        let path = part.trim_start_matches('\n');
        if let Some(author) = author.clone().filter(|_| !path.is_empty()) {
            authors.entry(path.to_owned()).or_default().insert(author);
        }
    }
    authors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_authors_of_all_its_commits() {
        let log = "\u{1}Ada\u{2}ada@x\0\na.md\0b.md\0\0\u{1}Bob\u{2}bob@x\0\na.md\0";
        let authors = parse_authors(log);
        let names = |path: &str| authors[path].iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names("a.md"), ["Ada <ada@x>", "Bob <bob@x>"]);
        assert_eq!(names("b.md"), ["Ada <ada@x>"]);
    }
}

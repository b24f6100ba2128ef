//! What a remote itself has, as evidence that does not come from the repository.
//!
//! The remote is asked outside of the repository, whose configuration could send the question elsewhere.
//! Objects of the repository count only if their content has the hash that is their id, because git does
//! not compare it when it reads them.

use super::loose_object::{ObjectKind, object_id};
use super::run::remote_output_outside;
use super::tree_entries::tree_entries;
use super::{GitError, Repository};
use crate::sys::files;
use std::collections::HashMap;
use std::path::Path;

/// The file mode of a folder in a tree.
const FOLDER_MODE: &str = "40000";

/// The ids that a remote has as branches and tags.
pub(crate) fn advertised_ids(url: &str) -> Result<Vec<String>, GitError> {
    let listed = remote_output_outside(url, &["ls-remote", "--heads", "--tags", "--", url])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let ids = listed.lines().filter_map(|line| line.split_once('\t')).map(|(id, _)| id.to_owned());
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    ids.dedup();
    Ok(ids)
}

impl Repository {
    /// The URL of the remote that this clone came from, without credentials, if the remote is outside
    /// of the repository and its answers cannot be forged on the way.
    pub(crate) fn origin_url(&self) -> Option<String> {
        let remotes = self.remotes().ok()?;
        let is_origin = |name: &&String| *name == "origin" || remotes.len() == 1;
        let name = remotes.iter().find(is_origin)?;
        let url = without_credentials(&self.configured(&format!("remote.{name}.url"))?);
        let path = url.strip_prefix("file://").unwrap_or(&url);
        if path.starts_with('/') {
            let path = files::canonical(Path::new(path));
            let inside = [self.work_tree(), self.common_dir()].map(files::canonical);
            return (!inside.iter().any(|folder| path.starts_with(folder))).then_some(url);
        }
        let is_safe = url.starts_with("https://") || url.starts_with("ssh://") || is_scp_like(&url);
        is_safe.then_some(url)
    }

    /// A commit whose content is proven by its id, or `None` if it is not here or was changed.
    pub(crate) fn proven_commit(&self, id: &str) -> Option<ProvenTree<'_>> {
        let commit = self.proven_object(ObjectKind::Commit, id)?;
        let commit = String::from_utf8_lossy(&commit).into_owned();
        let root = commit.strip_prefix("tree ")?.lines().next()?.to_owned();
        Some(ProvenTree { repository: self, root, trees: HashMap::new() })
    }

    fn proven_object(&self, kind: ObjectKind, id: &str) -> Option<Vec<u8>> {
        let content = self.run(&["cat-file", kind.word(), id], b"").ok()?;
        (object_id(kind, &content, id.len()) == id).then_some(content)
    }
}

/// The files of a commit. Each tree is proven by its id.
pub(crate) struct ProvenTree<'r> {
    repository: &'r Repository,
    root: String,
    trees: HashMap<String, Vec<(String, String, String)>>,
}

impl ProvenTree<'_> {
    /// Whether the commit has a file with exactly this content.
    pub(crate) fn has_file(&mut self, path: &Path, content: &[u8]) -> bool {
        let names: Option<Vec<&str>> = path.iter().map(std::ffi::OsStr::to_str).collect();
        let Some((file, folders)) = names.as_deref().and_then(<[&str]>::split_last) else {
            return false;
        };
        let mut tree = self.root.clone();
        for folder in folders {
            match self.entry(&tree, folder) {
                Some((mode, id)) if mode == FOLDER_MODE => tree = id,
                Some(_) | None => return false,
            }
        }
        let entry = self.entry(&tree, file);
        entry.is_some_and(|(_, id)| object_id(ObjectKind::Blob, content, id.len()) == id)
    }

    fn entry(&mut self, tree: &str, name: &str) -> Option<(String, String)> {
        if !self.trees.contains_key(tree) {
            let raw = self.repository.proven_object(ObjectKind::Tree, tree)?;
            self.trees.insert(tree.to_owned(), tree_entries(&raw, tree.len() / 2));
        }
        let mut entries = self.trees.get(tree)?.iter();
        let (mode, _, id) = entries.find(|(_, entry, _)| entry == name)?;
        Some((mode.clone(), id.clone()))
    }
}

/// A URL without user name and password. The user of an ssh URL is part of the address.
fn without_credentials(url: &str) -> String {
    let Some(rest) = url.strip_prefix("https://") else { return url.to_owned() };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("https://{host}/{path}")
}

/// Whether a URL has the form `user@host:path`.
fn is_scp_like(url: &str) -> bool {
    let Some((host, path)) = url.split_once(':') else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "@.-_".contains(c);
    let is_path = !path.starts_with(':') && !path.starts_with("//");
    is_path && !host.is_empty() && !host.starts_with('-') && host.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_other_machines_are_asked() {
        assert!(is_scp_like("git@example.org:ada/x.git"));
        for url in
            ["ext::sh -c x", "-oProxyCommand=x:y", "../x", "x::y", ":y", "a b:c", "http://x/y"]
        {
            assert!(!is_scp_like(url), "{url}");
        }
        let clean = without_credentials("https://ada:token@example.org/x.git");
        assert_eq!(clean, "https://example.org/x.git");
        assert_eq!(without_credentials("ssh://git@example.org/x"), "ssh://git@example.org/x");
    }
}

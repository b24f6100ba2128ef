//! The files of the repository as a value, so that a test can change one and check again.

use midstride_testkit::repository_root;
use std::collections::BTreeMap;
use std::path::Path;

/// The sources, manifests and pages that the tidy tests check, by path from the root.
#[derive(Clone)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads what the tidy tests check.
    pub(super) fn read() -> Tree {
        let mut tree = Tree { files: BTreeMap::new() };
        let root = repository_root();
        for page in [
            "AGENTS.md",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "README.md",
            "Cargo.toml",
            "deny.toml",
            "fuzz/Cargo.toml",
        ] {
            tree.add(&root, &root.join(page));
        }
        for folder in ["crates", "docs"] {
            tree.add(&root, &root.join(folder));
        }
        tree
    }

    fn add(&mut self, root: &Path, path: &Path) {
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                self.add(root, &entry.unwrap().path());
            }
            return;
        }
        let is_checked = path.extension().is_some_and(|e| e == "rs" || e == "toml" || e == "md");
        if is_checked {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path);
            self.files
                .insert(name, text.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
    }

    /// A file that has to exist.
    pub(super) fn text(&self, path: &str) -> &str {
        self.find(path).unwrap_or_else(|| panic!("{path} does not exist"))
    }

    /// A file, if it exists.
    pub(super) fn find(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// The files below a folder with an ending, by path.
    pub(super) fn below<'a>(
        &'a self,
        folder: &'a str,
        ending: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(move |(path, _)| path.starts_with(folder) && path.ends_with(ending))
    }

    /// The same tree with one file replaced or added.
    pub(super) fn with(&self, path: &str, text: impl Into<String>) -> Tree {
        let mut changed = self.clone();
        changed.files.insert(path.to_owned(), text.into());
        changed
    }

    /// The same tree with a line at the end of a file.
    pub(super) fn with_line(&self, path: &str, line: &str) -> Tree {
        self.with(path, format!("{}\n{line}\n", self.text(path)))
    }
}

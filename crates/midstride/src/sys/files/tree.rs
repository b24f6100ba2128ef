//! Operations on entire folders: listing all files and removing everything. Links are treated as
//! files and never followed.

use super::{DRAFT_NAME, FileError, FileProblem, Root};
use std::path::{Path, PathBuf};

impl Root {
    /// All files below a folder, sorted, including hidden files and links. Empty if there is no
    /// such folder.
    pub fn files_below(&self, folder: &Path) -> Result<Vec<PathBuf>, FileError> {
        let mut found = Vec::new();
        let mut left = vec![folder.to_owned()];
        while let Some(path) = left.pop() {
            let failed = |error| self.error(&path, error);
            // The empty path is this folder itself.
            let here = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
            match self.dir.symlink_metadata(here).map_err(failed) {
                Ok(metadata) if metadata.is_dir() => {
                    for entry in self.dir.read_dir(here).map_err(failed)? {
                        left.push(path.join(entry.map_err(failed)?.file_name()));
                    }
                }
                Ok(_) => found.push(path),
                Err(FileError {
                    problem: FileProblem::NotFound | FileProblem::NotFolder, ..
                }) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Whether there is a link at a path, even a broken one.
    pub fn is_link(&self, path: &Path) -> bool {
        self.dir.symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
    }

    /// Whether nothing is in this folder, except what a killed process left of a write.
    pub(crate) fn is_empty(&self) -> Result<bool, FileError> {
        let failed = |error| self.error(Path::new(""), error);
        for entry in self.dir.entries().map_err(failed)? {
            if entry.map_err(failed)?.file_name() != DRAFT_NAME {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes a file or a folder with all its contents. A link is removed without its target.
    /// Succeeds if nothing is there.
    pub(crate) fn remove_tree(&self, path: &Path) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let removed = match self.dir.symlink_metadata(path).map_err(failed) {
            Ok(metadata) if metadata.is_dir() => self.dir.remove_dir_all(path),
            Ok(_) => self.dir.remove_file(path),
            Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => {
                Ok(())
            }
            Err(error) => return Err(error),
        };
        removed.map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use crate::sys::files::{Root, ScratchFolder};
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    #[test]
    fn removing_a_folder_keeps_the_targets_of_its_links() {
        let scratch = ScratchFolder::new("midstride-tree").unwrap();
        scratch.write("outside/kept.md", b"kept").unwrap();
        scratch.write("project/ours/a/.hidden", b"x").unwrap();
        scratch.write("project/ours/b.md", b"x").unwrap();
        let project = scratch.path().join("project");
        symlink(scratch.path().join("outside"), project.join("ours/out")).unwrap();
        symlink("ours", project.join("link")).unwrap();
        let root = Root::open(&project).unwrap();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let below = root.files_below(Path::new("ours")).unwrap();
        assert_eq!(below, paths(&["ours/a/.hidden", "ours/b.md", "ours/out"]));
        let all = root.files_below(Path::new("")).unwrap();
        assert_eq!(all, paths(&["link", "ours/a/.hidden", "ours/b.md", "ours/out"]));
        assert_eq!(root.files_below(Path::new("nothing")).unwrap(), paths(&[]));
        assert_eq!(root.files_below(Path::new("link")).unwrap(), paths(&["link"]));
        root.remove_tree(Path::new("link")).unwrap();
        assert!(root.exists(Path::new("ours/b.md")));
        root.remove_tree(Path::new("ours")).unwrap();
        root.remove_tree(Path::new("ours")).unwrap();
        assert!(!root.exists(Path::new("ours")));
        assert!(scratch.path().join("outside/kept.md").exists());
        assert!(root.remove_tree(Path::new("../outside")).is_err());
        scratch.remove().unwrap();
    }
}

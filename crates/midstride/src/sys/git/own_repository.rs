//! A bare repository of our own, for texts that must stay on this machine. References and objects of
//! the project leave with every mirror, bundle and clone; those of another repository do not.
//!
//! It borrows the project's objects, so that one git process finds a text in either of them. What is
//! stored here is stored whole, even if the project has the same object: the project's garbage
//! collection does not know who borrows from it.

use super::Repository;
use super::loose_object::ObjectFormat;
use crate::sys::files::{self, FileError, FileProblem, Root};
use std::path::Path;
use std::sync::Arc;

/// The folder of the repository, in the private folder.
const FOLDER: &str = "texts.git";
/// From the objects of this repository to those of the project, in the usual places.
const PROJECT_OBJECTS: &str = "../../../objects";
/// The file that makes the folder a repository, so it is written last.
const HEAD: &str = "HEAD";
/// Its content. There is no such branch.
const HEAD_TEXT: &str = "ref: refs/heads/main\n";
/// The file that names other folders of objects.
const ALTERNATES: &str = "objects/info/alternates";

impl Repository {
    /// Opens our own repository in the private folder, if it exists.
    pub(crate) fn open_own(private: &Root) -> Result<Option<Self>, FileError> {
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(None) };
        // Links that lead out of the private folder are refused here.
        for inside in ["objects", "refs"] {
            if folder.open_below(Path::new(inside))?.is_none() {
                return Ok(None);
            }
        }
        let path = folder.path().to_owned();
        let exists = folder.has_file(Path::new(HEAD));
        Ok(exists.then(|| Self {
            work_tree: path.clone(),
            git_dir: path.clone(),
            common_dir: path,
            is_own: true,
            programs: Arc::default(),
        }))
    }

    /// The same, created if it is missing. Several processes may do this at once.
    pub(crate) fn make_own(private: &Root, project: &Self) -> Result<Self, FileError> {
        let folder = private.make_below(Path::new(FOLDER))?;
        for inside in ["objects/info", "refs"] {
            folder.make_below(Path::new(inside))?;
        }
        let borrowed = project.path_to_borrow(&folder.path().join("objects"));
        let alternates = Path::new(ALTERNATES);
        let is_borrowing = folder.read(alternates).is_ok_and(|text| text == borrowed.as_bytes());
        if let Some(own) = Self::open_own(private)?.filter(|_| is_borrowing) {
            return Ok(own);
        }
        let configuration = configuration(project.object_format()?);
        folder.put(Path::new("config"), configuration.as_bytes())?;
        folder.put(alternates, borrowed.as_bytes())?;
        folder.put(Path::new(HEAD), HEAD_TEXT.as_bytes())?;
        let own = Self::open_own(private)?;
        let problem = FileProblem::NotFound;
        own.ok_or_else(|| FileError { path: folder.path().to_owned(), problem })
    }

    /// Whether midstride created this repository for itself.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// The line of `alternates` for the objects of this repository. Relative where that leads to them,
    /// so that the project can be moved.
    fn path_to_borrow(&self, borrower: &Path) -> String {
        let objects = files::canonical(&self.common_dir.join("objects"));
        let is_usual = files::canonical(&borrower.join(PROJECT_OBJECTS)) == objects;
        let path =
            if is_usual { PROJECT_OBJECTS.to_owned() } else { objects.display().to_string() };
        // Git reads one path per line.
        if path.contains('\n') { String::new() } else { format!("{path}\n") }
    }
}

/// The configuration of our own repository. Only the owner can read the files that git creates in it,
/// regardless of the umask. Git writes no reflogs and packs nothing unasked.
fn configuration(format: ObjectFormat) -> String {
    let (version, extension) = match format {
        ObjectFormat::Sha1 => (0, ""),
        ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
    };
    format!(
        "[core]\n\trepositoryFormatVersion = {version}\n\tbare = true\n\
         \tsharedRepository = 0600\n\tlogAllRefUpdates = false\n[gc]\n\tauto = 0\n{extension}"
    )
}

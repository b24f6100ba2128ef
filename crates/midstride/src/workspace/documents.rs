//! The documents in the folders of a project: where they are, and reading them.

use super::{PRIVATE, Workspace};
use crate::sys::files::{self, FileError, FileProblem, FileStamp, Root, ScanDetail};
use crate::sys::git::{GitError, Repository};
use crate::workspace::folder::{HandoffFolder, is_archived};
use midstride_core::format::document::Document;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::id::HandoffKey;
use midstride_core::text::redact::CleanText;
use std::path::{Path, PathBuf};

/// Which documents a workspace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentScope {
    /// All of the project.
    All,
    /// The user's own.
    Own,
}

/// A document and its location.
#[derive(Clone, Debug)]
pub struct StoredHandoff {
    /// The path from the root of the project, as a user would write it.
    pub path: PathBuf,
    /// The bytes as read.
    pub bytes: Vec<u8>,
    /// The parsed document.
    pub document: Document,
    /// What the location says about the document.
    pub location: Location,
    /// The key that the location stands for.
    pub place_key: Option<HandoffKey>,
    pub(super) folder: Option<usize>,
    pub(super) relative_path: PathBuf,
}

impl StoredHandoff {
    /// The path below the root of its folder.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    pub(crate) fn document_place(&self) -> DocumentPlace {
        DocumentPlace { folder: self.folder, relative_path: self.relative_path.clone() }
    }

    /// The same handoff with another text.
    #[must_use]
    pub fn with_text(self, bytes: Vec<u8>) -> Self {
        Self { document: Document::parse(&bytes), bytes, ..self }
    }

    /// The same handoff after it was written as this document.
    #[must_use]
    pub(crate) fn with_document(&self, document: Document) -> Self {
        Self {
            path: self.path.clone(),
            bytes: document.text().as_bytes().to_owned(),
            document,
            location: self.location.clone(),
            place_key: self.place_key.clone(),
            folder: self.folder,
            relative_path: self.relative_path.clone(),
        }
    }

    /// The document as a handoff.
    pub fn handoff<'d>(&'d self, workspace: &'d Workspace) -> Handoff<'d> {
        Handoff::new(&self.document, &self.location, &workspace.settings.stages)
    }
}

/// The location of a document that has not been read yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentPlace {
    pub(super) folder: Option<usize>,
    pub(super) relative_path: PathBuf,
}

impl DocumentPlace {
    /// The path below the root of its folder.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    /// Whether it is in an archive folder.
    pub(crate) fn is_archived(&self) -> bool {
        is_archived(&self.relative_path)
    }
}

/// The result of scanning all folders.
#[derive(Debug, Default)]
pub(crate) struct DocumentScan {
    /// The documents, without duplicates.
    pub(crate) documents: Vec<(DocumentPlace, FileStamp)>,
    /// The folders that contain them.
    pub(crate) folders: Vec<(DocumentPlace, FileStamp)>,
    /// The folders that could not be scanned.
    pub(crate) unread: Vec<FileError>,
}

impl Workspace {
    /// The places of all documents, and the folders that could not be scanned. A document that is
    /// in two folders is listed once.
    pub fn document_places(&self) -> Vec<Result<DocumentPlace, FileError>> {
        let DocumentScan { documents, unread, .. } = self.scan(ScanDetail::Names);
        let mut places: Vec<DocumentPlace> =
            documents.into_iter().map(|(place, _)| place).collect();
        places.sort_unstable_by(|a, b| {
            (a.folder, &a.relative_path).cmp(&(b.folder, &b.relative_path))
        });
        places.into_iter().map(Ok).chain(unread.into_iter().map(Err)).collect()
    }

    /// Scans all folders and returns documents and folders with their metadata.
    pub(crate) fn scan(&self, detail: ScanDetail) -> DocumentScan {
        let mut scan = DocumentScan::default();
        let mut seen = std::collections::HashSet::new();
        for (index, folder) in self.folders.iter().enumerate() {
            let found = match folder.scan(detail) {
                Ok(found) => found,
                Err(error) => {
                    scan.unread.push(error);
                    continue;
                }
            };
            let here = found.files.into_iter();
            // Compare as bytes: comparing paths by component takes ten times as long.
            let whole =
                |relative_path: &Path| folder.root_path().join(relative_path).into_os_string();
            let here = here.filter(|(relative_path, _)| seen.insert(whole(relative_path)));
            let place = |relative_path| DocumentPlace { folder: Some(index), relative_path };
            scan.documents.extend(here.map(|(relative_path, stamp)| (place(relative_path), stamp)));
            let folders = found.folders.into_iter();
            scan.folders
                .extend(folders.map(|(relative_path, stamp)| (place(relative_path), stamp)));
        }
        scan
    }

    /// The metadata of the file or folder at a place.
    pub(crate) fn stamp(&self, place: &DocumentPlace) -> Option<FileStamp> {
        self.root_of(place).ok()?.stamp(&place.relative_path)
    }

    pub(super) fn root_of(&self, place: &DocumentPlace) -> Result<&Root, FileError> {
        match place.folder {
            Some(index) => self.folders[index].root(),
            // A Markdown file elsewhere in the project is a document of others too.
            None if self.scope == DocumentScope::Own => {
                let path = self.root.path().join(&place.relative_path);
                Err(FileError { path, problem: FileProblem::Untrusted })
            }
            None => Ok(&self.root),
        }
    }

    fn root_path_of(&self, place: &DocumentPlace) -> &Path {
        place.folder.map_or(self.root.path(), |index| self.folders[index].root_path())
    }

    /// The root of a place and the path below it.
    pub(crate) fn root_and_path<'s>(&'s self, place: &'s DocumentPlace) -> (&'s Path, &'s Path) {
        (self.root_path_of(place), &place.relative_path)
    }

    /// The place of a path below the root of a folder.
    pub(crate) fn place_below(&self, root: &Path, inside: &Path) -> Option<DocumentPlace> {
        let holds = |folder: &HandoffFolder| folder.root_path() == root && folder.contains(inside);
        let folder = self.folders.iter().position(holds)?;
        Some(DocumentPlace { folder: Some(folder), relative_path: inside.to_owned() })
    }

    /// Reads the document at a place.
    pub fn read(&self, place: &DocumentPlace) -> Result<StoredHandoff, FileError> {
        Ok(self.stored_handoff(place.clone(), self.bytes(place)?))
    }

    /// The bytes of the document at a place.
    pub(crate) fn bytes(&self, place: &DocumentPlace) -> Result<Vec<u8>, FileError> {
        self.root_of(place)?.read(&place.relative_path)
    }

    /// A document at a place, from bytes that were already read.
    pub(crate) fn stored_handoff(&self, place: DocumentPlace, bytes: Vec<u8>) -> StoredHandoff {
        let document = Document::parse(&bytes);
        let folder = place.folder.map(|index| &self.folders[index]);
        let location = match folder {
            Some(folder) => folder.location_of(&place.relative_path, &self.settings.stages),
            None => Location { stem: stem(&place.relative_path), stage: None },
        };
        let place_key = folder.and_then(|folder| folder.key_for_path(&place.relative_path));
        let path = self.display_path(&place);
        let DocumentPlace { folder, relative_path } = place;
        StoredHandoff { path, bytes, document, location, place_key, folder, relative_path }
    }

    /// The path of a place as a user would write it.
    pub fn display_path(&self, place: &DocumentPlace) -> PathBuf {
        let whole = self.root_path_of(place).join(&place.relative_path);
        whole.strip_prefix(self.root.path()).map(Path::to_owned).unwrap_or(whole)
    }

    /// Reads all documents in parallel, in the order of the folders.
    pub fn read_all(&self) -> Vec<Result<StoredHandoff, FileError>> {
        self.map_all(|stored| stored)
    }

    /// Reads all documents and maps each one, in parallel.
    pub(crate) fn map_all<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        self.map_matching(|_| true, each)
    }

    /// The same, but only for documents whose bytes are wanted.
    pub(crate) fn map_matching<T: Send>(
        &self,
        wanted: impl Fn(&[u8]) -> bool + Sync,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        let (places, unread): (Vec<_>, Vec<_>) =
            self.document_places().into_iter().partition(Result::is_ok);
        let places: Vec<DocumentPlace> = places.into_iter().filter_map(Result::ok).collect();
        let done = map_on_all_cores(&places, |place| {
            let bytes = self.bytes(place)?;
            Ok(wanted(&bytes).then(|| each(self.stored_handoff(place.clone(), bytes))))
        });
        let unread = unread.into_iter().filter_map(Result::err).map(Err);
        done.into_iter().filter_map(Result::transpose).chain(unread).collect()
    }

    /// The place of a path that the user named. It need not be in a handoff folder.
    pub fn place_of_path(&self, path: &Path) -> Option<DocumentPlace> {
        let whole = files::canonical(&self.environment.folder.join(path));
        for (index, folder) in self.folders.iter().enumerate() {
            if let Ok(inside) = whole.strip_prefix(files::canonical(folder.root_path()))
                && folder.contains(inside)
            {
                return Some(DocumentPlace {
                    folder: Some(index),
                    relative_path: inside.to_owned(),
                });
            }
        }
        let inside = whole.strip_prefix(files::canonical(self.root.path())).ok()?.to_owned();
        Some(DocumentPlace { folder: None, relative_path: inside })
    }

    /// The staged documents with their staged content.
    pub fn staged(&self, repository: &Repository) -> Result<Vec<StoredHandoff>, GitError> {
        let staged = repository.staged_markdown()?;
        let places = staged.into_iter().filter_map(|(path, bytes)| {
            let whole = repository.work_tree().join(path);
            let inside = whole.strip_prefix(self.root.path()).ok()?.to_owned();
            let folder = self.folders.iter().position(|folder| {
                folder.root_path() == self.root.path() && folder.contains(&inside)
            })?;
            Some((DocumentPlace { folder: Some(folder), relative_path: inside }, bytes))
        });
        Ok(places.map(|(place, bytes)| self.stored_handoff(place, bytes)).collect())
    }

    /// The path of a document relative to the working tree, or `None` if it is outside or there is
    /// no repository.
    pub(crate) fn path_in_work_tree(&self, stored: &StoredHandoff) -> Option<PathBuf> {
        let whole = self.root.path().join(&stored.path);
        whole.strip_prefix(self.repository.as_ref()?.work_tree()).map(Path::to_owned).ok()
    }

    /// Reads a document again that existed before.
    pub fn reread(&self, stored: &StoredHandoff) -> Result<StoredHandoff, FileError> {
        self.read(&stored.document_place()).map_err(FileError::into_deleted)
    }

    /// The private folder, if it contains the document.
    pub(crate) fn private_folder_of(&self, stored: &StoredHandoff) -> Option<&HandoffFolder> {
        let folder = &self.folders[stored.folder?];
        let private = [self.private_path(), self.root.path().join(PRIVATE)];
        private.iter().any(|path| folder.root_path() == path).then_some(folder)
    }

    /// Replaces a document with a new text.
    pub fn replace(&self, stored: &StoredHandoff, text: &CleanText) -> Result<(), FileError> {
        self.replace_bytes(stored, text.as_str().as_bytes())
    }

    /// Removes a document if it is still as it was read.
    pub(crate) fn remove(&self, stored: &StoredHandoff) -> Result<(), FileError> {
        let root = self.root_of(&stored.document_place())?;
        root.remove(&stored.relative_path, &stored.bytes)
    }

    /// Like `replace`, for bytes that are not UTF-8. Secrets were removed from the readable parts.
    pub(crate) fn replace_bytes(
        &self,
        stored: &StoredHandoff,
        bytes: &[u8],
    ) -> Result<(), FileError> {
        let root = self.root_of(&stored.document_place())?;
        root.replace(&stored.relative_path, &stored.bytes, bytes)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Maps items on all cores and keeps their order.
pub(crate) fn map_on_all_cores<T: Sync, U: Send>(
    items: &[T],
    each: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    const WORTH_A_THREAD: usize = 16;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if items.len() < WORTH_A_THREAD || cores == 1 {
        return items.iter().map(each).collect();
    }
    let each = &each;
    std::thread::scope(|scope| {
        let share = items.len().div_ceil(cores);
        let workers: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(each).collect::<Vec<U>>()))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker does nothing that panics"))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_mapping_keeps_the_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(
            map_on_all_cores(&items, |item| item * 2),
            (0..2000).step_by(2).collect::<Vec<_>>()
        );
    }
}

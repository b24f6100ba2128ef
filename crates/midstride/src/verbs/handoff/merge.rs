//! Merges two texts of one handoff, as git's merge driver or in a file that git left with
//! conflicts.

use crate::store::Store;
use crate::store::revisions::RevisionError;
use crate::store::text_refs::uid_file_name;
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::{self, ConflictSides, GitError, MergedLines};
use crate::workspace::{FindError, StoredHandoff, Workspace};
use midstride_core::format::document::{Document, DocumentEditError, RedactedDocument};
use midstride_core::handoff::merge::{self, MergeRefusal, MergedText, SideIds};
use midstride_core::text::id::{BlobHash, Uid};
use midstride_core::text::redact::Redaction;
use midstride_core::text::span::Span;
use midstride_core::text::yaml::conflict_markers;
use std::path::{Path, PathBuf};

/// The result of a merge.
#[derive(Debug, Default)]
pub struct MergeOutcome {
    /// What the user has to resolve. It is between conflict markers.
    pub conflicts: Vec<String>,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
    /// The id of the kept copy of the file's previous text.
    pub replaced: Option<BlobHash>,
    /// The id that two different handoffs share, if that is the conflict.
    pub shared_id: Option<String>,
}

/// Why nothing was merged. The file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is no repository.
    #[error("this is not a git repository, so there is no merge to finish")]
    NoRepository,
    /// Git reports no conflict.
    #[error("git reports no conflict in `{}`", .0.display())]
    NoConflict(PathBuf),
    /// The conflict was already resolved.
    #[error("`{}` no longer has conflict markers", .0.display())]
    AlreadyResolved(PathBuf),
    /// One side deleted it.
    #[error("one side changed `{}` and the other deleted it", .0.display())]
    Deleted(PathBuf),
    /// It cannot be merged line by line.
    #[error("`{}` cannot be merged line by line", .0.display())]
    NoText(PathBuf),
    /// The file was not found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Git could not read its index.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Redacting a secret would damage the header.
    #[error(transparent)]
    Redaction(#[from] DocumentEditError),
    /// A text could not be stored.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The files git passes to its merge driver.
#[derive(Clone, Debug)]
pub struct DriverFiles {
    /// The common ancestor; empty if there is none.
    pub base: PathBuf,
    /// Our version, which the result replaces.
    pub ours: PathBuf,
    /// Their version.
    pub theirs: PathBuf,
    /// The path of the handoff.
    pub path: PathBuf,
}

/// Merges as git's merge driver. The result replaces our version.
pub fn merge_as_driver(store: &Store, driven: &DriverFiles) -> Result<MergeOutcome, MergeError> {
    let workspace = store.workspace();
    let folder = Root::open(&workspace.environment().folder)?;
    let read = |path: &Path| files::read_named(&folder.path().join(path));
    let base = Some(read(&driven.base)?).filter(|bytes| !bytes.is_empty());
    let (ours, theirs) = (read(&driven.ours)?, read(&driven.theirs)?);
    let (bytes, joined) = merge_sides(store, &driven.path, base.as_deref(), &ours, &theirs)?;
    folder.put(&driven.ours, &bytes)?;
    Ok(joined)
}

/// Merges a file that git left with conflicts, from the versions in git's index.
pub fn repair(store: &Store, path: &Path) -> Result<MergeOutcome, MergeError> {
    let workspace = store.workspace();
    let repository = workspace.repository().ok_or(MergeError::NoRepository)?;
    let name = path.display().to_string();
    let place = workspace.place_of_path(path).ok_or(FindError::Outside(name))?;
    let stored = workspace.read(&place)?;
    let no_conflict = || MergeError::NoConflict(stored.path.clone());
    let inside = workspace.path_in_work_tree(&stored).ok_or_else(no_conflict)?;
    let conflicted = repository.conflict_sides(&inside)?;
    let ConflictSides { base, ours, theirs } = conflicted.ok_or_else(no_conflict)?;
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        return Err(MergeError::Deleted(stored.path));
    };
    // A conflict the user resolved by hand takes precedence over a merge.
    if conflict_markers(stored.document.text()).is_empty() && stored.bytes != ours {
        return Err(MergeError::AlreadyResolved(stored.path));
    }
    let (bytes, mut joined) = merge_sides(store, &stored.path, base.as_deref(), &ours, &theirs)?;
    joined.replaced = store_replaced(store, &stored)?;
    workspace.replace_bytes(&stored, &bytes)?;
    Ok(joined)
}

/// Keeps the replaced text, because the user may have started to resolve it by hand.
fn store_replaced(store: &Store, stored: &StoredHandoff) -> Result<Option<BlobHash>, MergeError> {
    let workspace = store.workspace();
    let Some(uid) = stored.handoff(workspace).uid().map(|uid| uid_file_name(&uid)) else {
        return Ok(None);
    };
    let texts = store.text_store(stored, &uid);
    let id = texts.store_replaced(&workspace.redact(&stored.document)?.text)?;
    texts.retain(std::slice::from_ref(&id))?;
    Ok(Some(id))
}

/// Merges two versions. Both are kept, so that every revision in the history has its text.
fn merge_sides(
    store: &Store,
    path: &Path,
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
) -> Result<(Vec<u8>, MergeOutcome), MergeError> {
    let workspace = store.workspace();
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    if ![base.unwrap_or_default(), ours, theirs].into_iter().all(is_text) {
        let merged = git::merge_lines(base.unwrap_or_default(), ours, theirs)?;
        let merged = merged.as_ref().map(|merged| clean_merged_lines(workspace, merged));
        return merged.ok_or_else(|| MergeError::NoText(path.to_owned()));
    }
    let (base, ours, theirs) =
        (base.map(Document::parse), Document::parse(ours), Document::parse(theirs));
    let kept = store_both(store, &ours, &theirs)?;
    let tips = kept.as_ref().map(|(one, other)| SideIds { one, other });
    let merged = merge::merge(base.as_ref(), &ours, &theirs, tips);
    let shared_id = merged.is_err().then(|| id_of_document(&ours, path));
    let MergedText { text, conflicts } = match merged {
        Ok(merged) => merged,
        Err(MergeRefusal::TwoHandoffs | _) => merge::side_by_side(&ours, &theirs),
    };
    let RedactedDocument { text, redacted, .. } =
        workspace.redact(&Document::parse(text.as_bytes()))?;
    Ok((
        text.as_str().as_bytes().to_vec(),
        MergeOutcome { conflicts, redacted, replaced: None, shared_id },
    ))
}

fn id_of_document(document: &Document, path: &Path) -> String {
    let id = document.handoff_header().and_then(|header| header.text("id"));
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    id.map_or_else(stem, |id| id.value.trim().to_owned())
}

/// Cleans lines in an unknown encoding. The parts that are valid UTF-8 are redacted.
fn clean_merged_lines(workspace: &Workspace, merged: &MergedLines) -> (Vec<u8>, MergeOutcome) {
    let mut joined = MergeOutcome::default();
    if merged.conflicts {
        joined.conflicts = conflict_lines(&String::from_utf8_lossy(&merged.bytes));
    }
    let mut bytes = Vec::with_capacity(merged.bytes.len());
    for chunk in merged.bytes.utf8_chunks() {
        let (text, redacted) = workspace.clean(chunk.valid());
        bytes.extend_from_slice(text.as_str().as_bytes());
        bytes.extend_from_slice(chunk.invalid());
        joined.redacted.extend(redacted);
    }
    (bytes, joined)
}

/// The first line after each marker that opens a conflict.
fn conflict_lines(text: &str) -> Vec<String> {
    let line = |at: &Span| text[at.end..].lines().nth(1).unwrap_or_default().trim().to_owned();
    conflict_markers(text).iter().map(line).collect()
}

fn store_both(
    store: &Store,
    ours: &Document,
    theirs: &Document,
) -> Result<Option<(BlobHash, BlobHash)>, MergeError> {
    let workspace = store.workspace();
    let uid = |document: &Document| Uid::parse(document.handoff_header()?.text("uid")?.value);
    let Some(uid) = uid(ours).filter(|own| uid(theirs).as_ref() == Some(own)) else {
        return Ok(None);
    };
    let Some(texts) = store.shared_text_store(&uid_file_name(&uid)) else { return Ok(None) };
    let (ours, theirs) = (workspace.redact(ours)?.text, workspace.redact(theirs)?.text);
    let (ours, theirs) = (texts.store_replaced(&ours)?, texts.store_replaced(&theirs)?);
    texts.retain(&[ours.clone(), theirs.clone()])?;
    Ok(Some((ours, theirs)))
}

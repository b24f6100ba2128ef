//! Merges a private store that was set aside into the current one, once the user took it back.
//!
//! Nothing in the current store is replaced: events are added to their streams, blobs and files are
//! copied, and a file whose name is taken gets another one. Each step can be repeated, so a process that
//! was killed continues where it stopped. The store that was set aside is removed once everything in it
//! was found in the current one.

use super::Store;
use super::ledger::{
    self, AppendError, Cursor, LEDGER_FILE, LEDGER_FILES, Ledger, LedgerError, LocalLedger as _,
    StreamId, require_database,
};
use crate::sys::files::{FileError, FileProblem, Root};
use crate::sys::ids::sha256;
use midstride_core::work::event::Envelope;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// How many records are read at once.
const RECORDS_AT_ONCE: usize = 1_000;
/// Folders whose files describe the current state of a machine. The current ones stay as they are.
const CURRENT_ONLY: [&str; 4] = ["cursors", "hooks", "locks", "work-trees"];
/// Files that belong to one store: its id, and indexes, which are rebuilt.
const STORE_ONLY: [&str; 2] = ["store-id", ".gitignore"];
const INDEX_PREFIX: &str = "index-";
/// How much of a hash is in the name of a file whose own name is taken.
const HASH_LENGTH: usize = 8;

/// Why a store was not merged. It stays where it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreMergeError {
    /// A ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The events could not be added.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something is not in the current store.
    #[error("`{}` was not merged completely; missing: {missing}", path.display())]
    Incomplete {
        /// The store that was set aside.
        path: PathBuf,
        /// What is missing.
        missing: String,
    },
}

/// Merges the store at a path into the current one and removes it.
pub(crate) fn merge_store(store: &Store, path: &Path) -> Result<(), StoreMergeError> {
    let incomplete =
        |missing: String| StoreMergeError::Incomplete { path: path.to_owned(), missing };
    let theirs = Root::open(path)?;
    require_database(&path.join(LEDGER_FILE))?;
    let ours = store.workspace().make_private()?;
    for inside in files_to_copy(&theirs)? {
        copy_file(&theirs, &ours, &inside)?;
    }
    if theirs.has_file(Path::new(LEDGER_FILE)) && !theirs.is_link(Path::new(LEDGER_FILE)) {
        merge_ledger(store, path, &incomplete)?;
    }
    for inside in files_to_copy(&theirs)? {
        if !is_copied(&theirs, &ours, &inside)? {
            return Err(incomplete(format!("`{}`", inside.display())));
        }
    }
    let (parent, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    Ok(Root::open(parent)?.remove_tree(Path::new(name))?)
}

/// The files of a store that are copied as they are. Links are not followed.
fn files_to_copy(theirs: &Root) -> Result<Vec<PathBuf>, FileError> {
    let is_copied = |inside: &PathBuf| {
        let first = inside.iter().next().unwrap_or_default().to_string_lossy();
        let is_alone = inside.components().count() == 1;
        let is_of_store = STORE_ONLY.contains(&&*first) || first.starts_with(INDEX_PREFIX);
        let is_of_ledger = LEDGER_FILES.contains(&&*first) || first == "locks";
        !(is_of_ledger || is_alone && is_of_store)
    };
    let all = theirs.files_below(Path::new(""))?.into_iter();
    Ok(all.filter(|inside| is_copied(inside) && !theirs.is_link(inside)).collect())
}

/// The name of a file whose own name is taken by another one.
fn other_name(inside: &Path, bytes: &[u8]) -> PathBuf {
    let stem = inside.file_stem().unwrap_or_default().to_string_lossy();
    let hash = &sha256(bytes)[..HASH_LENGTH];
    let ending = inside.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    inside.with_file_name(format!("{stem}-{hash}{}", ending.unwrap_or_default()))
}

/// Whether the current file stays if there are two. In a git repository, an object has the same content
/// under the same name, and only references differ.
fn is_current_only(inside: &Path) -> bool {
    let mut names = inside.iter();
    let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let is_object = Path::new(first).extension().is_some_and(|it| it == "git") && second != "refs";
    is_object || CURRENT_ONLY.iter().any(|name| first == *name)
}

fn copy_file(theirs: &Root, ours: &Root, inside: &Path) -> Result<(), FileError> {
    let bytes = theirs.read(inside)?;
    match ours.create(inside, &bytes) {
        Err(FileError { problem: FileProblem::Exists, .. }) => {}
        created => return created,
    }
    if is_current_only(inside) || ours.read(inside)? == bytes {
        return Ok(());
    }
    match ours.create(&other_name(inside, &bytes), &bytes) {
        // An earlier run did it.
        Err(FileError { problem: FileProblem::Exists, .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_copied(theirs: &Root, ours: &Root, inside: &Path) -> Result<bool, FileError> {
    let bytes = theirs.read(inside)?;
    let has = |path: &Path| ours.read(path).is_ok_and(|found| found == bytes);
    let is_there = is_current_only(inside) && ours.has_file(inside);
    Ok(is_there || has(inside) || has(&other_name(inside, &bytes)))
}

fn merge_ledger(
    store: &Store,
    path: &Path,
    incomplete: &dyn Fn(String) -> StoreMergeError,
) -> Result<(), StoreMergeError> {
    let theirs = ledger::open_to_merge(path)?;
    let ours = store.ledger()?;
    for hash in theirs.blobs_with_prefix("")? {
        let Some(bytes) = theirs.get_blob(&hash)? else { continue };
        match ours.put_blob(&bytes) {
            // The user had it removed for good.
            Ok(_) | Err(LedgerError::Forgotten(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for hash in theirs.forgotten_blobs()? {
        if ours.get_blob(&hash)?.is_none() {
            ours.forget_blob(&hash)?;
        }
    }
    let mut unreadable = 0;
    let mut streams: Vec<(StreamId, Vec<Envelope>)> = read_streams(&theirs)?.into_iter().collect();
    for (_, events) in &mut streams {
        let count = events.len();
        events.retain(Envelope::is_readable);
        unreadable += count - events.len();
    }
    ours.append_missing(&streams)?;
    for (stream, events) in &streams {
        let found = ours.read(stream, None)?;
        let found = found.iter().flat_map(|record| &record.events).map(|event| &event.id);
        let found: HashSet<&String> = found.collect();
        if let Some(event) = events.iter().find(|event| !found.contains(&event.id)) {
            return Err(incomplete(format!("event `{}` of `{stream}`", event.id)));
        }
    }
    let forgotten = ours.forgotten_blobs()?;
    for hash in theirs.blobs_with_prefix("")? {
        if ours.get_blob(&hash)?.is_none() && !forgotten.contains(&hash) {
            return Err(incomplete(format!("blob `{hash}`")));
        }
    }
    match unreadable {
        0 => Ok(()),
        count => Err(incomplete(format!("{count} events that midstride cannot read"))),
    }
}

/// All events of a ledger by stream, in order.
fn read_streams(ledger: &dyn Ledger) -> Result<BTreeMap<StreamId, Vec<Envelope>>, LedgerError> {
    let mut streams: BTreeMap<StreamId, Vec<Envelope>> = BTreeMap::new();
    let mut cursor = Cursor::START;
    loop {
        let page = ledger.read_all(&cursor, RECORDS_AT_ONCE)?;
        if page.records.is_empty() {
            return Ok(streams);
        }
        cursor = page.next;
        for record in page.records {
            streams.entry(record.stream).or_default().extend(record.events);
        }
    }
}

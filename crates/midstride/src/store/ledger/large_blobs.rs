//! Large blobs, stored as files next to the database. Inside the database they would be written
//! twice, page by page: to its log and then to its file. The next process to open it would also
//! read that log.

use super::{Blob, DatabaseError, LedgerError};
use crate::sys::files::{self, FileError, FileProblem, Root};
use crate::sys::ids::sha256;
use midstride_core::text::id::BlobHash;
use std::path::{Path, PathBuf};

pub(crate) const FOLDER: &str = "blobs";
/// SQLite reads and writes smaller blobs as fast as files.
const BYTES_MIN: usize = 64 << 10;
/// midstride does not write larger files.
const BYTES_MAX: u64 = 1 << 30;

/// Whether a blob is large enough to be stored as a file.
pub(super) fn is_large(blob: &Blob<'_>) -> bool {
    blob.bytes().len() >= BYTES_MIN
}

/// Stores a blob; it is on disk when this returns.
pub(super) fn put(ledger: &Root, blob: &Blob<'_>) -> Result<(), LedgerError> {
    let folder = ledger.make_below(Path::new(FOLDER))?;
    let name = Path::new(blob.hash().as_str());
    // A file of another size was truncated. It is written again.
    let size = files::size(&folder.path().join(name));
    if size == u64::try_from(blob.bytes().len()).ok() {
        return Ok(());
    }
    Ok(folder.put(name, blob.bytes())?)
}

/// The bytes of a hash, if there is a file for it.
pub(super) fn get(ledger: &Root, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
    let Some(path) = blob_path(hash) else { return Ok(None) };
    match ledger.read_up_to(&path, BYTES_MAX) {
        Ok(bytes) if sha256(&bytes) != hash.as_str() => {
            let message = "its content does not match the hash in its name".to_owned();
            Err(DatabaseError::Damaged { path: ledger.path().join(path), message }.into())
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The hashes of all blob files that start with `beginning`.
pub(super) fn with_prefix(ledger: &Root, beginning: &str) -> Result<Vec<BlobHash>, LedgerError> {
    let Some(folder) = ledger.open_below(Path::new(FOLDER))? else { return Ok(Vec::new()) };
    let names = folder.names("")?.into_iter().filter_map(|name| name.to_str().map(str::to_owned));
    let hashes = names.filter(|name| is_hash(name) && name.starts_with(beginning));
    Ok(hashes.map(BlobHash::new).collect())
}

/// Removes a blob if it exists, and the temporary files of processes that were killed while storing
/// one.
pub(super) fn remove(ledger: &Root, hash: &BlobHash) -> Result<(), LedgerError> {
    let Some(path) = blob_path(hash) else { return Ok(()) };
    files::remove_if_exists(&ledger.path().join(path))?;
    match ledger.open_below(Path::new(FOLDER))? {
        Some(folder) => Ok(folder.remove_drafts()?),
        None => Ok(()),
    }
}

/// The path of a blob. Hashes can come from outside, so anything that is not a hash has no path.
fn blob_path(hash: &BlobHash) -> Option<PathBuf> {
    is_hash(hash.as_str()).then(|| Path::new(FOLDER).join(hash.as_str()))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

//! Objects that are hashed and written here. A git process for each of them would take most of the
//! time that a revision takes.

use super::{GitError, GitObject, Repository};
use crate::sys::files::{self, FILE_BYTES_MAX, FileError, Root};
use crate::sys::ids::{sha1, sha256};
use midstride_core::text::id::BlobHash;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The compression level of zlib's default, as git uses it.
const LEVEL: u8 = 6;

/// The header of an object that is read is shorter.
const HEADER_BYTES_MAX: u64 = 64;

/// The number of drafts that this process has written, so that each draft has its own name.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    fn id(self, object: &[u8]) -> String {
        match self {
            Self::Sha1 => sha1(object),
            Self::Sha256 => sha256(object),
        }
    }
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Blob,
    Tree,
    Commit,
}

impl ObjectKind {
    /// The object as git hashes and stores it.
    fn object(self, content: &[u8]) -> Vec<u8> {
        let word = self.word();
        [format!("{word} {}\0", content.len()).as_bytes(), content].concat()
    }

    /// What git calls it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }
}

/// The id of an object, in the format of ids of this length.
pub(super) fn object_id(kind: ObjectKind, content: &[u8], length: usize) -> String {
    const SHA1_LENGTH: usize = 40;
    let format = if length == SHA1_LENGTH { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
    format.id(&kind.object(content))
}

impl Repository {
    /// The blob id of a text, without storing it.
    pub fn hash_blob(&self, text: &[u8]) -> BlobHash {
        let format = self.object_format().unwrap_or(ObjectFormat::Sha1);
        BlobHash::new(format.id(&ObjectKind::Blob.object(text)))
    }

    /// Stores a text and returns its blob id.
    pub fn store_blob(&self, text: &[u8]) -> Result<BlobHash, GitError> {
        self.store_object(ObjectKind::Blob, text).map(BlobHash::new)
    }

    /// Stores a tree of blobs, each named after its own id. In a clone, not all of them may exist.
    pub(super) fn store_tree(&self, ids: &BTreeSet<BlobHash>) -> Result<String, GitError> {
        let entry = |id: &BlobHash| {
            [format!("100644 {id}\0").as_bytes(), &decode_hex(id.as_str())].concat()
        };
        self.store_object(ObjectKind::Tree, &ids.iter().flat_map(entry).collect::<Vec<u8>>())
    }

    fn store_object(&self, kind: ObjectKind, content: &[u8]) -> Result<String, GitError> {
        let object = kind.object(content);
        let id = self.object_format()?.id(&object);
        let objects = self.objects_root()?;
        let path = loose_path(&id);
        // A new time keeps git from removing an object that was unused so far.
        if !objects.refresh(&path) {
            // Git removes files with this name when it cleans up after a killed process.
            let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
            let draft = format!("tmp_obj_{}_{number}_{id}", std::process::id());
            let bytes = compress_to_vec_zlib(&object, LEVEL);
            objects.put_through(Path::new(&draft), &path, &bytes)?;
        }
        Ok(id)
    }

    /// Reads a loose object without git. `None` if there is none or it is damaged.
    pub(super) fn read_loose(&self, id: &str) -> Option<GitObject> {
        if id.len() < 3 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let bytes = self.objects_root().ok()?.read(&loose_path(id)).ok()?;
        let bytes_max = usize::try_from(FILE_BYTES_MAX + HEADER_BYTES_MAX).unwrap_or(usize::MAX);
        let object = decompress_to_vec_zlib_with_limit(&bytes, bytes_max).ok()?;
        if self.object_format().ok()?.id(&object) != id {
            return None;
        }
        let end = object.iter().position(|byte| *byte == 0)?;
        let content = object[end + 1..].to_vec();
        Some(match object[..end].split(|byte| *byte == b' ').next()? {
            b"blob" => GitObject::Blob { id: BlobHash::new(id), bytes: Some(content) },
            b"tree" => GitObject::Tree { id: id.to_owned(), entries: Some(content) },
            _ => GitObject::Other,
        })
    }

    /// Reads a loose blob without git.
    pub(crate) fn loose_blob(&self, id: &BlobHash) -> Option<Vec<u8>> {
        match self.read_loose(id.as_str())? {
            GitObject::Blob { bytes, .. } => bytes,
            GitObject::Tree { .. } | GitObject::Other => None,
        }
    }

    /// The folder of the objects. Only the owner can read those of our own repository.
    fn objects_root(&self) -> Result<Root, FileError> {
        let root = Root::open(&self.common_dir().join("objects"))?;
        Ok(if self.is_own() { root.into_private() } else { root })
    }

    /// The object format in the configuration, which is SHA-1 unless it says otherwise.
    pub(super) fn object_format(&self) -> Result<ObjectFormat, FileError> {
        let bytes = match files::read_named(&self.common_dir().join("config")) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => return Err(error),
        };
        let is_sha256 = String::from_utf8_lossy(&bytes).lines().any(names_sha256);
        Ok(if is_sha256 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 })
    }
}

/// The path of a loose object below the folder of the objects.
fn loose_path(id: &str) -> PathBuf {
    let (folder, name) = id.split_at(2);
    Path::new(folder).join(name)
}

/// Whether a line of a configuration sets the object format to SHA-256. The line may start with the
/// name of its section.
fn names_sha256(line: &str) -> bool {
    let setting = line.rsplit_once(']').map_or(line, |(_, setting)| setting);
    let setting = setting.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    setting.is_some_and(|(key, value)| {
        key.eq_ignore_ascii_case("objectformat")
            && value.trim_matches('"').eq_ignore_ascii_case("sha256")
    })
}

/// The bytes of an id. Ids of kept texts come from git and are hexadecimal.
fn decode_hex(id: &str) -> Vec<u8> {
    let digit = |at: usize| id.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..id.len()).step_by(2).filter_map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::names_sha256;

    #[test]
    fn the_object_format_is_read_as_git_writes_it_and_by_hand() {
        for line in [
            "\tobjectformat = sha256",
            "[extensions] objectFormat=SHA256",
            "objectFormat = \"sha256\"",
        ] {
            assert!(names_sha256(line), "{line}");
        }
        for line in ["\tobjectformat = sha1", "[objectformat \"sha256\"]", "# sha256", ""] {
            assert!(!names_sha256(line), "{line}");
        }
    }
}

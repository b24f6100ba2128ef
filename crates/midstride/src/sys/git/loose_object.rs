//! Objects that are hashed and written here. A git process for each of them would take most of the
//! time that a revision takes.

use super::{GitError, Repository};
use crate::sys::files::{self, FileError, Root};
use crate::sys::ids::{sha1, sha256};
use midstride_core::text::id::BlobHash;
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The compression level of zlib's default, as git uses it.
const LEVEL: u8 = 6;

/// The number of drafts that this process has written, so that each draft has its own name.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectFormat {
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

/// What kind of object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectKind {
    Blob,
    Tree,
}

impl ObjectKind {
    /// The object as git hashes and stores it.
    fn object(self, content: &[u8]) -> Vec<u8> {
        let word = match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
        };
        [format!("{word} {}\0", content.len()).as_bytes(), content].concat()
    }
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
        let objects = Root::open(&self.common_dir().join("objects"))?;
        let (folder, name) = id.split_at(2);
        let path = Path::new(folder).join(name);
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

    /// The object format in the configuration, which is SHA-1 unless it says otherwise.
    fn object_format(&self) -> Result<ObjectFormat, FileError> {
        let bytes = match files::read_named(&self.common_dir().join("config")) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => return Err(error),
        };
        let is_sha256 = String::from_utf8_lossy(&bytes).lines().any(names_sha256);
        Ok(if is_sha256 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 })
    }
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

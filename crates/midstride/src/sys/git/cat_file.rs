//! Reads many git objects through one `git cat-file` process.

use super::run::GitReach;
use super::tree_entries::self_named_blobs;
use super::{GitError, Repository};
use crate::sys::files::{FILE_BYTES_MAX, is_markdown};
use crate::sys::process::Conversation;
use midstride_core::text::id::BlobHash;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead as _, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// Maximum size of an object that is read.
pub(crate) const OBJECT_BYTES_MAX: u64 = 5 << 20;

/// A running `git cat-file` process.
#[derive(Debug)]
pub struct ObjectReader(Conversation);

/// The content of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitObject {
    /// A file; without bytes if it is larger than `OBJECT_BYTES_MAX`.
    Blob {
        /// The blob id.
        id: BlobHash,
        /// The bytes.
        bytes: Option<Vec<u8>>,
    },
    /// A folder.
    Tree {
        /// The tree id.
        id: String,
        /// Its entries, as git stores them; `None` if they are larger than `OBJECT_BYTES_MAX`.
        entries: Option<Vec<u8>>,
    },
    /// A commit or a tag.
    Other,
}

impl ObjectReader {
    /// Reads an object by any name git accepts, including `COMMIT:path`, and follows symlinks.
    /// Returns `None` if it does not exist.
    pub fn get(&mut self, name: &str) -> io::Result<Option<GitObject>> {
        self.get_up_to(name, OBJECT_BYTES_MAX)
    }

    /// The same for objects of at most `bytes_max` bytes.
    fn get_up_to(&mut self, name: &str, bytes_max: u64) -> io::Result<Option<GitObject>> {
        // A name with a line break would be read as two requests.
        if name.contains('\n') {
            return Ok(None);
        }
        self.0.ask(format!("{name}\n").as_bytes())?;
        let mut head = String::new();
        if self.0.answers.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = head.trim_end().rsplitn(3, ' ');
        let (size, kind, id) = (words.next(), words.next(), words.next());
        // `<name> missing`: the name may contain spaces.
        let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else { return Ok(None) };
        let is_wanted = matches!(kind, Some("blob" | "tree")) && size <= bytes_max;
        let bytes = self.bytes(size, is_wanted)?;
        // `dangling <size>` or `symlink <size>`: a link to nothing, or out of the commit.
        let Some(id) = id.map(str::to_owned) else { return Ok(None) };
        Ok(Some(match kind {
            Some("blob") => GitObject::Blob { id: BlobHash::new(id), bytes },
            Some("tree") => GitObject::Tree { id, entries: bytes },
            Some(_) | None => GitObject::Other,
        }))
    }

    /// Reads the bytes of the object and the line break after them.
    fn bytes(&mut self, size: u64, wanted: bool) -> io::Result<Option<Vec<u8>>> {
        let mut following = (&mut self.0.answers).take(size + 1);
        if !wanted {
            io::copy(&mut following, &mut io::sink())?;
            return Ok(None);
        }
        let mut bytes = Vec::new();
        following.read_to_end(&mut bytes)?;
        bytes.pop();
        Ok(Some(bytes))
    }
}

/// An [`ObjectReader`] that is started on first use.
#[derive(Debug)]
pub struct LazyObjectReader<'r> {
    repository: &'r Repository,
    reader: Option<ObjectReader>,
}

impl<'r> LazyObjectReader<'r> {
    /// A reader of the objects of a repository.
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository, reader: None }
    }

    /// The same as [`ObjectReader::get`], for objects as large as a document may be.
    pub fn get(&mut self, name: &str) -> Result<Option<GitObject>, GitError> {
        if self.repository.is_own() {
            // References of our own repository are files, and its objects are loose: git is not needed.
            let is_reference = name.starts_with("refs/");
            let id =
                if is_reference { self.repository.reference(name) } else { Some(name.to_owned()) };
            let Some(id) = id else { return Ok(None) };
            if let Some(found) = self.repository.read_loose(&id) {
                return Ok(Some(found));
            }
        }
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(self.repository.objects()?),
        };
        let read = reader.get_up_to(name, FILE_BYTES_MAX);
        if read.is_err() {
            // The process died, for instance of a damaged object. The next request starts another.
            self.reader = None;
        }
        read.map_err(GitError::Died)
    }

    /// The repository whose objects it reads.
    pub(super) fn repository(&self) -> &'r Repository {
        self.repository
    }

    /// The blob id of a name, such as `HEAD:path`.
    pub(crate) fn blob_id(&mut self, name: &str) -> Result<Option<BlobHash>, GitError> {
        Ok(match self.get(name)? {
            Some(GitObject::Blob { id, .. }) => Some(id),
            Some(GitObject::Tree { .. } | GitObject::Other) | None => None,
        })
    }

    /// The bytes of a blob.
    pub(crate) fn blob(&mut self, id: &BlobHash) -> Result<Option<Vec<u8>>, GitError> {
        Ok(match self.get(id.as_str())? {
            Some(GitObject::Blob { bytes, .. }) => bytes,
            Some(GitObject::Tree { .. } | GitObject::Other) | None => None,
        })
    }
}

impl Repository {
    /// Starts the process.
    pub fn objects(&self) -> Result<ObjectReader, GitError> {
        let asked = ["cat-file", "--batch", "--follow-symlinks"];
        let mut git = self.command(GitReach::Local, &asked)?;
        Conversation::start(&mut git).map(ObjectReader).map_err(GitError::NotStarted)
    }

    /// Reads blobs by id. Missing ones are skipped.
    pub fn blobs(&self, ids: &[BlobHash]) -> Result<Vec<(BlobHash, Vec<u8>)>, GitError> {
        self.read_objects(ids)
    }

    /// Reads objects of any kind by id. Missing ones are skipped.
    pub(super) fn read_objects<I: Clone + fmt::Display>(
        &self,
        ids: &[I],
    ) -> Result<Vec<(I, Vec<u8>)>, GitError> {
        let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let answer = self.run(&["cat-file", "--batch"], asked.as_bytes())?;
        let found = |(id, text): (&I, Vec<u8>)| (!text.is_empty()).then(|| (id.clone(), text));
        Ok(ids.iter().zip(split_objects(&answer)).filter_map(found).collect())
    }

    /// The texts that trees keep. Fails if git cannot read one of them whole. A tree may come from
    /// another repository, so entries that are not named after their own blob are skipped: they could
    /// expose an unrelated blob.
    pub(super) fn texts_of_trees(
        &self,
        trees: &[&String],
    ) -> Result<BTreeMap<String, BTreeSet<BlobHash>>, GitError> {
        let asked: String = trees.iter().map(|tree| format!("{tree}\n")).collect();
        let answer = self.run(&["cat-file", "--batch"], asked.as_bytes())?;
        let mut rest = &answer[..];
        let texts = |tree: &&String| {
            let raw = take_object(&mut rest, &format!("{tree} tree "));
            let raw = raw.ok_or_else(|| GitError::Unreadable { id: (*tree).clone() })?;
            Ok(((*tree).clone(), self_named_blobs(raw, tree.len() / 2)))
        };
        trees.iter().map(texts).collect()
    }

    /// The Markdown files of the checked-out commit.
    pub(crate) fn committed_markdown(&self) -> Result<HashSet<PathBuf>, GitError> {
        let Some(commit) = self.checked_out_commit()? else { return Ok(HashSet::new()) };
        let asked = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.as_str()];
        let listed = self.run(&asked, b"")?;
        let paths = listed.split(|byte| *byte == 0).map(path_of);
        Ok(paths.filter(|path| is_markdown(path)).collect())
    }

    /// The staged Markdown files with their staged content.
    pub(crate) fn staged_markdown(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, GitError> {
        let asked = ["diff", "--cached", "--name-only", "-z", "--diff-filter=ACMR", "--", "*.md"];
        let listed = self.run_within(GitReach::Index, &asked, b"")?;
        let paths: Vec<&[u8]> =
            listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // A path with a line break would be read as two requests, so it gets its own process.
        let (odd, plain): (Vec<&[u8]>, Vec<&[u8]>) =
            paths.into_iter().partition(|path| path.contains(&b'\n'));
        let asked: Vec<u8> = plain.iter().flat_map(|path| [b":", *path, b"\n"].concat()).collect();
        let answer = self.run_within(GitReach::Index, &["cat-file", "--batch"], &asked)?;
        let mut staged: Vec<(PathBuf, Vec<u8>)> =
            plain.into_iter().map(path_of).zip(split_objects(&answer)).collect();
        for path in odd {
            let object = OsString::from_vec([b":", path].concat());
            let asked = [OsStr::new("cat-file"), OsStr::new("blob"), &object];
            let text = self.run_within(GitReach::Index, &asked, b"")?;
            staged.push((path_of(path), text));
        }
        Ok(staged)
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Splits `<id> <type> <size>\n<bytes>\n…` into the bytes of each object.
fn split_objects(mut answer: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(line_end) = answer.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&answer[..line_end]).into_owned();
        answer = &answer[line_end + 1..];
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.unwrap_or(0).min(answer.len());
        found.push(answer[..size].to_vec());
        answer = answer.get(size + 1..).unwrap_or_default();
    }
    found
}

/// Takes the next object of an answer. `None` unless its header begins like this and it is whole.
fn take_object<'a>(answer: &mut &'a [u8], header: &str) -> Option<&'a [u8]> {
    let line_end = answer.iter().position(|byte| *byte == b'\n')?;
    let size = str::from_utf8(&answer[..line_end]).ok()?.strip_prefix(header)?.parse().ok()?;
    let (object, rest) = answer[line_end + 1..].split_at_checked(size)?;
    *answer = rest.strip_prefix(b"\n")?;
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::{split_objects, take_object};

    #[test]
    fn an_object_that_is_not_whole_is_not_taken() {
        let mut answer: &[u8] = b"aa tree 3\nx\ny\nbb tree 0\n\n";
        assert_eq!(take_object(&mut answer, "aa tree "), Some(&b"x\ny"[..]));
        assert_eq!(take_object(&mut answer, "bb tree "), Some(&b""[..]));
        for cut in ["", "aa missing\n", "aa blob 1\nx\n", "aa tree 3\nx", "aa tree 3\nxyz"] {
            assert_eq!(take_object(&mut cut.as_bytes(), "aa tree "), None, "{cut}");
        }
    }

    #[test]
    fn objects_are_split_by_their_size() {
        let answer = b"aaa blob 3\nx\ny\nbbb blob 0\n\nccc blob 2\nzz\n";
        assert_eq!(split_objects(answer), [b"x\ny".to_vec(), Vec::new(), b"zz".to_vec()]);
    }
}

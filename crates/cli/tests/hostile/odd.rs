//! Generates input that no honest client sends, and checks what must stay unchanged.

use midstride_testkit::{Random, Sandbox};
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The number of random messages. `MIDSTRIDE_HOSTILE` sets it, and `scripts/soak` sets it high.
pub(crate) fn cases(usual: usize) -> usize {
    let told = std::env::var("MIDSTRIDE_HOSTILE").ok();
    told.map_or(usual, |told| told.parse().expect("MIDSTRIDE_HOSTILE is a number"))
}

/// The content of a folder, without what midstride may write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, String>);

impl Tree {
    /// Everything around a sandbox, except in these folders.
    pub(crate) fn around(sandbox: &Sandbox, except: &[PathBuf]) -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.add(sandbox.root().parent().expect("a sandbox lies in a folder"), except);
        tree
    }

    fn add(&mut self, folder: &Path, except: &[PathBuf]) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if except.contains(&path) {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let kind = meta.file_type();
            let what = if kind.is_dir() {
                self.add(&path, except);
                "a folder".to_owned()
            } else if kind.is_symlink() {
                format!("a link to {}", std::fs::read_link(&path).unwrap().display())
            } else if kind.is_fifo() {
                "a pipe".to_owned()
            } else {
                let text = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&text).into_owned();
                format!("{}.{} {text}", meta.mtime(), meta.mtime_nsec())
            };
            self.0.insert(path, what);
        }
    }

    /// Asserts that nothing was added, removed or changed.
    #[track_caller]
    pub(crate) fn is_as_before(&self, before: &Self, about: &str) {
        let differs = |path: &&PathBuf| self.0.get(*path) != before.0.get(*path);
        let changed: Vec<&PathBuf> = self.0.keys().chain(before.0.keys()).filter(differs).collect();
        assert!(changed.is_empty(), "{about}: {changed:#?}");
    }
}

/// Raw JSON values, or almost: of every type, too deep, too long, and broken.
pub(crate) fn raw_values() -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str| open.repeat(10_000) + "1" + &close.repeat(10_000);
    let texts = [
        "null".to_owned(),
        "true".to_owned(),
        "-1".to_owned(),
        "1e99999".to_owned(),
        "9".repeat(5_000),
        "18446744073709551616".to_owned(),
        "-0.0".to_owned(),
        "NaN".to_owned(),
        "\"\"".to_owned(),
        "\" \\t\\n \"".to_owned(),
        "\"\\u0000\"".to_owned(),
        "\"a\\u0000b\"".to_owned(),
        "\"\\ud800\"".to_owned(),
        "\"\\udc00\\ud800 x\"".to_owned(),
        "\"\\u001b[2J\\u202e\\ufeff\"".to_owned(),
        "\"\u{0}\"".to_owned(),
        "\"unended".to_owned(),
        format!("\"{}\"", "x".repeat(100_000)),
        format!("\"{}\"", "\\u0060".repeat(5_000)),
        "\"---\\nhandoff:\\n  id: x\\n---\\n\"".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "[\"\", 1, null]".to_owned(),
        "{\"a\": {\"b\": [1]}, \"a\": 2}".to_owned(),
        deep("[", "]"),
        deep("{\"a\":", "}"),
        deep("[", ""),
    ];
    let broken = [b"\"\xff\xfe\"".to_vec(), b"\"\xed\xa0\x80\"".to_vec(), b"\xf5".to_vec()];
    texts.into_iter().map(String::into_bytes).chain(broken).collect()
}

/// The bytes of a message, with a random corruption.
pub(crate) fn bytes_of(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let at = random.below(bytes.len().max(1));
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at] = random.pick(&[0, 7, b'"', b'{', b'\\', 0xff, 0xc3]),
        2 => bytes.insert(at, random.pick(&[0, b'"', b'}', b',', 0x80])),
        3 => drop(bytes.splice(0..0, *b"\xef\xbb\xbf")),
        4 => bytes.extend_from_within(..),
        // Most of them stay intact, so that their content is used.
        _ => {}
    }
    bytes
}

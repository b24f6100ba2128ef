//! An archive of an old version, unpacked into its own directory.
//!
//! Stored data contains absolute paths, and digests of paths in fields and file names. Unpacking
//! replaces both, except in databases, blobs and git objects: midstride supports projects that
//! moved, and moving a project does not rewrite its ledger. `expected.json` lists what every digest
//! was computed from. Each one is checked against the archive before it is replaced.

use midstride::sys::ids::sha256;
use midstride_testkit::{Run, Sandbox, fixtures};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project and a HOME of an old version, and the facts that version reported about them.
pub(super) struct Archive {
    pub(super) name: String,
    pub(super) expected: Value,
    pub(super) sandbox: Sandbox,
}

/// Every archive, unpacked.
pub(super) fn unpack_all() -> Vec<Archive> {
    let entries = std::fs::read_dir(fixtures("old-versions")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> =
        folders.filter(|folder| folder.join("state.tar.gz").is_file()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders.iter().map(|folder| unpack(folder)).collect()
}

fn unpack(folder: &Path) -> Archive {
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let length = expected["root"].as_str().unwrap().len();
    let sandbox = Sandbox::with_path_length(env!("CARGO_BIN_EXE_midstride"), length);
    let root = sandbox.root().parent().unwrap().to_owned();
    let mut tar = sandbox.command("tar");
    tar.args(["-x", "-z", "-o", "-f"]).arg(folder.join("state.tar.gz")).arg("-C").arg(&root);
    sandbox.finish(&mut tar).exits(0);
    relocate(&root, &expected);
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let archive = Archive { name, expected, sandbox };
    // What was unpacked did not come from this machine, so the user has to trust it.
    let user = archive.sandbox.as_user();
    let now = archive.expected["now"].as_str().unwrap();
    user.env("MIDSTRIDE_NOW", now).run(["trust", "--yes"]).exits(0);
    archive
}

impl Archive {
    /// The directory that contains the project and the HOME.
    pub(super) fn root(&self) -> &Path {
        self.sandbox.root().parent().unwrap()
    }

    /// A command that runs in the project, later than everything in the archive, with midstride on
    /// its PATH.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(program);
        let ours = Path::new(env!("CARGO_BIN_EXE_midstride")).parent().unwrap();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = [ours.to_owned()].into_iter().chain(std::env::split_paths(&usual));
        command
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("MIDSTRIDE_NOW", self.expected["now"].as_str().unwrap())
            .env("MIDSTRIDE_HOOK_MILLISECONDS", "60000");
        command
    }

    /// Runs midstride.
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        finish(self.command("midstride").args(arguments))
    }

    /// Runs midstride with this input.
    pub(super) fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        self.finish_with_input(self.command("midstride").args(arguments), input)
    }

    /// Runs a command with this input.
    pub(super) fn finish_with_input(&self, command: &mut Command, input: &str) -> Run {
        let file = self.root().join("input");
        std::fs::write(&file, input).unwrap();
        finish(command.stdin(File::open(&file).unwrap()))
    }

    /// The JSON that midstride prints.
    #[track_caller]
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let run = self.run(arguments);
        assert!(run.code <= Some(1), "{}: {arguments:?}: {run}", self.name);
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
    }
}

/// Runs a command. Unlike a sandbox, this leaves ids in the output unchanged.
fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        terminal: String::new(),
    }
}

/// Texts and what replaces them.
type Changes = Vec<(String, String)>;

/// The contents of text files, by path.
type Files = BTreeMap<PathBuf, String>;

/// Replaces the path where an archive was made with the path where it is now.
fn relocate(root: &Path, expected: &Value) {
    let (old, new) = (expected["root"].as_str().unwrap(), root.to_str().unwrap());
    let mut changes = vec![(old.to_owned(), new.to_owned()), (slug(old), slug(new))];
    let derived = expected["derived"].as_array().unwrap();
    let of_paths = derived.iter().filter_map(|digest| {
        let text = digest["text"].as_str()?;
        Some(recompute(digest, text, &replace(text, &changes)))
    });
    let mut of_paths: Changes = of_paths.collect();
    // A short digest of a path may be a prefix of a longer one.
    of_paths.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
    changes.extend(of_paths);
    let before = text_files(root);
    let moved = replace_all(&before, &changes);
    let of_files = derived.iter().filter_map(|digest| {
        let file = Path::new(digest["file"].as_str()?);
        Some(recompute(digest, &before[file], &moved[file]))
    });
    let of_files: Changes = of_files.collect();
    for (path, text) in replace_all(&moved, &of_files) {
        if before[&path] != text {
            rewrite(&root.join(path), &text);
        }
    }
    changes.extend(of_files);
    let names = rename_below(root, &changes);
    for (old, _) in &changes {
        let is_used = before.values().chain(&names).any(|text| text.contains(old));
        assert!(is_used, "`{old}` is not in the archive");
    }
}

/// A digest before and after the move. The one before must match the archive.
fn recompute(digest: &Value, before: &str, after: &str) -> (String, String) {
    let number = |name: &str| usize::try_from(digest[name].as_u64().unwrap()).unwrap();
    let compute = |text: &str| match digest["sha256"].as_str() {
        Some(digest) => sha256(text.as_bytes())[..digest.len()].to_owned(),
        None => fnv(&text.as_bytes()[number("from")..number("to")]).to_string(),
    };
    let old = digest["sha256"].as_str().or(digest["fnv"].as_str()).unwrap();
    assert_eq!(compute(before), old, "{digest:#}");
    (old.to_owned(), compute(after))
}

/// The checksum in a cursor of 0.1: FNV-1a over words of eight bytes.
fn fnv(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut words = bytes.chunks_exact(8);
    let mut state = 0xcbf2_9ce4_8422_2325 ^ u64::try_from(bytes.len()).unwrap();
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().unwrap());
        state = (state ^ word).wrapping_mul(PRIME);
        state ^= state >> 32;
    }
    for byte in words.remainder() {
        state = (state ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    state ^ (state >> 29)
}

/// How Claude Code names the transcript directory of a project.
fn slug(path: &str) -> String {
    path.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

fn replace(text: &str, changes: &[(String, String)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

fn replace_all(files: &Files, changes: &[(String, String)]) -> Files {
    files.iter().map(|(path, text)| (path.clone(), replace(text, changes))).collect()
}

/// Every text file that is not named after its content: no databases, git objects or blobs.
fn text_files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = String::from_utf8(std::fs::read(&path).unwrap()) else { continue };
            let is_blob = entry.file_name().to_str() == Some(&sha256(text.as_bytes()));
            if !text.contains('\0') && !is_blob {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), text);
            }
        }
    }
    found
}

/// Writes a file and keeps its mode and modification time.
fn rewrite(path: &Path, text: &str) {
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    std::fs::write(path, text).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

/// Renames files and directories below a directory. Returns their old names.
fn rename_below(folder: &Path, changes: &[(String, String)]) -> Vec<String> {
    let mut names = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    for path in paths {
        if path.is_dir() {
            names.extend(rename_below(&path, changes));
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let new = replace(&name, changes);
        if new != name {
            std::fs::rename(&path, folder.join(new)).unwrap();
        }
        names.push(name);
    }
    names
}

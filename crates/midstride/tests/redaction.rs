//! Checks every byte that a capture stores: no secret of a transcript is in any file.

use crate::{consent, open_on_disk, set_up};
use midstride::store::Store;
use midstride::store::ledger::{Cursor, Ledger, WaitPolicy};
use midstride::verbs::{self, CheckpointError, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::redact::RedactionRules;
use midstride_testkit::secrets::{Positive, positives};
use midstride_testkit::{Sandbox, corpus, fixtures};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = files_below(folder);
    found.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    found.sort();
    found
}

/// Secrets that are planted in transcripts, one after the other.
struct Plants {
    secrets: Vec<Positive>,
    planted: usize,
}

impl Plants {
    fn new() -> Self {
        Self { secrets: positives(11, 2), planted: 0 }
    }

    /// Appends a secret to every text with words, and moves the session into a project.
    fn plant(&mut self, record: &mut Value, root: &Path) {
        match record {
            Value::String(text) if text.contains(' ') => {
                let secret = &self.secrets[self.planted % self.secrets.len()];
                text.push_str("\n\n");
                text.push_str(&secret.text);
                text.push('\n');
                self.planted += 1;
            }
            Value::Array(all) => all.iter_mut().for_each(|one| self.plant(one, root)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match name.as_str() {
                        "cwd" => *value = Value::from(root.display().to_string()),
                        _ => self.plant(value, root),
                    }
                }
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn copy(&mut self, path: &Path, root: &Path) -> String {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let mut copy = String::new();
        for line in text.lines() {
            match serde_json::from_str::<Value>(line) {
                Ok(mut record) => {
                    self.plant(&mut record, root);
                    copy.push_str(&record.to_string());
                }
                Err(_) => copy.push_str(line),
            }
            copy.push('\n');
        }
        copy
    }
}

/// The size of a part that does not occur by chance, after the prefix that many secrets of a kind
/// share.
const PART_BYTES: usize = 12;
const BEGINNING_BYTES: usize = 20;

/// Parts of secrets, to recognize them by.
struct Parts {
    begins: Vec<bool>,
    parts: BTreeSet<Vec<u8>>,
}

impl Parts {
    fn of(secrets: &[Positive]) -> Self {
        let mut made = Self { begins: vec![false; 1 << 16], parts: BTreeSet::new() };
        for secret in secrets {
            let letters = secret.secret.as_bytes();
            let parts = letters.len().saturating_sub(PART_BYTES).min(BEGINNING_BYTES);
            let parts = letters.windows(PART_BYTES).skip(parts);
            // JSON escapes the other characters, so parts with them would not match.
            let plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\".contains(byte);
            let is_telling = |part: &&[u8]| part.iter().all(plain);
            for part in parts.filter(is_telling) {
                made.begins[usize::from(u16::from_le_bytes([part[0], part[1]]))] = true;
                made.parts.insert(part.to_vec());
            }
        }
        made
    }

    fn first_in(&self, bytes: &[u8]) -> Option<String> {
        let known = |part: &&[u8]| {
            self.begins[usize::from(u16::from_le_bytes([part[0], part[1]]))]
                && self.parts.contains(*part)
        };
        let found = bytes.windows(PART_BYTES).position(|part| known(&part))?;
        let around = found.saturating_sub(200)..(found + 100).min(bytes.len());
        Some(String::from_utf8_lossy(&bytes[around]).into_owned())
    }
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    if let Some(secret) = RedactionRules::shipped().find(bytes).first() {
        let letters = String::from_utf8_lossy(&bytes[secret.at.range()]).into_owned();
        panic!("{what}: {} {letters}", secret.kind);
    }
}

fn private_files(store: &Store) -> Vec<PathBuf> {
    let files = files_below(store.workspace().make_private().unwrap().path());
    assert!(files.len() >= 2, "{files:?}");
    files
}

#[test]
fn no_captured_byte_belongs_to_a_secret() {
    // The fixtures have few places for secrets.
    check_captures(&transcripts(&fixtures("transcripts")), 50, 20);
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn no_captured_byte_of_the_corpus_belongs_to_a_secret() {
    check_captures(&transcripts(&corpus("transcripts")), 100, 100);
}

/// Plants secrets into transcripts, at least this many, and checks that a capture of them takes at
/// least this many out.
fn check_captures(transcripts: &[PathBuf], planted: usize, taken_out: usize) {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    let store = open_on_disk(sandbox.root());
    let mut plants = Plants::new();
    let parts = Parts::of(&plants.secrets);
    let (mut blobs, mut seen) = (Vec::new(), 0);
    for (number, path) in transcripts.iter().enumerate() {
        let text = plants.copy(path, sandbox.root());
        let copy = sandbox.home().join(format!("{number}/{}", path.file_name().unwrap().display()));
        std::fs::create_dir(copy.parent().unwrap()).unwrap();
        seen += usize::from(parts.first_in(text.as_bytes()).is_some());
        std::fs::write(&copy, text).unwrap();
        let which = SessionChoice::Transcript(copy);
        match verbs::checkpoint(&store, &which, None, CheckpointMode::Checkpoint) {
            Ok(done) => blobs.push(done.blob),
            // Some are of other clients.
            Err(CheckpointError::NotUnderstood { .. }) => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    assert!(plants.planted > planted && seen * 2 > blobs.len(), "{} {seen}", plants.planted);
    let ledger = store.ledger().unwrap();
    let mut redacted = 0;
    for blob in blobs {
        let bytes = ledger.get_blob(&blob).unwrap().unwrap();
        redacted += String::from_utf8_lossy(&bytes).matches("REDACTED-").count();
        assert_clean(blob.as_str(), &bytes);
    }
    assert!(redacted > taken_out, "{redacted}");
    for record in ledger.read_all(&Cursor::START, usize::MAX).unwrap().records {
        assert_clean("an event", format!("{record:?}").as_bytes());
    }
    for path in private_files(&store) {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(parts.first_in(&bytes), None, "{}", path.display());
        if path.extension().is_some_and(|ending| ending == "json") {
            assert_clean(&path.display().to_string(), &bytes);
        }
    }
}

#[test]
fn project_redaction_rules_apply_to_every_captured_file() {
    // A rule that matches more than the secret must not break the record around it.
    for then in ["[a-z0-9]{16}", r"\S+"] {
        a_rule_holds(then, "", true);
    }
    // Nothing is stored that could not be read without what another rule removes.
    let other = "[[redact]]\nkind = \"word\"\nbegins = \"obser\"\nthen = 'ved'\n";
    a_rule_holds("[a-z0-9]{16}", other, false);
}

fn a_rule_holds(then: &str, other: &str, is_kept: bool) {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    let rule = format!("[[redact]]\nkind = \"acme-token\"\nbegins = \"acme_\"\nthen = '{then}'\n");
    let settings = sandbox.root().join(".midstride/config.toml");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, rule + other).unwrap();
    let open = || {
        let environment = crate::environment(&sandbox, sandbox.root());
        Store::new(Workspace::discover(environment).unwrap(), WaitPolicy::Command)
    };
    verbs::trust(open().workspace(), &consent()).unwrap();
    let store = open();
    let token = "acme_q7w2e9r4t1y6u3i8";
    let source = fixtures("transcripts/claude-code").join("cache.jsonl");
    let text = std::fs::read_to_string(source).unwrap();
    let text = text
        .replace("/home/dev/shop", &sandbox.root().display().to_string())
        .replace("npm test", &format!("npm test {token}"));
    assert!(text.matches(token).count() > 1);
    let copy = sandbox.home().join("cache.jsonl");
    std::fs::write(&copy, text).unwrap();
    for again in [false, true] {
        let which = SessionChoice::Transcript(copy.clone());
        let done = verbs::checkpoint(&store, &which, None, CheckpointMode::Checkpoint).unwrap();
        // The stored state is used again, so nothing has to be read from the start.
        assert_eq!((done.is_new, done.new_bytes == 0), (!again, again && is_kept));
    }
    for path in private_files(&store) {
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

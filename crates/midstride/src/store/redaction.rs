//! Which redaction rules everything in a store has passed, what newer rules found in it, and how its
//! files are redacted again.

use crate::sys::files::{FileError, FileProblem, Root};
use crate::workspace::Workspace;
use midstride_core::text::redact::RedactionRules;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file name, inside the private folder.
const FILE: &str = "redaction.json";

/// midstride does not write larger files.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// How often to retry if another process writes a file first.
const TRIES_MAX: usize = 5;

/// The redaction of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionState {
    /// The version of the rules that everything has passed.
    pub(crate) rules: String,
    /// The version of the rules of a run that has not finished.
    pub(crate) unfinished: Option<String>,
    /// Records of the ledger that the last rules changed.
    pub records: usize,
    /// Checkpoints and other blobs of the ledger that they changed.
    pub blobs: usize,
    /// Earlier texts of handoffs that they changed.
    pub texts: usize,
    /// Private handoffs that they changed.
    pub handoffs: usize,
    /// Other private files that they changed.
    pub files: usize,
    /// Private handoffs and earlier texts that still have a secret.
    pub left: usize,
}

impl RedactionState {
    /// Reads the state of a project; the default if there is none.
    pub(crate) fn read(private: &Root) -> Self {
        let bytes = private.read(Path::new(FILE)).ok();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn save(&self, private: &Root) -> Result<(), FileError> {
        private.put(Path::new(FILE), &serde_json::to_vec(self).unwrap_or_default())
    }

    /// Starts a run with these rules. Returns whether an earlier run did not finish.
    pub(crate) fn start(&mut self, rules: &str) -> bool {
        let was_interrupted = self.unfinished.is_some();
        if self.unfinished.as_deref() != Some(rules) {
            let before = std::mem::take(self);
            *self = Self { rules: before.rules, ..Self::default() };
        }
        self.unfinished = Some(rules.to_owned());
        self.left = 0;
        was_interrupted
    }

    /// Whether the rules changed anything.
    pub fn has_changes(&self) -> bool {
        self.records + self.blobs + self.texts + self.handoffs + self.files > 0
    }
}

impl Workspace {
    /// The version of the redaction rules of this project.
    pub(crate) fn rules_version(&self) -> String {
        RedactionRules::version(self.added_rules())
    }

    /// What newer rules found in what was stored before them; `None` without a private folder.
    pub fn redaction_state(&self) -> Option<RedactionState> {
        self.private().ok().flatten().map(|private| RedactionState::read(&private))
    }
}

/// Redacts a file of JSON texts, unless other processes keep writing to it: what they write has
/// passed the new rules. Returns whether it had a secret.
pub(crate) fn redact_json_file(
    folder: &Root,
    name: &Path,
    rules: &RedactionRules,
) -> Result<bool, FileError> {
    for _ in 0..TRIES_MAX {
        let bytes = match folder.read_up_to(name, FILE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(FileError {
                problem: FileProblem::NotFound | FileProblem::TooLarge(_), ..
            }) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let (clean, found) = rules.clean_json(&String::from_utf8_lossy(&bytes));
        if found.is_empty() {
            return Ok(false);
        }
        // Redacting a long file takes longer than other writers should wait.
        let is_replaced = folder.update_without_sync(name, FILE_BYTES_MAX, |now| {
            let is_same = now.as_ref() == Some(&bytes);
            (is_same.then(|| clean.as_str().as_bytes().to_vec()), is_same)
        })?;
        if is_replaced {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_keeps_its_counts_and_one_with_other_rules_starts_again() {
        let mut state =
            RedactionState { rules: "one".into(), blobs: 7, ..RedactionState::default() };
        assert!(!state.start("two"));
        assert_eq!((state.rules.as_str(), state.blobs), ("one", 0));
        state.blobs = 3;
        assert!(state.start("two"));
        assert_eq!(state.blobs, 3);
        assert!(state.start("three"));
        assert_eq!(state.blobs, 0);
    }
}

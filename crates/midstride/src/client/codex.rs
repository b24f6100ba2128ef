//! Codex: transcripts by the day on which they began; one that goes on from another names it and
//! does not copy it.

use super::Candidate;
use crate::files::{self, FileError, Stream};
use crate::settings::Environment;
use midstride_core::session::Client;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// So many transcripts are looked at, the newest first.
const LOOKED_AT_MAX: usize = 1_000;
/// The first record holds the client's whole instructions.
const FIRST_RECORD_MAX: u64 = 1 << 20;

/// The newest transcripts. Which project one belongs to stands in its first record.
pub(super) fn candidates(environment: &Environment, unread: &mut Vec<FileError>) -> Vec<Candidate> {
    let mut found = Vec::new();
    if let Some(codex) = &environment.codex {
        collect(&codex.join("sessions"), 0, &mut found, unread);
    }
    found
}

/// Years, months, days, then transcripts; the newest first.
fn collect(folder: &Path, depth: usize, found: &mut Vec<Candidate>, unread: &mut Vec<FileError>) {
    const DAYS: usize = 3;
    let is_wanted = |name: &str| depth < DAYS || is_transcript(name);
    let entries = files::listed(folder, is_wanted).unwrap_or_else(|error| {
        unread.push(error);
        Vec::new()
    });
    for entry in entries.into_iter().rev() {
        if found.len() >= LOOKED_AT_MAX {
            break;
        }
        let path = folder.join(&entry.name);
        if entry.is_folder && depth < DAYS {
            collect(&path, depth + 1, found, unread);
        } else if is_transcript(&entry.name) {
            found.push(Candidate { client: Client::Codex, path, entry });
        }
    }
}

fn is_transcript(name: &str) -> bool {
    name.starts_with("rollout-") && Path::new(name).extension().is_some_and(|end| end == "jsonl")
}

/// The id at the end of a name: `rollout-2026-11-15T18-50-25-<id>`.
pub(super) fn id_in(stem: &str) -> String {
    const TIME: usize = "2026-11-15T18-50-25-".len();
    let rest = stem.strip_prefix("rollout-").unwrap_or(stem);
    rest.get(TIME..).unwrap_or(rest).to_owned()
}

/// The transcript that one goes on from, and up to which byte.
pub(super) fn base(environment: &Environment, path: &Path) -> Option<(PathBuf, u64)> {
    let start = Stream::open(path).ok()?.window(0, FIRST_RECORD_MAX).ok()?;
    let first: Value = serde_json::from_slice(start.split(|byte| *byte == b'\n').next()?).ok()?;
    let base = first.pointer("/payload/history_base")?;
    let thread = base.get("thread_id")?.as_str()?;
    let end = base.get("end_byte_offset")?.as_u64()?;
    let ending = format!("-{thread}.jsonl");
    // A transcript that lies elsewhere has the others beside it.
    let folder = path.parent()?;
    let near = files::listed(folder, |name| name.ends_with(&ending)).unwrap_or_default();
    let near = near.into_iter().map(|entry| folder.join(entry.name));
    let all = || candidates(environment, &mut Vec::new()).into_iter().map(|one| one.path);
    let is_it = |other: &PathBuf| other != path && other.to_string_lossy().ends_with(&ending);
    let found = near.into_iter().find(is_it).or_else(|| all().find(is_it));
    found.map(|path| (path, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_named_by_time_and_id() {
        assert_eq!(id_in("rollout-2026-11-15T18-50-25-01a1e08b-e0f1"), "01a1e08b-e0f1");
        assert_eq!(id_in("rollout-ä"), "ä");
    }
}

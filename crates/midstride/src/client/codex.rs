//! Codex: transcripts by the day on which they began; one that goes on from another names it and
//! does not copy it.

use super::open;
use crate::files::{FileError, Root};
use crate::settings::Environment;
use jiff::Timestamp;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// So many transcripts are looked at, the newest first.
const LOOKED_AT_MAX: usize = 1_000;
/// The first record holds the client's whole instructions.
const FIRST_RECORD_MAX: u64 = 1 << 20;

type Candidate = (PathBuf, u64, Option<Timestamp>);

/// The newest transcripts. Which project one belongs to stands in its first record.
pub(super) fn candidates(environment: &Environment, unread: &mut Vec<FileError>) -> Vec<Candidate> {
    let mut found = Vec::new();
    let folder = environment.codex.as_ref().map(|codex| codex.join("sessions"));
    let Some(Ok(root)) = folder.map(|folder| Root::open(&folder)) else { return found };
    if let Err(error) = collect(&root, Path::new(""), 0, &mut found) {
        unread.push(error);
    }
    found
}

/// Years, months, days, then transcripts; the newest first.
fn collect(
    root: &Root,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Candidate>,
) -> Result<(), FileError> {
    const DAYS: usize = 3;
    for entry in root.entries(folder)?.into_iter().rev() {
        if found.len() >= LOOKED_AT_MAX {
            break;
        }
        let path = folder.join(&entry.name);
        if entry.is_folder && depth < DAYS {
            collect(root, &path, depth + 1, found)?;
        } else if entry.name.starts_with("rollout-")
            && path.extension().is_some_and(|e| e == "jsonl")
        {
            found.push((root.path().join(path), entry.bytes, entry.changed));
        }
    }
    Ok(())
}

/// The id at the end of a name: `rollout-2026-11-15T18-50-25-<id>`.
pub(super) fn id_in(stem: &str) -> String {
    const TIME: usize = "2026-11-15T18-50-25-".len();
    let rest = stem.strip_prefix("rollout-").unwrap_or(stem);
    rest.get(TIME..).unwrap_or(rest).to_owned()
}

/// The transcript that one goes on from, and up to which byte.
pub(super) fn base(environment: &Environment, path: &Path) -> Option<(PathBuf, u64)> {
    let start = open(path).ok()?.window(0, FIRST_RECORD_MAX).ok()?;
    let first: Value = serde_json::from_slice(start.split(|byte| *byte == b'\n').next()?).ok()?;
    let base = first.pointer("/payload/history_base")?;
    let thread = base.get("thread_id")?.as_str()?;
    let end = base.get("end_byte_offset")?.as_u64()?;
    let mut all = Vec::new();
    let root = Root::open(&environment.codex.as_ref()?.join("sessions")).ok();
    if let Some(root) = root {
        collect(&root, Path::new(""), 0, &mut all).ok()?;
    }
    // A transcript that lies elsewhere has the others beside it.
    let (beside, _) = super::beside(path).ok()?;
    let near = beside.entries(Path::new("")).ok()?;
    let near = near.into_iter().map(|entry| beside.path().join(entry.name));
    let mut paths = all.into_iter().map(|(path, _, _)| path).chain(near);
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(&format!("-{thread}.jsonl"));
    paths.find(|other| is_it(other) && other != path).map(|path| (path, end))
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

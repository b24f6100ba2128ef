//! Git's line-based merge, for files that are not handoffs.

use super::GitError;
use super::run;
use crate::sys::files::ScratchFolder;
use std::path::Path;

/// The highest exit code of `git merge-file` that is a number of conflicts.
const CONFLICTS_MAX: i32 = 127;

/// The result of a merge.
#[derive(Clone, Debug)]
pub(crate) struct MergedLines {
    /// The merged bytes, with conflict markers where both sides changed the same lines.
    pub bytes: Vec<u8>,
    /// Whether there are conflict markers.
    pub conflicts: bool,
}

/// Merges lines of any encoding. Returns `None` if git treats a side as binary.
pub(crate) fn merge_lines(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
) -> Result<Option<MergedLines>, GitError> {
    let scratch = ScratchFolder::new("midstride-lines")?;
    let merged = merge_in(&scratch, [ours, base, theirs]);
    scratch.remove()?;
    merged
}

fn merge_in(scratch: &ScratchFolder, sides: [&[u8]; 3]) -> Result<Option<MergedLines>, GitError> {
    const NAMES: [&str; 3] = ["ours", "base", "theirs"];
    let mut asked = vec!["merge-file", "--stdout"];
    for (name, bytes) in NAMES.iter().zip(sides) {
        scratch.write(Path::new(name), bytes)?;
        asked.extend(["-L", *name]);
    }
    asked.extend(NAMES);
    let output = run::output_outside(scratch.path(), &asked)?;
    match output.status.code() {
        Some(count @ 0..=CONFLICTS_MAX) => {
            Ok(Some(MergedLines { bytes: output.stdout, conflicts: count > 0 }))
        }
        Some(_) if sides.iter().any(|side| side.contains(&0)) => Ok(None),
        Some(_) | None => run::check_status(&asked, output).map(|_| None),
    }
}

//! Encodes the roots of documents in the index. The project's own root is stored as empty: it
//! differs in each worktree, and one worktree can start from a copy of another one's index.

use crate::workspace::Workspace;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The column value of a root.
pub(super) fn encode_root<'s>(workspace: &Workspace, root: &'s Path) -> &'s [u8] {
    let is_own = root.as_os_str() == workspace.root().path().as_os_str();
    if is_own { b"" } else { root.as_os_str().as_bytes() }
}

/// The root of a column value.
pub(super) fn decode_root<'s>(workspace: &'s Workspace, stored: &'s [u8]) -> &'s Path {
    if stored.is_empty() { workspace.root().path() } else { Path::new(OsStr::from_bytes(stored)) }
}

//! The folder of a project's ledger. It is next to the repository data, so all worktrees share it.

use crate::sys::files::{self, FileError, Root};
use crate::sys::ids::sha256;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};

/// Magic numbers of file systems on which SQLite's shared memory does not work: NFS, SMB, CIFS,
/// SMB2, AFS, Ceph, and shares of a virtual machine.
const NETWORK_FILE_SYSTEMS: [u32; 7] =
    [0x0000_6969, 0x0000_517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x00c3_6400, 0x0102_1997];

/// The folder of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LedgerFolder {
    /// The project's private folder, which is never committed.
    Private(PathBuf),
    /// In the user's state folder, because the project is on a network file system.
    State(PathBuf),
}

impl LedgerFolder {
    /// Returns the ledger folder of a project.
    pub(crate) fn for_project(workspace: &Workspace) -> Self {
        let private = workspace.private_path();
        let is_elsewhere = || !workspace.is_preview() && is_on_network(&private);
        let state = workspace.environment().state.as_ref().filter(|_| is_elsewhere());
        match state {
            Some(state) => {
                // The hash of the path gives each project its own folder.
                let whole = files::canonical(&private).display().to_string();
                let name = &sha256(whole.as_bytes())[..16];
                Self::State(state.join("midstride").join(name))
            }
            None => Self::Private(private),
        }
    }

    /// The path of the folder, whether or not it exists.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Private(path) | Self::State(path) => path,
        }
    }

    /// Whether the folder exists and is the user's own.
    pub(crate) fn is_readable(&self, workspace: &Workspace) -> bool {
        match self {
            Self::Private(_) => workspace.private().is_ok_and(|folder| folder.is_some()),
            Self::State(path) => files::is_folder(path),
        }
    }

    /// Opens the folder, creating it if it is missing.
    pub(crate) fn create(&self, workspace: &Workspace) -> Result<Root, FileError> {
        match self {
            Self::Private(_) => workspace.make_private(),
            Self::State(path) => Root::make_private(path),
        }
    }
}

/// Whether a path is on a network file system, according to its nearest existing ancestor.
fn is_on_network(path: &Path) -> bool {
    let kind = path.ancestors().find_map(|folder| rustix::fs::statfs(folder).ok());
    kind.is_some_and(|kind| {
        #[expect(
            clippy::cast_sign_loss,
            clippy::cast_possible_truncation,
            reason = "a magic number"
        )]
        let magic = kind.f_type as u32;
        NETWORK_FILE_SYSTEMS.contains(&magic)
    })
}

//! Where the ledger of a project lies: with the repository, so that all worktrees share it.

use crate::sys::files::{self, FileError, Root};
use crate::sys::ids::sha256;
use crate::workspace::project::Project;
use std::path::{Path, PathBuf};

/// Kinds of file systems on which SQLite's shared memory does not hold: NFS, SMB, CIFS, SMB2, AFS,
/// Ceph, and shares of a virtual machine.
const NETWORK_FILE_SYSTEMS: [u32; 7] =
    [0x0000_6969, 0x0000_517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x00c3_6400, 0x0102_1997];

/// The folder of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFolder {
    /// With what is never committed.
    Private(PathBuf),
    /// In the user's state folder, because the project lies on the network.
    State(PathBuf),
}

impl LedgerFolder {
    /// Where the ledger of a project belongs.
    pub fn for_project(project: &Project) -> Self {
        let private = project.private_path();
        let state = project.environment().state.as_ref().filter(|_| is_on_network(&private));
        match state {
            Some(state) => {
                // One folder per project: its path names it.
                let whole = files::canonical(&private).display().to_string();
                let name = &sha256(whole.as_bytes())[..16];
                Self::State(state.join("midstride").join(name))
            }
            None => Self::Private(private),
        }
    }

    /// The folder, whether or not it is there.
    pub fn path(&self) -> &Path {
        match self {
            Self::Private(path) | Self::State(path) => path,
        }
    }

    /// The folder, made where it is missing.
    pub(crate) fn create(&self, project: &Project) -> Result<Root, FileError> {
        match self {
            Self::Private(_) => project.make_private(),
            Self::State(path) => Root::make(path),
        }
    }
}

/// The nearest folder that exists tells.
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

//! Leases: at most one holder of a name at a time, to the engine's knowledge.
//!
//! There is no fencing number. The holder of a lease still appends at an expected version, and that append is
//! the fence: a holder that lost its lease conflicts.

use jiff::Timestamp;
use std::fmt;

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseOwner {
    /// The name of its machine.
    pub host: String,
    /// The boot of the machine, so that a process id is not taken for one after a restart.
    pub boot: String,
    /// Its process.
    pub pid: u32,
    /// When it took the lease.
    pub since: Timestamp,
}

/// What an engine holds for a lease. Dropping it ends the lease.
pub trait LeaseGuard: Send + Sync {
    /// Whether another process may hold the lease now. A lock of the operating system is never lost; a lease
    /// over the network can be.
    fn is_lost(&self) -> bool;
}

/// A lease that is held; it ends when dropped.
pub struct Lease {
    owner: LeaseOwner,
    guard: Box<dyn LeaseGuard>,
}

impl Lease {
    /// A lease, for engines.
    pub fn new(owner: LeaseOwner, guard: impl LeaseGuard + 'static) -> Self {
        Self { owner, guard: Box::new(guard) }
    }

    /// Who holds it: this process.
    pub fn owner(&self) -> &LeaseOwner {
        &self.owner
    }

    /// Whether it was lost. Check this before each effect; the append at the expected version decides.
    pub fn is_lost(&self) -> bool {
        self.guard.is_lost()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Why a lease was not granted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Another process holds it.
    #[error("another process holds `{name}`")]
    Taken {
        /// The name of the lease.
        name: String,
        /// The holder, if the engine knows it.
        owner: Option<LeaseOwner>,
    },
    /// The engine cannot grant leases now.
    #[error("the lease `{name}` cannot be taken: {message}")]
    Unavailable {
        /// The name of the lease.
        name: String,
        /// What went wrong.
        message: String,
    },
}

//! Leases: an operating system lock on a file. There is no clock and no heartbeat; a lease ends
//! when its process exits.

use crate::sys::files::{FileError, Lock, Root};
use std::fmt;

/// A lease that is held; it ends when dropped.
pub struct Lease {
    _guard: Box<dyn Send>,
}

impl Lease {
    /// Wraps the guard that an engine holds for the lease.
    pub fn new(guard: impl Send + 'static) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease")
    }
}

/// Why a lease was not granted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Another process holds it.
    #[error("another process holds `{0}`")]
    Taken(String),
    /// The lock file could not be opened or locked.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Takes a lease if it is free.
pub(super) fn acquire(folder: &Root, name: &str) -> Result<Lease, LeaseError> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let file: String = name.chars().map(plain).collect();
    let leases = folder.make_below(std::path::Path::new("leases"))?;
    match Lock::try_acquire(&leases, &file)? {
        Some(lock) => Ok(Lease::new(lock)),
        None => Err(LeaseError::Taken(name.to_owned())),
    }
}

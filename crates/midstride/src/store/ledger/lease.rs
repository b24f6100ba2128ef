//! Leases: a lock of the operating system on a file. No clock, no heartbeat: it ends with whoever
//! holds it.

use crate::sys::files::{FileError, Lock, Root};
use std::fmt;

/// A lease that is held; it ends when this goes.
pub struct Lease {
    _guard: Box<dyn Send>,
}

impl Lease {
    /// A lease that lasts as long as what an engine holds for it.
    pub fn new(guard: impl Send + 'static) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lease")
    }
}

/// Why a lease was not given.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else has it.
    #[error("somebody else holds `{0}`")]
    Taken(String),
    /// The lock could not be taken.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Takes a lease, if nobody has it.
pub(super) fn acquire(folder: &Root, name: &str) -> Result<Lease, LeaseError> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let file: String = name.chars().map(plain).collect();
    let leases = folder.make_below(std::path::Path::new("leases"))?;
    match Lock::try_acquire(&leases, &file)? {
        Some(lock) => Ok(Lease::new(lock)),
        None => Err(LeaseError::Taken(name.to_owned())),
    }
}

//! Leases: an operating system lock on a file that names its holder. There is no clock and no
//! heartbeat; a lease ends when its process exits, and is never lost before.

use super::{Lease, LeaseError};
use crate::sys::clock::Clock;
use crate::sys::files::{FileError, Lock, Root};
use crate::sys::ids::sha256;
use crate::sys::process;
use jiff::Timestamp;
use midstride_ledger::{LeaseGuard, LeaseOwner};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FOLDER: &str = "leases";
/// A longer name is replaced by its hash, because names of files are limited to 255 bytes.
const FILE_NAME_LENGTH_MAX: usize = 200;

/// The holder, as the file has it.
#[derive(Serialize, Deserialize)]
struct StoredOwner {
    host: String,
    boot: String,
    pid: u32,
    since: Timestamp,
}

struct HeldLock {
    _lock: Lock,
}

impl LeaseGuard for HeldLock {
    fn is_lost(&self) -> bool {
        false
    }
}

/// Takes a lease if it is free.
pub(super) fn acquire(folder: &Root, name: &str) -> Result<Lease, LeaseError> {
    let unavailable = |error: FileError| LeaseError::Unavailable {
        name: name.to_owned(),
        message: error.to_string(),
    };
    let leases = folder.make_below(Path::new(FOLDER)).map_err(unavailable)?;
    let file = file_name(name);
    let Some(lock) = Lock::try_acquire(&leases, &file).map_err(unavailable)? else {
        let owner = Lock::read(&leases, &file).ok().and_then(|bytes| parse_owner(&bytes));
        return Err(LeaseError::Taken { name: name.to_owned(), owner });
    };
    let owner = this_process();
    lock.write(&stored(&owner)).map_err(|error| LeaseError::Unavailable {
        name: name.to_owned(),
        message: error.to_string(),
    })?;
    Ok(Lease::new(owner, HeldLock { _lock: lock }))
}

fn this_process() -> LeaseOwner {
    let process::ProcessIdentity { host, boot, pid } = process::identity();
    LeaseOwner { host, boot, pid, since: Clock::System.now() }
}

fn stored(owner: &LeaseOwner) -> Vec<u8> {
    let LeaseOwner { host, boot, pid, since } = owner.clone();
    serde_json::to_vec(&StoredOwner { host, boot, pid, since }).unwrap_or_default()
}

/// The holder; `None` if the file is just being written.
fn parse_owner(bytes: &[u8]) -> Option<LeaseOwner> {
    let StoredOwner { host, boot, pid, since } = serde_json::from_slice(bytes).ok()?;
    Some(LeaseOwner { host, boot, pid, since })
}

/// The name of the file, different for each name, also where the file system ignores case.
fn file_name(name: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
    };
    let encoded: String = name
        .bytes()
        .map(
            |byte| {
                if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }
            },
        )
        .collect();
    if encoded.len() > FILE_NAME_LENGTH_MAX { sha256(name.as_bytes()) } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::ScratchFolder;

    #[test]
    fn names_are_not_folded_and_long_ones_fit() {
        let long = "a".repeat(300);
        let names = ["a/b", "a_b", "A/b", "a%2fb", "..", "", "ä", &long, &format!("{long}b")];
        let files: std::collections::BTreeSet<String> = names.map(file_name).into();
        assert_eq!(files.len(), names.len());
        assert!(files.iter().all(|file| file.len() <= FILE_NAME_LENGTH_MAX && !file.contains('/')));
    }

    #[test]
    fn a_lease_that_is_taken_names_its_holder() {
        let folder = ScratchFolder::new("midstride-lease").unwrap();
        let root = Root::open(folder.path()).unwrap();
        let lease = acquire(&root, "run/1").unwrap();
        let LeaseError::Taken { owner: Some(owner), .. } = acquire(&root, "run/1").unwrap_err()
        else {
            panic!("it is taken");
        };
        assert_eq!((&owner, owner.pid), (lease.owner(), std::process::id()));
        assert!(!owner.host.is_empty() && !lease.is_lost());
        drop(lease);
        acquire(&root, "run/1").unwrap();
        folder.remove().unwrap();
    }
}

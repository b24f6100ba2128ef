//! The doorbell: a file that is written after every append. Watching the database itself is always
//! one event late.

use super::LedgerWatch;
use crate::sys::files::{FileError, Root};
use notify::{RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const BELL: &str = "ledger.bell";
/// Where a file system tells nothing, news is looked for this often.
const POLL: Duration = Duration::from_secs(1);

/// Rings; nobody has to hear it.
pub(super) fn ring(folder: &Root) -> Result<(), FileError> {
    folder.touch(Path::new(BELL))
}

/// Somebody at the door.
pub(super) struct BellWatch {
    rung: Receiver<()>,
    _watcher: Option<notify::RecommendedWatcher>,
}

impl BellWatch {
    pub(super) fn new(folder: &Path) -> Self {
        let (ring, rung) = channel();
        let bell: PathBuf = folder.join(BELL);
        let heard = move |event: notify::Result<notify::Event>| {
            // What cannot be told apart is a hint too.
            if event.is_ok_and(|event| event.paths.is_empty() || event.paths.contains(&bell)) {
                let _ = ring.send(());
            }
        };
        // Without a watcher there is still the poll.
        let watcher = notify::recommended_watcher(heard).and_then(|mut watcher| {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        Self { rung, _watcher: watcher.ok() }
    }
}

impl LedgerWatch for BellWatch {
    fn wait(&mut self, at_most: Duration) {
        if self.rung.recv_timeout(at_most.min(POLL)).is_ok() {
            // One answer for all that rang meanwhile.
            while self.rung.try_recv().is_ok() {}
        }
    }
}

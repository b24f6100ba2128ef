//! The doorbell: a file that is touched after every append, for watchers. Watching the database
//! file itself is always one event late.

use crate::sys::files::{FileError, Root};
use midstride_ledger::LedgerWatch;
use notify::{RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const BELL: &str = "ledger.bell";
/// How often to poll, for file systems that report no changes.
const POLL: Duration = Duration::from_secs(1);

/// Touches the file. Nothing needs to be watching.
pub(super) fn ring(folder: &Root) -> Result<(), FileError> {
    folder.touch(Path::new(BELL))
}

/// Waits for the doorbell file to change.
pub(super) struct BellWatch {
    rung: Receiver<()>,
    _watcher: Option<notify::RecommendedWatcher>,
}

impl BellWatch {
    pub(super) fn new(folder: &Path) -> Self {
        let (ring, rung) = channel();
        let bell: PathBuf = folder.join(BELL);
        let heard = move |event: notify::Result<notify::Event>| {
            // An event without a path may concern the doorbell, so it counts.
            if event.is_ok_and(|event| event.paths.is_empty() || event.paths.contains(&bell)) {
                let _ = ring.send(());
            }
        };
        // Without a watcher, `wait` still returns at the next poll.
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
            // One wake-up covers every append so far.
            while self.rung.try_recv().is_ok() {}
        }
    }
}

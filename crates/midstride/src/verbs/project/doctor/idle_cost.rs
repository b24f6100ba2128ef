//! Measures what midstride costs while idle: disk space, and the tokens of a briefing.

use crate::store::Store;
use crate::store::ledger::{LedgerFolder, WaitPolicy, large_blobs};
use crate::sys::files::Root;
use crate::verbs::brief::hook::is_silent;
use crate::verbs::brief::{BriefRequest, brief_without_index};
use crate::workspace::{Access, Workspace};
use midstride_core::brief::BriefOccasion;
use midstride_core::text::tokens;
use std::path::Path;

/// The depth to which folders are measured. midstride writes nothing deeper.
const DEPTH_MAX: usize = 8;

/// The sizes, in bytes, of what is never committed, and the tokens of a briefing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleCost {
    /// The ledger.
    pub ledger: u64,
    /// The indexes.
    pub index: u64,
    /// The hook log.
    pub log: u64,
    /// The transcript cursors.
    pub cursors: u64,
    /// Everything else, including private handoffs.
    pub other: u64,
    /// The tokens of a briefing for a session that starts now. `None` if hooks are silent or the
    /// project is untrusted.
    pub briefing_tokens: Option<u64>,
}

impl IdleCost {
    /// The total size on disk.
    pub fn bytes(&self) -> u64 {
        self.ledger + self.index + self.log + self.cursors + self.other
    }
}

/// Measures the idle cost without writing anything, not even an index.
pub fn measure_idle_cost(store: &Store) -> IdleCost {
    let workspace = store.workspace();
    let mut idle = stored_bytes(workspace);
    let is_briefed = !is_silent(workspace) && workspace.broken_configuration().is_none();
    let own_store = || Some(Store::new(workspace.own_view().ok()?, WaitPolicy::Hook));
    idle.briefing_tokens = match workspace.access() {
        Access::Granted if is_briefed => Some(briefing_tokens(store)),
        Access::Own { .. } if is_briefed => own_store().map(|store| briefing_tokens(&store)),
        Access::Granted | Access::Own { .. } | Access::Untrusted { .. } => None,
    };
    idle
}

/// The sizes of what is stored for a project, without the tokens.
pub(in crate::verbs) fn stored_bytes(workspace: &Workspace) -> IdleCost {
    let mut idle = IdleCost::default();
    if let Ok(Some(folder)) = workspace.private() {
        idle.add_folder(&folder);
    }
    // On a network file system, ledger and index are in the user's state folder.
    if let LedgerFolder::State(path) = LedgerFolder::for_project(workspace)
        && let Ok(folder) = Root::open(&path)
    {
        idle.add_folder(&folder);
    }
    idle
}

/// The tokens of the briefing at the start of a session.
fn briefing_tokens(store: &Store) -> u64 {
    let asked = BriefRequest { occasion: Some(BriefOccasion::Startup), ..BriefRequest::default() };
    tokens::estimate(&brief_without_index(store, &asked).briefing.text)
}

impl IdleCost {
    fn add_folder(&mut self, folder: &Root) {
        for entry in folder.entries(Path::new("")).unwrap_or_default() {
            let bytes = match entry.is_folder {
                true => bytes_below(folder, Path::new(&entry.name), DEPTH_MAX),
                false => entry.bytes,
            };
            let kind = match entry.name.as_str() {
                "cursors" => &mut self.cursors,
                crate::clients::hook_log::FILE => &mut self.log,
                // What is queued for the ledger counts as part of it.
                "spool" | large_blobs::FOLDER => &mut self.ledger,
                name if name.starts_with("ledger.") => &mut self.ledger,
                name if name.starts_with("index-") => &mut self.index,
                _ => &mut self.other,
            };
            *kind += bytes;
        }
    }
}

fn bytes_below(folder: &Root, inside: &Path, depth: usize) -> u64 {
    let entries = folder.entries(inside).unwrap_or_default();
    let bytes = entries.into_iter().map(|entry| match entry.is_folder {
        true if depth > 0 => bytes_below(folder, &inside.join(&entry.name), depth - 1),
        true => 0,
        false => entry.bytes,
    });
    bytes.sum()
}

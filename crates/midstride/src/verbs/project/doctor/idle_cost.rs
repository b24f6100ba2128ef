//! What midstride costs while nobody calls it: what it keeps on disk, and what it would tell.

use crate::store::ledger::{LedgerFolder, large_blobs};
use crate::sys::files::Root;
use crate::verbs::brief::hook::is_silent;
use crate::verbs::brief::{BriefRequest, brief_without_index};
use crate::workspace::project::Project;
use midstride_core::brief::BriefOccasion;
use midstride_core::text::tokens;
use std::path::Path;

/// Nothing of ours lies deeper.
const DEPTH_MAX: usize = 8;

/// Bytes of what is never committed, and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleCost {
    /// The ledger.
    pub ledger: u64,
    /// The indexes.
    pub index: u64,
    /// What hooks did.
    pub log: u64,
    /// How far transcripts were read.
    pub cursors: u64,
    /// Everything else, handoffs on the private shelf too.
    pub other: u64,
    /// The tokens that a session would be told if it started now; none where hooks are silent or
    /// tell nothing of handoffs that came with a clone.
    pub briefing_tokens: Option<u64>,
}

impl IdleCost {
    /// All of it on disk.
    pub fn bytes(&self) -> u64 {
        self.ledger + self.index + self.log + self.cursors + self.other
    }
}

/// Measures it, and writes nothing: no index is made for it.
pub fn measure_idle_cost(project: &Project) -> IdleCost {
    let mut idle = IdleCost::default();
    if let Ok(Some(folder)) = project.private() {
        idle.add_folder(&folder);
    }
    // On a network ledger and index lie with the user.
    if let LedgerFolder::State(path) = LedgerFolder::for_project(project)
        && let Ok(folder) = Root::open(&path)
    {
        idle.add_folder(&folder);
    }
    let is_told = !is_silent(project) && project.is_trusted();
    if is_told && project.broken_configuration().is_none() {
        let asked =
            BriefRequest { occasion: Some(BriefOccasion::Startup), ..BriefRequest::default() };
        let briefed = brief_without_index(project, &asked);
        idle.briefing_tokens = Some(tokens::estimate(&briefed.briefing.text));
    }
    idle
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
                // What waits for the ledger counts as part of it.
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

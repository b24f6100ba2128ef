//! What midstride costs while nobody calls it: what it keeps on disk, and what it would tell.

use crate::store::ledger::{Place, large};
use crate::sys::files::Root;
use crate::verbs::brief::hook::is_silent;
use crate::verbs::brief::{Asked, brief_by_reading};
use crate::workspace::project::Project;
use midstride_core::brief::BriefOccasion;
use midstride_core::text::tokens;
use std::path::Path;

/// Nothing of ours lies deeper.
const DEPTH_MAX: usize = 8;

/// Bytes of what is never committed, and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle {
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
    pub briefing: Option<u64>,
}

impl Idle {
    /// All of it on disk.
    pub fn bytes(&self) -> u64 {
        self.ledger + self.index + self.log + self.cursors + self.other
    }
}

/// Measures it, and writes nothing: no index is made for it.
pub fn idle(project: &Project) -> Idle {
    let mut idle = Idle::default();
    if let Ok(Some(folder)) = project.private() {
        idle.add(&folder);
    }
    // On a network ledger and index lie with the user.
    if let Place::State(path) = Place::of(project)
        && let Ok(folder) = Root::open(&path)
    {
        idle.add(&folder);
    }
    let is_told = !is_silent(project) && project.is_at_home();
    if is_told && project.broken_configuration().is_none() {
        let asked = Asked { occasion: Some(BriefOccasion::Startup), ..Asked::default() };
        let briefed = brief_by_reading(project, &asked);
        idle.briefing = Some(tokens::estimate(&briefed.briefing.text));
    }
    idle
}

impl Idle {
    fn add(&mut self, folder: &Root) {
        for entry in folder.entries(Path::new("")).unwrap_or_default() {
            let bytes = match entry.is_folder {
                true => below(folder, Path::new(&entry.name), DEPTH_MAX),
                false => entry.bytes,
            };
            let kind = match entry.name.as_str() {
                "cursors" => &mut self.cursors,
                crate::clients::hook_log::FILE => &mut self.log,
                // What waits for the ledger counts as part of it.
                "spool" | large::FOLDER => &mut self.ledger,
                name if name.starts_with("ledger.") => &mut self.ledger,
                name if name.starts_with("index-") => &mut self.index,
                _ => &mut self.other,
            };
            *kind += bytes;
        }
    }
}

fn below(folder: &Root, inside: &Path, depth: usize) -> u64 {
    let entries = folder.entries(inside).unwrap_or_default();
    let bytes = entries.into_iter().map(|entry| match entry.is_folder {
        true if depth > 0 => below(folder, &inside.join(&entry.name), depth - 1),
        true => 0,
        false => entry.bytes,
    });
    bytes.sum()
}

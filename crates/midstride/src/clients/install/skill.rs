//! The skills that ship with midstride: how to write a handoff, and how to go on from one.

use super::client_file::ClientFile;
use super::{TargetContent, TargetFile};
use std::path::Path;

/// Each by its name, which is that of its folder.
pub(super) const SKILLS: [(&str, &str); 2] = [
    ("midstride-handoff", include_str!("skills/midstride-handoff.md")),
    ("midstride-continue", include_str!("skills/midstride-continue.md")),
];

/// What the file of each is called.
pub(super) const FILE: &str = "SKILL.md";

/// The skills in a folder of skills.
pub(super) fn target_files(folder: &ClientFile) -> impl Iterator<Item = TargetFile> {
    SKILLS.into_iter().map(|(name, text)| TargetFile {
        file: folder.join(&Path::new(name).join(FILE)),
        content: TargetContent::WholeFile(text),
    })
}

//! The skills that ship with midstride: how to write a handoff, and how to continue from one.

use super::client_file::ClientFile;
use super::{TargetContent, TargetFile};
use std::path::Path;

/// The name and text of each skill. The name is also its folder, and what the user types: `/handoff` in
/// Claude Code and Qwen Code, `$handoff` in Codex.
pub(crate) const SKILLS: [(&str, &str); 2] = [
    ("handoff", include_str!("skills/handoff.md")),
    ("continue", include_str!("skills/continue.md")),
];

/// The name and description of each skill, which clients add to every session.
pub fn skill_headers() -> impl Iterator<Item = (&'static str, &'static str)> {
    let description = |text: &'static str| {
        text.lines().find_map(|line| line.strip_prefix("description: ")).unwrap_or_default()
    };
    SKILLS.into_iter().map(move |(name, text)| (name, description(text)))
}

/// The file name of a skill.
pub(crate) const FILE: &str = "SKILL.md";

/// The target files of the skills in a skills folder.
pub(crate) fn target_files(folder: &ClientFile) -> impl Iterator<Item = TargetFile> {
    SKILLS.into_iter().map(|(name, text)| TargetFile {
        file: folder.join(&Path::new(name).join(FILE)),
        content: TargetContent::WholeFile(text),
    })
}

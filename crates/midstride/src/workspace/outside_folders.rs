//! Folders outside of the project root. The configuration can name them, but the user must trust
//! it.

use super::{SkippedSetting, Workspace};
use crate::sys::files::{self, Root};
use crate::workspace::folder::{FolderLayout, HandoffFolder};
use crate::workspace::permission::PermissionKey;
use std::path::{Path, PathBuf};

/// A folder outside of the project that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideFolder {
    /// The name as configured.
    pub name: String,
    /// The path it resolves to.
    pub path: PathBuf,
}

/// Whether the name of a folder leads out of the project. A link that leads out is detected when it
/// is opened.
pub(super) fn is_outside(name: &str) -> bool {
    name.starts_with('~') || !files::stays_inside(Path::new(name))
}

impl Workspace {
    /// The folders outside of the root that the configuration names.
    pub fn outside_folders(&self) -> Vec<OutsideFolder> {
        let names = self.settings.folders.iter();
        let names = names.map(|name| name.trim_end_matches("/**").trim_end_matches('/'));
        let outside = names.filter(|name| is_outside(name));
        outside
            .map(|name| OutsideFolder { name: name.to_owned(), path: self.resolve_folder(name) })
            .collect()
    }

    fn resolve_folder(&self, name: &str) -> PathBuf {
        let home = self.environment.home.as_ref();
        match (name.strip_prefix('~').map(|rest| rest.strip_prefix('/').unwrap_or(rest)), home) {
            (Some(rest), Some(home)) if name == "~" || name.starts_with("~/") => home.join(rest),
            _ => self.root.path().join(name),
        }
    }

    /// The permission key of the configuration, or `None` if there is no configuration.
    pub(crate) fn configuration_key(&self) -> Option<PermissionKey> {
        let (_, hash) = self.settings.source.as_ref()?;
        Some(PermissionKey::configuration(&self.identity(), hash))
    }

    /// Adds a trusted folder outside of the project. Only Markdown is read in it, and no link can
    /// lead further out.
    pub(super) fn add_outside_folder(&mut self, name: &str) {
        if !self.trusts_configuration() {
            return self.skipped_settings.push(SkippedSetting::Untrusted(name.to_owned()));
        }
        let path = self.resolve_folder(name);
        let one_file = files::is_markdown(&path) && !files::is_folder(&path);
        let folder = if one_file { path.parent().unwrap_or(&path) } else { &path };
        let file = path.file_name().filter(|_| one_file);
        match Root::open(folder) {
            Ok(root) => {
                let inside = file.map(|name| name.to_string_lossy()).unwrap_or_default();
                self.folders.push(HandoffFolder::new(FolderLayout::Folder, root, &inside));
            }
            Err(error) => {
                let (name, why) = (name.to_owned(), error.to_string());
                self.skipped_settings.push(SkippedSetting::Folder { name, why });
            }
        }
    }
}

//! Folders outside of the project root. The configuration can name them, but the user must trust
//! it.

use super::{SkippedSetting, Workspace};
use crate::sys::files::{self, FileError, Root};
use crate::workspace::folder::{FolderLayout, HandoffFolder};
use crate::workspace::permission::{PermissionKey, PermissionStore};
use std::path::{Path, PathBuf};

/// The file that records that midstride was set up here.
const SETUP_MARKER: &str = "home";

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

    /// Whether the user trusts the current configuration.
    pub(crate) fn trusts_configuration(&self) -> bool {
        let key = self.configuration_key();
        key.is_some_and(|key| PermissionStore::for_environment(&self.environment).allows(&key))
    }

    /// Whether the user allowed sessions here to be briefed from handoffs: by setting up midstride
    /// here or by trusting the current configuration. A cloned repository brings neither, because
    /// private files are not cloned.
    pub fn is_trusted(&self) -> bool {
        self.was_set_up_here() || self.trusts_configuration()
    }

    fn was_set_up_here(&self) -> bool {
        let private = self.private().ok().flatten();
        let marker = private.and_then(|folder| folder.read(Path::new(SETUP_MARKER)).ok());
        // Outside of git, the private folder is part of the project and may have been copied along
        // with it.
        let is_ours = |marker: &[u8]| {
            self.repository.is_some() || String::from_utf8_lossy(marker).trim() == self.identity()
        };
        marker.is_some_and(|marker| is_ours(&marker))
    }

    /// Records that midstride was set up here. The caller checks that the user may do this.
    pub(crate) fn mark_set_up(&self) -> Result<(), FileError> {
        if self.was_set_up_here() {
            return Ok(());
        }
        self.make_private()?
            .put(Path::new(SETUP_MARKER), format!("{}\n", self.identity()).as_bytes())
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

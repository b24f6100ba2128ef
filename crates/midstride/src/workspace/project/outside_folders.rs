//! Shelves outside the root: a configuration can name them, and this person decides.

use super::{Project, SkippedSetting};
use crate::sys::files::{self, FileError, Root};
use crate::workspace::folder::{FolderLayout, HandoffFolder};
use crate::workspace::permission::{PermissionKey, PermissionStore};
use std::path::{Path, PathBuf};

/// The file that says that midstride was set up here.
const SETUP_MARKER: &str = "home";

/// A shelf that the configuration names and that does not lie in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideFolder {
    /// As it is written.
    pub name: String,
    /// Where it leads.
    pub path: PathBuf,
}

/// Whether the name of a shelf leads out of the project, as far as its letters tell. A link that
/// leads out is found when it is opened.
pub(super) fn is_outside(name: &str) -> bool {
    name.starts_with('~') || !files::stays_inside(Path::new(name))
}

impl Project {
    /// The shelves that the configuration names outside the root.
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

    /// What a permission for the configuration is bound to; none where there is no configuration.
    pub(crate) fn configuration_key(&self) -> Option<PermissionKey> {
        let (_, hash) = self.settings.source.as_ref()?;
        Some(PermissionKey::configuration(&self.identity(), hash))
    }

    /// Whether this person trusts the configuration as it is.
    pub fn trusts_configuration(&self) -> bool {
        let bound = self.configuration_key();
        bound
            .is_some_and(|bound| PermissionStore::for_environment(&self.environment).allows(&bound))
    }

    /// Whether this person said that sessions here may be told what handoffs say: they set midstride
    /// up here, or trusted the configuration as it is. A clone of somebody's repository brings
    /// neither, for what is private is not cloned.
    pub fn is_trusted(&self) -> bool {
        self.was_set_up_here() || self.trusts_configuration()
    }

    fn was_set_up_here(&self) -> bool {
        let private = self.private().ok().flatten();
        let said = private.and_then(|folder| folder.read(Path::new(SETUP_MARKER)).ok());
        // Outside of git the folder lies in the project, and may have come with it.
        let is_ours = |said: &[u8]| {
            self.repository.is_some() || String::from_utf8_lossy(said).trim() == self.identity()
        };
        said.is_some_and(|said| is_ours(&said))
    }

    /// Writes down that midstride was set up here, by whoever may say so.
    pub(crate) fn mark_set_up(&self) -> Result<(), FileError> {
        if self.was_set_up_here() {
            return Ok(());
        }
        self.make_private()?
            .put(Path::new(SETUP_MARKER), format!("{}\n", self.identity()).as_bytes())
    }

    /// Only Markdown is read on a shelf, and no link leads further out.
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

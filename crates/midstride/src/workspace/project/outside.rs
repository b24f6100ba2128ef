//! Shelves outside the root: a configuration can name them, and this person decides.

use super::{NotRead, Project};
use crate::sys::files::{self, FileError, Root};
use crate::workspace::permission::{Bound, Permissions};
use crate::workspace::shelf::{Layout, Shelf};
use std::path::{Path, PathBuf};

/// The file that says that midstride was set up here.
const HOME: &str = "home";

/// A shelf that the configuration names and that does not lie in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
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
    pub fn outside(&self) -> Vec<Outside> {
        let names = self.settings.shelves.iter();
        let names = names.map(|name| name.trim_end_matches("/**").trim_end_matches('/'));
        let outside = names.filter(|name| is_outside(name));
        outside.map(|name| Outside { name: name.to_owned(), path: self.led_to(name) }).collect()
    }

    fn led_to(&self, name: &str) -> PathBuf {
        let home = self.environment.home.as_ref();
        match (name.strip_prefix('~').map(|rest| rest.strip_prefix('/').unwrap_or(rest)), home) {
            (Some(rest), Some(home)) if name == "~" || name.starts_with("~/") => home.join(rest),
            _ => self.root.path().join(name),
        }
    }

    /// What a permission for the configuration is bound to; none where there is no configuration.
    pub(crate) fn bound_configuration(&self) -> Option<Bound> {
        let (_, hash) = self.settings.source.as_ref()?;
        Some(Bound::configuration(&self.identity(), hash))
    }

    /// Whether this person trusts the configuration as it is.
    pub fn is_trusted(&self) -> bool {
        let bound = self.bound_configuration();
        bound.is_some_and(|bound| Permissions::of(&self.environment).allow(&bound))
    }

    /// Whether this person said that sessions here may be told what handoffs say: they set midstride
    /// up here, or trusted the configuration as it is. A clone of somebody's repository brings
    /// neither, for what is private is not cloned.
    pub fn is_at_home(&self) -> bool {
        self.was_set_up_here() || self.is_trusted()
    }

    fn was_set_up_here(&self) -> bool {
        let private = self.private().ok().flatten();
        let said = private.and_then(|folder| folder.read(Path::new(HOME)).ok());
        // Outside of git the folder lies in the project, and may have come with it.
        let is_ours = |said: &[u8]| {
            self.repository.is_some() || String::from_utf8_lossy(said).trim() == self.identity()
        };
        said.is_some_and(|said| is_ours(&said))
    }

    /// Writes down that midstride was set up here, by whoever may say so.
    pub(crate) fn be_at_home(&self) -> Result<(), FileError> {
        if self.was_set_up_here() {
            return Ok(());
        }
        self.make_private()?.put(Path::new(HOME), format!("{}\n", self.identity()).as_bytes())
    }

    /// Only Markdown is read on a shelf, and no link leads further out.
    pub(super) fn put_up_outside(&mut self, name: &str) {
        if !self.is_trusted() {
            return self.not_read.push(NotRead::Untrusted(name.to_owned()));
        }
        let path = self.led_to(name);
        let one_file = files::is_markdown(&path) && !files::is_folder(&path);
        let folder = if one_file { path.parent().unwrap_or(&path) } else { &path };
        let file = path.file_name().filter(|_| one_file);
        match Root::open(folder) {
            Ok(root) => {
                let inside = file.map(|name| name.to_string_lossy()).unwrap_or_default();
                self.shelves.push(Shelf::new(Layout::Folder, root, &inside));
            }
            Err(error) => {
                let (name, why) = (name.to_owned(), error.to_string());
                self.not_read.push(NotRead::Shelf { name, why });
            }
        }
    }
}

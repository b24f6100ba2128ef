//! What is configured and not read, and why: whoever shows it knows what can be done.

use std::fmt;
use std::path::PathBuf;

/// Something that is configured and not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkippedSetting {
    /// The configuration itself.
    Configuration(String),
    /// A key that this version does not know.
    UnknownKey {
        /// The key.
        key: String,
        /// The file that has it.
        file: PathBuf,
    },
    /// A shelf that nobody trusted yet.
    Untrusted(String),
    /// A shelf that cannot be read.
    Folder {
        /// The shelf as it is configured.
        name: String,
        /// Why.
        why: String,
    },
}

impl fmt::Display for SkippedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(why) => write!(f, "the configuration is not read: {why}"),
            Self::UnknownKey { key, .. } => write!(
                f,
                "`{key}` in the configuration is not known to this midstride; nothing is done with \
                 it"
            ),
            Self::Untrusted(name) => write!(
                f,
                "shelf `{name}` lies outside the project; it is not read before `midstride trust`"
            ),
            Self::Folder { name, why } => write!(f, "shelf `{name}` is not read: {why}"),
        }
    }
}

//! Settings that are configured but ignored, and why.

use std::fmt;
use std::path::PathBuf;

/// A setting that is configured but ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkippedSetting {
    /// The entire configuration.
    Configuration(String),
    /// A key that this version does not know.
    UnknownKey {
        /// The key.
        key: String,
        /// The file that contains it.
        file: PathBuf,
    },
    /// A folder that is not trusted yet.
    Untrusted(String),
    /// Redaction rules that are not trusted yet, with their number.
    UntrustedRules(usize),
    /// A folder that cannot be read.
    Folder {
        /// The folder as configured.
        name: String,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for SkippedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(why) => write!(f, "the configuration was ignored: {why}"),
            Self::UnknownKey { key, .. } => {
                write!(
                    f,
                    "`{key}` in the configuration is unknown to this version of midstride and is ignored"
                )
            }
            Self::Untrusted(name) => write!(
                f,
                "folder `{name}` is outside the project; midstride does not read it until you \
                 trust it with `midstride trust`"
            ),
            Self::UntrustedRules(1) => {
                write!(
                    f,
                    "1 redaction rule from the project is not used until you trust it with \
                     `midstride trust`"
                )
            }
            Self::UntrustedRules(count) => write!(
                f,
                "{count} redaction rules from the project are not used until you trust them with \
                 `midstride trust`"
            ),
            Self::Folder { name, why } => write!(f, "folder `{name}` is not read: {why}"),
        }
    }
}

//! The version of git that is installed.

use super::run::output_outside;
use std::fmt;
use std::path::Path;

/// A version of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion(pub [u32; 3]);

/// The oldest version that midstride supports. An older one may not know `GIT_NO_LAZY_FETCH`, and
/// may run a program of the repository to fetch missing objects.
pub const OLDEST_VERSION: GitVersion = GitVersion([2, 39, 5]);

/// The version of the git on the PATH, or `None` if there is none or it does not say.
pub fn installed_version() -> Option<GitVersion> {
    let output = output_outside(Path::new("/"), &["--version"]).ok()?;
    GitVersion::parse(&String::from_utf8_lossy(&output.stdout))
}

impl GitVersion {
    /// Parses `git version 2.39.5` and variants such as `2.39.5 (Apple Git-154)` or `2.50.0.rc1`.
    fn parse(text: &str) -> Option<Self> {
        let number = text.strip_prefix("git version ")?.split_whitespace().next()?;
        let mut parts = number.split('.').map_while(|part| part.parse().ok());
        Some(Self([parts.next()?, parts.next()?, parts.next().unwrap_or(0)]))
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_and_compared() {
        let parse = |text: &str| GitVersion::parse(text).map(|version| version.to_string());
        assert_eq!(parse("git version 2.39.5\n").as_deref(), Some("2.39.5"));
        assert_eq!(parse("git version 2.39.5 (Apple Git-154)\n").as_deref(), Some("2.39.5"));
        assert_eq!(parse("git version 2.50.GIT").as_deref(), Some("2.50.0"));
        assert_eq!(parse("git version 2.45.1.windows.1").as_deref(), Some("2.45.1"));
        assert_eq!(parse("nothing"), None);
        assert!(GitVersion([2, 39, 4]) < OLDEST_VERSION && OLDEST_VERSION < GitVersion([2, 40, 0]));
    }
}

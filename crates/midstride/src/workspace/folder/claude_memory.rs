//! Claude Code's memory folder of a project, which all its worktrees share.

use crate::sys::env::Environment;
use std::path::{Path, PathBuf};

/// The variable that names Claude Code's folder, if the user moved it.
pub(crate) const HOME_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
/// Claude Code's folder, below the user's home folder.
pub(crate) const HOME_FOLDER: &str = ".claude";

/// The memory folder of the project at `root`, whether or not it exists.
pub(crate) fn folder(environment: &Environment, root: &Path) -> Option<PathBuf> {
    let claude = environment.program_folder(HOME_VARIABLE, HOME_FOLDER)?;
    Some(claude.join("projects").join(slug(&root.to_string_lossy())).join("memory"))
}

/// Maximum length of a slug. A longer one is cut and gets a hash.
pub(crate) const LENGTH_MAX: usize = 200;

/// Claude Code's folder name for a project: every UTF-16 unit that is not an ASCII letter or digit
/// becomes a hyphen, and a long name is cut and gets a hash.
pub(crate) fn slug(path: &str) -> String {
    let slug: String = path
        .encode_utf16()
        .map(|unit| char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric))
        .map(|letter| letter.unwrap_or('-'))
        .collect();
    if slug.len() <= LENGTH_MAX {
        return slug;
    }
    let hash = path
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    format!("{}-{}", &slug[..LENGTH_MAX], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_matches_claude_codes_folder_name() {
        assert_eq!(slug("/home/dev/shop"), "-home-dev-shop");
        assert_eq!(slug("/tmp/x/odd dir_x.y/sub-Ünïcode"), "-tmp-x-odd-dir-x-y-sub--n-code");
        let long = format!("/{}", "a".repeat(250));
        let name = slug(&long);
        assert!(name.starts_with(&format!("-{}", "a".repeat(199))));
        assert!(name.len() > 201 && name.len() < 210, "{name}");
    }
}

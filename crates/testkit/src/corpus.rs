//! Documents for tests: fixtures in this repository, and an external corpus if it is available.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The root of this repository.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the top").to_owned()
}

/// A folder of this repository's fixtures.
pub fn fixtures(folder: &str) -> PathBuf {
    repository_root().join("fixtures").join(folder)
}

/// A folder of the external corpus. Prints a line if the corpus is not available.
pub fn corpus(folder: &str) -> Option<PathBuf> {
    let found = std::env::var_os("MIDSTRIDE_CORPUS")
        .map(|corpus| repository_root().join(corpus).join(folder))
        .filter(|path| path.is_dir());
    if found.is_none() {
        // Write to stderr directly, because the test harness hides the output of passing tests.
        let _ = writeln!(
            std::io::stderr(),
            "left out: tests on foreign {folder} (MIDSTRIDE_CORPUS does not name a folder with them)"
        );
    }
    found
}

/// All Markdown files in a folder, recursively, sorted.
pub fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(markdown_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

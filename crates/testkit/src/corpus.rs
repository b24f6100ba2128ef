//! Documents to test on: our own fixtures, and other people's where they are at hand.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The top of this repository.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the top").to_owned()
}

/// Our own fixtures.
pub fn fixtures(folder: &str) -> PathBuf {
    repository_root().join("fixtures").join(folder)
}

/// A folder of other people's documents; where it is not at hand, one line says so.
pub fn corpus(folder: &str) -> Option<PathBuf> {
    let found = std::env::var_os("MIDSTRIDE_CORPUS")
        .map(|corpus| repository_root().join(corpus).join(folder))
        .filter(|path| path.is_dir());
    if found.is_none() {
        // Written past the test harness, which hides what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "left out: tests on foreign {folder} (MIDSTRIDE_CORPUS does not name a folder with them)"
        );
    }
    found
}

/// Every Markdown file below a folder, sorted.
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

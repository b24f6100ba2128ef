//! Documents for tests: fixtures in this repository, and an external corpus.

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

/// A folder of the external corpus. A test that needs it is ignored unless it is asked for.
pub fn corpus(folder: &str) -> PathBuf {
    const VARIABLE: &str = "MIDSTRIDE_CORPUS";
    let corpus = std::env::var_os(VARIABLE);
    let corpus = corpus.unwrap_or_else(|| panic!("this test needs {VARIABLE}"));
    let path = repository_root().join(corpus).join(folder);
    assert!(path.is_dir(), "{VARIABLE} has no folder `{folder}`");
    path
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

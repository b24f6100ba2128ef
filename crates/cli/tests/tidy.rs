//! The shape of the repository: modules import one way, core depends on nothing outside, dependencies
//! are allowed, ARCHITECTURE.md lists every module, a client is one folder, every test file runs, and
//! odd words only get fewer.

mod clients;
mod consent;
mod counts;
mod dependencies;
mod ignored;
mod imports;
mod manifests;
mod modules;
mod ratchet;
mod removed_names;
mod tree;

use midstride_testkit::repository_root;
use std::path::{Path, PathBuf};

/// The crates of the workspace.
const CRATES: [&str; 6] = ["core", "ledger", "midstride", "surface", "cli", "testkit"];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rust_files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn source_folder(name: &str) -> PathBuf {
    repository_root().join("crates").join(name).join("src")
}

#[test]
fn testkit_stays_out_of_source_folders() {
    for name in ["core", "ledger", "midstride", "surface", "cli"] {
        for file in rust_files_below(&source_folder(name)) {
            assert!(!read(&file).contains("midstride_testkit"), "{}", file.display());
        }
    }
}

#[test]
fn no_module_is_a_grab_bag() {
    for name in CRATES {
        for file in rust_files_below(&source_folder(name)) {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let grab_bags =
                ["util", "utils", "common", "helper", "helpers", "manager", "misc", "mod"];
            assert!(!grab_bags.contains(&stem.as_str()), "{}", file.display());
        }
    }
}

#[test]
fn every_file_opens_by_saying_what_it_is_for() {
    for name in CRATES {
        for file in rust_files_below(&source_folder(name)) {
            let text = read(&file);
            let is_command = file.parent().is_some_and(|p| p.ends_with("cli/src/commands"));
            let is_tests = file.file_name().is_some_and(|name| name == "tests.rs");
            // A command says it in the help text of its arguments.
            let said =
                text.starts_with("//!") || is_tests || (is_command && text.contains("\n/// "));
            assert!(said, "{} has no header", file.display());
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    for name in ["core", "ledger", "midstride", "cli"] {
        let folder = repository_root().join("crates").join(name).join("tests");
        for file in rust_files_below(&folder) {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            if stem == "main" && file.parent() == Some(&folder) {
                continue;
            }
            let parent = file.parent().unwrap();
            let declared_in =
                if parent == folder { folder.join("main.rs") } else { parent.with_extension("rs") };
            let declared = read(&declared_in).contains(&format!("mod {stem};"));
            assert!(declared, "{} is not declared in {}", file.display(), declared_in.display());
        }
    }
}

/// What stands between backquotes in a page.
fn quoted(page: &str) -> Vec<String> {
    page.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_path_in_architecture_exists() {
    let page = read(&repository_root().join("ARCHITECTURE.md"));
    let tops = ["crates/", "docs/", "fixtures/", "scripts/", "fuzz/", ".ci/"];
    for name in quoted(&page) {
        if tops.iter().any(|top| name.starts_with(top)) && !name.contains(['<', '*', '{', ' ']) {
            let path = repository_root().join(&name);
            assert!(path.exists(), "ARCHITECTURE.md names `{name}`, which does not exist");
        }
    }
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = repository_root();
    let sources: String =
        rust_files_below(&root.join("crates")).iter().map(|path| read(path)).collect();
    let page = read(&root.join("docs/security.md"));
    // The names of tests are sentences; other names in code are shorter.
    let is_test = |name: &&String| name.split('_').count() > 2 && !name.contains(' ');
    let names: Vec<String> = quoted(&page).iter().filter(is_test).cloned().collect();
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        assert!(sources.contains(&format!("fn {name}()")), "`{name}` is not a test");
    }
}

#[test]
fn the_changelog_has_a_place_for_what_comes() {
    let page = read(&repository_root().join("CHANGELOG.md"));
    assert!(page.contains("\n## Unreleased\n"));
}

/// Lines of a page that a shell would run.
fn shell_lines(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && !line.trim().is_empty() {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn ci_runs_exactly_the_test_command_of_the_readme() {
    let readme = shell_lines(&read(&repository_root().join("README.md")));
    assert!(readme.contains(&"cargo run --release -- demo".to_owned()));
    assert!(readme.contains(&"scripts/test".to_owned()));
    let ci = read(&repository_root().join(".ci/run"));
    let run: Vec<&str> = ci
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("set "))
        .filter(|line| {
            line.starts_with("scripts/") || line.starts_with("cargo") || line.starts_with("exec")
        })
        .collect();
    assert_eq!(run, ["exec scripts/test"]);
}

#[test]
fn shapes_for_programs_live_in_the_views() {
    let mut files = rust_files_below(&source_folder("cli").join("commands"));
    files.push(source_folder("surface").join("diagnostic.rs"));
    files.extend(rust_files_below(&source_folder("surface").join("diagnostic")));
    for file in files {
        assert!(!read(&file).contains("Serialize"), "{} has a shape", file.display());
    }
}

#[test]
fn the_engine_of_the_ledger_is_named_only_where_it_is_opened() {
    let store = source_folder("midstride").join("store");
    let product = ["ledger", "midstride", "surface", "cli"].map(source_folder);
    let files = product.iter().flat_map(|folder| rust_files_below(folder));
    let named: Vec<PathBuf> = files
        .filter(|file| !file.starts_with(store.join("ledger")))
        .filter(|file| read(file).contains("SqliteLedger"))
        .collect();
    assert_eq!(named, [store.join("ledger.rs")]);
}

#[test]
fn one_function_starts_git() {
    let product = ["core", "ledger", "midstride", "surface", "cli"].map(source_folder);
    let mut starts = Vec::new();
    for file in product.iter().flat_map(|folder| rust_files_below(folder)) {
        let text = read(&file);
        let count =
            text.matches("command(\"git").count() + text.matches("Command::new(\"git").count();
        starts.extend(std::iter::repeat_n(file, count));
    }
    assert_eq!(starts, [source_folder("midstride").join("sys/git/run.rs")]);
}

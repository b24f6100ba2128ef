//! The shape of the house, held by tests: rooms import one way, core touches nothing outside, the
//! map names every room, and no test file is forgotten.

use midstride_testkit::repository_root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CRATES: [&str; 4] = ["core", "midstride", "cli", "testkit"];

/// What core may depend on. Nothing here opens a file, asks the time or starts a process.
const CORE_DEPENDENCIES: [&str; 11] = [
    "granit-parser",
    "jiff",
    "pulldown-cmark",
    "regex",
    "serde",
    "serde_json",
    "sha2",
    "similar",
    "strsim",
    "thiserror",
    "toml_edit",
];

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

/// The rooms of a crate, in the order in which its root lists them.
fn rooms(name: &str) -> Vec<String> {
    let source = source_folder(name);
    let root = ["lib.rs", "main.rs"].map(|file| source.join(file));
    let root = root.iter().find(|path| path.is_file()).unwrap();
    let declared = read(root);
    declared
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';'))
        .filter_map(|line| line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod ")))
        .map(str::to_owned)
        .collect()
}

/// The rooms that a file names after `crate::`.
fn imported(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("crate::")
        .flat_map(|(at, _)| {
            let rest = &text[at + "crate::".len()..];
            let listed = rest.strip_prefix('{').map(|list| {
                let list = list.split('}').next().unwrap_or_default();
                list.split(',')
                    .map(|item| item.trim().split("::").next().unwrap_or_default().to_owned())
                    .collect()
            });
            let one = || vec![rest.chars().take_while(|c| word(*c)).collect::<String>()];
            listed.unwrap_or_else(one)
        })
        .collect()
}

#[test]
fn rooms_import_only_from_rooms_above_them() {
    for name in CRATES {
        let rooms = rooms(name);
        let position: BTreeMap<&str, usize> =
            rooms.iter().enumerate().map(|(index, room)| (room.as_str(), index)).collect();
        for (index, room) in rooms.iter().enumerate() {
            let source = source_folder(name);
            let mut files = vec![source.join(format!("{room}.rs"))];
            if source.join(room).is_dir() {
                files.extend(rust_files_below(&source.join(room)));
            }
            for file in files {
                for other in imported(&read(&file)) {
                    if let Some(there) = position.get(other.as_str()) {
                        assert!(
                            *there <= index,
                            "{}: room `{room}` imports `{other}`, which stands below it",
                            file.display()
                        );
                    }
                }
            }
        }
    }
}

/// The names in a table of a manifest.
fn manifest_table(name: &str, table: &str) -> Vec<String> {
    let manifest = read(&repository_root().join("crates").join(name).join("Cargo.toml"));
    manifest
        .lines()
        .skip_while(|line| line.trim() != format!("[{table}]"))
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| line.split(['.', '=', ' ']).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn core_depends_on_nothing_that_touches_the_outside() {
    assert_eq!(manifest_table("core", "dependencies"), CORE_DEPENDENCIES);
}

#[test]
fn layers_know_only_the_one_below() {
    let ours = |name: &str| -> Vec<String> {
        let dependencies = manifest_table(name, "dependencies");
        dependencies.into_iter().filter(|d| d.starts_with("midstride")).collect()
    };
    assert!(ours("core").is_empty());
    assert_eq!(ours("midstride"), ["midstride-core"]);
    assert_eq!(ours("cli"), ["midstride-core", "midstride"]);
    assert_eq!(ours("testkit"), ["midstride", "midstride-core"], "testkit is above the library");
}

#[test]
fn no_async_runtime_in_the_lower_layers() {
    for name in ["core", "midstride", "testkit"] {
        let dependencies = manifest_table(name, "dependencies");
        let runtimes = ["tokio", "async-std", "smol", "futures"];
        assert!(dependencies.iter().all(|d| !runtimes.contains(&d.as_str())), "{name}");
    }
}

#[test]
fn testkit_stays_out_of_source_folders() {
    for name in ["core", "midstride", "cli"] {
        for file in rust_files_below(&source_folder(name)) {
            assert!(!read(&file).contains("midstride_testkit"), "{}", file.display());
        }
    }
}

#[test]
fn no_room_is_a_drawer_for_everything() {
    for name in CRATES {
        for file in rust_files_below(&source_folder(name)) {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let drawer = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "mod"];
            assert!(!drawer.contains(&stem.as_str()), "{}", file.display());
        }
    }
}

#[test]
fn every_room_opens_by_saying_what_it_is_for() {
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
    for name in ["core", "midstride", "cli"] {
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
fn the_map_names_only_what_exists() {
    let page = read(&repository_root().join("ARCHITECTURE.md"));
    let tops = ["crates/", "docs/", "fixtures/", "scripts/", "fuzz/", ".ci/"];
    for name in quoted(&page) {
        if tops.iter().any(|top| name.starts_with(top)) && !name.contains(['<', '*', '{', ' ']) {
            let path = repository_root().join(&name);
            assert!(path.exists(), "ARCHITECTURE.md names `{name}`, which is not there");
        }
    }
}

#[test]
fn the_map_names_every_room() {
    let page = read(&repository_root().join("ARCHITECTURE.md"));
    let named: BTreeSet<String> = quoted(&page).into_iter().collect();
    for name in CRATES {
        for room in rooms(name) {
            let path = format!("crates/{name}/src/{room}.rs");
            let short = format!("{room}.rs");
            let known = named.contains(&path) || named.contains(&short) || named.contains(&room);
            assert!(known, "ARCHITECTURE.md does not name room `{room}` of crate `{name}`");
        }
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
    let crate_root = repository_root().join("crates/cli/src");
    let mut files = rust_files_below(&crate_root.join("commands"));
    files.push(crate_root.join("diagnostic.rs"));
    files.extend(rust_files_below(&crate_root.join("diagnostic")));
    for file in files {
        assert!(!read(&file).contains("Serialize"), "{} has a shape", file.display());
    }
}

//! What each crate depends on: every table of its manifest, under the name of the package.

use super::CRATES;
use super::tree::Tree;
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item, TableLike};

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

/// What the contract of the ledger may depend on, for the same reason.
const LEDGER_DEPENDENCIES: [&str; 6] =
    ["jiff", "midstride-core", "serde", "serde_json", "sha2", "thiserror"];

/// Our own crates that each of them may use, tests aside.
const LAYERS: [(&str, &[&str]); 6] = [
    ("core", &[]),
    ("ledger", &["midstride-core"]),
    ("midstride", &["midstride-core", "midstride-ledger"]),
    ("surface", &["midstride", "midstride-core"]),
    ("cli", &["midstride", "midstride-core", "midstride-surface"]),
    ("testkit", &["midstride", "midstride-core"]),
];

fn manifest(tree: &Tree, path: &str) -> DocumentMut {
    tree.text(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The packages that a crate is built with: every table, on every platform, behind every name.
fn dependencies(tree: &Tree, name: &str) -> BTreeSet<String> {
    let manifest = manifest(tree, &format!("crates/{name}/Cargo.toml"));
    let workspace = self::manifest(tree, "Cargo.toml");
    let workspace = workspace["workspace"]["dependencies"].as_table_like().unwrap();
    let mut found = BTreeSet::new();
    let platforms = manifest.get("target").and_then(Item::as_table_like);
    let platforms = platforms.into_iter().flat_map(|table| table.iter().map(|(_, item)| item));
    for place in platforms.chain([manifest.as_item()]) {
        for table in ["dependencies", "build-dependencies"] {
            let listed = place.get(table).and_then(Item::as_table_like);
            for (key, value) in listed.into_iter().flat_map(TableLike::iter) {
                let renamed = |item: Option<&Item>| {
                    item.and_then(|item| item.get("package")?.as_str().map(str::to_owned))
                };
                let package = renamed(Some(value)).or_else(|| renamed(workspace.get(key)));
                found.insert(package.unwrap_or_else(|| key.to_owned()));
            }
        }
    }
    found
}

fn violations(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let guarded: [(&str, &[&str]); 2] =
        [("core", &CORE_DEPENDENCIES), ("ledger", &LEDGER_DEPENDENCIES)];
    for (crate_name, listed) in guarded {
        let listed: BTreeSet<String> = listed.iter().map(|&name| name.to_owned()).collect();
        for name in dependencies(tree, crate_name).symmetric_difference(&listed) {
            found.push(format!("{crate_name}: `{name}` is not both listed here and used"));
        }
    }
    for (name, allowed) in LAYERS {
        let all = dependencies(tree, name);
        let ours = all.iter().filter(|package| package.starts_with("midstride"));
        for package in ours.filter(|package| !allowed.contains(&package.as_str())) {
            found.push(format!("{name}: depends on `{package}`"));
        }
        for runtime in ["tokio", "async-std", "smol", "futures"] {
            if name != "cli" && all.contains(runtime) {
                found.push(format!("{name}: `{runtime}` is an async runtime"));
            }
        }
    }
    found
}

#[test]
fn crates_depend_only_on_what_is_below_them() {
    let tree = Tree::read();
    assert_eq!(LAYERS.map(|(name, _)| name), CRATES, "every crate has a layer");
    let found: BTreeSet<&str> = tree
        .below("crates/", "/Cargo.toml")
        .filter_map(|(path, _)| path.split('/').nth(1))
        .collect();
    assert_eq!(found, CRATES.into(), "every crate is checked");
    assert_eq!(violations(&tree), Vec::<String>::new());
}

/// Asserts that core's manifest with more lines breaks a rule.
#[track_caller]
fn assert_caught(lines: &str, rule: &str) {
    let tree = Tree::read();
    let manifest = format!("{}\n{lines}\n", tree.text("crates/core/Cargo.toml"));
    let found = violations(&tree.with("crates/core/Cargo.toml", manifest));
    assert!(found.iter().any(|found| found.contains(rule)), "{lines}: {found:?}");
}

#[test]
fn a_dependency_for_one_platform_is_caught() {
    assert_caught("[target.'cfg(unix)'.dependencies]\nrustix = \"1\"", "core: `rustix`");
    assert_caught("[target.'cfg(unix)'.build-dependencies]\ncc = \"1\"", "core: `cc`");
}

#[test]
fn a_dependency_behind_another_name_is_caught() {
    let lines = "[build-dependencies]\nserde = { package = \"tokio\", version = \"1\" }";
    assert_caught(lines, "core: `tokio`");
    assert_caught(
        "[build-dependencies.midstride-cli]\nworkspace = true",
        "depends on `midstride-cli`",
    );
}

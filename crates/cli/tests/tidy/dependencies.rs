//! What the workspace is built from: licenses, sources and duplicates as `deny.toml` lists them, and a
//! reason beside each dependency.
//!
//! This is `cargo deny` for the packages of this machine, without advisories: `scripts/deny` checks
//! those and the other systems.

use super::tree::Tree;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use toml_edit::{DocumentMut, Item, TableLike};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The tables that list dependencies, by manifest.
const MANIFESTS: [(&str, &[&str]); 2] =
    [("Cargo.toml", &["workspace", "dependencies"]), ("fuzz/Cargo.toml", &["dependencies"])];

/// Every package that is built on this machine, tests included.
fn metadata() -> Value {
    let version = Command::new(env!("CARGO")).args(["-vV"]).output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--offline",
            "--format-version=1",
            "--filter-platform",
            host,
        ])
        .current_dir(midstride_testkit::repository_root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The licenses and duplicates that `deny.toml` allows.
struct Allowed {
    licenses: BTreeSet<String>,
    /// Older versions, as `name:^major`.
    duplicates: BTreeSet<String>,
    violations: Vec<String>,
}

impl Allowed {
    fn read(tree: &Tree) -> Self {
        let deny: DocumentMut = tree.text("deny.toml").parse().unwrap();
        let licenses = deny["licenses"]["allow"].as_array().unwrap().iter();
        let mut allowed = Self {
            licenses: licenses.map(|name| name.as_str().unwrap().to_owned()).collect(),
            duplicates: BTreeSet::new(),
            violations: Vec::new(),
        };
        for entry in deny["bans"]["skip"].as_array().unwrap() {
            let field = |name| entry.as_inline_table()?.get(name)?.as_str();
            let name = field("crate").unwrap().to_owned();
            if field("reason").is_none_or(str::is_empty) {
                allowed.violations.push(format!("deny.toml: no reason for `{name}`"));
            }
            allowed.duplicates.insert(name);
        }
        allowed
    }
}

/// What is wrong with the packages.
fn package_violations(metadata: &Value, allowed: Allowed) -> Vec<String> {
    let members: Vec<&str> = texts(&metadata["workspace_members"]).collect();
    let mut found = allowed.violations;
    let mut majors: BTreeMap<&str, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let is_member = members.contains(&package["id"].as_str().unwrap());
        match package["source"].as_str() {
            Some(REGISTRY) => {}
            None if is_member => continue,
            other => found.push(format!("`{name}` comes from {}", other.unwrap_or("a folder"))),
        }
        match package["license"].as_str() {
            Some(license) if is_allowed(license, &allowed.licenses) => {}
            other => found.push(format!("`{name}` has the license {}", other.unwrap_or("none"))),
        }
        majors.entry(name).or_default().insert(major(package["version"].as_str().unwrap()));
    }
    let older = majors.iter().flat_map(|(name, majors)| {
        let newest = majors.last().copied();
        let older = majors.iter().filter(move |major| Some(**major) != newest);
        older.map(move |(first, second)| match first {
            0 => format!("{name}:^0.{second}"),
            _ => format!("{name}:^{first}"),
        })
    });
    for duplicate in older.collect::<BTreeSet<_>>().symmetric_difference(&allowed.duplicates) {
        found.push(format!("`{duplicate}` is not both an older version and in deny.toml"));
    }
    found
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The part of a version that has to be the same for two to be compatible.
fn major(version: &str) -> (u64, u64) {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or_default());
    let (first, second) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    if first == 0 { (0, second) } else { (first, 0) }
}

/// Whether the license can be chosen so that all of it is allowed.
fn is_allowed(license: &str, allowed: &BTreeSet<String>) -> bool {
    // Older manifests separate alternatives with a slash.
    let license = license.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = license.split_whitespace().collect();
    let mut rest = words.as_slice();
    let result = any_of(&mut rest, allowed);
    result && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut result = all_of(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        result |= all_of(words, allowed);
    }
    result
}

fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut result = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        result &= one(words, allowed);
    }
    result
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let result = any_of(words, allowed);
            let [")", rest @ ..] = *words else { return false };
            *words = rest;
            result
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(*name)
        }
        [] => false,
    }
}

/// Dependencies from elsewhere that have no reason on their line.
fn reason_violations(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, table) in MANIFESTS {
        let manifest: DocumentMut = tree.text(path).parse().unwrap();
        let table = table.iter().fold(manifest.as_item(), |item, key| &item[key]);
        for (name, item) in table.as_table_like().into_iter().flat_map(TableLike::iter) {
            let is_ours = item.get("path").is_some();
            let suffix = item.as_value().and_then(|value| value.decor().suffix()?.as_str());
            let reason = suffix.and_then(|text| text.trim().strip_prefix('#'));
            if !is_ours && reason.is_none_or(|reason| reason.trim().is_empty()) {
                found.push(format!("{path}: no reason beside `{name}`"));
            }
        }
    }
    for (path, text) in tree.below("crates/", "/Cargo.toml") {
        let manifest: DocumentMut = text.parse().unwrap();
        let platforms = manifest.get("target").and_then(Item::as_table_like);
        let platforms = platforms.into_iter().flat_map(|table| table.iter().map(|(_, item)| item));
        for place in platforms.chain([manifest.as_item()]) {
            for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let listed = place.get(table).and_then(Item::as_table_like);
                for (name, item) in listed.into_iter().flat_map(TableLike::iter) {
                    if item.get("workspace").and_then(Item::as_bool) != Some(true) {
                        found.push(format!("{path}: `{name}` is not from the workspace"));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn dependencies_have_allowed_licenses_sources_and_versions() {
    let found = package_violations(&metadata(), Allowed::read(&Tree::read()));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn dependencies_have_a_reason_beside_them() {
    assert_eq!(reason_violations(&Tree::read()), Vec::<String>::new());
}

/// What is wrong if the workspace has these packages: name, version, license and source.
fn violations_with(packages: &[(&str, &str, &str, Option<&str>)], skip: &str) -> Vec<String> {
    let ours =
        json!({"id": "ours", "name": "ours", "version": "0.1.0", "license": null, "source": null});
    let others = packages.iter().map(|(name, version, license, source)| {
        json!({
            "id": format!("{name}@{version}"),
            "name": name,
            "version": version,
            "license": license,
            "source": source,
        })
    });
    let packages: Vec<Value> = others.chain([ours]).collect();
    let metadata = json!({"packages": packages, "workspace_members": ["ours"]});
    let deny = format!("[licenses]\nallow = [\"MIT\", \"Zlib\"]\n[bans]\nskip = [{skip}]\n");
    package_violations(&metadata, Allowed::read(&Tree::read().with("deny.toml", deny)))
}

#[test]
fn a_license_that_is_not_listed_is_caught() {
    for good in ["MIT", "GPL-3.0 OR MIT", "Apache-2.0/MIT", "(GPL-3.0 OR MIT) AND Zlib"] {
        let found = violations_with(&[("good", "1.0.0", good, Some(REGISTRY))], "");
        assert_eq!(found, Vec::<String>::new(), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH odd-exception", "", "(MIT", "MIT Zlib"] {
        let found = violations_with(&[("bad", "1.0.0", bad, Some(REGISTRY))], "");
        assert_eq!(found, [format!("`bad` has the license {bad}")]);
    }
}

#[test]
fn a_package_from_git_or_a_folder_is_caught() {
    let git = "git+https://example.org/odd#1";
    for (source, said) in [(Some(git), git), (None, "a folder")] {
        let found = violations_with(&[("odd", "1.0.0", "MIT", source)], "");
        assert_eq!(found, [format!("`odd` comes from {said}")]);
    }
}

#[test]
fn a_second_major_version_is_caught_unless_it_is_listed_with_a_reason() {
    let two = |one, other| {
        [("twice", one, "MIT", Some(REGISTRY)), ("twice", other, "MIT", Some(REGISTRY))]
    };
    let listed = "{ crate = \"twice:^1\", reason = \"b uses 1\" }";
    let unlisted = |name| format!("`{name}` is not both an older version and in deny.toml");
    assert_eq!(violations_with(&two("1.2.0", "2.0.0"), listed), Vec::<String>::new());
    assert_eq!(violations_with(&two("1.2.0", "1.3.0"), ""), Vec::<String>::new());
    assert_eq!(violations_with(&two("1.2.0", "2.0.0"), ""), [unlisted("twice:^1")]);
    assert_eq!(violations_with(&two("0.9.0", "0.10.1"), ""), [unlisted("twice:^0.9")]);
    assert_eq!(violations_with(&[], listed), [unlisted("twice:^1")], "it is no longer needed");
    let without_reason = "{ crate = \"twice:^1\", reason = \"\" }";
    let found = violations_with(&two("1.2.0", "2.0.0"), without_reason);
    assert_eq!(found, ["deny.toml: no reason for `twice:^1`"]);
}

#[test]
fn a_dependency_without_a_reason_is_caught() {
    let tree = Tree::read();
    let with = |path: &str, from: &str, to: &str| {
        let text = tree.text(path);
        assert!(text.contains(from), "{path} has no {from}");
        reason_violations(&tree.with(path, text.replacen(from, to, 1)))
    };
    let workspace = "[workspace.dependencies]\n";
    let added = format!("{workspace}odd = \"1\"\n");
    assert_eq!(with("Cargo.toml", workspace, &added), ["Cargo.toml: no reason beside `odd`"]);
    let added = format!("{workspace}odd = \"1\" #\n");
    assert_eq!(with("Cargo.toml", workspace, &added), ["Cargo.toml: no reason beside `odd`"]);
    let path = "crates/core/Cargo.toml";
    let added = "[dependencies]\nodd = \"1\" # a reason in the wrong place\n";
    let found = with(path, "[dependencies]\n", added);
    assert_eq!(found, [format!("{path}: `odd` is not from the workspace")]);
}

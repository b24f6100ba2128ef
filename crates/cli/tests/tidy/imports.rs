//! Modules import one way: at the top of a crate in the order of ARCHITECTURE.md, and without cycles
//! between the modules inside a module.

use super::CRATES;
use super::modules::{Crate, ModulePath};
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// The top-level modules of a crate in the order in which ARCHITECTURE.md lists them.
fn printed_order(tree: &Tree, name: &str) -> Vec<String> {
    let heading = format!("## `crates/{name}`");
    let page = tree.text("ARCHITECTURE.md");
    let section = page.lines().skip_while(|line| !line.starts_with(&heading)).skip(1);
    let rows = section.take_while(|line| !line.starts_with("## ")).filter(|l| l.starts_with("| `"));
    rows.flat_map(|row| {
        let cell = row.split('|').nth(1).unwrap_or_default();
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    })
    .collect()
}

/// The modules inside each module that refer to each other, by the module they are in.
type Siblings = BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>>;

fn sibling_references(parsed: &Crate) -> Siblings {
    let mut siblings = Siblings::new();
    for (from, to) in parsed.references() {
        let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
        if let (Some(left), Some(right)) = (from.get(shared), to.get(shared)) {
            let inside = siblings.entry(from[..shared].to_vec()).or_default();
            inside.entry(left.clone()).or_default().insert(right.clone());
        }
    }
    siblings
}

/// The modules that reach each other, group by group.
fn cycles(references: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached = |start: &String| -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(name) = open.pop() {
            for next in references.get(name).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let closure: BTreeMap<&String, BTreeSet<String>> =
        references.keys().map(|name| (name, reached(name))).collect();
    let in_cycle = closure.iter().filter(|(name, reached)| reached.contains(**name));
    in_cycle
        .map(|(name, reached)| {
            let back = |other: &&String| closure.get(other).is_some_and(|r| r.contains(*name));
            reached.iter().filter(back).cloned().collect()
        })
        .collect()
}

/// Everything that breaks the rules of imports in one crate.
fn violations(tree: &Tree, name: &str) -> Vec<String> {
    let parsed = Crate::parse(tree, name);
    let order = printed_order(tree, name);
    let printed: BTreeSet<String> = order.iter().cloned().collect();
    let position = |module: &String| order.iter().position(|other| other == module);
    let mut found = parsed.problems.clone();
    found.extend(
        parsed.root_items().map(|item| format!("the root of crate `{name}` has the item `{item}`")),
    );
    if printed.len() != order.len() {
        found.push(format!("ARCHITECTURE.md lists a module of crate `{name}` twice"));
    }
    for module in parsed.top_level().symmetric_difference(&printed) {
        found.push(format!("module `{module}` of crate `{name}` is not both declared and printed"));
    }
    for (inside, references) in sibling_references(&parsed) {
        if inside.is_empty() {
            for (from, to) in references.iter().flat_map(|(f, all)| all.iter().map(move |t| (f, t)))
            {
                if position(to) > position(from) {
                    found.push(format!("`{from}` imports `{to}`, which is printed below it"));
                }
            }
        } else {
            found.extend(cycles(&references).into_iter().map(|cycle| {
                format!("{name}::{} has an import cycle: {}", inside.join("::"), cycle.join(", "))
            }));
        }
    }
    found
}

#[test]
fn modules_import_one_way() {
    let tree = Tree::read();
    let found: Vec<String> = CRATES.iter().flat_map(|name| violations(&tree, name)).collect();
    assert_eq!(found, Vec::<String>::new());
}

/// Asserts that the library with one more line breaks a rule.
#[track_caller]
fn assert_caught(file: &str, line: &str, rule: &str) {
    let changed = Tree::read().with_line(&format!("crates/midstride/src/{file}"), line);
    let found = violations(&changed, "midstride");
    assert!(found.iter().any(|found| found.contains(rule)), "`{line}` in {file}: {found:?}");
}

#[test]
fn an_import_through_super_is_caught() {
    assert_caught("sys/clock.rs", "use super::super::verbs;", "`sys` imports `verbs`");
}

#[test]
fn an_import_through_two_supers_is_caught() {
    assert_caught("sys/git/head.rs", "use super::super::super::verbs;", "`sys` imports `verbs`");
}

#[test]
fn an_import_behind_nested_braces_is_caught() {
    let line = "use crate::{sys::clock::{Clock, Deadline}, verbs};";
    assert_caught("sys/files.rs", line, "`sys` imports `verbs`");
}

#[test]
fn an_import_through_a_glob_or_a_macro_is_caught() {
    let glob = "use super::super::*; type Never = verbs::brief::Asked;";
    assert_caught("sys/clock.rs", glob, "`sys` imports `verbs`");
    let in_macro = "fn never() { assert!(crate::verbs::brief::X); }";
    assert_caught("sys/clock.rs", in_macro, "`sys` imports `verbs`");
}

#[test]
fn a_module_of_any_visibility_is_printed_in_the_map() {
    let tree = Tree::read().with("crates/midstride/src/zzz.rs", "//! New.\n");
    let changed = tree.with_line("crates/midstride/src/lib.rs", "pub(crate) mod zzz;");
    let found = violations(&changed, "midstride");
    assert!(found.iter().any(|found| found.contains("module `zzz`")), "{found:?}");
}

#[test]
fn two_files_of_one_module_that_import_each_other_are_caught() {
    let tree = Tree::read();
    let before = violations(&tree, "midstride");
    let one = tree.with_line("crates/midstride/src/sys/git/head.rs", "use super::reflog;");
    let both =
        one.with_line("crates/midstride/src/sys/git/reflog.rs", "use crate::sys::git::head;");
    let found = violations(&both, "midstride");
    let cycle = "midstride::sys::git has an import cycle";
    assert!(!before.iter().any(|found| found.contains(cycle)), "{before:?}");
    assert!(found.iter().any(|found| found.contains(cycle)), "{found:?}");
}

#[test]
fn an_import_through_a_reexport_of_the_parent_is_caught() {
    let tree = Tree::read();
    let reexported = tree.with_line("crates/midstride/src/sys/git.rs", "pub use self::head::zzz;");
    let item = reexported
        .with_line("crates/midstride/src/sys/git/head.rs", "pub fn zzz() { super::reflog::x() }");
    let both = item.with_line("crates/midstride/src/sys/git/reflog.rs", "use super::zzz;");
    let found = violations(&both, "midstride");
    assert!(
        found.iter().any(|found| found.contains("midstride::sys::git has an import cycle")),
        "{found:?}"
    );
}

#[test]
fn a_module_in_another_place_is_caught() {
    let line = "#[path = \"verbs.rs\"] mod elsewhere;";
    assert_caught("sys/clock.rs", line, "`path` attribute");
}

#[test]
fn an_import_with_a_raw_identifier_is_caught() {
    assert_caught("sys/clock.rs", "use crate::r#verbs;", "`sys` imports `verbs`");
}

#[test]
fn an_import_whose_name_is_used_again_is_caught() {
    let lines = "fn a() { use crate::verbs::task; } fn b() { use crate::sys::task; }";
    assert_caught("sys/clock.rs", lines, "`sys` imports `verbs`");
}

#[test]
fn an_import_inside_a_macro_is_caught() {
    let braces = "macro_rules! m { () => { use crate::{sys::clock, verbs::task}; } }";
    assert_caught("sys/clock.rs", braces, "`sys` imports `verbs`");
    let filled_in = "macro_rules! m { ($m:ident) => { crate::$m::x() } }";
    assert_caught("sys/clock.rs", filled_in, "fills in a path after `crate`");
}

#[test]
fn an_include_is_caught() {
    assert_caught("sys/clock.rs", "std::include!(\"verbs.rs\");", "`include!`");
    assert_caught("sys/clock.rs", "macro_rules! m { () => { include!(\"x\"); } }", "`include!`");
}

#[test]
fn an_item_in_the_root_of_a_crate_is_caught() {
    assert_caught("lib.rs", "pub fn helper() {}", "has the item `helper`");
}

#[test]
fn a_path_attribute_behind_a_condition_is_caught() {
    let line = "#[cfg_attr(unix, path = \"verbs.rs\")] mod elsewhere;";
    assert_caught("sys/clock.rs", line, "`path` attribute");
}

//! Counts that may only fall. `MIDSTRIDE_BLESS=1` writes lower numbers; it never writes higher ones.

#![expect(clippy::print_stdout, reason = "a failing test shows all counts")]

use super::counts::Counts;
use super::tree::Tree;
use midstride_testkit::repository_root;
use std::collections::BTreeMap;

const FILE: &str = "crates/cli/tests/tidy/ratchet.txt";

fn measured(tree: &Tree) -> BTreeMap<String, usize> {
    let counts = Counts::new(tree);
    println!("{} constructors named new", counts.new_constructors);
    println!("{} times \"told\"", counts.told);
    println!("{} comment lines of {}", counts.comment_lines, counts.lines);
    println!("odd names: {}", counts.odd_names().join(", "));
    let rows = [
        ("type names that are used twice, per mille", counts.shared_names_per_mille()),
        ("types named by one participle", counts.participles()),
        ("constructors named of", counts.of_constructors),
        ("marker words in strings", counts.in_strings),
        ("marker words in doc comments", counts.in_doc_comments),
        ("marker words in pages", counts.in_pages),
    ];
    rows.map(|(name, count)| (name.to_owned(), count)).into()
}

fn parse(text: &str) -> BTreeMap<String, usize> {
    let rows = text.lines().filter_map(|line| line.split_once(' '));
    rows.map(|(count, name)| (name.to_owned(), count.parse().expect("a number"))).collect()
}

#[test]
fn counts_only_fall() {
    let limits = parse(&std::fs::read_to_string(repository_root().join(FILE)).unwrap());
    let measured = measured(&Tree::read());
    let limit = |name: &String| *limits.get(name).unwrap_or_else(|| panic!("{FILE} lacks {name}"));
    for (name, count) in &measured {
        assert!(*count <= limit(name), "{name}: {count}, and {} before", limit(name));
    }
    if std::env::var_os("MIDSTRIDE_BLESS").is_some() {
        let lines: String =
            measured.iter().map(|(name, count)| format!("{count} {name}\n")).collect();
        std::fs::write(repository_root().join(FILE), lines).unwrap();
    } else {
        let hint = "the counts fell: MIDSTRIDE_BLESS=1 cargo test counts_only_fall writes them";
        assert_eq!(measured, limits, "{hint}");
    }
}

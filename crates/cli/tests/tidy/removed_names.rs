//! No text that a user reads names a command of an earlier version.

use super::counts::PRODUCT;
use super::tree::Tree;
use regex::Regex;

#[test]
fn no_text_names_a_removed_command() {
    let removed = Regex::new(r"midstride (revise|allow|graph|state|session promote)\b").unwrap();
    let tree = Tree::read();
    let is_product =
        |path: &str| PRODUCT.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")));
    let sources = tree.below("crates/", ".rs").filter(|(path, _)| is_product(path));
    // Decisions are dated and not rewritten.
    let pages = tree.below("", ".md").filter(|(path, _)| !path.contains("decisions/"));
    let found: Vec<String> = sources
        .chain(pages)
        .flat_map(|(path, text)| {
            removed.find_iter(text).map(move |hit| format!("{path}: {}", hit.as_str()))
        })
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

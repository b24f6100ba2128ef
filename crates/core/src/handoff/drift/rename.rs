//! Which new file can be a renamed one, and which of several missing files it is.

use crate::format::document::Document;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// A missing file and a new file that can be its new name. Better pairs are less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RenamePair {
    similarity: Reverse<usize>,
    names: NameDistance,
    /// The path of the new file.
    pub to: String,
    /// The path of the missing file.
    pub from: String,
}

impl RenamePair {
    /// The similarity of files with the same content. Texts that differ in line endings only have
    /// 100.
    pub const SAME_CONTENT: usize = 101;

    /// Pairs two files.
    pub fn new(from: &str, to: &str, similarity: usize) -> Self {
        let (names, similarity) = (NameDistance::new(from, to), Reverse(similarity));
        Self { similarity, names, to: to.to_owned(), from: from.to_owned() }
    }
}

/// How much two paths differ: the same path in other case, the same file name, the same extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameDistance {
    is_other_path: bool,
    is_other_name: bool,
    is_other_ending: bool,
}

impl NameDistance {
    /// Compares two paths.
    pub fn new(from: &str, to: &str) -> Self {
        let name = |path: &str| Path::new(path).file_name().map(OsStr::to_ascii_lowercase);
        let ending = |path: &str| Path::new(path).extension().map(OsStr::to_owned);
        Self {
            is_other_path: !from.eq_ignore_ascii_case(to),
            is_other_name: name(from) != name(to),
            is_other_ending: ending(from) != ending(to),
        }
    }
}

/// The pairs that are possible. They are asked for one by one, because each costs comparisons.
pub trait RenamePairs {
    /// The pairs of a missing file.
    fn pairs_from(&self, missing: &str) -> Arc<Vec<RenamePair>>;
    /// The pairs of a new file.
    fn pairs_to(&self, new: &str) -> Arc<Vec<RenamePair>>;
    /// Whether what is known of the files, other than their texts, allows the pair.
    fn is_possible(&self, pair: &RenamePair) -> bool;
}

/// The new path of a missing file. Better pairs are chosen first, and each file is in one pair only,
/// so no two files get the same new path.
pub fn choose_rename(pairs: &impl RenamePairs, missing: &str) -> Option<String> {
    let mut chosen = ChosenPairs { pairs, known: HashMap::new() };
    let mut own = pairs.pairs_from(missing).to_vec();
    own.sort();
    own.into_iter().find(|pair| chosen.contains(pair, CHAIN_MAX)).map(|pair| pair.to)
}

/// Each pair depends on better ones; this many are followed.
const CHAIN_MAX: usize = 64;

struct ChosenPairs<'p, P> {
    pairs: &'p P,
    known: HashMap<RenamePair, bool>,
}

impl<P: RenamePairs> ChosenPairs<'_, P> {
    /// Whether a pair is chosen: it is possible, and no better pair with one of its files is chosen.
    fn contains(&mut self, pair: &RenamePair, chain: usize) -> bool {
        if let Some(known) = self.known.get(pair) {
            return *known;
        }
        if chain == 0 || !self.pairs.is_possible(pair) {
            return false;
        }
        let (from, to) = (self.pairs.pairs_from(&pair.from), self.pairs.pairs_to(&pair.to));
        let mut better: Vec<&RenamePair> =
            from.iter().chain(to.iter()).filter(|other| *other < pair).collect();
        better.sort();
        let is_chosen = !better.into_iter().any(|other| self.contains(other, chain - 1));
        self.known.insert(pair.clone(), is_chosen);
        is_chosen
    }
}

/// Extensions of files that a rename turns into each other while most lines stay the same.
const FAMILIES: [&[&str]; 14] = [
    &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"],
    &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "m", "mm"],
    &["md", "mdx", "markdown", "rst", "txt", "adoc"],
    &["py", "pyi", "pyx", "ipynb"],
    &["html", "htm", "xhtml", "hbs", "ejs", "jinja", "j2", "njk", "erb", "twig"],
    &["css", "scss", "sass", "less", "styl", "pcss"],
    &["sh", "bash", "zsh", "fish", "ksh"],
    &["yml", "yaml"],
    &["json", "jsonc", "json5"],
    &["java", "kt", "kts", "groovy", "gradle", "scala"],
    &["ex", "exs", "heex"],
    &["rb", "rake", "gemspec"],
    &["conf", "cfg", "ini", "toml", "env", "properties"],
    &["sql", "ddl"],
];

/// Whether a file with other content can be the renamed one, by the paths alone. A log that quotes
/// a page is not the page.
pub fn is_same_family(from: &str, to: &str) -> bool {
    let ending = |path: &str| {
        let ending = Path::new(path).extension().unwrap_or_default();
        ending.to_string_lossy().to_ascii_lowercase()
    };
    let (from, to) = (ending(from), ending(to));
    from == to
        || FAMILIES
            .iter()
            .any(|family| family.contains(&from.as_str()) && family.contains(&to.as_str()))
}

/// Whether the newer text is a handoff that was made of the older one, which is a note. The note
/// was not renamed.
pub fn is_handoff_of_note(note: &str, handoff: &str) -> bool {
    let has_header = |text: &str| Document::parse(text.as_bytes()).handoff_header().is_some();
    // Most files do not contain the word, and parsing costs more.
    handoff.contains("handoff:") && has_header(handoff) && !has_header(note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    struct Table(Vec<RenamePair>);

    impl RenamePairs for Table {
        fn pairs_from(&self, missing: &str) -> Arc<Vec<RenamePair>> {
            Arc::new(self.0.iter().filter(|pair| pair.from == missing).cloned().collect())
        }

        fn pairs_to(&self, new: &str) -> Arc<Vec<RenamePair>> {
            Arc::new(self.0.iter().filter(|pair| pair.to == new).cloned().collect())
        }

        fn is_possible(&self, _: &RenamePair) -> bool {
            true
        }
    }

    fn table(pairs: &[(&str, &str, usize)]) -> Table {
        Table(pairs.iter().map(|(from, to, score)| RenamePair::new(from, to, *score)).collect())
    }

    #[test]
    fn a_new_file_is_the_rename_of_the_best_match_only() {
        let pairs = table(&[("a", "x", 95), ("b", "x", 70), ("b", "y", 60), ("c", "x", 65)]);
        let chosen = ["a", "b", "c", "d"].map(|from| choose_rename(&pairs, from));
        assert_eq!(chosen, [Some("x".to_owned()), Some("y".to_owned()), None, None]);
        // `b` has a better match, so `x` is free.
        let pairs = table(&[("a", "x", 60), ("b", "x", 70), ("b", "y", 80)]);
        assert_eq!(choose_rename(&pairs, "a").as_deref(), Some("x"));
        // Files with the same content go by their names.
        let pairs = table(&[
            ("one/a.rs", "two/a.rs", 100),
            ("one/a.rs", "two/b.rs", 100),
            ("one/b.rs", "two/a.rs", 100),
            ("one/b.rs", "two/b.rs", 100),
        ]);
        assert_eq!(choose_rename(&pairs, "one/a.rs").as_deref(), Some("two/a.rs"));
        assert_eq!(choose_rename(&pairs, "one/b.rs").as_deref(), Some("two/b.rs"));
    }

    proptest! {
        #[test]
        fn no_new_file_has_two_sources(
            scores in prop::collection::vec((0..6_usize, 0..6_usize, 50..60_usize), 0..20),
        ) {
            let scores: BTreeMap<_, _> =
                scores.into_iter().map(|(from, to, score)| ((from, to), score)).collect();
            let pair = |((from, to), score): (&(usize, usize), &usize)| {
                RenamePair::new(&format!("old{from}"), &format!("new{to}"), *score)
            };
            let pairs = Table(scores.iter().map(pair).collect());
            let chosen = (0..6).filter_map(|from| choose_rename(&pairs, &format!("old{from}")));
            let chosen: Vec<String> = chosen.collect();
            let distinct: BTreeSet<&String> = chosen.iter().collect();
            prop_assert_eq!(distinct.len(), chosen.len());
            // What is not chosen has a better pair.
            prop_assert!(pairs.0.is_empty() || !chosen.is_empty());
        }
    }

    #[test]
    fn a_renamed_file_keeps_its_family() {
        assert!(is_same_family("src/a.js", "lib/b.TSX"));
        assert!(is_same_family("Makefile", "build/Makefile"));
        assert!(!is_same_family("site/index.html", "logs/run.log"));
        assert!(!is_same_family("site/index.html", "logs/run"));
        assert!(!is_same_family("src/a.rs", "docs/a.md"));
    }

    #[test]
    fn a_note_does_not_become_the_handoff_made_of_it() {
        let note = "# Rows\n\nThe rows are slow.\n";
        let handoff = format!("---\nhandoff:\n  id: rows\n---\n{note}");
        assert!(is_handoff_of_note(note, &handoff));
        assert!(!is_handoff_of_note(&handoff, &handoff));
        assert!(!is_handoff_of_note(note, note));
    }
}

//! Finds paths by their ending: `market.py` means `src/market.py` if no other file ends that way.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maps each path ending to its path, or to `None` if it is ambiguous.
#[derive(Debug, Default)]
pub(super) struct SuffixIndex(HashMap<String, Option<usize>>);

/// The result of looking up an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuffixMatch {
    None,
    One(usize),
    Ambiguous,
}

impl SuffixIndex {
    /// Adds every ending of a path, including the whole path.
    pub(super) fn add(&mut self, path: &str, index: usize) {
        let whole = path.trim_start_matches('/');
        let behind_slashes = whole.match_indices('/').map(|(at, _)| &whole[at + 1..]);
        for ending in std::iter::once(whole).chain(behind_slashes) {
            let known = self.0.entry(ending.to_owned()).or_insert(Some(index));
            if *known != Some(index) {
                *known = None;
            }
        }
    }

    pub(super) fn find(&self, ending: &str) -> SuffixMatch {
        match self.0.get(ending.trim_start_matches('/')) {
            None => SuffixMatch::None,
            Some(Some(index)) => SuffixMatch::One(*index),
            Some(None) => SuffixMatch::Ambiguous,
        }
    }
}

/// Merges citations of the same file under different endings, unless the ending is ambiguous.
pub(super) fn merge_suffixes<'c>(
    cited: &BTreeMap<&'c str, BTreeSet<usize>>,
) -> BTreeMap<&'c str, BTreeSet<usize>> {
    let mut longest_first: Vec<&str> = cited.keys().copied().collect();
    longest_first.sort_by_key(|path| (std::cmp::Reverse(path.matches('/').count()), *path));
    let mut suffixes = SuffixIndex::default();
    let mut wholes: Vec<&str> = Vec::new();
    let mut out: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for path in longest_first {
        let whole = match suffixes.find(path) {
            SuffixMatch::One(index) => index,
            SuffixMatch::None | SuffixMatch::Ambiguous => {
                wholes.push(path);
                wholes.len() - 1
            }
        };
        suffixes.add(path, whole);
        out.entry(wholes[whole]).or_default().extend(&cited[path]);
    }
    out
}

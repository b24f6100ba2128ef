//! Paths by how they end: `market.py` is `src/market.py` where no other file is called so.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which path an ending means.
#[derive(Debug, Default)]
pub(super) struct SuffixIndex(HashMap<String, Option<usize>>);

/// What an ending means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuffixMatch {
    None,
    One(usize),
    Ambiguous,
}

impl SuffixIndex {
    /// Takes note of every ending of a path, the whole path included.
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

/// Puts together what is cited under several endings of one path, if no other path ends so.
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

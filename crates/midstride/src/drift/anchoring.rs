//! Taking down what stands at the places that a document names while it is written.

use super::ground::{Ground, Grounds, Look};
use crate::project::Project;
use midstride_core::anchor::{Anchor, Anchors, HashedLines, Key, Stood, can_be_kept, keyed};
use midstride_core::citation::Citation;
use midstride_core::document::Document;
use midstride_core::edit::Edit;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// Which places are anchored anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anew {
    /// Those that are new, or about which something else is said.
    WhatIsSaid,
    /// None: the same is said in another form.
    Nothing,
    /// All of them: somebody compared what is said with the code.
    Everything,
}

impl Project {
    /// The edit that brings the anchors of the next text of a document, which lies at a whole path,
    /// up to what it says; `before` is the text it had, if it had one.
    pub(crate) fn anchoring(
        &self,
        path: &Path,
        before: Option<&Document>,
        next: &Document,
        anew: Anew,
    ) -> Option<Edit> {
        let anchors = Anchors::of(next);
        let citations = keyed(next);
        if citations.is_empty() {
            return anchors.replace(next, &BTreeSet::new());
        }
        let said_before = Said::of(before);
        let before = before.map(Anchors::of).unwrap_or_default();
        let mut kept = BTreeSet::new();
        let mut wanted: BTreeMap<Key, Citation<'_>> = BTreeMap::new();
        for (number, (key, citation)) in numbered(citations) {
            let is_renumbered = said_before.is_renumbered(&key, number);
            let known = match anew {
                Anew::Everything => None,
                Anew::WhatIsSaid if is_renumbered => None,
                Anew::WhatIsSaid => anchors.find(&key).or_else(|| before.find(&key)).cloned(),
                Anew::Nothing => same_place(&before, &key),
            };
            let is_new =
                anew == Anew::Everything || is_renumbered || !said_before.keys.contains(&key);
            match known {
                Some(anchor) => {
                    kept.insert(anchor);
                }
                // A place without an anchor is older than its next neighbour's change.
                None if is_new && anew != Anew::Nothing => {
                    wanted.insert(key, citation);
                }
                None => {}
            }
        }
        kept.extend(self.taken_down(path, wanted));
        anchors.replace(next, &kept)
    }

    /// What stands now at some places.
    fn taken_down(&self, path: &Path, wanted: BTreeMap<Key, Citation<'_>>) -> Vec<Anchor> {
        let wanted = wanted.into_iter().filter(|(key, _)| can_be_kept(&key.place));
        let Ok(grounds) = Grounds::of(self) else { return Vec::new() };
        let mut taken: Vec<(Anchor, String)> =
            wanted.filter_map(|(key, citation)| grounds.taken_down(path, key, &citation)).collect();
        self.add_ids(&mut taken);
        taken.into_iter().map(|(anchor, _)| anchor).collect()
    }

    /// Asks git for the ids of all files at once.
    fn add_ids(&self, taken: &mut [(Anchor, String)]) {
        let Some(repository) = self.repository() else { return };
        let is_file = |stood: &Stood| matches!(stood, Stood::File { .. });
        let paths: BTreeSet<String> = taken
            .iter()
            .filter(|(anchor, path)| is_file(&anchor.stood) && !path.contains('\n'))
            .map(|(_, path)| path.clone())
            .collect();
        let paths: Vec<String> = paths.into_iter().collect();
        let ids = if paths.is_empty() { Ok(Vec::new()) } else { repository.ids_of_files(&paths) };
        let ids: BTreeMap<String, String> =
            paths.into_iter().zip(ids.unwrap_or_default()).collect();
        for (anchor, path) in taken {
            if let Stood::File { blob, .. } = &mut anchor.stood {
                *blob = ids.get(path).cloned();
            }
        }
    }
}

/// What a document said about places.
#[derive(Default)]
struct Said {
    keys: HashSet<Key>,
    /// With the number of the place in its statement.
    numbered: HashSet<(Key, usize)>,
    statements: HashSet<String>,
}

impl Said {
    fn of(document: Option<&Document>) -> Self {
        let mut said = Self::default();
        for (number, (key, _)) in numbered(document.into_iter().flat_map(keyed).collect()) {
            said.statements.insert(key.statement.clone());
            said.keys.insert(key.clone());
            said.numbered.insert((key, number));
        }
        said
    }

    /// Whether a statement that was there names another place here: where the lines of two places
    /// are brought up to date at once, one may come to where the other was.
    fn is_renumbered(&self, key: &Key, number: usize) -> bool {
        self.statements.contains(&key.statement) && !self.numbered.contains(&(key.clone(), number))
    }
}

/// The places of a document, each with its number among those of which the same is said.
fn numbered(
    citations: Vec<(Key, Citation<'_>)>,
) -> impl Iterator<Item = (usize, (Key, Citation<'_>))> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    citations.into_iter().map(move |(key, citation)| {
        let count = counts.entry(key.statement.clone()).or_default();
        *count += 1;
        (*count, (key, citation))
    })
}

/// The anchor of a place whatever is said about it, under its new key.
fn same_place(before: &Anchors, key: &Key) -> Option<Anchor> {
    let same = before.all().find(|anchor| anchor.key.place == key.place);
    let exact = before.find(key).or(same)?;
    Some(Anchor { key: key.clone(), ..exact.clone() })
}

impl Grounds<'_> {
    /// What stands at a place, and its path. A bare name that leads nowhere is no place.
    fn taken_down(
        &self,
        document: &Path,
        key: Key,
        citation: &Citation<'_>,
    ) -> Option<(Anchor, String)> {
        let found = self.resolve(document, citation.path, &Ground::WorkTree);
        let look = found.as_ref().map(|path| self.look(&Ground::WorkTree, path));
        let stood = match look {
            Some(Look::Folder) => Stood::Folder,
            Some(Look::Hidden(_)) => return None,
            Some(Look::File { text: None }) => Stood::File { blob: None, lines: None },
            Some(Look::File { text: Some(text) }) => match citation.lines {
                None => Stood::File { blob: None, lines: None },
                Some(lines) => match HashedLines::cited_in(&text, lines) {
                    Some(cited) => Stood::File { blob: None, lines: Some(cited) },
                    None => Stood::Nothing,
                },
            },
            None | Some(Look::Nothing) => {
                let is_bare = citation.lines.is_none() && !citation.path.contains('/');
                if is_bare {
                    return None;
                }
                Stood::Nothing
            }
        };
        let path = found.unwrap_or_else(|| self.below_top(citation.path));
        let elsewhere = (path != self.below_top(citation.path)).then(|| path.clone());
        Some((Anchor { key, path: elsewhere, stood }, path))
    }
}

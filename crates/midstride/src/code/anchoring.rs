//! Records anchors: what is at the places that a document cites, at the time it is written.

use super::code_state::{CodeCache, CodeState, PathContent, PathMatch};
use crate::workspace::Workspace;
use midstride_core::format::document::Document;
use midstride_core::handoff::anchor::{
    Anchor, AnchorKey, AnchorTarget, Anchors, can_be_stored, keyed_citations,
};
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::drift::StatementWords;
use midstride_core::text::edit::Edit;
use midstride_core::text::span::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Which citations get new anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnchorScope {
    /// Citations that are new or whose statement changed.
    ChangedStatements,
    /// None: only the format of the text changed.
    Nothing,
    /// All: the statements were just compared with the code.
    Everything,
}

impl Workspace {
    /// The edit that updates the anchors in the next text of a document. `path` is the absolute
    /// path of the document; `before` is its previous text, if any.
    pub(crate) fn anchor_edit(
        &self,
        path: &Path,
        before: Option<&Document>,
        next: &Document,
        scope: AnchorScope,
    ) -> Option<Edit> {
        let anchors = Anchors::from_document(next);
        let citations = keyed_citations(next);
        if citations.is_empty() {
            return anchors.replace(next, &BTreeSet::new());
        }
        let previous = DocumentCitations::collect(before);
        let before = before.map(Anchors::from_document).unwrap_or_default();
        let mut kept = BTreeSet::new();
        let mut wanted: BTreeMap<AnchorKey, Citation<'_>> = BTreeMap::new();
        for (number, (key, citation)) in number_citations(citations) {
            let is_renumbered = previous.is_renumbered(&key, number);
            let known = match scope {
                AnchorScope::Everything => None,
                AnchorScope::ChangedStatements if is_renumbered => None,
                AnchorScope::ChangedStatements => {
                    anchors.find(&key).or_else(|| before.find(&key)).cloned()
                }
                AnchorScope::Nothing => anchor_of_same_place(&before, &key),
            };
            let is_new =
                scope == AnchorScope::Everything || is_renumbered || !previous.keys.contains(&key);
            match known {
                Some(anchor) => {
                    kept.insert(anchor);
                }
                // A known citation without an anchor is older than this change, so the current code
                // says nothing about it.
                None if is_new && scope != AnchorScope::Nothing => {
                    wanted.insert(key, citation);
                }
                None => {}
            }
        }
        kept.extend(self.record_anchors(path, next.text(), wanted));
        anchors.replace(next, &kept)
    }

    /// Records what is at the given citations now.
    fn record_anchors(
        &self,
        path: &Path,
        text: &str,
        wanted: BTreeMap<AnchorKey, Citation<'_>>,
    ) -> Vec<Anchor> {
        let wanted = wanted.into_iter().filter(|(key, _)| can_be_stored(&key.place));
        let Ok(code) = CodeCache::open(self) else { return Vec::new() };
        let mut statements: HashMap<Span, StatementWords<'_>> = HashMap::new();
        let record = |(key, citation): (AnchorKey, Citation<'_>)| {
            let new = || StatementWords::new(citation.statement.slice(text));
            let statement = statements.entry(citation.statement).or_insert_with(new);
            code.record_anchor(path, statement, key, &citation)
        };
        let mut taken: Vec<(Anchor, String)> = wanted.filter_map(record).collect();
        code.add_blob_ids(&mut taken);
        taken.into_iter().map(|(anchor, _)| anchor).collect()
    }
}

/// The citations of a document.
#[derive(Default)]
struct DocumentCitations {
    keys: HashSet<AnchorKey>,
    /// Keys with the number of the citation within its statement.
    numbered: HashSet<(AnchorKey, usize)>,
    statements: HashSet<String>,
}

impl DocumentCitations {
    fn collect(document: Option<&Document>) -> Self {
        let mut collected = Self::default();
        for (number, (key, _)) in
            number_citations(document.into_iter().flat_map(keyed_citations).collect())
        {
            collected.statements.insert(key.statement.clone());
            collected.keys.insert(key.clone());
            collected.numbered.insert((key, number));
        }
        collected
    }

    /// Whether a known statement cites another place under this number. If the lines of two
    /// citations are updated at once, one can get the old lines of the other.
    fn is_renumbered(&self, key: &AnchorKey, number: usize) -> bool {
        self.statements.contains(&key.statement) && !self.numbered.contains(&(key.clone(), number))
    }
}

/// Numbers the citations of a document within each statement.
fn number_citations(
    citations: Vec<(AnchorKey, Citation<'_>)>,
) -> impl Iterator<Item = (usize, (AnchorKey, Citation<'_>))> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    citations.into_iter().map(move |(key, citation)| {
        let count = counts.entry(key.statement.clone()).or_default();
        *count += 1;
        (*count, (key, citation))
    })
}

/// The anchor of the same place, whatever its statement was, under the new key.
fn anchor_of_same_place(before: &Anchors, key: &AnchorKey) -> Option<Anchor> {
    let same = before.all().find(|anchor| anchor.key.place == key.place);
    let exact = before.find(key).or(same)?;
    Some(Anchor { key: key.clone(), ..exact.clone() })
}

impl CodeCache<'_> {
    /// Adds the blob ids of all files in one git call.
    fn add_blob_ids(&self, taken: &mut [(Anchor, String)]) {
        let is_file = |target: &AnchorTarget| matches!(target, AnchorTarget::File { .. });
        let paths: BTreeSet<String> = taken
            .iter()
            .filter(|(anchor, path)| is_file(&anchor.target) && !path.contains('\n'))
            .map(|(_, path)| path.clone())
            .collect();
        let ids = self.blob_ids(&paths.into_iter().collect::<Vec<_>>());
        for (anchor, path) in taken {
            if let AnchorTarget::File { blob, .. } = &mut anchor.target {
                *blob = ids.get(path).cloned();
            }
        }
    }

    /// Records what is at a citation, and its path. A bare name that matches no file is not a
    /// citation.
    fn record_anchor(
        &self,
        document: &Path,
        statement: &StatementWords<'_>,
        key: AnchorKey,
        citation: &Citation<'_>,
    ) -> Option<(Anchor, String)> {
        let now = &CodeState::WorkTree;
        let path = match self.resolve_citation(document, citation, statement, now) {
            PathMatch::Unique(path) => path,
            PathMatch::Ambiguous(_) => return None,
            PathMatch::Missing => self.path_from_top(&citation.path),
        };
        let file = |lines, has_twin| AnchorTarget::File { blob: None, lines, has_twin };
        let target = match (self.content_at(now, &path), citation.lines) {
            (PathContent::Folder, _) => AnchorTarget::Folder,
            (PathContent::Unreadable(_), _) => return None,
            (PathContent::File { text: None }, _) | (PathContent::File { .. }, None) => {
                file(None, false)
            }
            (PathContent::File { text: Some(text) }, Some(lines)) => {
                let hashed = text.hashed();
                hashed.cited(lines).map_or(AnchorTarget::Missing, |cited| {
                    let has_twin = hashed.find_all(cited.text, lines.count()).len() > 1;
                    file(Some(cited), has_twin)
                })
            }
            (PathContent::Missing, _) if citation.is_bare_name() => return None,
            (PathContent::Missing, _) => AnchorTarget::Missing,
        };
        let elsewhere = (path != self.path_from_top(&citation.path)).then(|| path.clone());
        Some((Anchor { key, path: elsewhere, target }, path))
    }
}

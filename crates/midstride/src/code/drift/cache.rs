//! Caches check results for the same document, commit and files.

use crate::code::code_state::{CodeCache, lock};
use crate::store::Store;
use crate::store::index::{CheckedDocument, Index};
use crate::sys::files::{FileStamp, Root};
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::citation::LineRange;
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationOutcome, CitationStatus, CodeLocation,
    LineChange, LiteralDrift,
};
use midstride_core::text::id::CommitId;
use midstride_core::text::span::{Span, Spanned};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The cache is stored in the index. Without an index, everything is checked every time.
pub(super) struct CheckCache<'s> {
    store: &'s Store,
    head: Option<CommitId>,
    pending: Mutex<Vec<CheckedDocument>>,
}

/// The stored results of one document.
#[derive(Debug, Serialize, Deserialize)]
struct CachedDocument {
    /// Stamps of the compared files; `None` if the results depend on anything else.
    files: Option<BTreeMap<String, [i64; 4]>>,
    /// How citations were read and checked. Other results are checked again.
    rules: u32,
    judged: Vec<CachedCitation>,
}

/// The number of the current rules for reading and checking citations. Raise it when they change.
const RULES: u32 = 6;

#[derive(Debug, Serialize, Deserialize)]
struct CachedCitation {
    place: String,
    at: (usize, usize),
    statement: (usize, usize),
    verdict: String,
    now: Option<(String, Option<(usize, usize)>)>,
    baseline: String,
    commit: Option<CommitId>,
    change: Option<(String, Option<String>)>,
    file_changed: bool,
    path_only: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<MissingPart>,
    fixable: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    literals: Vec<CachedLiteral>,
}

/// What never existed. Other reasons for doubt are not stored.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MissingPart {
    Path,
    UnknownPath,
    Lines,
}

impl MissingPart {
    fn from_doubt(doubt: &CitationDoubt) -> Option<Self> {
        match doubt {
            CitationDoubt::NoSuchPath => Some(Self::Path),
            CitationDoubt::UnknownPath => Some(Self::UnknownPath),
            CitationDoubt::NoSuchLines => Some(Self::Lines),
            CitationDoubt::NoOrigin
            | CitationDoubt::Shallow(_)
            | CitationDoubt::ShallowEnd(_)
            | CitationDoubt::MissingCommit(_)
            | CitationDoubt::Submodule(_)
            | CitationDoubt::Unreadable
            | CitationDoubt::Ambiguous(_)
            | CitationDoubt::Git(_)
            | CitationDoubt::RenamesNotSearched
            | CitationDoubt::BlankLines
            | CitationDoubt::PartialClone
            | CitationDoubt::Ignored
            | CitationDoubt::PathOnly
            | CitationDoubt::RenamesTruncated { .. }
            | CitationDoubt::OtherRename(_) => None,
        }
    }

    fn doubt(self) -> CitationDoubt {
        match self {
            Self::Path => CitationDoubt::NoSuchPath,
            Self::UnknownPath => CitationDoubt::UnknownPath,
            Self::Lines => CitationDoubt::NoSuchLines,
        }
    }
}

/// The literal, its span, whether it is a line count, and the value that replaced it.
type CachedLiteral = (String, (usize, usize), bool, Option<String>);

impl<'s> CheckCache<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        let head = store.workspace().repository().and_then(Repository::head_commit);
        Self { store, head, pending: Mutex::default() }
    }

    /// The cached results, if nothing they depend on has changed.
    pub(super) fn lookup(
        &self,
        code: &CodeCache<'_>,
        stored: &StoredHandoff,
    ) -> Option<Vec<CitationCheck>> {
        let path = document_path(code, stored);
        let checked = self.store.with_index(|index| index.checked_document(&path))??;
        if checked.head != self.head || checked.document != sha256(&stored.bytes) {
            return None;
        }
        let kept = CachedDocument::parse(&checked.results)?;
        let files = kept.files?;
        let same = |(path, looked): (&String, &[i64; 4])| match looked {
            &FOLDER_STAMP => code.top().has_folder(Path::new(path)),
            looked => {
                code.top().stamp(Path::new(path)).is_some_and(|s| stamp_numbers(&s) == *looked)
            }
        };
        if !files.iter().all(same) {
            return None;
        }
        kept.judged.into_iter().map(CachedCitation::decode).collect()
    }

    /// Adds results to the cache.
    pub(super) fn remember(
        &self,
        code: &CodeCache<'_>,
        stored: &StoredHandoff,
        checks: &[CitationCheck],
    ) {
        if !self.store.workspace().may_cache() {
            return;
        }
        let kept = CachedDocument {
            files: file_stamps(code.top(), checks),
            rules: RULES,
            judged: checks.iter().map(CachedCitation::encode).collect(),
        };
        let Ok(results) = serde_json::to_string(&kept) else { return };
        // Never stored if it contains a secret, such as a path; it is checked again instead.
        if !code.workspace.clean(&results).1.is_empty() {
            return;
        }
        lock(&self.pending).push(CheckedDocument {
            path: document_path(code, stored),
            document: sha256(&stored.bytes),
            head: self.head.clone(),
            results,
        });
    }
}

impl Drop for CheckCache<'_> {
    /// Saves all results at once. If that fails, the next run checks again.
    fn drop(&mut self) {
        let pending = std::mem::take(&mut *lock(&self.pending));
        if !pending.is_empty() {
            let _ = self.store.with_index(|index| index.save_checked_documents(&pending));
        }
    }
}

fn document_path(code: &CodeCache<'_>, stored: &StoredHandoff) -> PathBuf {
    document_path_in(code.workspace, stored)
}

fn document_path_in(workspace: &Workspace, stored: &StoredHandoff) -> PathBuf {
    workspace.root().path().join(&stored.path)
}

/// The cached results of the current text of a document, and the commit they were checked at. Reads
/// no other files.
pub(crate) fn cached_results(
    workspace: &Workspace,
    index: &Index,
    stored: &StoredHandoff,
) -> Option<(Option<CommitId>, Vec<CitationCheck>)> {
    let checked = index.checked_document(&document_path_in(workspace, stored)).ok()??;
    if checked.document != sha256(&stored.bytes) {
        return None;
    }
    let kept = CachedDocument::parse(&checked.results)?;
    Some((checked.head, kept.judged.into_iter().filter_map(CachedCitation::decode).collect()))
}

/// The stamps of the compared files; `None` if the results depend on a missing file, on other
/// files, or on a file that could change without a new stamp.
fn file_stamps(top: &Root, checks: &[CitationCheck]) -> Option<BTreeMap<String, [i64; 4]>> {
    let mut files = BTreeMap::new();
    for one in checks {
        let has_fixed_origin = matches!(
            one.origin,
            CitationOrigin::Anchor
                | CitationOrigin::Blame(_)
                | CitationOrigin::AtCommit(_)
                | CitationOrigin::Dated(_)
        );
        if !has_fixed_origin {
            return None;
        }
        let path = match &one.outcome {
            CitationOutcome::Intact(location)
            | CitationOutcome::Moved(location)
            | CitationOutcome::Changed { location, .. } => &location.path,
            // It may be created at any time.
            CitationOutcome::NeverExisted if one.doubt.is_some() => return None,
            CitationOutcome::NeverExisted => continue,
            CitationOutcome::Renamed(_) | CitationOutcome::Deleted | CitationOutcome::Unchecked => {
                return None;
            }
        };
        if top.has_folder(Path::new(path)) {
            files.insert(path.clone(), FOLDER_STAMP);
            continue;
        }
        let stamp = top.stamp(Path::new(path)).filter(|stamp| stamp.is_settled)?;
        files.insert(path.clone(), stamp_numbers(&stamp));
    }
    Some(files)
}

/// The stamp of any folder: only its existence matters.
const FOLDER_STAMP: [i64; 4] = [0; 4];

fn stamp_numbers(stamp: &FileStamp) -> [i64; 4] {
    [stamp.modified, stamp.changed, stamp.size, stamp.inode]
}

impl CachedDocument {
    /// Reads stored results; `None` if they come from other rules.
    fn parse(results: &str) -> Option<Self> {
        serde_json::from_str(results).ok().filter(|kept: &Self| kept.rules == RULES)
    }
}

impl CachedCitation {
    fn encode(one: &CitationCheck) -> Self {
        let (baseline, commit) = one.origin.word_and_commit();
        let lines = |lines: LineRange| (lines.first, lines.last);
        Self {
            place: one.place.value.clone(),
            at: (one.place.at.start, one.place.at.end),
            statement: (one.statement.start, one.statement.end),
            verdict: one.outcome.status().word().to_owned(),
            now: one.outcome.location().map(|now| (now.path.clone(), now.lines.map(lines))),
            baseline: baseline.to_owned(),
            commit: commit.cloned(),
            change: one
                .outcome
                .change()
                .map(|change| (change.before.clone(), change.after.clone())),
            file_changed: one.file_changed,
            path_only: one.doubt == Some(CitationDoubt::PathOnly),
            missing: one.doubt.as_ref().and_then(MissingPart::from_doubt),
            fixable: one.is_fixable,
            literals: one.literals.iter().map(encode_literal).collect(),
        }
    }

    /// The cached result; `None` if its parts contradict each other.
    fn decode(self) -> Option<CitationCheck> {
        let lines = |(first, last)| LineRange { first, last };
        let mut statuses = CitationStatus::ALL.into_iter();
        let status = statuses.find(|status| status.word() == self.verdict)?;
        let location = self.now.map(|(path, at)| CodeLocation { path, lines: at.map(lines) });
        let change = self.change.map(|(before, after)| LineChange { before, after });
        Some(CitationCheck {
            place: Spanned::new(self.place, Span::new(self.at.0, self.at.1)),
            statement: Span::new(self.statement.0, self.statement.1),
            outcome: CitationOutcome::from_parts(status, location, change)?,
            origin: CitationOrigin::parse(&self.baseline, self.commit)?,
            file_changed: self.file_changed,
            doubt: match self.missing {
                Some(missing) => Some(missing.doubt()),
                None => self.path_only.then_some(CitationDoubt::PathOnly),
            },
            is_fixable: self.fixable,
            literals: self.literals.into_iter().map(decode_literal).collect(),
        })
    }
}

fn encode_literal(drift: &LiteralDrift) -> CachedLiteral {
    let Spanned { value, at } = &drift.literal;
    (value.clone(), (at.start, at.end), drift.is_line_count, drift.now.clone())
}

fn decode_literal((text, (start, end), is_line_count, now): CachedLiteral) -> LiteralDrift {
    LiteralDrift { literal: Spanned::new(text, Span::new(start, end)), is_line_count, now }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVED: &str = r#"{"place":"a.py:1","at":[3,9],"statement":[0,20],"verdict":"moved","now":["a.py",[2,2]],"baseline":"anchor","commit":null,"change":null,"file_changed":true,"path_only":false,"fixable":true}"#;

    #[test]
    fn a_stored_result_is_read_and_written_unchanged() {
        let renamed = MOVED.replace("moved", "renamed").replace("[2,2]", "null");
        let changed = MOVED.replace("moved", "changed");
        let changed = changed.replace("\"change\":null", r#""change":["x","y"]"#);
        let deleted = MOVED.replace("moved", "deleted").replace(r#"["a.py",[2,2]]"#, "null");
        let literal =
            r#""fixable":true,"literals":[["97",[4,6],true,"112"],["a_b",[8,11],false,null]]"#;
        let literal = MOVED.replace("\"fixable\":true", literal);
        for stored in [MOVED, &renamed, &changed, &deleted, &literal] {
            let cached: CachedCitation = serde_json::from_str(stored).unwrap();
            let check = cached.decode().unwrap();
            let written = serde_json::to_string(&CachedCitation::encode(&check)).unwrap();
            assert_eq!(written, *stored);
        }
    }

    #[test]
    fn results_of_other_rules_are_not_used() {
        let stored = |rules| format!(r#"{{"files":null,"rules":{rules},"judged":[{MOVED}]}}"#);
        assert!(CachedDocument::parse(&stored(RULES)).is_some());
        assert!(CachedDocument::parse(&stored(RULES - 1)).is_none());
        assert!(
            CachedDocument::parse(&format!(r#"{{"files":null,"judged":[{MOVED}]}}"#)).is_none()
        );
    }

    #[test]
    fn a_stored_result_that_contradicts_itself_is_not_used() {
        let without_place = MOVED.replace(r#"["a.py",[2,2]]"#, "null");
        let deleted_with_place = MOVED.replace("moved", "deleted");
        let unknown_word = MOVED.replace("moved", "vanished");
        for stored in [without_place, deleted_with_place, unknown_word] {
            let cached: CachedCitation = serde_json::from_str(&stored).unwrap();
            assert_eq!(cached.decode(), None, "{stored}");
        }
    }
}

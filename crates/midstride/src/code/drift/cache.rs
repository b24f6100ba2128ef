//! What was judged before, for the same document, the same commit and the same files.

use super::code_state::{CodeCache, lock};
use crate::store::index::{CheckedDocument, Index};
use crate::store::ledger::WaitPolicy;
use crate::sys::files::{FileStamp, Root};
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::workspace::project::{Project, SetupMode, StoredHandoff};
use midstride_core::handoff::citation::LineRange;
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationStatus, CodeLocation, LineChange,
};
use midstride_core::text::span::{Span, Spanned};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Remembers through the index; where there is none, everything is judged anew.
pub(super) struct CheckCache {
    index: Option<Mutex<Index>>,
    head: Option<String>,
    pending: Mutex<Vec<CheckedDocument>>,
}

/// The judgements of one document as they are kept.
#[derive(Debug, Serialize, Deserialize)]
struct CachedDocument {
    /// How the files looked that were compared; absent where the outcome hangs on more than them.
    files: Option<BTreeMap<String, [i64; 4]>>,
    judged: Vec<CachedCitation>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CachedCitation {
    place: String,
    at: (usize, usize),
    statement: (usize, usize),
    verdict: String,
    now: Option<(String, Option<(usize, usize)>)>,
    baseline: String,
    commit: Option<String>,
    change: Option<(String, Option<String>)>,
    file_changed: bool,
    path_only: bool,
}

impl CheckCache {
    pub(super) fn open(project: &Project) -> Self {
        let index = match project.setup() {
            SetupMode::NotSetUp => None,
            SetupMode::Committed | SetupMode::Private => {
                Index::open(project, WaitPolicy::Command).ok()
            }
        };
        let head = project.repository().and_then(Repository::head_commit);
        Self { index: index.map(Mutex::new), head, pending: Mutex::default() }
    }

    /// What was judged, if nothing it hangs on has changed.
    pub(super) fn lookup(
        &self,
        grounds: &CodeCache<'_>,
        shelved: &StoredHandoff,
    ) -> Option<Vec<CitationCheck>> {
        let index = lock(self.index.as_ref()?);
        let judged = index.checked_document(&document_path(grounds, shelved)).ok()??;
        drop(index);
        if judged.head != self.head || judged.document != sha256(&shelved.bytes) {
            return None;
        }
        let kept: CachedDocument = serde_json::from_str(&judged.results).ok()?;
        let files = kept.files?;
        let same = |(path, looked): (&String, &[i64; 4])| match looked {
            &FOLDER_STAMP => grounds.top().has_folder(Path::new(path)),
            looked => {
                grounds.top().stamp(Path::new(path)).is_some_and(|s| stamp_numbers(&s) == *looked)
            }
        };
        if !files.iter().all(same) {
            return None;
        }
        kept.judged.into_iter().map(CachedCitation::decode).collect()
    }

    /// Takes note of what was judged.
    pub(super) fn remember(
        &self,
        grounds: &CodeCache<'_>,
        shelved: &StoredHandoff,
        judged: &[CitationCheck],
    ) {
        if self.index.is_none() {
            return;
        }
        let kept = CachedDocument {
            files: file_stamps(grounds.top(), judged),
            judged: judged.iter().map(CachedCitation::encode).collect(),
        };
        let Ok(judged) = serde_json::to_string(&kept) else { return };
        // A path may be a secret; it is found out again.
        if !grounds.project.clean(&judged).1.is_empty() {
            return;
        }
        lock(&self.pending).push(CheckedDocument {
            path: document_path(grounds, shelved),
            document: sha256(&shelved.bytes),
            head: self.head.clone(),
            results: judged,
        });
    }
}

impl Drop for CheckCache {
    /// Everything at once; who cannot keep it judges again.
    fn drop(&mut self) {
        let learned = std::mem::take(&mut *lock(&self.pending));
        if let Some(index) = self.index.as_ref().filter(|_| !learned.is_empty()) {
            let _ = lock(index).save_checked_documents(&learned);
        }
    }
}

fn document_path(grounds: &CodeCache<'_>, shelved: &StoredHandoff) -> PathBuf {
    document_path_in(grounds.project, shelved)
}

fn document_path_in(project: &Project, shelved: &StoredHandoff) -> PathBuf {
    project.root().path().join(&shelved.path)
}

/// What was judged of a document as it is, at whichever commit that was; nothing is looked at.
pub(crate) fn cached_results(
    project: &Project,
    index: &Index,
    shelved: &StoredHandoff,
) -> Option<(Option<String>, Vec<CitationCheck>)> {
    let judged = index.checked_document(&document_path_in(project, shelved)).ok()??;
    if judged.document != sha256(&shelved.bytes) {
        return None;
    }
    let kept: CachedDocument = serde_json::from_str(&judged.results).ok()?;
    Some((judged.head, kept.judged.into_iter().filter_map(CachedCitation::decode).collect()))
}

/// How the compared files look; `None` where the outcome hangs on what is not there, on other
/// files, or on one that may change unseen.
fn file_stamps(top: &Root, judged: &[CitationCheck]) -> Option<BTreeMap<String, [i64; 4]>> {
    let mut files = BTreeMap::new();
    for one in judged {
        let told = matches!(
            one.origin,
            CitationOrigin::Anchor | CitationOrigin::Blame(_) | CitationOrigin::AtCommit(_)
        );
        let in_place = matches!(
            one.status,
            CitationStatus::Intact
                | CitationStatus::Moved
                | CitationStatus::Changed
                | CitationStatus::NeverExisted
        );
        if !told || !in_place {
            return None;
        }
        if let Some(CodeLocation { path, .. }) = &one.location {
            if top.has_folder(Path::new(path)) {
                files.insert(path.clone(), FOLDER_STAMP);
                continue;
            }
            let stamp = top.stamp(Path::new(path)).filter(|stamp| stamp.is_settled)?;
            files.insert(path.clone(), stamp_numbers(&stamp));
        }
    }
    Some(files)
}

/// Of a folder it counts only that it is there.
const FOLDER_STAMP: [i64; 4] = [0; 4];

fn stamp_numbers(stamp: &FileStamp) -> [i64; 4] {
    [stamp.modified, stamp.changed, stamp.size, stamp.inode]
}

impl CachedCitation {
    fn encode(one: &CitationCheck) -> Self {
        let (baseline, commit) = one.origin.word_and_commit();
        let lines = |lines: LineRange| (lines.first, lines.last);
        Self {
            place: one.place.value.clone(),
            at: (one.place.at.start, one.place.at.end),
            statement: (one.statement.start, one.statement.end),
            verdict: one.status.word().to_owned(),
            now: one.location.as_ref().map(|now| (now.path.clone(), now.lines.map(lines))),
            baseline: baseline.to_owned(),
            commit: commit.map(str::to_owned),
            change: one.change.as_ref().map(|change| (change.before.clone(), change.after.clone())),
            file_changed: one.file_changed,
            path_only: one.doubt == Some(CitationDoubt::PathOnly),
        }
    }

    fn decode(self) -> Option<CitationCheck> {
        let lines = |(first, last)| LineRange { first, last };
        Some(CitationCheck {
            place: Spanned::new(self.place, Span::new(self.at.0, self.at.1)),
            statement: Span::new(self.statement.0, self.statement.1),
            status: CitationStatus::ALL
                .into_iter()
                .find(|verdict| verdict.word() == self.verdict)?,
            location: self.now.map(|(path, at)| CodeLocation { path, lines: at.map(lines) }),
            origin: CitationOrigin::parse(&self.baseline, self.commit)?,
            change: self.change.map(|(was, is)| LineChange { before: was, after: is }),
            file_changed: self.file_changed,
            doubt: self.path_only.then_some(CitationDoubt::PathOnly),
        })
    }
}

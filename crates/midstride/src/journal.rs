//! The journal: the one path on which every change of a handoff is written. It stores the replaced
//! text, writes the document with its revision entry, saves what was written, and updates the
//! ledger.
//!
//! If the process is killed between two steps, nothing is lost. A stored text that no document
//! names is harmless, and a document that is ahead of the saved write says so in its own last
//! entry.

use crate::code::anchoring::AnchorScope;
use crate::store::Store;
use crate::store::reconcile::ReconcileError;
use crate::store::revisions::{RevisionError, TextBackend, TextStore};
use crate::store::text_refs::uid_file_name;
use crate::sys::files::{FileError, FileProblem, check_size};
use crate::sys::ids::{new_uid, sha256};
use crate::workspace::StoredHandoff;
use midstride_core::format::document::{Document, DocumentEditError, RedactedDocument};
use midstride_core::format::finding::Code;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::id::{BlobHash, Uid};
use midstride_core::text::redact::{CleanText, Redaction};
use midstride_core::text::time;
use midstride_core::text::yaml::{YamlData, YamlNode};
use std::path::PathBuf;

/// How often to retry when another process changes the document first.
const TRIES_MAX: usize = 20;

/// The reason recorded for a change made without midstride.
pub(crate) const OUTSIDE_EDIT_REASON: &str = "edited outside midstride";

/// The steps of recording a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStep {
    /// The replaced text and the new text are stored.
    TextsStored,
    /// The document has its new text.
    DocumentWritten,
    /// What was written is saved.
    LastWriteSaved,
    /// The ledger has the revision.
    LedgerUpdated,
}

impl RecordStep {
    /// Every step, in order.
    pub const ALL: [Self; 4] =
        [Self::TextsStored, Self::DocumentWritten, Self::LastWriteSaved, Self::LedgerUpdated];
}

/// Who changed a document, and why.
#[derive(Clone, Debug)]
pub struct RevisionInfo {
    /// The reason, which becomes part of the history.
    pub reason: String,
    /// Who changed it.
    pub by: Option<String>,
    /// The verb that changed it; `None` for a new text.
    pub verb: Option<RevisionVerb>,
    /// Whether its statements were compared with the code.
    pub is_compared: bool,
}

impl RevisionInfo {
    /// A revision with a new text.
    pub fn by_text(reason: impl Into<String>, by: Option<String>) -> Self {
        Self { reason: reason.into(), by, verb: None, is_compared: false }
    }

    /// A revision made in the editor, without a reason.
    pub fn edited(by: Option<String>) -> Self {
        Self::by_verb(RevisionVerb::Edit, "edited", by)
    }

    /// A revision made by a verb.
    pub fn by_verb(verb: RevisionVerb, reason: impl Into<String>, by: Option<String>) -> Self {
        Self { reason: reason.into(), by, verb: Some(verb), is_compared: false }
    }

    /// Which citations get new anchors; `None` if the text has its own anchors, which stay
    /// unchanged.
    fn anchor_scope(&self) -> Option<AnchorScope> {
        match self.verb {
            Some(RevisionVerb::Undo | RevisionVerb::Merge) => None,
            Some(RevisionVerb::Fmt | RevisionVerb::Share) => Some(AnchorScope::Nothing),
            _ if self.is_compared => Some(AnchorScope::Everything),
            _ => Some(AnchorScope::ChangedStatements),
        }
    }
}

/// Why a change was not made; the document is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The document has no header to write the revision in.
    #[error("`{}` has no handoff header, so midstride cannot record its history", .0.display())]
    NoHeader(PathBuf),
    /// The text has conflict markers from an unfinished merge.
    #[error("`{}` has an unresolved merge conflict", .0.display())]
    Conflicted(PathBuf),
    /// The revision entry cannot be written without damaging the document.
    #[error("the revision cannot be recorded: {0}")]
    Refused(#[from] DocumentEditError),
    /// A text could not be stored.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A recorded change.
#[derive(Debug)]
pub struct RecordedRevision {
    /// The number of the new revision.
    pub revision: usize,
    /// The document as it was written.
    pub document: Box<Document>,
    /// Secrets that were redacted.
    pub redacted: Vec<Redaction>,
    /// Whether an edit made outside midstride was found and recorded as well.
    pub has_outside_edit: bool,
    /// Why the ledger was not updated; the next command updates it.
    pub ledger_error: Option<String>,
}

/// The result of recording; `FileProblem::Changed` means that it can be retried.
pub(crate) type JournalResult<T = RecordedRevision> = Result<T, JournalError>;

impl Store {
    /// Records the result of `attempt`. If another process changes the document first, rereads it
    /// and tries again.
    pub(crate) fn record_with_retry<T, E: From<JournalError>>(
        &self,
        stored: &StoredHandoff,
        mut attempt: impl FnMut(&StoredHandoff) -> Result<JournalResult<T>, E>,
    ) -> Result<T, E> {
        let mut read_again: Option<StoredHandoff> = None;
        for _ in 0..TRIES_MAX {
            let now = read_again.as_ref().unwrap_or(stored);
            match attempt(now)? {
                Err(JournalError::File(FileError { problem: FileProblem::Changed, .. })) => {
                    read_again = Some(self.workspace().reread(now).map_err(JournalError::from)?);
                }
                recorded => return Ok(recorded?),
            }
        }
        let problem = FileProblem::Changed;
        Err(JournalError::File(FileError { path: stored.path.clone(), problem }).into())
    }

    /// Replaces the text of a handoff. Calls `reached` after every step.
    pub fn record(
        &self,
        stored: &StoredHandoff,
        next: &Document,
        change: &RevisionInfo,
        reached: &dyn Fn(RecordStep),
    ) -> Result<RecordedRevision, JournalError> {
        if next.handoff_header().is_none() {
            return Err(JournalError::NoHeader(stored.path.clone()));
        }
        if next.findings().iter().any(|finding| finding.code == Code::ConflictMarker) {
            return Err(JournalError::Conflicted(stored.path.clone()));
        }
        // Anchors are taken from the text that is written, without its secrets.
        let RedactedDocument { document: next, mut redacted, .. } =
            self.workspace().redact(next)?;
        let next = &next;
        let uid = self.uid_for_next(stored, next);
        let texts = self.text_store(stored, &uid_file_name(&uid));
        let before = self.workspace().redact(&stored.document)?.text;
        let replaced = texts.store_replaced(&before)?;
        let outside = self.id_before_outside_edit(stored, &uid, &replaced, &texts)?;
        let path = self.workspace().root().path().join(&stored.path);
        let anchoring = change.anchor_scope().and_then(|scope| {
            self.workspace().anchor_edit(&path, Some(&stored.document), next, scope)
        });
        let mut edits: Vec<Edit> = anchoring.into_iter().collect();
        edits.extend(self.identity_edits(stored, next, &uid));
        if let Some(text_id) = &outside {
            let change = RevisionInfo::by_verb(RevisionVerb::Outside, OUTSIDE_EDIT_REASON, None);
            edits.push(self.revision_entry(&change, text_id));
        }
        edits.push(self.revision_entry(change, &replaced));
        let (next, _) = next.edit(&edits)?;
        // A reason may contain a secret too.
        let RedactedDocument { text: after, document: next, redacted: late } =
            self.workspace().redact(&next)?;
        redacted.extend(late);
        // Checked before any text is stored.
        check_size(&path, after.as_str().as_bytes())?;
        let written = texts.store_new(&after)?;
        texts.retain(&[replaced, written.clone()])?;
        reached(RecordStep::TextsStored);
        self.workspace().replace(stored, &after)?;
        reached(RecordStep::DocumentWritten);
        self.save_last_write(&uid, &written, &after)?;
        reached(RecordStep::LastWriteSaved);
        let handoff = Handoff::new(&next, &stored.location, &self.workspace().settings().stages);
        let ledger_error =
            self.update_ledger(&handoff, &stored.path).err().map(|error| error.to_string());
        reached(RecordStep::LedgerUpdated);
        let revision = handoff.replaced_texts().len() + 1;
        Ok(RecordedRevision {
            revision,
            document: Box::new(next),
            redacted,
            has_outside_edit: outside.is_some(),
            ledger_error,
        })
    }

    /// Updates the ledger. The document is already written, so a failure here does not undo it.
    fn update_ledger(
        &self,
        handoff: &Handoff<'_>,
        path: &std::path::Path,
    ) -> Result<(), ReconcileError> {
        self.reconcile_text(self.ledger()?, handoff, path).map(|_| ())
    }

    /// The uid of a handoff: its own, else the one in its next text, else a new one.
    fn uid_for_next(&self, stored: &StoredHandoff, next: &Document) -> Uid {
        let brought = || Uid::parse(next.handoff_header()?.text("uid")?.value);
        let uid = stored.handoff(self.workspace()).uid().or_else(brought);
        uid.unwrap_or_else(|| Uid::new(new_uid(self.workspace().environment().clock.now())))
    }

    /// Edits that keep what a new text must not remove: the uid and the history of the handoff.
    fn identity_edits(&self, stored: &StoredHandoff, next: &Document, uid: &Uid) -> Vec<Edit> {
        let (now, stages) = (stored.handoff(self.workspace()), &self.workspace().settings().stages);
        let next = Handoff::new(next, &stored.location, stages);
        let mut edits = Vec::new();
        if next.uid().as_ref() != Some(uid) {
            edits.push(Edit::Set(HeaderPath::field("uid"), YamlData::text(uid.as_str())));
        }
        let (ours, theirs) = (now.revision_nodes(), next.revision_nodes());
        let path = HeaderPath::field("revisions");
        if theirs.len() < ours.len() && has_same_text_ids(&ours, &theirs) {
            // Appended one by one, so that what a user wrote into the history, such as comments,
            // stays.
            let missing = ours[theirs.len()..].iter();
            edits.extend(missing.map(|entry| Edit::Append(path.clone(), entry.data())));
        } else if let Some(history) = now.node("revisions")
            && (theirs.len() < ours.len() || !now.named_texts().is_subset(&next.named_texts()))
        {
            edits.push(Edit::Set(path, history.data()));
        }
        edits
    }

    /// Builds one entry of `revisions`.
    fn revision_entry(&self, change: &RevisionInfo, was: &BlobHash) -> Edit {
        let now = time::format_time(self.workspace().environment().clock.now());
        let by = self.workspace().environment().author(change.by.as_deref());
        let entry = [("at", YamlData::Bare(now)), ("by", YamlData::Text(by))]
            .into_iter()
            .chain(change.verb.map(|verb| ("verb", YamlData::text(verb.word()))))
            .chain([
                ("reason", YamlData::text(&change.reason)),
                ("was", YamlData::text(was.as_str())),
            ]);
        Edit::Append(HeaderPath::field("revisions"), YamlData::map(entry))
    }

    /// The id of the text that the last history entry produced, if the document was edited since
    /// without midstride.
    fn id_before_outside_edit(
        &self,
        stored: &StoredHandoff,
        uid: &Uid,
        now: &BlobHash,
        texts: &TextStore<'_>,
    ) -> Result<Option<BlobHash>, JournalError> {
        let last = self.last_write(uid)?;
        if last.as_ref().is_some_and(|note| note.hash == sha256(&stored.bytes)) {
            return Ok(None);
        }
        match texts.backend() {
            // Without branches and clones, the text last written here is the previous one.
            TextBackend::Files(_) => {
                let named = stored.handoff(self.workspace()).named_texts();
                let is_named = |note: &LastWrite| {
                    note.text_id == *now || named.contains(note.text_id.as_str())
                };
                Ok(last.filter(|note| !is_named(note)).map(|note| note.text_id))
            }
            TextBackend::Blobs(_) => Ok(self.id_with_same_history(stored, now, texts)?),
        }
    }

    /// The stored or committed text with exactly the document's history. `None` if the document is
    /// one of them: a pull, a merge and another branch bring texts that were not edited outside
    /// midstride.
    fn id_with_same_history(
        &self,
        stored: &StoredHandoff,
        now: &BlobHash,
        texts: &TextStore<'_>,
    ) -> Result<Option<BlobHash>, RevisionError> {
        let path = self.workspace().path_in_work_tree(stored);
        let committed = path.and_then(|path| texts.committed_id(&path));
        let kept = texts.retained_ids()?;
        if kept.contains(now) || committed.as_ref() == Some(now) {
            return Ok(None);
        }
        let history = |handoff: &Handoff<'_>| -> Vec<YamlData> {
            handoff.revision_nodes().into_iter().map(YamlNode::data).collect()
        };
        let ours = history(&stored.handoff(self.workspace()));
        let stages = &self.workspace().settings().stages;
        let has_same_history = |text: &[u8]| {
            let document = Document::parse(text);
            let theirs = history(&Handoff::new(&document, &stored.location, stages));
            let same = |(a, b): (&YamlData, &YamlData)| a.is_equivalent_to(b);
            ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same)
        };
        let others = kept.into_iter().filter(|id| Some(id) != committed.as_ref());
        for id in committed.clone().into_iter().chain(others) {
            if texts.blob(&id)?.is_some_and(|text| has_same_history(&text)) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Whether a handoff was edited since midstride wrote it. Records nothing; the next change
    /// does.
    pub fn is_edited_outside(&self, stored: &StoredHandoff) -> Result<bool, JournalError> {
        Ok(self.find_id_before_outside_edit(stored)?.is_some())
    }

    /// The text that midstride last wrote, if it was edited since and the text is still stored.
    pub(crate) fn read_before_outside_edit(
        &self,
        stored: &StoredHandoff,
    ) -> Result<Option<Vec<u8>>, JournalError> {
        let Some(id) = self.find_id_before_outside_edit(stored)? else { return Ok(None) };
        if let Some(tombstone) = self.tombstone(&id).map(Box::new) {
            let text = "the version before the edit outside midstride".to_owned();
            return Err(RevisionError::Forgotten { text, tombstone }.into());
        }
        Ok(self.stored_text(&id)?)
    }

    /// The id of the text that midstride last wrote, if it was edited since.
    fn find_id_before_outside_edit(
        &self,
        stored: &StoredHandoff,
    ) -> Result<Option<BlobHash>, JournalError> {
        let Some(uid) = stored.handoff(self.workspace()).uid() else { return Ok(None) };
        // The text is almost always the last one written, which can be checked without git.
        if self.last_write(&uid)?.is_some_and(|note| note.hash == sha256(&stored.bytes)) {
            return Ok(None);
        }
        let texts = self.text_store(stored, &uid_file_name(&uid));
        let now = texts.id_of(&self.workspace().clean(stored.document.text()).0);
        self.id_before_outside_edit(stored, &uid, &now, &texts)
    }

    fn last_write(&self, uid: &Uid) -> Result<Option<LastWrite>, FileError> {
        let Some(private) = self.workspace().private()? else { return Ok(None) };
        match private.read(&last_write_path(uid)) {
            Ok(bytes) => {
                let written = String::from_utf8_lossy(&bytes);
                let mut words = written.split_whitespace().map(str::to_owned);
                let (text, hash) = (words.next(), words.next().unwrap_or_default());
                Ok(text.map(|text| LastWrite { text_id: BlobHash::new(text), hash }))
            }
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save_last_write(
        &self,
        uid: &Uid,
        text: &BlobHash,
        written: &CleanText,
    ) -> Result<(), FileError> {
        let private = self.workspace().make_private()?;
        private.make_below(std::path::Path::new("written"))?;
        let hash = sha256(written.as_str().as_bytes());
        private.put(&last_write_path(uid), format!("{text} {hash}\n").as_bytes())
    }
}

/// What midstride last wrote to a handoff.
struct LastWrite {
    /// The id of the text.
    text_id: BlobHash,
    /// Its SHA-256, which can be compared without git.
    hash: String,
}

/// Whether two histories name the same texts, up to the length of the shorter one.
fn has_same_text_ids(one: &[&YamlNode], other: &[&YamlNode]) -> bool {
    let text_of =
        |node: &YamlNode, key| node.get(key).and_then(YamlNode::text).map(|at| at.value.to_owned());
    let names = |node: &YamlNode| [text_of(node, "was"), text_of(node, "made")];
    one.iter().zip(other).all(|(one, other)| names(one) == names(other))
}

fn last_write_path(uid: &Uid) -> PathBuf {
    PathBuf::from("written").join(uid_file_name(uid))
}

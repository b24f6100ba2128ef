//! The one write path of a handoff: keep the text that is replaced, write the document with its own
//! revision entry, take note of what was written, tell the ledger.
//!
//! Killed between any two steps, nothing is lost: a kept text that no document names is harmless,
//! and a document that is ahead of the note tells so by its own last entry.

use crate::code::drift::AnchorScope;
use crate::store::ledger::{SqliteLedger, WaitPolicy};
use crate::store::reconcile::ReconcileError;
use crate::store::revisions::{RevisionError, TextBackend, TextStore};
use crate::sys::files::{FileError, FileProblem, check_size};
use crate::sys::ids::{new_uid, sha256};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::finding::Code;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::redact::{CleanText, Redaction};
use midstride_core::text::time;
use midstride_core::text::yaml::{YamlData, YamlNode};
use std::path::PathBuf;

/// Somebody else may win the race again and again; not for ever.
const TRIES_MAX: usize = 20;

/// The reason of a change that somebody made without midstride.
pub(crate) const OUTSIDE_EDIT_REASON: &str = "edited outside midstride";

/// A uid that is longer is named by its hash.
const PLAIN_UID_LENGTH_MAX: usize = 64;

/// What was done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStep {
    /// The text that is replaced, and the one that takes its place, are kept.
    TextsStored,
    /// The document has its new text.
    DocumentWritten,
    /// It is noted what was written.
    LastWriteSaved,
    /// The ledger knows of it.
    LedgerUpdated,
}

impl RecordStep {
    /// Every step, in order.
    pub const ALL: [Self; 4] =
        [Self::TextsStored, Self::DocumentWritten, Self::LastWriteSaved, Self::LedgerUpdated];
}

/// Why a document was changed.
#[derive(Clone, Debug)]
pub struct RevisionInfo {
    /// The reason, which becomes part of the history.
    pub reason: String,
    /// Who changed it.
    pub by: Option<String>,
    /// The verb that changed it, if it was not a new text.
    pub verb: Option<RevisionVerb>,
    /// Whether what it says was compared with the code.
    pub is_compared: bool,
}

impl RevisionInfo {
    /// A new text.
    pub fn by_text(reason: impl Into<String>, by: Option<String>) -> Self {
        Self { reason: reason.into(), by, verb: None, is_compared: false }
    }

    /// A change that a verb makes.
    pub fn by_verb(verb: RevisionVerb, reason: impl Into<String>, by: Option<String>) -> Self {
        Self { reason: reason.into(), by, verb: Some(verb), is_compared: false }
    }

    /// Which of the places that the text names are anchored anew; `None` where it brings its own
    /// anchors, byte by byte.
    fn anchor_scope(&self) -> Option<AnchorScope> {
        match self.verb {
            Some(RevisionVerb::Undo | RevisionVerb::Merge) => None,
            Some(RevisionVerb::Fmt | RevisionVerb::Share) => Some(AnchorScope::Nothing),
            _ if self.is_compared => Some(AnchorScope::Everything),
            _ => Some(AnchorScope::ChangedStatements),
        }
    }
}

/// Why a change was not made; the document is as it was.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The document has no header to write the revision in.
    #[error("`{}` has no handoff header, so its history cannot be kept", .0.display())]
    NoHeader(PathBuf),
    /// Two sides of a merge stand in the text; nobody can tell what it says.
    #[error("`{}` has an unfinished merge in it", .0.display())]
    Conflicted(PathBuf),
    /// The revision cannot be written without harm.
    #[error("the revision cannot be recorded: {0}")]
    Refused(#[from] DocumentEditError),
    /// A text could not be kept.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A change that was made.
#[derive(Debug)]
pub struct RecordedRevision {
    /// The number of the new text.
    pub revision: usize,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
    /// Whether an edit made outside midstride was found and recorded as well.
    pub has_outside_edit: bool,
    /// Why the ledger does not know of it yet; the next command tells it.
    pub ledger_error: Option<String>,
}

/// What came of recording, where it is not over yet if somebody else was faster.
pub(crate) type JournalResult<T = RecordedRevision> = Result<T, JournalError>;

impl Project {
    /// Records what `attempt` makes of a document; where somebody else was faster, what it makes of
    /// the document as it is then.
    pub(crate) fn record_with_retry<T, E: From<JournalError>>(
        &self,
        shelved: &StoredHandoff,
        mut attempt: impl FnMut(&StoredHandoff) -> Result<JournalResult<T>, E>,
    ) -> Result<T, E> {
        let mut read_again: Option<StoredHandoff> = None;
        for _ in 0..TRIES_MAX {
            let now = read_again.as_ref().unwrap_or(shelved);
            match attempt(now)? {
                Err(JournalError::File(FileError { problem: FileProblem::Changed, .. })) => {
                    read_again = Some(self.reread(now).map_err(JournalError::from)?);
                }
                recorded => return Ok(recorded?),
            }
        }
        let problem = FileProblem::Changed;
        Err(JournalError::File(FileError { path: shelved.path.clone(), problem }).into())
    }

    /// Puts the next text of a handoff in its place. `reached` is told about every step.
    pub fn record(
        &self,
        shelved: &StoredHandoff,
        next: &Document,
        change: &RevisionInfo,
        reached: &dyn Fn(RecordStep),
    ) -> Result<RecordedRevision, JournalError> {
        if next.handoff_header().is_none() {
            return Err(JournalError::NoHeader(shelved.path.clone()));
        }
        if next.findings().iter().any(|finding| finding.code == Code::ConflictMarker) {
            return Err(JournalError::Conflicted(shelved.path.clone()));
        }
        // What is anchored is what is written, without its secrets.
        let (clean, mut redacted) = self.clean(next.text());
        let cleaned = (!redacted.is_empty()).then(|| Document::parse(clean.as_str().as_bytes()));
        let next = cleaned.as_ref().unwrap_or(next);
        let uid = self.uid_for_next(shelved, next);
        let texts = self.text_store(shelved, &uid_file_name(&uid));
        let (before, _) = self.clean(shelved.document.text());
        let replaced = texts.store(&before)?;
        let outside =
            self.id_before_outside_edit(shelved, &uid_file_name(&uid), &replaced, &texts)?;
        let path = self.root().path().join(&shelved.path);
        let anchoring = change
            .anchor_scope()
            .and_then(|anew| self.anchor_edit(&path, Some(&shelved.document), next, anew));
        let mut edits: Vec<Edit> = anchoring.into_iter().collect();
        edits.extend(self.identity_edits(shelved, next, &uid));
        if let Some(noted) = &outside {
            let change = RevisionInfo::by_verb(RevisionVerb::Outside, OUTSIDE_EDIT_REASON, None);
            edits.push(self.revision_entry(&change, noted));
        }
        edits.push(self.revision_entry(change, &replaced));
        let (next, _) = next.edit(&edits)?;
        let (after, late) = self.clean(next.text());
        redacted.extend(late);
        // Before anything is kept of it.
        check_size(&path, after.as_str().as_bytes())?;
        let written = texts.store_new(&after)?;
        texts.retain(&[replaced, written.clone()])?;
        reached(RecordStep::TextsStored);
        self.replace(shelved, &after)?;
        reached(RecordStep::DocumentWritten);
        self.save_last_write(&uid_file_name(&uid), &written, &after)?;
        reached(RecordStep::LastWriteSaved);
        let handoff = Handoff::new(&next, &shelved.location, &self.settings().stages);
        let untold =
            self.update_ledger(&handoff, &shelved.path).err().map(|error| error.to_string());
        reached(RecordStep::LedgerUpdated);
        let revision = handoff.replaced_texts().len() + 1;
        Ok(RecordedRevision {
            revision,
            redacted,
            has_outside_edit: outside.is_some(),
            ledger_error: untold,
        })
    }

    /// The document is written; that the ledger does not know of it is no reason to say otherwise.
    fn update_ledger(
        &self,
        handoff: &Handoff<'_>,
        path: &std::path::Path,
    ) -> Result<(), ReconcileError> {
        let ledger = SqliteLedger::open(self, WaitPolicy::Command)?;
        self.reconcile_text(&ledger, handoff, path).map(|_| ())
    }

    /// The identity of a handoff: the one it has, else the one its next text brings, else a new one.
    fn uid_for_next(&self, shelved: &StoredHandoff, next: &Document) -> String {
        let own = shelved.handoff(self).uid().map(|uid| uid.value);
        let brought = || next.handoff_header()?.text("uid").map(|uid| uid.value);
        let uid = own.or_else(brought).map(|uid| uid.trim().to_owned());
        uid.unwrap_or_else(|| new_uid(self.environment().clock.now()))
    }

    /// What a new text may not take away: who the handoff is, and what happened to it so far.
    fn identity_edits(&self, shelved: &StoredHandoff, next: &Document, uid: &str) -> Vec<Edit> {
        let (now, stages) = (shelved.handoff(self), &self.settings().stages);
        let next = Handoff::new(next, &shelved.location, stages);
        let mut edits = Vec::new();
        if next.uid().is_none_or(|other| other.value.trim() != uid) {
            edits.push(Edit::Set(HeaderPath::field("uid"), YamlData::text(uid)));
        }
        let (ours, theirs) = (now.revision_nodes(), next.revision_nodes());
        let path = HeaderPath::field("revisions");
        if theirs.len() < ours.len() && has_same_text_ids(&ours, &theirs) {
            // Added one by one: what a person wrote into the history, comments too, stays as it is.
            let missing = ours[theirs.len()..].iter();
            edits.extend(missing.map(|entry| Edit::Append(path.clone(), entry.data())));
        } else if let Some(history) = now.node("revisions")
            && (theirs.len() < ours.len() || !now.named_texts().is_subset(&next.named_texts()))
        {
            edits.push(Edit::Set(path, history.data()));
        }
        edits
    }

    /// One entry of `revisions`.
    fn revision_entry(&self, change: &RevisionInfo, was: &str) -> Edit {
        let now = time::format_time(self.environment().clock.now());
        let by = change.by.clone().or_else(|| self.environment().user.clone());
        let by = by.map(|by| ("by", YamlData::Text(by)));
        let entry = [("at", YamlData::Bare(now))]
            .into_iter()
            .chain(by)
            .chain(change.verb.map(|verb| ("verb", YamlData::text(verb.word()))))
            .chain([("reason", YamlData::text(&change.reason)), ("was", YamlData::text(was))]);
        Edit::Append(HeaderPath::field("revisions"), YamlData::map(entry))
    }

    /// The text that the last entry of the history made, if somebody has changed it since without
    /// saying so.
    fn id_before_outside_edit(
        &self,
        shelved: &StoredHandoff,
        uid: &str,
        now: &str,
        texts: &TextStore<'_>,
    ) -> Result<Option<String>, JournalError> {
        let noted = self.last_write(uid)?;
        if noted.as_ref().is_some_and(|note| note.hash == sha256(&shelved.bytes)) {
            return Ok(None);
        }
        match texts.backend() {
            // Without branches and clones the last text that was written here is the one.
            TextBackend::Files(_) => {
                let named = shelved.handoff(self).named_texts();
                let told =
                    |note: &LastWrite| note.text_id == now || named.contains(note.text_id.as_str());
                Ok(noted.filter(|note| !told(note)).map(|note| note.text_id))
            }
            TextBackend::Blobs { .. } => Ok(self.id_with_same_history(shelved, now, texts)?),
        }
    }

    /// The kept or committed text with exactly the history that the document has, unless the
    /// document is one of them: a pull, a merge and another branch bring texts that nobody edited.
    fn id_with_same_history(
        &self,
        shelved: &StoredHandoff,
        now: &str,
        texts: &TextStore<'_>,
    ) -> Result<Option<String>, RevisionError> {
        let committed = self.committed_text(shelved);
        let kept = texts.retained_ids()?;
        if kept.contains(now) || committed.as_deref() == Some(now) {
            return Ok(None);
        }
        let Some(repository) = self.repository() else { return Ok(None) };
        let others = kept.into_iter().filter(|id| Some(id) != committed.as_ref());
        let candidates: Vec<String> = committed.clone().into_iter().chain(others).collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        let history = |handoff: &Handoff<'_>| -> Vec<YamlData> {
            handoff.revision_nodes().into_iter().map(YamlNode::data).collect()
        };
        let ours = history(&shelved.handoff(self));
        let made = repository.blobs(&candidates)?.into_iter().find(|(_, text)| {
            let (document, stages) = (Document::parse(text), &self.settings().stages);
            let handoff = Handoff::new(&document, &shelved.location, stages);
            let theirs = history(&handoff);
            let same = |(a, b): (&YamlData, &YamlData)| a.is_equivalent_to(b);
            ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same)
        });
        Ok(made.map(|(id, _)| id))
    }

    fn committed_text(&self, shelved: &StoredHandoff) -> Option<String> {
        self.repository()?.committed_blob(&self.path_in_work_tree(shelved)?)
    }

    /// Whether somebody changed a handoff since midstride wrote it, without saying so. Nothing is
    /// recorded; the next change does that.
    pub fn is_edited_outside(&self, shelved: &StoredHandoff) -> Result<bool, JournalError> {
        Ok(self.find_id_before_outside_edit(shelved)?.is_some())
    }

    /// What midstride wrote last, if somebody has changed it since and it is still at hand.
    pub(crate) fn read_before_outside_edit(
        &self,
        shelved: &StoredHandoff,
    ) -> Result<Option<Vec<u8>>, JournalError> {
        let Some(noted) = self.find_id_before_outside_edit(shelved)? else { return Ok(None) };
        if let Some(tombstone) = self.tombstone(&noted).map(Box::new) {
            let text = "what it said before it was edited outside midstride".to_owned();
            return Err(RevisionError::Forgotten { text, tombstone }.into());
        }
        Ok(self.stored_text(&noted)?)
    }

    /// The id of what midstride wrote last, if somebody has changed it since.
    fn find_id_before_outside_edit(
        &self,
        shelved: &StoredHandoff,
    ) -> Result<Option<String>, JournalError> {
        let Some(uid) = shelved.handoff(self).uid().map(|uid| uid_file_name(uid.value)) else {
            return Ok(None);
        };
        // Almost always the text is the noted one, which no git has to tell.
        if self.last_write(&uid)?.is_some_and(|note| note.hash == sha256(&shelved.bytes)) {
            return Ok(None);
        }
        let texts = self.text_store(shelved, &uid);
        let now = texts.id_of(&self.clean(shelved.document.text()).0)?;
        self.id_before_outside_edit(shelved, &uid, &now, &texts)
    }

    fn last_write(&self, uid: &str) -> Result<Option<LastWrite>, FileError> {
        let Some(private) = self.private()? else { return Ok(None) };
        match private.read(&last_write_path(uid)) {
            Ok(bytes) => {
                let written = String::from_utf8_lossy(&bytes);
                let mut words = written.split_whitespace().map(str::to_owned);
                let (text, hash) = (words.next(), words.next().unwrap_or_default());
                Ok(text.map(|text| LastWrite { text_id: text, hash }))
            }
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save_last_write(&self, uid: &str, text: &str, written: &CleanText) -> Result<(), FileError> {
        let private = self.make_private()?;
        private.make_below(std::path::Path::new("written"))?;
        let hash = sha256(written.as_str().as_bytes());
        private.put(&last_write_path(uid), format!("{text} {hash}\n").as_bytes())
    }
}

/// What midstride wrote last in the place of a handoff.
struct LastWrite {
    /// The id of the text.
    text_id: String,
    /// Its SHA-256, by which it is known without git.
    hash: String,
}

/// Whether two histories name the same texts, as far as both go.
fn has_same_text_ids(one: &[&YamlNode], other: &[&YamlNode]) -> bool {
    let said =
        |node: &YamlNode, key| node.get(key).and_then(YamlNode::text).map(|at| at.value.to_owned());
    let names = |node: &YamlNode| [said(node, "was"), said(node, "made")];
    one.iter().zip(other).all(|(one, other)| names(one) == names(other))
}

fn last_write_path(uid: &str) -> PathBuf {
    PathBuf::from("written").join(uid)
}

/// A uid as it can stand in a path and in the name of a reference: as it is where it is an ordinary
/// one, else by its hash. Two uids never share a name, on systems that take `A` for `a` neither.
pub(crate) fn uid_file_name(uid: &str) -> String {
    let uid = uid.trim();
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if !uid.is_empty() && uid.len() <= PLAIN_UID_LENGTH_MAX && uid.bytes().all(plain) {
        return uid.to_owned();
    }
    // No plain uid begins like this.
    format!("_{}", sha256(uid.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_uid_has_a_name_of_its_own() {
        for plain in ["0195b9d2-4c00-7000-8000-000000000001", "one", "a-b"] {
            assert_eq!(uid_file_name(plain), plain);
        }
        let long = "a".repeat(300);
        let uids = ["a-b", "a/b", "a.b", "a b", "A-b", "a_b", "ä", "..", "", &long, &long[1..]];
        let names: std::collections::BTreeSet<String> =
            uids.iter().map(|uid| uid_file_name(uid).to_lowercase()).collect();
        assert_eq!(names.len(), uids.len());
        assert!(names.iter().all(|name| name.len() <= 65), "{names:?}");
        assert_eq!(uid_file_name(" one\n"), "one");
    }
}

//! Forgets a kept text: removes it for good and leaves a tombstone.
//!
//! The tombstone is written first, so that no other process keeps the text again meanwhile. The
//! later steps can be repeated any number of times. After a kill, forgetting the text again
//! finishes the work.

use crate::clients::{self, Client, active_sessions, capture, hook_memory};
use crate::store::Store;
use crate::store::index::{Index, IndexError};
use crate::store::ledger::{
    AppendError, Ledger as _, LedgerError, LocalLedger as _, ProjectLedger, StreamId,
};
use crate::store::revisions::{RevisionError, TextRef};
use crate::store::text_refs::uid_file_name;
use crate::store::tombstone::{Tombstone, TombstoneKind};
use crate::sys::env::SessionName;
use crate::sys::files::FileError;
use crate::sys::git::{GitError, LogEntry, RemovalOutcome, Repository};
use crate::sys::ids::sha256;
use crate::workspace::consent::UserConsent;
use crate::workspace::{StoredHandoff, Workspace};
use jiff::Timestamp;
use midstride_core::format::document::Document;
use midstride_core::handoff::Handoff;
use midstride_core::session::checkpoint::Checkpoint;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::time::Time;
use midstride_core::work::event::{Event, SessionEvent};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The shortest id prefix that can name a text.
pub const ID_PREFIX_LENGTH_MIN: usize = 4;
/// How many commits that contain the text are named.
const COMMITS_MAX: usize = 5;

/// A text that is or was kept.
#[derive(Clone, Debug)]
pub struct KeptText {
    /// Its id in the store.
    pub hash: BlobHash,
    /// Its kind.
    pub kind: TombstoneKind,
    /// The handoff or session it belongs to, if known.
    pub owner: Option<String>,
    /// Its names: `market@2` for a revision, client and id for a session.
    pub names: Vec<String>,
    /// When the document was replaced, or the session captured.
    pub at: Option<Timestamp>,
    /// For a checkpoint, the time of the last record of its session.
    pub ended: Option<Timestamp>,
    /// Its size; `None` if it is not on this machine.
    pub bytes: Option<usize>,
    /// Its subject, or its first line.
    pub preview: Option<String>,
    /// Whether `midstride sync` shares it with other repositories.
    pub is_shared: bool,
    /// Its tombstone, if it was already forgotten.
    pub tombstone: Option<Tombstone>,
    /// The documents whose current text is exactly this.
    pub documents: Vec<PathBuf>,
    /// Other kept texts of the same handoff or session.
    pub others: Vec<String>,
    /// For a checkpoint, the handoffs of its session, which contain its facts.
    pub handoffs: Vec<PathBuf>,
    /// For a checkpoint, the transcript it was made from, if it still exists.
    pub transcript: Option<PathBuf>,
    session: Option<(&'static dyn Client, SessionId)>,
    /// For a checkpoint, its summary, which is stored separately for fast briefings.
    summary_blob: Option<BlobHash>,
}

/// A completed step of forgetting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetStep {
    /// The tombstone is written.
    TombstoneSet,
    /// No midstride reference keeps the text.
    Dropped,
    /// The text itself is removed, unless something else needs it.
    Removed,
    /// What was derived from it is removed: cursors and indexes.
    Cleared,
    /// The ledger no longer contains it.
    Emptied,
}

impl ForgetStep {
    /// Every step, in order.
    pub const ALL: [Self; 5] =
        [Self::TombstoneSet, Self::Dropped, Self::Removed, Self::Cleared, Self::Emptied];
}

/// The result of forgetting a text.
#[derive(Debug)]
pub struct ForgetOutcome {
    /// Its tombstone.
    pub tombstone: Tombstone,
    /// Whether it was not forgotten before.
    pub is_new: bool,
    /// What git still has of it.
    pub removal: RemovalOutcome,
    /// Some of the commits that contain it, if something other than midstride references it.
    pub commits: Vec<LogEntry>,
    /// The paths where it is staged.
    pub staged: Vec<String>,
    /// How many cursors of its transcript were removed.
    pub cursors: usize,
    /// How many texts of its session's tasks and standing instructions were removed with it.
    pub session_texts: usize,
    /// Whether other repositories may still have those tasks.
    pub may_tasks_remain_elsewhere: bool,
    /// Whether other repositories may still have it.
    pub may_remain_elsewhere: bool,
}

/// Why nothing, or not everything, was forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// It is not an id or an id prefix.
    #[error("`{0}` is not the id of a stored version")]
    NoId(String),
    /// No kept text has this id.
    #[error("no stored version has an id that starts with `{0}`")]
    NoSuch(String),
    /// Several texts match.
    #[error("`{wanted}` matches several stored versions")]
    Several {
        /// The prefix that was given.
        wanted: String,
        /// The ids, and a description of each.
        found: Vec<(BlobHash, String)>,
    },
    /// It is the current text of the document.
    #[error("`{key}@{number}` is the current document, which midstride does not delete")]
    Current {
        /// The handoff.
        key: String,
        /// The revision that was given.
        number: usize,
    },
    /// The revision cannot be found.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The tombstone could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The index could not be removed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file could not be read or removed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The kept text of an earlier revision of a handoff, counted from one.
pub fn kept_revision(
    store: &Store,
    stored: &StoredHandoff,
    number: usize,
) -> Result<KeptText, ForgetError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let (key, replaced) = (handoff.key().to_string(), handoff.replaced_texts());
    let last = replaced.len() + 1;
    if number == last {
        return Err(ForgetError::Current { key, number });
    }
    let id = number.checked_sub(1).and_then(|index| replaced.get(index));
    let id =
        id.ok_or_else(|| RevisionError::NotFound { key: key.clone(), wanted: number, last })?;
    let id = id.ok_or(RevisionError::NotLocal { key, wanted: number })?;
    let hash = store.redacted_id(&BlobHash::new(id.value.trim().to_lowercase()));
    TextInventory::read(store)?.describe_text(store, &hash)
}

/// The kept text with this id, or with this unambiguous prefix.
pub fn kept_text(store: &Store, id: &str) -> Result<KeptText, ForgetError> {
    let wanted = id.trim().to_lowercase();
    let is_hex = wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    if wanted.len() < ID_PREFIX_LENGTH_MIN || !is_hex {
        return Err(ForgetError::NoId(id.to_owned()));
    }
    let kept = TextInventory::read(store)?;
    let fitting: Vec<BlobHash> = kept.ids_with_prefix(store, &wanted)?.into_iter().collect();
    match fitting.as_slice() {
        [] => Err(ForgetError::NoSuch(wanted)),
        [one] => kept.describe_text(store, one),
        several => {
            let describe = |hash: &BlobHash| -> Result<(BlobHash, String), ForgetError> {
                let text = kept.describe_text(store, hash)?;
                Ok((hash.clone(), text.describe()))
            };
            let found = several.iter().map(describe).collect::<Result<_, _>>()?;
            Err(ForgetError::Several { wanted, found })
        }
    }
}

/// The texts that other clones forgot and that are here, each with the tombstone of the other clone.
pub fn proposed_texts(store: &Store) -> Result<Vec<(KeptText, Tombstone)>, ForgetError> {
    let proposals = store.forget_proposals()?;
    if proposals.is_empty() {
        return Ok(Vec::new());
    }
    let kept = TextInventory::read(store)?;
    let described = proposals.into_iter().map(|(hash, proposal)| {
        let text = kept.describe_text(store, &hash)?;
        Ok((text, proposal))
    });
    described.collect()
}

impl KeptText {
    /// A short description.
    pub fn describe(&self) -> String {
        match (self.kind, self.names.as_slice()) {
            (TombstoneKind::Revision, []) => "an earlier version of a missing handoff".to_owned(),
            (TombstoneKind::Revision, names) => names.join(", "),
            (TombstoneKind::Checkpoint, names) => format!("a checkpoint of {}", names.join(", ")),
            (TombstoneKind::Blob, _) => "text in the ledger".to_owned(),
        }
    }
}

/// Removes a text for good. Calls `reached` after every step.
pub fn forget(
    store: &Store,
    text: &KeptText,
    reason: Option<&str>,
    _consent: &UserConsent,
    reached: &dyn Fn(ForgetStep),
) -> Result<ForgetOutcome, ForgetError> {
    forget_text(store, text, reason, reached)
}

/// The same, for what the user's settings decided.
pub(in crate::verbs) fn forget_text(
    store: &Store,
    text: &KeptText,
    reason: Option<&str>,
    reached: &dyn Fn(ForgetStep),
) -> Result<ForgetOutcome, ForgetError> {
    let workspace = store.workspace();
    let ledger = store.ledger()?;
    let (tombstone, is_new) = ensure_tombstone(store, ledger, text, reason)?;
    reached(ForgetStep::TombstoneSet);
    let dropped = || reached(ForgetStep::Dropped);
    let left = remove_text(store, &text.hash, tombstone.was_kept, &dropped)?;
    let git = workspace.repository();
    reached(ForgetStep::Removed);
    let cursors = match &text.session {
        Some((client, session)) => {
            if let Some(name) = SessionName::parse(client.name(), session.as_str()) {
                active_sessions::remove_marker(workspace, &name)?;
                hook_memory::clear_memory(workspace, &name)?;
            }
            hook_memory::forget_briefings(workspace)?;
            capture::remove_cursors(workspace, *client, session)?
        }
        None => 0,
    };
    if text.kind == TombstoneKind::Revision {
        store.close_index();
        Index::remove_all(workspace)?;
    }
    reached(ForgetStep::Cleared);
    let session_texts = match &text.session {
        Some((client, session)) => ledger.forget_session(client.name(), session)?,
        None => 0,
    };
    if text.kind != TombstoneKind::Revision {
        for hash in text.summary_blob.iter().chain([&text.hash]) {
            ledger.forget_blob(hash)?;
        }
    }
    reached(ForgetStep::Emptied);
    let is_elsewhere_in_git = matches!(left, RemovalOutcome::Referenced | RemovalOutcome::NotOurs);
    let (commits, staged) = match git.filter(|_| is_elsewhere_in_git) {
        Some(git) => (git.commits_with(&text.hash, COMMITS_MAX)?, git.staged_at(&text.hash)?),
        None => (Vec::new(), Vec::new()),
    };
    let knows_others = git.is_some_and(|git| git.remotes().is_ok_and(|all| !all.is_empty()));
    let is_elsewhere = tombstone.is_shared && knows_others;
    let are_tasks_elsewhere = session_texts > 0 && knows_others;
    Ok(ForgetOutcome {
        tombstone,
        is_new,
        removal: left,
        commits,
        staged,
        cursors,
        session_texts,
        may_tasks_remain_elsewhere: are_tasks_elsewhere,
        may_remain_elsewhere: is_elsewhere,
    })
}

/// Removes a text from everywhere midstride stores texts. `was_kept` is whether our references kept
/// it. Calls `dropped` once none does.
pub(in crate::verbs) fn remove_text(
    store: &Store,
    hash: &BlobHash,
    was_kept: bool,
    dropped: &dyn Fn(),
) -> Result<RemovalOutcome, ForgetError> {
    store.drop_texts(&BTreeSet::from([hash.clone()]))?;
    dropped();
    store.remove_from_folder(hash)?;
    let left = store.remove_text(hash, was_kept)?;
    Ok(left.unwrap_or(RemovalOutcome::Removed))
}

/// Writes the tombstone, unless it exists. It is shared if other repositories may have the text.
fn ensure_tombstone(
    store: &Store,
    ledger: &ProjectLedger,
    text: &KeptText,
    reason: Option<&str>,
) -> Result<(Tombstone, bool), ForgetError> {
    let workspace = store.workspace();
    let before = Tombstone::find(ledger, &text.hash)?;
    let was_kept = store.is_kept_by_ref(&text.hash)?;
    let is_complete = |before: &Tombstone| {
        (before.is_shared || !text.is_shared) && (before.was_kept || !was_kept)
    };
    let clean = |text: &str| workspace.clean(text).0.as_str().to_owned();
    if !before.as_ref().is_some_and(is_complete) {
        let environment = workspace.environment();
        let tombstone = Tombstone {
            hash: text.hash.clone(),
            kind: Some(text.kind),
            owner: text.owner.as_deref().map(clean),
            is_shared: text.is_shared,
            was_kept,
            forgotten_at: environment.clock.now(),
            forgotten_by: environment.author(None),
            received_from: None,
            reason: reason.map(clean),
        };
        tombstone.record(ledger)?;
    }
    let now = Tombstone::find(ledger, &text.hash)?.ok_or_else(|| {
        LedgerError::Unavailable("the tombstone was recorded but cannot be read".to_owned())
    })?;
    Ok((now, before.is_none()))
}

/// The checkpoints of each session, by client and id, with the time of each.
type KeptCheckpoints = BTreeMap<(String, SessionId), Vec<(Timestamp, KeptText)>>;

/// The checkpoints that are kept.
pub(in crate::verbs) fn kept_checkpoints(store: &Store) -> Result<KeptCheckpoints, ForgetError> {
    let inventory = TextInventory::read(store)?;
    let mut kept = KeptCheckpoints::new();
    for taken in inventory.checkpoints()? {
        if !inventory.tombstones.contains_key(&taken.blob) {
            let text = inventory.describe_text(store, &taken.blob)?;
            kept.entry((taken.client, taken.session)).or_default().push((taken.at, text));
        }
    }
    Ok(kept)
}

/// Everything that is kept, and what is known about it.
struct TextInventory<'s> {
    documents: Vec<StoredHandoff>,
    tombstones: BTreeMap<BlobHash, Tombstone>,
    references: Vec<TextRef>,
    in_folder: BTreeSet<BlobHash>,
    ledger: Option<&'s ProjectLedger>,
}

/// A checkpoint as the ledger records it.
struct LedgerCheckpoint {
    client: String,
    session: SessionId,
    blob: BlobHash,
    summary_blob: Option<BlobHash>,
    at: Timestamp,
    ended: Option<Timestamp>,
    about: Option<String>,
}

impl<'s> TextInventory<'s> {
    fn read(store: &'s Store) -> Result<Self, ForgetError> {
        let workspace = store.workspace();
        Ok(Self {
            documents: workspace.read_all().into_iter().filter_map(Result::ok).collect(),
            tombstones: store.tombstones()?,
            references: store.texts_by_ref()?,
            in_folder: store.texts_in_folder()?.into_iter().collect(),
            ledger: store.existing_ledger()?,
        })
    }

    /// The ids with this prefix: kept, named by a document, or forgotten.
    fn ids_with_prefix(
        &self,
        store: &Store,
        beginning: &str,
    ) -> Result<BTreeSet<BlobHash>, ForgetError> {
        let workspace = store.workspace();
        let mut all: BTreeSet<BlobHash> =
            self.references.iter().flat_map(|one| one.ids.iter().cloned()).collect();
        all.extend(self.in_folder.iter().cloned());
        all.extend(self.tombstones.keys().cloned());
        for stored in &self.documents {
            let named = stored.handoff(workspace).named_texts().into_iter();
            all.extend(named.map(|text| BlobHash::new(text.to_lowercase())));
        }
        let begins = |hash: &BlobHash| hash.as_str().starts_with(beginning);
        let named = all.into_iter().filter(begins);
        let mut all: BTreeSet<BlobHash> = named.map(|hash| store.redacted_id(&hash)).collect();
        all.extend(self.checkpoints()?.into_iter().map(|taken| taken.blob).filter(begins));
        if let Some(ledger) = &self.ledger {
            all.extend(ledger.blobs_with_prefix(beginning)?);
        }
        Ok(all)
    }

    /// What is known about one text.
    fn describe_text(&self, store: &Store, hash: &BlobHash) -> Result<KeptText, ForgetError> {
        let workspace = store.workspace();
        let taken = self.checkpoints()?;
        let own = taken
            .iter()
            .find(|taken| taken.blob == *hash || store.redacted_id(&taken.blob) == *hash);
        // The ledger names a checkpoint by the id it had before it was redacted.
        let hash = own.map_or(hash, |own| &own.blob);
        let tombstone = self.tombstones.get(hash).cloned();
        let is_blob = match &self.ledger {
            Some(ledger) => !ledger.blobs_with_prefix(hash.as_str())?.is_empty(),
            None => false,
        };
        let was = match (own, is_blob, tombstone.as_ref().and_then(|known| known.kind)) {
            (Some(_), _, _) | (None, _, Some(TombstoneKind::Checkpoint)) => {
                TombstoneKind::Checkpoint
            }
            (None, true, _) | (None, _, Some(TombstoneKind::Blob)) => TombstoneKind::Blob,
            (None, false, Some(TombstoneKind::Revision) | None) => TombstoneKind::Revision,
        };
        let plain = KeptText {
            hash: hash.clone(),
            kind: was,
            owner: None,
            names: Vec::new(),
            at: None,
            ended: None,
            bytes: None,
            preview: None,
            is_shared: false,
            tombstone,
            documents: Vec::new(),
            handoffs: Vec::new(),
            others: Vec::new(),
            transcript: None,
            session: None,
            summary_blob: None,
        };
        match was {
            TombstoneKind::Revision => self.describe_revision(store, plain),
            TombstoneKind::Checkpoint | TombstoneKind::Blob => {
                self.describe_blob(workspace, plain, own, &taken)
            }
        }
    }

    fn describe_revision(&self, store: &Store, plain: KeptText) -> Result<KeptText, ForgetError> {
        let workspace = store.workspace();
        let hash = plain.hash.clone();
        let keeping = self.references.iter().filter(|one| one.ids.contains(&hash));
        let keeping: Vec<&TextRef> = keeping.collect();
        let uids: BTreeSet<&str> = keeping.iter().map(|one| one.uid.as_str()).collect();
        let is_shared = keeping.iter().any(|one| one.is_shared);
        let mut text = KeptText { is_shared, ..plain };
        // A text that a document names and that is not kept here may be kept elsewhere.
        let may_be_elsewhere = keeping.is_empty() && text.tombstone.is_none();
        for stored in &self.documents {
            let handoff = stored.handoff(workspace);
            let uid = handoff.uid().map(|uid| uid_file_name(&uid));
            let is_its = uid.is_some_and(|uid| uids.contains(uid.as_str()));
            let is_it = |named: &str| store.redacted_id(&BlobHash::new(named)) == hash;
            if is_its || handoff.named_texts().into_iter().any(is_it) {
                text.owner.get_or_insert_with(|| handoff.key().to_string());
                text.is_shared |= may_be_elsewhere && store.is_shared(stored);
                self.add_names(&mut text, store, stored, &handoff);
                if has_text(workspace.repository(), stored, &hash) {
                    text.documents.push(stored.path.clone());
                }
            }
        }
        if text.tombstone.is_none()
            && let Some(bytes) = store.stored_text(&hash)?
        {
            text.bytes = Some(bytes.len());
            text.preview = preview_of(&Document::parse(&bytes), workspace);
        }
        Ok(text)
    }

    /// Adds the revision numbers a text has in a handoff's history, and the handoff's other kept
    /// texts.
    fn add_names(
        &self,
        text: &mut KeptText,
        store: &Store,
        stored: &StoredHandoff,
        handoff: &Handoff<'_>,
    ) {
        let key = handoff.key();
        let entries = handoff.revisions();
        for (index, id) in handoff.replaced_texts().into_iter().enumerate() {
            let Some(id) = id.map(|id| BlobHash::new(id.value.trim().to_lowercase())) else {
                continue;
            };
            let id = store.redacted_id(&id);
            let name = format!("{key}@{}", index + 1);
            if id == text.hash {
                text.names.push(name);
                let time = entries.get(index).and_then(|entry| entry.time);
                text.at = time.and_then(|time| Time::parse(time.value)).map(|time| time.moment);
            } else if self.is_kept(&id) && !text.others.contains(&name) {
                text.others.push(name);
            }
        }
        if text.names.is_empty() {
            text.names.push(format!("a version of {key} ({})", stored.path.display()));
        }
    }

    fn is_kept(&self, hash: &BlobHash) -> bool {
        let in_git = self.references.iter().any(|one| one.ids.contains(hash));
        (in_git || self.in_folder.contains(hash)) && !self.tombstones.contains_key(hash)
    }

    fn describe_blob(
        &self,
        workspace: &Workspace,
        plain: KeptText,
        own: Option<&LedgerCheckpoint>,
        taken: &[LedgerCheckpoint],
    ) -> Result<KeptText, ForgetError> {
        let mut text = plain;
        let bytes = match &self.ledger {
            Some(ledger) => ledger.get_blob(&text.hash)?,
            None => None,
        };
        text.bytes = bytes.as_ref().map(Vec::len);
        let Some(own) = own else {
            let first = bytes.as_deref().and_then(first_line);
            return Ok(KeptText { preview: first, ..text });
        };
        let about = || Checkpoint::parse(bytes.as_deref()?)?.first_request();
        text.preview = own.about.clone().or_else(about);
        text.names.push(format!("{} session {}", own.client, own.session));
        (text.owner, text.at) = (Some(own.session.to_string()), Some(own.at));
        text.ended = own.ended;
        text.summary_blob = own.summary_blob.clone();
        let same = |other: &&LedgerCheckpoint| {
            (&other.client, &other.session) == (&own.client, &own.session)
                && other.blob != own.blob
                && !self.tombstones.contains_key(&other.blob)
        };
        text.others = taken.iter().filter(same).map(|other| other.blob.to_string()).collect();
        let is_of_session = |stored: &&StoredHandoff| {
            let text_at =
                |path| Some(stored.handoff(workspace).node(path)?.text()?.value.to_owned());
            text_at("state.recovery.session").is_some_and(|id| id == own.session.as_str())
        };
        let handoffs = self.documents.iter().filter(is_of_session);
        text.handoffs = handoffs.map(|stored| stored.path.clone()).collect();
        if let Some(client) = clients::find(&own.client) {
            let (found, _) = clients::transcripts(workspace, Some(client));
            let its = found.into_iter().find(|found| found.session == own.session);
            text.transcript = its.map(|found| found.path);
            text.session = Some((client, own.session.clone()));
        }
        Ok(text)
    }

    /// All checkpoints the ledger records.
    fn checkpoints(&self) -> Result<Vec<LedgerCheckpoint>, ForgetError> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let records = ledger.read_with_prefix(StreamId::SESSIONS)?;
        let events = records.into_iter().flat_map(|record| record.events);
        let taken = events.filter_map(|envelope| match envelope.event {
            Event::Session(SessionEvent::Checkpointed {
                client,
                session,
                blob,
                gist,
                about,
                ended,
                ..
            }) => Some(LedgerCheckpoint {
                client,
                session,
                blob,
                summary_blob: gist,
                at: envelope.time,
                ended: ended.and_then(|time| time.parse().ok()),
                about,
            }),
            Event::Session(_)
            | Event::Handoff(_)
            | Event::Proof(_)
            | Event::Task(_)
            | Event::Mission(_)
            | Event::Text(_)
            | Event::Workflow(_)
            | Event::Instruction(_)
            | Event::Unknown(_)
            | _ => None,
        });
        Ok(taken.collect())
    }
}

/// Whether a document is exactly this text.
fn has_text(repository: Option<&Repository>, stored: &StoredHandoff, hash: &BlobHash) -> bool {
    let in_git = repository.map(|git| git.hash_blob(&stored.bytes));
    in_git.as_ref() == Some(hash) || sha256(&stored.bytes) == hash.as_str()
}

/// The title or summary of a text, or else its first line.
fn preview_of(document: &Document, workspace: &Workspace) -> Option<String> {
    let whereabouts = midstride_core::handoff::Location::default();
    let handoff = Handoff::new(document, &whereabouts, &workspace.settings().stages);
    let subject = handoff.title().or(handoff.summary()).map(str::to_owned);
    subject.or_else(|| first_line(document.text().as_bytes()))
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

//! Updates the index from the files: changed documents are read again, deleted ones are removed.

use super::limit::{IndexProgress, RefreshLimit};
use super::root::{decode_root, encode_root};
use super::search::BITS_BELOW_DAY;
use super::{Index, IndexCard, IndexError, newest};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::{FileError, FileStamp, Lock, ScanDetail};
use crate::sys::ids::sha256;
use crate::workspace::folder::HandoffFolder;
use crate::workspace::settings::Settings;
use crate::workspace::{DocumentPlace, DocumentScan, Workspace, map_on_all_cores};
use midstride_core::brief::search::{handoff_texts, index_columns};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// Up to this many documents are all compared on every refresh; comparing more takes longer than
/// the search.
const COMPARED_MAX: usize = 10_000;
/// The same while a client waits: at session start and at each prompt.
const COMPARED_FOR_CLIENT_MAX: usize = 500;
/// In a larger project, each refresh compares some documents in rotation, for this long.
const ROTATION_TIME: Duration = Duration::from_millis(2);
/// How many documents one refresh takes from the rotation.
const ROTATION_MAX: usize = 500;
/// The same while a client waits. Every query advances the rotation.
const ROTATION_FOR_CLIENT_MAX: usize = 50;
/// A rotation position before every document: ids start at 0, for documents without a time of
/// change.
const BEFORE_ALL: i64 = -1;
/// A hook reads at most this many documents.
const READ_IN_HOOK_MAX: usize = 64;
/// A hook removes at most this many deleted documents; the next refresh removes the rest.
const REMOVED_IN_HOOK_MAX: usize = 256;
/// With more documents than this to read, a command takes a lock, so that two do not read the same.
const UNLOCKED_READ_MAX: usize = 256;
/// After writing at least this many documents, the full-text index is optimized.
const OPTIMIZE_MIN: usize = 2000;

/// Enough of a hash to distinguish two texts of one document.
const HASH_LETTERS: usize = 16;

impl Effort {
    fn limit(self, limit: RefreshLimit) -> RefreshLimit {
        match self {
            Self::Hurried | Self::Prompt => limit.at_most(READ_IN_HOOK_MAX),
            Self::Command | Self::Fresh | Self::Open => limit,
        }
    }
}

/// How closely to compare the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A user waits.
    Command,
    /// A user waits and wants every file compared.
    Fresh,
    /// The caller has little time: only some of the new documents are read.
    Hurried,
    /// A client waits at a prompt: in a large project, some documents are compared in rotation.
    Prompt,
    /// A session starts: only open handoffs must be current, however many other documents there
    /// are.
    Open,
}

/// How current the index is after a refresh.
#[derive(Debug)]
pub struct Freshness {
    /// Whether every document was compared; if not, an edit made in place may be missing.
    pub is_complete: bool,
    /// Files that could not be scanned or read.
    pub unread: Vec<FileError>,
    /// Progress, if the index does not have every document yet.
    pub indexing: Option<IndexProgress>,
    /// Whether the refresh reached its limit before it was done.
    pub is_cut_short: bool,
}

/// What the index has of a document.
struct IndexedDocument {
    id: i64,
    stamp: FileStamp,
    hash: Vec<u8>,
    is_open: bool,
    /// Whether its words are in the index, not only its card.
    has_words: bool,
    read_with: RowContext,
}

/// What a document is read for.
#[derive(Clone, Copy, Debug)]
struct ReadMode {
    context: RowContext,
    with_words: bool,
}

/// What a row of the index depends on apart from the text of its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowContext {
    /// Hash of the settings, which define kinds and stages.
    settings: i64,
    /// The worktree in which the file was last compared. In a copy of another worktree's index,
    /// every row has that worktree's id until its file is compared here.
    worktree: i64,
}

/// The differences between the files and the index.
#[derive(Default)]
struct IndexChanges {
    is_complete: bool,
    /// Whether to read cards before words. For many new documents cards take a quarter of the time,
    /// and a session that starts needs nothing else.
    cards_first: bool,
    settings: Option<String>,
    documents: usize,
    pending: Vec<PendingDocument>,
    removed: Vec<i64>,
    folders: Vec<(DocumentPlace, FileStamp)>,
    unread: Vec<FileError>,
}

/// A root and a path below it, as bytes. `Path` compares component by component, which takes ten
/// times as long.
type PathKey = (Vec<u8>, Vec<u8>);

/// A document that may have changed, with what the index has of it.
struct PendingDocument {
    spot: DocumentPlace,
    stamp: Option<FileStamp>,
    known: Option<IndexedDocument>,
}

impl PendingDocument {
    /// Whether its card in the index is current. All that is left is to compare it once more, for a
    /// change within the same clock tick, or to read its words.
    fn is_indexed(&self, context: RowContext) -> bool {
        let looks_the_same =
            |known: &IndexedDocument| self.stamp.is_none_or(|stamp| stamp.is_same(&known.stamp));
        let known = self.known.as_ref().filter(|known| known.read_with == context);
        known.is_some_and(looks_the_same)
    }

    /// The reading order: handoffs that were open, then other documents that are not current in the
    /// index, then those that only have to be compared once more. Within each group, newest first.
    fn order(&self, context: RowContext) -> impl Ord + use<'_> {
        let is_open = self.known.as_ref().is_some_and(|known| known.is_open);
        let rank = (!self.is_indexed(context), is_open);
        Reverse((rank, newest::recency_key(self.stamp, &self.spot)))
    }
}

/// A document, ready to be written to the index.
struct PreparedDocument {
    spot: DocumentPlace,
    stamp: FileStamp,
    hash: Vec<u8>,
    card: IndexCard,
    columns: Option<[String; 3]>,
}

impl Index {
    /// Updates the index from the files in batches, each of which is committed. `progress` receives
    /// the number of documents read and the total.
    pub fn refresh(
        &mut self,
        workspace: &Workspace,
        effort: Effort,
        limit: RefreshLimit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let limit = effort.limit(limit);
        // Computed once, because hashing the settings takes longer than a query.
        let settings = settings_text(workspace);
        let context = self.context(&settings);
        let mut news = self.find_changes(workspace, &settings, context, effort, limit)?;
        news.cards_first = effort == Effort::Open && limit.is_set();
        if !limit.is_set() && news.pending.len() > UNLOCKED_READ_MAX {
            // Of several processes that find a lot to do, one does it and the others wait.
            let _turn = Lock::acquire(&self.folder, &format!("{}.refresh", self.name))?;
            let news = self.find_changes(workspace, &settings, context, effort, limit)?;
            return self.apply_changes(workspace, context, news, limit, progress);
        }
        self.apply_changes(workspace, context, news, limit, progress)
    }

    fn context(&self, settings: &str) -> RowContext {
        RowContext { settings: hash_number(settings), worktree: self.worktree }
    }

    /// Finds the differences between the files and the index.
    fn find_changes(
        &self,
        workspace: &Workspace,
        settings: &str,
        context: RowContext,
        effort: Effort,
        limit: RefreshLimit,
    ) -> Result<IndexChanges, IndexError> {
        let settings = self.settings_changed(settings)?;
        let (most, turn) = match effort {
            Effort::Open | Effort::Prompt => (COMPARED_FOR_CLIENT_MAX, ROTATION_FOR_CLIENT_MAX),
            Effort::Command | Effort::Fresh | Effort::Hurried => (COMPARED_MAX, ROTATION_MAX),
        };
        let documents = self.documents()?;
        if effort == Effort::Fresh || documents <= most || settings.is_some() {
            // With very many new documents, a client does not wait for all file times.
            let is_new = settings.is_some() && limit.is_set();
            let look = if is_new {
                ScanDetail::MetadataUpTo(newest::TIMED_MAX)
            } else {
                ScanDetail::Metadata
            };
            let news = self.compare_all(workspace, look, context)?;
            return Ok(IndexChanges { is_complete: !is_new || documents == 0, settings, ..news });
        }
        let mut news = match self.folders_changed(workspace)? {
            true => self.compare_all(workspace, ScanDetail::Names, context)?,
            false => {
                let pending = self.next_in_rotation(workspace, turn, limit)?;
                IndexChanges { documents, pending, ..IndexChanges::default() }
            }
        };
        if effort == Effort::Open {
            self.add_edited_open_handoffs(workspace, &mut news.pending)?;
        }
        Ok(news)
    }

    /// Adds open handoffs that were edited in place and are not pending yet.
    fn add_edited_open_handoffs(
        &self,
        workspace: &Workspace,
        pending: &mut Vec<PendingDocument>,
    ) -> Result<(), IndexError> {
        let there: HashSet<DocumentPlace> = pending.iter().map(|one| one.spot.clone()).collect();
        for (place, known) in load_indexed(&self.connection, "WHERE waits IS NOT NULL")? {
            let Some(spot) = spot_from_key(workspace, &place).filter(|spot| !there.contains(spot))
            else {
                continue;
            };
            let stamp = workspace.stamp(&spot);
            if !known.stamp.is_settled || !stamp.is_some_and(|stamp| stamp.is_same(&known.stamp)) {
                pending.push(PendingDocument { spot, stamp, known: Some(known) });
            }
        }
        Ok(())
    }

    fn apply_changes(
        &mut self,
        workspace: &Workspace,
        context: RowContext,
        news: IndexChanges,
        limit: RefreshLimit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let IndexChanges { is_complete: whole, cards_first, settings, documents, .. } = news;
        let IndexChanges { mut pending, removed: gone, folders, mut unread, .. } = news;
        sort_newest_first(workspace, &mut pending, limit, context);
        let is_cards_only = cards_first && pending.len() > READ_IN_HOOK_MAX;
        let now = match is_cards_only {
            true => pending.iter().filter(|one| !one.is_indexed(context)).count(),
            false => pending.len(),
        };
        let with = ReadMode { context, with_words: !is_cards_only };
        let (done, failed) =
            self.read_documents(workspace, with, &pending[..now], limit, progress)?;
        unread.extend(failed);
        let gone_now =
            if limit.is_set() { gone.len().min(REMOVED_IN_HOOK_MAX) } else { gone.len() };
        let is_cut_short = done < pending.len() || gone_now < gone.len();
        // Folder stamps are saved only by a refresh that completes, so the next one after an
        // interrupted refresh compares every name again.
        let remembered = match is_cut_short {
            true => self.save_folders(workspace, None, &[], &gone[..gone_now]),
            false => self.save_folders(workspace, settings.as_deref(), &folders, &gone),
        };
        match remembered {
            Err(error) if limit.is_set() && error.is_busy() => {}
            remembered => remembered?,
        }
        self.is_finished_elsewhere = is_cut_short;
        let missing = pending[done..].iter().filter(|one| !one.is_indexed(context)).count();
        Ok(Freshness {
            is_complete: whole && !is_cut_short,
            unread,
            indexing: IndexProgress::new(documents, missing),
            is_cut_short,
        })
    }

    /// Reads documents again, whether or not they look changed.
    pub(crate) fn reread(
        &mut self,
        workspace: &Workspace,
        spots: Vec<DocumentPlace>,
    ) -> Result<(), IndexError> {
        let pending =
            spots.into_iter().map(|spot| PendingDocument { stamp: None, known: None, spot });
        let pending: Vec<PendingDocument> = pending.collect();
        let with = ReadMode { context: self.context(&settings_text(workspace)), with_words: true };
        self.read_documents(workspace, with, &pending, RefreshLimit::default(), &mut |_, _| ())
            .map(drop)
    }

    /// The settings, if they differ from those the index was built with.
    fn settings_changed(&self, now: &str) -> Result<Option<String>, IndexError> {
        let sql = "SELECT value FROM facts WHERE name = 'settings'";
        let then: Option<String> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok((then.as_deref() != Some(now)).then(|| now.to_owned()))
    }

    fn compare_all(
        &self,
        workspace: &Workspace,
        look: ScanDetail,
        context: RowContext,
    ) -> Result<IndexChanges, IndexError> {
        let DocumentScan { documents, folders, unread } = workspace.scan(look);
        let mut known = load_indexed(&self.connection, "")?;
        let mut pending = Vec::new();
        for (spot, stamp) in &documents {
            let known = known.remove(&path_key(workspace, spot));
            let is_current = |known: &IndexedDocument| {
                known.stamp.is_settled && known.has_words && known.read_with == context
            };
            let same =
                known.as_ref().filter(|known| is_current(known)).is_some_and(|known| match look {
                    ScanDetail::Metadata => known.stamp.is_same(stamp),
                    ScanDetail::MetadataUpTo(_) if stamp.has_time() => known.stamp.is_same(stamp),
                    ScanDetail::Names | ScanDetail::MetadataUpTo(_) => {
                        known.stamp.inode == stamp.inode
                    }
                });
            if !same {
                let stamp = Some(*stamp).filter(FileStamp::has_time);
                pending.push(PendingDocument { spot: spot.clone(), stamp, known });
            }
        }
        // A folder that cannot be read is no reason to drop its documents.
        let gone = known.values().filter(|_| unread.is_empty()).map(|known| known.id).collect();
        let documents = documents.len();
        Ok(IndexChanges {
            documents,
            pending,
            removed: gone,
            folders,
            unread,
            ..IndexChanges::default()
        })
    }

    /// Whether a file was added, removed or replaced anywhere, according to the folder stamps.
    fn folders_changed(&self, workspace: &Workspace) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| Ok((path_key_from_row(row, 0)?, stamp_from_row(row, 2)?)))?;
        let folders: HashMap<PathKey, FileStamp> = rows.collect::<rusqlite::Result<_>>()?;
        let start = |shelf: &HandoffFolder| {
            let root = encode_root(workspace, shelf.root_path());
            folders.contains_key(&(root.to_vec(), shelf.path().as_os_str().as_bytes().to_vec()))
        };
        let same = |(place, then): (&PathKey, &FileStamp)| {
            let now = spot_from_key(workspace, place)
                .map(|spot| workspace.stamp(&spot).unwrap_or_default());
            now.is_some_and(|now| now.is_same(then))
                && (then.is_settled || *then == FileStamp::default())
        };
        Ok(!workspace.folders().iter().all(start) || !folders.iter().all(same))
    }

    /// Documents that changed recently, and the next ones in the rotation.
    fn next_in_rotation(
        &self,
        workspace: &Workspace,
        most: usize,
        limit: RefreshLimit,
    ) -> Result<Vec<PendingDocument>, IndexError> {
        let deadline = Deadline::after(ROTATION_TIME);
        let mut pending = Vec::new();
        // After a checkout these can be all documents, and a client waits.
        let some = if limit.is_set() {
            format!("ORDER BY id DESC LIMIT {ROTATION_MAX}")
        } else {
            String::new()
        };
        for (place, known) in load_indexed(&self.connection, &format!("WHERE settled = 0 {some}"))?
        {
            let Some(spot) = spot_from_key(workspace, &place) else { continue };
            pending.push(PendingDocument {
                stamp: workspace.stamp(&spot),
                known: Some(known),
                spot,
            });
        }
        let sql = "SELECT value FROM facts WHERE name = 'turn'";
        let turn: i64 =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(BEFORE_ALL);
        let some = format!("WHERE id > {turn} AND settled = 1 ORDER BY id LIMIT {most}");
        let mut some: Vec<_> = load_indexed(&self.connection, &some)?.into_iter().collect();
        some.sort_unstable_by_key(|(_, known)| known.id);
        // After the last document, the rotation starts over.
        let mut last = if some.is_empty() { BEFORE_ALL } else { turn };
        for (place, known) in some {
            if deadline.has_passed() {
                break;
            }
            last = known.id;
            let Some(spot) = spot_from_key(workspace, &place) else { continue };
            let stamp = workspace.stamp(&spot);
            if !stamp.is_some_and(|stamp| stamp.is_same(&known.stamp)) {
                pending.push(PendingDocument { spot, stamp, known: Some(known) });
            }
        }
        // If another process is writing, the next refresh compares the same documents again.
        let _ = self.connection.execute("INSERT OR REPLACE INTO facts VALUES ('turn', ?1)", [last]);
        Ok(pending)
    }

    /// Saves the folder stamps and removes deleted documents from the index.
    fn save_folders(
        &mut self,
        workspace: &Workspace,
        settings: Option<&str>,
        folders: &[(DocumentPlace, FileStamp)],
        gone: &[i64],
    ) -> Result<(), IndexError> {
        if settings.is_none()
            && gone.is_empty()
            && !self.differs_from_saved_folders(workspace, folders)?
        {
            return Ok(());
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(settings) = settings {
            let root = workspace.root().path().as_os_str().as_bytes();
            transaction.execute("INSERT OR REPLACE INTO facts VALUES ('root', ?1)", [root])?;
            transaction
                .execute("INSERT OR REPLACE INTO facts VALUES ('settings', ?1)", [settings])?;
        }
        for id in gone {
            forget(&transaction, *id)?;
        }
        update_count(&transaction)?;
        if !folders.is_empty() {
            transaction.execute("DELETE FROM folders", [])?;
        }
        let sql = "INSERT OR REPLACE INTO folders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for (spot, stamp) in folders {
            let (root, inside) = path_bytes(workspace, spot);
            let FileStamp { modified, changed, size, inode, is_settled: settled } = *stamp;
            transaction
                .prepare_cached(sql)?
                .execute((root, inside, modified, changed, size, inode, settled))?;
        }
        Ok(transaction.commit()?)
    }

    fn differs_from_saved_folders(
        &self,
        workspace: &Workspace,
        folders: &[(DocumentPlace, FileStamp)],
    ) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| Ok((path_key_from_row(row, 0)?, stamp_from_row(row, 2)?)))?;
        let known: HashMap<PathKey, FileStamp> = rows.collect::<rusqlite::Result<_>>()?;
        let same = |(spot, stamp): &(DocumentPlace, FileStamp)| {
            known.get(&path_key(workspace, spot)) == Some(stamp)
        };
        Ok(!folders.is_empty() && !folders.iter().all(same))
    }

    /// Reads documents and indexes them in batches; unreadable ones are removed from the index.
    /// Returns how many were read, and the errors.
    fn read_documents(
        &mut self,
        workspace: &Workspace,
        with: ReadMode,
        pending: &[PendingDocument],
        limit: RefreshLimit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(usize, Vec<FileError>), IndexError> {
        let all = pending.len();
        let (mut done, mut took, mut unread) = (0, Duration::ZERO, Vec::new());
        while done < all {
            let piece = &pending[done..all.min(done + limit.next_batch(done, took))];
            if piece.is_empty() {
                return Ok((done, unread));
            }
            progress(done, all);
            let watch = Stopwatch::start();
            let prepared = map_on_all_cores(piece, |one| prepare(workspace, one, with));
            match self.write_documents(workspace, with.context, prepared) {
                // Another process is writing the same documents, and a client waits.
                Err(error) if limit.is_set() && error.is_busy() => {
                    let is_of_use = self.documents()? > 0;
                    return if is_of_use { Ok((done, unread)) } else { Err(IndexError::TimedOut) };
                }
                failed => unread.extend(failed?),
            }
            (done, took) = (done + piece.len(), watch.elapsed());
        }
        progress(all, all);
        if all >= OPTIMIZE_MIN && !limit.is_set() {
            // Indexing has grown the log; a checkpoint makes it short again.
            self.connection.execute_batch(
                "INSERT INTO words (words) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)",
            )?;
        }
        Ok((done, unread))
    }

    fn write_documents(
        &mut self,
        workspace: &Workspace,
        context: RowContext,
        prepared: Vec<PrepareOutcome>,
    ) -> Result<Vec<FileError>, IndexError> {
        let mut unread = Vec::new();
        let mut documents = Vec::new();
        if prepared.iter().all(|outcome| matches!(outcome, PrepareOutcome::Same)) {
            return Ok(unread);
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for outcome in prepared {
            match outcome {
                PrepareOutcome::Same => {}
                PrepareOutcome::Settled(id, stamp) => settle(&transaction, id, &stamp, context)?,
                PrepareOutcome::Changed(document) => documents.push(*document),
                PrepareOutcome::Unread(spot, error) => {
                    forget_at(&transaction, workspace, &spot)?;
                    // A document that was deleted after the scan is not an error.
                    unread.extend(error.filter(|error| !error.is_missing()));
                }
            }
        }
        // Ids must ascend, because otherwise FTS5 flushes its data after each document.
        documents.sort_by_key(|document| document.card.changed);
        for document in &documents {
            forget_at(&transaction, workspace, &document.spot)?;
        }
        for document in &documents {
            insert(&transaction, workspace, document, context)?;
        }
        update_count(&transaction)?;
        transaction.commit()?;
        Ok(unread)
    }
}

/// The result of reading a document that looked different.
enum PrepareOutcome {
    /// The text is the same, but a further change could go unnoticed.
    Same,
    /// The text is the same, and any further change would be noticed.
    Settled(i64, FileStamp),
    /// The text changed.
    Changed(Box<PreparedDocument>),
    /// It cannot be read.
    Unread(DocumentPlace, Option<FileError>),
}

/// Sorts the documents to read first to the front. A few are always read, so their order does not
/// matter.
fn sort_newest_first(
    workspace: &Workspace,
    pending: &mut [PendingDocument],
    limit: RefreshLimit,
    context: RowContext,
) {
    const READ_IN_ANY_CASE: usize = 32;
    const READ_IN_A_HOOK_MAX: usize = 4_096;
    const TIMED_IN_HOOK_MAX: usize = 256;
    if pending.len() <= READ_IN_ANY_CASE {
        return;
    }
    let untimed = pending.iter().filter(|one| one.stamp.is_none()).count();
    if limit.is_set() && untimed > TIMED_IN_HOOK_MAX {
        // Some times are unknown, so names decide for all.
        for one in pending.iter_mut() {
            one.stamp = None;
        }
    } else if untimed > 0 {
        let stamp = |one: &PendingDocument| one.stamp.or_else(|| workspace.stamp(&one.spot));
        let stamps = map_on_all_cores(pending, stamp);
        for (one, stamp) in pending.iter_mut().zip(stamps) {
            one.stamp = stamp;
        }
    }
    let mut first = pending;
    if limit.is_set() && first.len() > READ_IN_A_HOOK_MAX {
        first.select_nth_unstable_by(READ_IN_A_HOOK_MAX, |one, other| {
            one.order(context).cmp(&other.order(context))
        });
        first = &mut first[..READ_IN_A_HOOK_MAX];
    }
    first.sort_unstable_by(|one, other| one.order(context).cmp(&other.order(context)));
}

/// A hash of the settings that rows depend on. It leaves out their path, which differs in each
/// worktree.
fn settings_text(workspace: &Workspace) -> String {
    let Settings { folders, stages, .. } = workspace.settings();
    sha256(format!("{folders:?} {stages:?}").as_bytes())
}

/// The beginning of a hash as a number.
fn hash_number(hash: &str) -> i64 {
    const LETTERS: usize = 15;
    i64::from_str_radix(&hash[..LETTERS], 16).unwrap_or_default()
}

fn prepare(workspace: &Workspace, pending: &PendingDocument, with: ReadMode) -> PrepareOutcome {
    let ReadMode { context, with_words } = with;
    let spot = pending.spot.clone();
    // Taken before the read, so that a change during the read is noticed next time.
    let Some(stamp) = pending.stamp.or_else(|| workspace.stamp(&spot)) else {
        return PrepareOutcome::Unread(spot, None);
    };
    let bytes = match workspace.bytes(&spot) {
        Ok(bytes) => bytes,
        Err(error) => return PrepareOutcome::Unread(spot, Some(error)),
    };
    let hash = sha256(&bytes).as_bytes()[..HASH_LETTERS].to_vec();
    let is_same = |known: &&IndexedDocument| {
        let has_enough = known.has_words || !with_words;
        has_enough && known.hash == hash && known.read_with.settings == context.settings
    };
    if let Some(known) = pending.known.as_ref().filter(is_same) {
        let is_here = known.read_with.worktree == context.worktree;
        let news = stamp.is_settled || !stamp.is_same(&known.stamp) || !is_here;
        return if news { PrepareOutcome::Settled(known.id, stamp) } else { PrepareOutcome::Same };
    }
    let stored = workspace.stored_handoff(spot.clone(), bytes);
    let columns = with_words.then(|| index_columns(&handoff_texts(&stored.handoff(workspace))));
    let card = IndexCard::from_document(workspace, &stored);
    PrepareOutcome::Changed(Box::new(PreparedDocument { spot, stamp, hash, card, columns }))
}

fn path_key(workspace: &Workspace, spot: &DocumentPlace) -> PathKey {
    let (root, inside) = path_bytes(workspace, spot);
    (root.to_vec(), inside.to_vec())
}

fn path_bytes<'s>(workspace: &'s Workspace, spot: &'s DocumentPlace) -> (&'s [u8], &'s [u8]) {
    let (root, inside) = workspace.root_and_path(spot);
    (encode_root(workspace, root), inside.as_os_str().as_bytes())
}

/// Reads a root and a path from two columns.
fn path_key_from_row(row: &Row<'_>, from: usize) -> rusqlite::Result<PathKey> {
    let blob = |at| -> rusqlite::Result<Vec<u8>> { Ok(row.get_ref(at)?.as_blob()?.to_vec()) };
    Ok((blob(from)?, blob(from + 1)?))
}

/// The place of the document at a path below a root; `None` if it is in no handoff folder.
fn spot_from_key(workspace: &Workspace, (root, inside): &PathKey) -> Option<DocumentPlace> {
    workspace.place_below(decode_root(workspace, root), Path::new(OsStr::from_bytes(inside)))
}

fn stamp_from_row(row: &Row<'_>, from: usize) -> rusqlite::Result<FileStamp> {
    Ok(FileStamp {
        modified: row.get(from)?,
        changed: row.get(from + 1)?,
        size: row.get(from + 2)?,
        inode: row.get(from + 3)?,
        is_settled: row.get(from + 4)?,
    })
}

/// Loads the indexed documents that match an SQL clause.
fn load_indexed(
    connection: &Connection,
    which: &str,
) -> rusqlite::Result<HashMap<PathKey, IndexedDocument>> {
    let sql = format!(
        "SELECT id, root, inside, modified, changed, size, inode, settled, hash,
             waits IS NOT NULL, settings, worktree, has_words FROM documents {which}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        Ok((
            path_key_from_row(row, 1)?,
            IndexedDocument {
                id: row.get(0)?,
                stamp: stamp_from_row(row, 3)?,
                hash: row.get(8)?,
                is_open: row.get(9)?,
                has_words: row.get(12)?,
                read_with: RowContext { settings: row.get(10)?, worktree: row.get(11)? },
            },
        ))
    })?;
    rows.collect()
}

/// Saves the number of documents whenever rows change, because counting takes longer than a search.
fn update_count(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO facts SELECT 'documents', count(*) FROM documents";
    transaction.execute(sql, []).map(|_| ())
}

fn settle(
    transaction: &Transaction<'_>,
    id: i64,
    stamp: &FileStamp,
    context: RowContext,
) -> rusqlite::Result<()> {
    let sql = "UPDATE documents SET modified = ?2, changed = ?3, size = ?4, inode = ?5, settled = ?6, \
               worktree = ?7 WHERE id = ?1";
    let FileStamp { modified, changed, size, inode, is_settled: settled } = *stamp;
    transaction
        .prepare_cached(sql)?
        .execute((id, modified, changed, size, inode, settled, context.worktree))
        .map(|_| ())
}

fn forget_at(
    transaction: &Transaction<'_>,
    workspace: &Workspace,
    spot: &DocumentPlace,
) -> rusqlite::Result<()> {
    let sql = "SELECT id FROM documents WHERE root = ?1 AND inside = ?2";
    let id = transaction
        .prepare_cached(sql)?
        .query_row(path_bytes(workspace, spot), |row| row.get(0))
        .optional()?;
    id.map_or(Ok(()), |id| forget(transaction, id))
}

fn forget(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    transaction.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([id])?;
    Ok(())
}

fn insert(
    transaction: &Transaction<'_>,
    workspace: &Workspace,
    document: &PreparedDocument,
    context: RowContext,
) -> rusqlite::Result<()> {
    let id = next_id(transaction, document.card.changed)?;
    let (root, inside) = path_bytes(workspace, &document.spot);
    let FileStamp { modified, changed, size, inode, is_settled: settled } = document.stamp;
    let IndexCard { status, kind, stage, changed: moment, routing: waits, made_from } =
        &document.card;
    let waits = waits.as_ref().and_then(|waits| serde_json::to_string(waits).ok());
    let sql = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
    let made_from = (!made_from.is_empty()).then(|| serde_json::to_string(made_from).ok());
    transaction.prepare_cached(sql)?.execute(rusqlite::params![
        id,
        root,
        inside,
        modified,
        changed,
        size,
        inode,
        settled,
        document.hash,
        moment,
        status.word(),
        kind.word(),
        stage,
        waits,
        context.settings,
        context.worktree,
        document.columns.is_some(),
        made_from.flatten()
    ])?;
    let Some([name, header, body]) = &document.columns else { return Ok(()) };
    let sql = "INSERT INTO words (rowid, name, header, body) VALUES (?1, ?2, ?3, ?4)";
    transaction.prepare_cached(sql)?.execute((id, name, header, body)).map(|_| ())
}

/// The next free id for the day of a change; a document without a time of change counts as the
/// oldest.
fn next_id(transaction: &Transaction<'_>, changed: Option<i64>) -> rusqlite::Result<i64> {
    const DAY_SECONDS: i64 = 86_400;
    const DAY_MAX: i64 = 1 << 32;
    let day = changed.map_or(0, |second| second.div_euclid(DAY_SECONDS).clamp(0, DAY_MAX) + 1);
    let (first, last) = (day << BITS_BELOW_DAY, ((day + 1) << BITS_BELOW_DAY) - 1);
    let sql = "SELECT max(id) FROM documents WHERE id BETWEEN ?1 AND ?2";
    let used: Option<i64> =
        transaction.prepare_cached(sql)?.query_row((first, last), |row| row.get(0))?;
    match used {
        Some(used) if used == last => Err(rusqlite::Error::IntegralValueOutOfRange(0, used)),
        used => Ok(used.map_or(first, |used| used + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ledger::WaitPolicy;
    use crate::sys::env::Environment;
    use crate::sys::files::ScratchFolder;
    use std::path::PathBuf;

    /// A small project that is handled like one with very many documents, long after its last
    /// change.
    struct LargeProject {
        scratch: ScratchFolder,
        workspace: Workspace,
        index: Index,
    }

    impl LargeProject {
        fn new() -> Self {
            let scratch = ScratchFolder::new("midstride-refresh").unwrap();
            scratch.write(".midstride/config.toml", b"").unwrap();
            for name in ["one", "two", "three"] {
                scratch.write(path(name), b"# Pelican\n").unwrap();
            }
            let environment = Environment::in_folder(scratch.path());
            let workspace = Workspace::discover(environment).unwrap();
            let mut index = Index::open(&workspace, WaitPolicy::Command).unwrap();
            index
                .refresh(&workspace, Effort::Fresh, RefreshLimit::default(), &mut |_, _| ())
                .unwrap();
            let settled = "UPDATE documents SET settled = 1; UPDATE folders SET settled = 1";
            index.connection.execute_batch(settled).unwrap();
            let large = Self { scratch, workspace, index };
            large.wait_for_the_next_tick();
            large
        }

        /// A change within the same clock tick as the previous one would go unnoticed.
        fn wait_for_the_next_tick(&self) {
            let folder =
                self.workspace.root().stamp(&PathBuf::from(".midstride/handoffs")).unwrap();
            let tick = || {
                self.scratch.write("tick", b"").unwrap();
                self.workspace.root().stamp(&PathBuf::from("tick")).unwrap().changed
            };
            while tick() <= folder.changed {}
        }

        fn pending(&self, look: impl Fn(&Self) -> Vec<PendingDocument>) -> Vec<String> {
            let pending = look(self).into_iter();
            let mut paths: Vec<String> = pending
                .map(|one| self.workspace.display_path(&one.spot).display().to_string())
                .collect();
            paths.sort();
            paths
        }

        fn folders_changed(&self) -> bool {
            self.index.folders_changed(&self.workspace).unwrap()
        }
    }

    fn path(name: &str) -> String {
        format!(".midstride/handoffs/{name}.md")
    }

    fn in_turn(large: &LargeProject) -> Vec<PendingDocument> {
        large
            .index
            .next_in_rotation(&large.workspace, ROTATION_MAX, RefreshLimit::default())
            .unwrap()
    }

    fn names(large: &LargeProject) -> IndexChanges {
        let context = large.index.context(&settings_text(&large.workspace));
        large.index.compare_all(&large.workspace, ScanDetail::Names, context).unwrap()
    }

    fn by_name(large: &LargeProject) -> Vec<PendingDocument> {
        names(large).pending
    }

    #[test]
    fn an_unchanged_project_reads_nothing_again() {
        let large = LargeProject::new();
        assert!(!large.folders_changed());
        assert!(large.pending(in_turn).is_empty() && large.pending(by_name).is_empty());
        large.scratch.remove().unwrap();
    }

    #[test]
    fn the_rotation_finds_an_edit_made_in_place() {
        let large = LargeProject::new();
        large.scratch.write(path("two"), b"# Pelican no more\n").unwrap();
        assert!(!large.folders_changed(), "no folder tells");
        // The rotation advances and starts over.
        let found: Vec<Vec<String>> = (0..3).map(|_| large.pending(in_turn)).collect();
        assert!(found.contains(&vec![path("two")]), "{found:?}");
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_short_rotation_reaches_every_document() {
        let large = LargeProject::new();
        let names = ["one", "three", "two"].map(path);
        for name in &names {
            large.scratch.write(name, b"# Pelican no more\n").unwrap();
        }
        let one = |large: &LargeProject| {
            large.index.next_in_rotation(&large.workspace, 1, RefreshLimit::default()).unwrap()
        };
        for _ in 0..2 {
            // The fourth call only finds the end of the rotation.
            let mut found: Vec<String> = (0..4).flat_map(|_| large.pending(one)).collect();
            found.sort();
            assert_eq!(found, names);
        }
        large.scratch.remove().unwrap();
    }

    #[test]
    fn an_open_handoff_edited_in_place_is_always_found() {
        let mut large = LargeProject::new();
        let text = b"---\nhandoff:\n  title: Pelican\n---\n";
        large.scratch.write(path("open"), text).unwrap();
        large
            .index
            .refresh(&large.workspace, Effort::Fresh, RefreshLimit::default(), &mut |_, _| ())
            .unwrap();
        let open = large.index.open_handoffs(&large.workspace).unwrap();
        assert_eq!(open.len(), 1, "notes are none");
        large.index.connection.execute_batch("UPDATE documents SET settled = 1").unwrap();
        let in_place = |large: &LargeProject| {
            let mut pending = Vec::new();
            large.index.add_edited_open_handoffs(&large.workspace, &mut pending).unwrap();
            pending
        };
        assert!(large.pending(in_place).is_empty());
        large.scratch.write(path("open"), b"# Pelican no more\n").unwrap();
        large.scratch.write(path("two"), b"# Pelican no more\n").unwrap();
        assert_eq!(large.pending(in_place), [path("open")]);
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_folder_stamp_reveals_added_replaced_and_deleted_files() {
        let large = LargeProject::new();
        let root = large.workspace.root();
        root.put(&PathBuf::from(path("two")), b"# Pelican\n").unwrap();
        root.put(&PathBuf::from(path("four")), b"# Pelican\n").unwrap();
        root.remove(&PathBuf::from(path("one")), b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), [path("four"), path("two")]);
        assert_eq!(names(&large).removed.len(), 1);
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_new_handoff_folder_is_noticed() {
        let large = LargeProject::new();
        large.scratch.write("docs/handoffs/new.md", b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), ["docs/handoffs/new.md"]);
        large.scratch.remove().unwrap();
    }
}

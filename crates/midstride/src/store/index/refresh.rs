//! Bringing the index up to the files: what looks different is read again, what is gone is removed.

use super::limit::{IndexProgress, RefreshLimit};
use super::root::{decode_root, encode_root};
use super::search::BITS_BELOW_DAY;
use super::{Index, IndexCard, IndexError, newest};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::{FileError, FileStamp, Lock, ScanDetail};
use crate::sys::ids::sha256;
use crate::workspace::folder::HandoffFolder;
use crate::workspace::project::{DocumentPlace, DocumentScan, Project, map_on_all_cores};
use crate::workspace::settings::Settings;
use midstride_core::brief::search::{handoff_texts, index_columns};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// Up to so many documents each one is looked at every time; looking at more takes longer than
/// finding.
const COMPARED_MAX: usize = 10_000;
/// The same where a client waits: at the beginning of a session, and at each prompt.
const COMPARED_FOR_CLIENT_MAX: usize = 500;
/// In a larger project some are looked at each time, in turn, for so long.
const ROTATION_TIME: Duration = Duration::from_millis(2);
/// So many are taken into a turn at once.
const ROTATION_MAX: usize = 500;
/// The same where a client waits: the turn comes round as often as somebody asks something.
const ROTATION_FOR_CLIENT_MAX: usize = 50;
/// The first document that does not say when it changed is number 0.
const BEFORE_ALL: i64 = -1;
/// Nobody waits in a hook for more than these to be read.
const READ_IN_HOOK_MAX: usize = 64;
/// A hook removes no more documents than this that are gone; the rest is left to the next refresh.
const REMOVED_IN_HOOK_MAX: usize = 256;
/// More than these are not read by two commands at once.
const UNLOCKED_READ_MAX: usize = 256;
/// From so many on, what was written is put in order for reading.
const OPTIMIZE_MIN: usize = 2000;

/// Enough of a hash to tell two texts of one document apart.
const HASH_LETTERS: usize = 16;

impl Effort {
    fn limit(self, limit: RefreshLimit) -> RefreshLimit {
        match self {
            Self::Hurried | Self::Prompt => limit.at_most(READ_IN_HOOK_MAX),
            Self::Command | Self::Fresh | Self::Open => limit,
        }
    }
}

/// How closely to look at the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A person waits.
    Command,
    /// A person waits, and wants to be sure.
    Fresh,
    /// Somebody waits who has little time: of what is new, some is read.
    Hurried,
    /// A client waits, at each prompt: of many documents some are looked at, in turn.
    Prompt,
    /// A session begins: only what is open has to be right, however many others there are.
    Open,
}

/// How far the index can be believed.
#[derive(Debug)]
pub struct Freshness {
    /// Whether every document was looked at; otherwise an edit made in place may be missing.
    pub is_complete: bool,
    /// What could not be looked at or read.
    pub unread: Vec<FileError>,
    /// How far the index is, if it does not have every document yet.
    pub indexing: Option<IndexProgress>,
    /// Whether the limit was reached before everything was done.
    pub is_cut_short: bool,
}

/// What the index knows of a document.
struct IndexedDocument {
    id: i64,
    stamp: FileStamp,
    hash: Vec<u8>,
    is_open: bool,
    /// Whether its words are in the index, besides its card.
    has_words: bool,
    read_with: RowContext,
}

/// What a document is read for.
#[derive(Clone, Copy, Debug)]
struct ReadMode {
    context: RowContext,
    with_words: bool,
}

/// What a row of the index depends on besides the text of its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowContext {
    /// The configuration: it defines kinds and stages.
    settings: i64,
    /// The worktree that the file was compared in. In a copy of another worktree's index every row
    /// names that one, until its file was compared here.
    worktree: i64,
}

/// What looks different from what is known.
#[derive(Default)]
struct IndexChanges {
    is_complete: bool,
    /// Whether cards are wanted before words: of many new documents they take a fourth of the time,
    /// and a session that begins needs nothing else.
    cards_first: bool,
    settings: Option<String>,
    documents: usize,
    pending: Vec<PendingDocument>,
    removed: Vec<i64>,
    folders: Vec<(DocumentPlace, FileStamp)>,
    unread: Vec<FileError>,
}

/// A root and a path below it, as bytes: a path is compared part by part, which takes ten times as
/// long.
type PathKey = (Vec<u8>, Vec<u8>);

/// A document that looks different, with what is known of it.
struct PendingDocument {
    spot: DocumentPlace,
    stamp: Option<FileStamp>,
    known: Option<IndexedDocument>,
}

impl PendingDocument {
    /// Whether the index has its card as it looks now. What is left is to compare it once more, for a
    /// change within the tick of the last one, or to read its words.
    fn is_indexed(&self, context: RowContext) -> bool {
        let looks_the_same =
            |known: &IndexedDocument| self.stamp.is_none_or(|stamp| stamp.is_same(&known.stamp));
        let known = self.known.as_ref().filter(|known| known.read_with == context);
        known.is_some_and(looks_the_same)
    }

    /// Which to read first: handoffs that were open, then others that are not in the index as they
    /// are, then what only has to be compared once more; in each the newest first.
    fn order(&self, context: RowContext) -> impl Ord + use<'_> {
        let is_open = self.known.as_ref().is_some_and(|known| known.is_open);
        let rank = (!self.is_indexed(context), is_open);
        Reverse((rank, newest::recency_key(self.stamp, &self.spot)))
    }
}

/// A document as it is written.
struct PreparedDocument {
    spot: DocumentPlace,
    stamp: FileStamp,
    hash: Vec<u8>,
    card: IndexCard,
    columns: Option<[String; 3]>,
}

impl Index {
    /// Brings the index up to the files, in pieces that are kept. Whoever waits is told how many of
    /// how many were read.
    pub fn refresh(
        &mut self,
        project: &Project,
        effort: Effort,
        limit: RefreshLimit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let limit = effort.limit(limit);
        // Once: writing it out takes longer than asking the index.
        let settings = settings_text(project);
        let context = self.context(&settings);
        let mut news = self.find_changes(project, &settings, context, effort, limit)?;
        news.cards_first = effort == Effort::Open && limit.is_set();
        if !limit.is_set() && news.pending.len() > UNLOCKED_READ_MAX {
            // Of many who find much to do, one does it and the others wait.
            let _turn = Lock::acquire(&self.folder, &format!("{}.refresh", self.name))?;
            let news = self.find_changes(project, &settings, context, effort, limit)?;
            return self.apply_changes(project, context, news, limit, progress);
        }
        self.apply_changes(project, context, news, limit, progress)
    }

    fn context(&self, settings: &str) -> RowContext {
        RowContext { settings: hash_number(settings), worktree: self.worktree }
    }

    /// What looks different from what is known.
    fn find_changes(
        &self,
        project: &Project,
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
            // Of very many new documents a client does not wait for all times.
            let is_new = settings.is_some() && limit.is_set();
            let look = if is_new {
                ScanDetail::MetadataUpTo(newest::TIMED_MAX)
            } else {
                ScanDetail::Metadata
            };
            let news = self.compare_all(project, look, context)?;
            return Ok(IndexChanges { is_complete: !is_new || documents == 0, settings, ..news });
        }
        let mut news = match self.folders_changed(project)? {
            true => self.compare_all(project, ScanDetail::Names, context)?,
            false => {
                let pending = self.next_in_rotation(project, turn, limit)?;
                IndexChanges { documents, pending, ..IndexChanges::default() }
            }
        };
        if effort == Effort::Open {
            self.add_edited_open_handoffs(project, &mut news.pending)?;
        }
        Ok(news)
    }

    /// Open handoffs that were written in place, besides what is pending already.
    fn add_edited_open_handoffs(
        &self,
        project: &Project,
        pending: &mut Vec<PendingDocument>,
    ) -> Result<(), IndexError> {
        let there: HashSet<DocumentPlace> = pending.iter().map(|one| one.spot.clone()).collect();
        for (place, known) in load_indexed(&self.connection, "WHERE waits IS NOT NULL")? {
            let Some(spot) = spot_from_key(project, &place).filter(|spot| !there.contains(spot))
            else {
                continue;
            };
            let stamp = project.stamp(&spot);
            if !known.stamp.is_settled || !stamp.is_some_and(|stamp| stamp.is_same(&known.stamp)) {
                pending.push(PendingDocument { spot, stamp, known: Some(known) });
            }
        }
        Ok(())
    }

    fn apply_changes(
        &mut self,
        project: &Project,
        context: RowContext,
        news: IndexChanges,
        limit: RefreshLimit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let IndexChanges { is_complete: whole, cards_first, settings, documents, .. } = news;
        let IndexChanges { mut pending, removed: gone, folders, mut unread, .. } = news;
        sort_newest_first(project, &mut pending, limit, context);
        let is_cards_only = cards_first && pending.len() > READ_IN_HOOK_MAX;
        let now = match is_cards_only {
            true => pending.iter().filter(|one| !one.is_indexed(context)).count(),
            false => pending.len(),
        };
        let with = ReadMode { context, with_words: !is_cards_only };
        let (done, failed) =
            self.read_documents(project, with, &pending[..now], limit, progress)?;
        unread.extend(failed);
        let gone_now =
            if limit.is_set() { gone.len().min(REMOVED_IN_HOOK_MAX) } else { gone.len() };
        let is_cut_short = done < pending.len() || gone_now < gone.len();
        // What the folders look like is taken down by the refresh that finishes: the next one after
        // a refresh that was cut short, or killed, looks at every name again.
        let remembered = match is_cut_short {
            true => self.save_folders(project, None, &[], &gone[..gone_now]),
            false => self.save_folders(project, settings.as_deref(), &folders, &gone),
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

    /// Reads some documents again, however they look.
    pub(crate) fn reread(
        &mut self,
        project: &Project,
        spots: Vec<DocumentPlace>,
    ) -> Result<(), IndexError> {
        let pending =
            spots.into_iter().map(|spot| PendingDocument { stamp: None, known: None, spot });
        let pending: Vec<PendingDocument> = pending.collect();
        let with = ReadMode { context: self.context(&settings_text(project)), with_words: true };
        self.read_documents(project, with, &pending, RefreshLimit::default(), &mut |_, _| ())
            .map(drop)
    }

    /// The configuration, unless everything was read with it.
    fn settings_changed(&self, now: &str) -> Result<Option<String>, IndexError> {
        let sql = "SELECT value FROM facts WHERE name = 'settings'";
        let then: Option<String> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok((then.as_deref() != Some(now)).then(|| now.to_owned()))
    }

    fn compare_all(
        &self,
        project: &Project,
        look: ScanDetail,
        context: RowContext,
    ) -> Result<IndexChanges, IndexError> {
        let DocumentScan { documents, folders, unread } = project.scan(look);
        let mut known = load_indexed(&self.connection, "")?;
        let mut pending = Vec::new();
        for (spot, stamp) in &documents {
            let known = known.remove(&path_key(project, spot));
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
        // A shelf that cannot be looked at is no reason to forget it.
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

    /// Whether a file was added, removed or exchanged anywhere: a folder tells.
    fn folders_changed(&self, project: &Project) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| Ok((path_key_from_row(row, 0)?, stamp_from_row(row, 2)?)))?;
        let folders: HashMap<PathKey, FileStamp> = rows.collect::<rusqlite::Result<_>>()?;
        let start = |shelf: &HandoffFolder| {
            let root = encode_root(project, shelf.root().path());
            folders.contains_key(&(root.to_vec(), shelf.path().as_os_str().as_bytes().to_vec()))
        };
        let same = |(place, then): (&PathKey, &FileStamp)| {
            let now =
                spot_from_key(project, place).map(|spot| project.stamp(&spot).unwrap_or_default());
            now.is_some_and(|now| now.is_same(then))
                && (then.is_settled || *then == FileStamp::default())
        };
        Ok(!project.folders().iter().all(start) || !folders.iter().all(same))
    }

    /// Documents that changed lately, and those whose turn it is.
    fn next_in_rotation(
        &self,
        project: &Project,
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
            let Some(spot) = spot_from_key(project, &place) else { continue };
            pending.push(PendingDocument { stamp: project.stamp(&spot), known: Some(known), spot });
        }
        let sql = "SELECT value FROM facts WHERE name = 'turn'";
        let turn: i64 =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(BEFORE_ALL);
        let some = format!("WHERE id > {turn} AND settled = 1 ORDER BY id LIMIT {most}");
        let mut some: Vec<_> = load_indexed(&self.connection, &some)?.into_iter().collect();
        some.sort_unstable_by_key(|(_, known)| known.id);
        // After the last one it is the first one's turn again.
        let mut last = if some.is_empty() { BEFORE_ALL } else { turn };
        for (place, known) in some {
            if deadline.has_passed() {
                break;
            }
            last = known.id;
            let Some(spot) = spot_from_key(project, &place) else { continue };
            let stamp = project.stamp(&spot);
            if !stamp.is_some_and(|stamp| stamp.is_same(&known.stamp)) {
                pending.push(PendingDocument { spot, stamp, known: Some(known) });
            }
        }
        // Where somebody else is writing, the same ones are looked at once more.
        let _ = self.connection.execute("INSERT OR REPLACE INTO facts VALUES ('turn', ?1)", [last]);
        Ok(pending)
    }

    /// Takes down what the folders looked like, and forgets what is gone.
    fn save_folders(
        &mut self,
        project: &Project,
        settings: Option<&str>,
        folders: &[(DocumentPlace, FileStamp)],
        gone: &[i64],
    ) -> Result<(), IndexError> {
        if settings.is_none()
            && gone.is_empty()
            && !self.differs_from_saved_folders(project, folders)?
        {
            return Ok(());
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(settings) = settings {
            let root = project.root().path().as_os_str().as_bytes();
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
            let (root, inside) = path_bytes(project, spot);
            let FileStamp { modified, changed, size, inode, is_settled: settled } = *stamp;
            transaction
                .prepare_cached(sql)?
                .execute((root, inside, modified, changed, size, inode, settled))?;
        }
        Ok(transaction.commit()?)
    }

    fn differs_from_saved_folders(
        &self,
        project: &Project,
        folders: &[(DocumentPlace, FileStamp)],
    ) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| Ok((path_key_from_row(row, 0)?, stamp_from_row(row, 2)?)))?;
        let known: HashMap<PathKey, FileStamp> = rows.collect::<rusqlite::Result<_>>()?;
        let same = |(spot, stamp): &(DocumentPlace, FileStamp)| {
            known.get(&path_key(project, spot)) == Some(stamp)
        };
        Ok(!folders.is_empty() && !folders.iter().all(same))
    }

    /// Reads documents and writes what they say, a piece at a time; what cannot be read is forgotten.
    /// Returns how many were read, and what could not be.
    fn read_documents(
        &mut self,
        project: &Project,
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
            let prepared = map_on_all_cores(piece, |one| prepare(project, one, with));
            match self.write_documents(project, with.context, prepared) {
                // Another process writes. It gets there without us, and a client waits.
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
            // The log has grown with it; written back, it is short again.
            self.connection.execute_batch(
                "INSERT INTO words (words) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)",
            )?;
        }
        Ok((done, unread))
    }

    fn write_documents(
        &mut self,
        project: &Project,
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
                    forget_at(&transaction, project, &spot)?;
                    // What is gone since it was seen is simply not there.
                    unread.extend(error.filter(|error| !error.is_missing()));
                }
            }
        }
        // New ids go up, or the engine writes everything down after each one.
        documents.sort_by_key(|document| document.card.changed);
        for document in &documents {
            forget_at(&transaction, project, &document.spot)?;
        }
        for document in &documents {
            insert(&transaction, project, document, context)?;
        }
        update_count(&transaction)?;
        transaction.commit()?;
        Ok(unread)
    }
}

/// What became of a document that looked different.
enum PrepareOutcome {
    /// It says the same, and may still be changed unseen.
    Same,
    /// It says the same, and would be seen to change.
    Settled(i64, FileStamp),
    /// It says something else.
    Changed(Box<PreparedDocument>),
    /// It cannot be read.
    Unread(DocumentPlace, Option<FileError>),
}

/// What is read first. A few are read in any case, so their order does not matter.
fn sort_newest_first(
    project: &Project,
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
        // Nothing is known of some, so names decide for all.
        for one in pending.iter_mut() {
            one.stamp = None;
        }
    } else if untimed > 0 {
        let stamp = |one: &PendingDocument| one.stamp.or_else(|| project.stamp(&one.spot));
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

/// What of the configuration rows depend on. Not where it is: that is another path in each worktree.
fn settings_text(project: &Project) -> String {
    let Settings { folders: shelves, stages, .. } = project.settings();
    sha256(format!("{shelves:?} {stages:?}").as_bytes())
}

/// The beginning of a hash as a number.
fn hash_number(hash: &str) -> i64 {
    const LETTERS: usize = 15;
    i64::from_str_radix(&hash[..LETTERS], 16).unwrap_or_default()
}

fn prepare(project: &Project, pending: &PendingDocument, with: ReadMode) -> PrepareOutcome {
    let ReadMode { context, with_words } = with;
    let spot = pending.spot.clone();
    // Before it is read: a change meanwhile is seen next time.
    let Some(stamp) = pending.stamp.or_else(|| project.stamp(&spot)) else {
        return PrepareOutcome::Unread(spot, None);
    };
    let bytes = match project.bytes(&spot) {
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
    let shelved = project.stored_handoff(spot.clone(), bytes);
    let columns = with_words.then(|| index_columns(&handoff_texts(&shelved.handoff(project))));
    let card = IndexCard::from_document(project, &shelved);
    PrepareOutcome::Changed(Box::new(PreparedDocument { spot, stamp, hash, card, columns }))
}

fn path_key(project: &Project, spot: &DocumentPlace) -> PathKey {
    let (root, inside) = path_bytes(project, spot);
    (root.to_vec(), inside.to_vec())
}

fn path_bytes<'s>(project: &'s Project, spot: &'s DocumentPlace) -> (&'s [u8], &'s [u8]) {
    let (root, inside) = project.root_and_path(spot);
    (encode_root(project, root), inside.as_os_str().as_bytes())
}

/// The root and the path that two columns hold.
fn path_key_from_row(row: &Row<'_>, from: usize) -> rusqlite::Result<PathKey> {
    let blob = |at| -> rusqlite::Result<Vec<u8>> { Ok(row.get_ref(at)?.as_blob()?.to_vec()) };
    Ok((blob(from)?, blob(from + 1)?))
}

/// The place on a shelf that a root and a path below it mean.
fn spot_from_key(project: &Project, (root, inside): &PathKey) -> Option<DocumentPlace> {
    project.place_below(decode_root(project, root), Path::new(OsStr::from_bytes(inside)))
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

/// Some of the documents that are known.
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

/// Counting takes longer than finding, so it is done when something was written.
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
    project: &Project,
    spot: &DocumentPlace,
) -> rusqlite::Result<()> {
    let sql = "SELECT id FROM documents WHERE root = ?1 AND inside = ?2";
    let id = transaction
        .prepare_cached(sql)?
        .query_row(path_bytes(project, spot), |row| row.get(0))
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
    project: &Project,
    document: &PreparedDocument,
    context: RowContext,
) -> rusqlite::Result<()> {
    let id = next_id(transaction, document.card.changed)?;
    let (root, inside) = path_bytes(project, &document.spot);
    let FileStamp { modified, changed, size, inode, is_settled: settled } = document.stamp;
    let IndexCard { status, kind, stage, changed: moment, routing: waits } = &document.card;
    let waits = waits.as_ref().and_then(|waits| serde_json::to_string(waits).ok());
    let sql = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
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
        document.columns.is_some()
    ])?;
    let Some([name, header, body]) = &document.columns else { return Ok(()) };
    let sql = "INSERT INTO words (rowid, name, header, body) VALUES (?1, ?2, ?3, ?4)";
    transaction.prepare_cached(sql)?.execute((id, name, header, body)).map(|_| ())
}

/// The next id of the day of a change; what does not say when it changed is the oldest.
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
    use crate::sys::clock::Clock;
    use crate::sys::files::ScratchFolder;
    use crate::workspace::settings::Environment;
    use std::path::PathBuf;

    /// A project as one with very many documents is looked at, long after its last change.
    struct LargeProject {
        scratch: ScratchFolder,
        project: Project,
        index: Index,
    }

    impl LargeProject {
        fn new() -> Self {
            let scratch = ScratchFolder::new("midstride-refresh").unwrap();
            scratch.write(".midstride/config.toml", b"").unwrap();
            for name in ["one", "two", "three"] {
                scratch.write(path(name), b"# Pelican\n").unwrap();
            }
            let environment = Environment {
                folder: scratch.path().to_owned(),
                home: None,
                state: None,
                editor: None,
                user: None,
                automation: None,
                session: None,
                claude: None,
                codex: None,
                clock: Clock::System,
            };
            let project = Project::discover(environment).unwrap();
            let mut index = Index::open(&project, WaitPolicy::Command).unwrap();
            index
                .refresh(&project, Effort::Fresh, RefreshLimit::default(), &mut |_, _| ())
                .unwrap();
            let settled = "UPDATE documents SET settled = 1; UPDATE folders SET settled = 1";
            index.connection.execute_batch(settled).unwrap();
            let large = Self { scratch, project, index };
            large.wait_for_the_next_tick();
            large
        }

        /// A change within the tick of the one before would look the same.
        fn wait_for_the_next_tick(&self) {
            let folder = self.project.root().stamp(&PathBuf::from(".midstride/handoffs")).unwrap();
            let tick = || {
                self.scratch.write("tick", b"").unwrap();
                self.project.root().stamp(&PathBuf::from("tick")).unwrap().changed
            };
            while tick() <= folder.changed {}
        }

        fn pending(&self, look: impl Fn(&Self) -> Vec<PendingDocument>) -> Vec<String> {
            let pending = look(self).into_iter();
            let mut paths: Vec<String> = pending
                .map(|one| self.project.display_path(&one.spot).display().to_string())
                .collect();
            paths.sort();
            paths
        }

        fn folders_changed(&self) -> bool {
            self.index.folders_changed(&self.project).unwrap()
        }
    }

    fn path(name: &str) -> String {
        format!(".midstride/handoffs/{name}.md")
    }

    fn in_turn(large: &LargeProject) -> Vec<PendingDocument> {
        large.index.next_in_rotation(&large.project, ROTATION_MAX, RefreshLimit::default()).unwrap()
    }

    fn names(large: &LargeProject) -> IndexChanges {
        let context = large.index.context(&settings_text(&large.project));
        large.index.compare_all(&large.project, ScanDetail::Names, context).unwrap()
    }

    fn by_name(large: &LargeProject) -> Vec<PendingDocument> {
        names(large).pending
    }

    #[test]
    fn without_a_change_nothing_is_read_again() {
        let large = LargeProject::new();
        assert!(!large.folders_changed());
        assert!(large.pending(in_turn).is_empty() && large.pending(by_name).is_empty());
        large.scratch.remove().unwrap();
    }

    #[test]
    fn an_edit_in_place_is_found_when_its_turn_comes() {
        let large = LargeProject::new();
        large.scratch.write(path("two"), b"# Pelican no more\n").unwrap();
        assert!(!large.folders_changed(), "no folder tells");
        // Whose turn it is moves on, and comes back.
        let found: Vec<Vec<String>> = (0..3).map(|_| large.pending(in_turn)).collect();
        assert!(found.contains(&vec![path("two")]), "{found:?}");
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_short_turn_comes_round_to_every_document() {
        let large = LargeProject::new();
        let names = ["one", "three", "two"].map(path);
        for name in &names {
            large.scratch.write(name, b"# Pelican no more\n").unwrap();
        }
        let one = |large: &LargeProject| {
            large.index.next_in_rotation(&large.project, 1, RefreshLimit::default()).unwrap()
        };
        for _ in 0..2 {
            // The last of four finds that it is the first one's turn again.
            let mut found: Vec<String> = (0..4).flat_map(|_| large.pending(one)).collect();
            found.sort();
            assert_eq!(found, names);
        }
        large.scratch.remove().unwrap();
    }

    #[test]
    fn an_open_handoff_that_was_written_in_place_is_always_found() {
        let mut large = LargeProject::new();
        let text = b"---\nhandoff:\n  title: Pelican\n---\n";
        large.scratch.write(path("open"), text).unwrap();
        large
            .index
            .refresh(&large.project, Effort::Fresh, RefreshLimit::default(), &mut |_, _| ())
            .unwrap();
        let open = large.index.open_handoffs(&large.project).unwrap();
        assert_eq!(open.len(), 1, "notes are none");
        large.index.connection.execute_batch("UPDATE documents SET settled = 1").unwrap();
        let in_place = |large: &LargeProject| {
            let mut pending = Vec::new();
            large.index.add_edited_open_handoffs(&large.project, &mut pending).unwrap();
            pending
        };
        assert!(large.pending(in_place).is_empty());
        large.scratch.write(path("open"), b"# Pelican no more\n").unwrap();
        large.scratch.write(path("two"), b"# Pelican no more\n").unwrap();
        assert_eq!(large.pending(in_place), [path("open")]);
        large.scratch.remove().unwrap();
    }

    #[test]
    fn what_is_new_exchanged_or_gone_is_told_by_its_folder() {
        let large = LargeProject::new();
        let root = large.project.root();
        root.put(&PathBuf::from(path("two")), b"# Pelican\n").unwrap();
        root.put(&PathBuf::from(path("four")), b"# Pelican\n").unwrap();
        root.remove(&PathBuf::from(path("one")), b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), [path("four"), path("two")]);
        assert_eq!(names(&large).removed.len(), 1);
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_shelf_that_appears_is_told_too() {
        let large = LargeProject::new();
        large.scratch.write("docs/handoffs/new.md", b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), ["docs/handoffs/new.md"]);
        large.scratch.remove().unwrap();
    }
}

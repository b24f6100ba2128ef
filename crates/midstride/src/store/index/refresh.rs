//! Bringing the index up to the files: what looks different is read again, what is gone is removed.

use super::limit::{Indexing, Limit};
use super::root::{root_of, stored_root};
use super::search::BITS_BELOW_DAY;
use super::{Card, Index, IndexError, newest};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::{FileError, Lock, Look, Stamp};
use crate::sys::ids::sha256;
use crate::workspace::project::{Looked, Project, Spot, on_all_cores};
use crate::workspace::settings::Settings;
use crate::workspace::shelf::Shelf;
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
const LOOKED_AT_MAX: usize = 10_000;
/// The same where a client waits: at the beginning of a session, and at each prompt.
const LOOKED_AT_FOR_CLIENT_MAX: usize = 500;
/// In a larger project some are looked at each time, in turn, for so long.
const TURN: Duration = Duration::from_millis(2);
/// So many are taken into a turn at once.
const TURN_MAX: usize = 500;
/// The same where a client waits: the turn comes round as often as somebody asks something.
const TURN_FOR_CLIENT_MAX: usize = 50;
/// The first document that does not say when it changed is number 0.
const BEFORE_ALL: i64 = -1;
/// Nobody waits in a hook for more than these to be read.
const HOOK_MAX: usize = 64;
/// A hook removes no more documents than this that are gone; the rest is left to the next refresh.
const GONE_IN_HOOK_MAX: usize = 256;
/// More than these are not read by two commands at once.
const AT_ONCE_MAX: usize = 256;
/// From so many on, what was written is put in order for reading.
const WORTH_ORDERING: usize = 2000;

/// Enough of a hash to tell two texts of one document apart.
const HASH_LETTERS: usize = 16;

impl Effort {
    fn limit(self, limit: Limit) -> Limit {
        match self {
            Self::Hurried | Self::Prompt => limit.at_most(HOOK_MAX),
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
    pub whole: bool,
    /// What could not be looked at or read.
    pub unread: Vec<FileError>,
    /// How far the index is, if it does not have every document yet.
    pub indexing: Option<Indexing>,
    /// Whether the limit was reached before everything was done.
    pub is_cut_short: bool,
}

/// What the index knows of a document.
struct Known {
    id: i64,
    stamp: Stamp,
    hash: Vec<u8>,
    is_open: bool,
    /// Whether its words are in the index, besides its card.
    has_words: bool,
    read_with: Context,
}

/// What a document is read for.
#[derive(Clone, Copy, Debug)]
struct Reading {
    context: Context,
    with_words: bool,
}

/// What a row of the index depends on besides the text of its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Context {
    /// The configuration: it defines kinds and stages.
    settings: i64,
    /// The worktree that the file was compared in. In a copy of another worktree's index every row
    /// names that one, until its file was compared here.
    worktree: i64,
}

/// What looks different from what is known.
#[derive(Default)]
struct News {
    whole: bool,
    /// Whether cards are wanted before words: of many new documents they take a fourth of the time,
    /// and a session that begins needs nothing else.
    cards_first: bool,
    settings: Option<String>,
    documents: usize,
    pending: Vec<Pending>,
    gone: Vec<i64>,
    folders: Vec<(Spot, Stamp)>,
    unread: Vec<FileError>,
}

/// A root and a path below it, as bytes: a path is compared part by part, which takes ten times as
/// long.
type Place = (Vec<u8>, Vec<u8>);

/// A document that looks different, with what is known of it.
struct Pending {
    spot: Spot,
    stamp: Option<Stamp>,
    known: Option<Known>,
}

impl Pending {
    /// Whether the index has its card as it looks now. What is left is to compare it once more, for a
    /// change within the tick of the last one, or to read its words.
    fn is_indexed(&self, context: Context) -> bool {
        let looks_the_same =
            |known: &Known| self.stamp.is_none_or(|stamp| stamp.same(&known.stamp));
        let known = self.known.as_ref().filter(|known| known.read_with == context);
        known.is_some_and(looks_the_same)
    }

    /// Which to read first: handoffs that were open, then others that are not in the index as they
    /// are, then what only has to be compared once more; in each the newest first.
    fn order(&self, context: Context) -> impl Ord + use<'_> {
        let is_open = self.known.as_ref().is_some_and(|known| known.is_open);
        let rank = (!self.is_indexed(context), is_open);
        Reverse((rank, newest::age(self.stamp, &self.spot)))
    }
}

/// A document as it is written.
struct Prepared {
    spot: Spot,
    stamp: Stamp,
    hash: Vec<u8>,
    card: Card,
    columns: Option<[String; 3]>,
}

impl Index {
    /// Brings the index up to the files, in pieces that are kept. Whoever waits is told how many of
    /// how many were read.
    pub fn refresh(
        &mut self,
        project: &Project,
        effort: Effort,
        limit: Limit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let limit = effort.limit(limit);
        // Once: writing it out takes longer than asking the index.
        let settings = settings_of(project);
        let context = self.context(&settings);
        let mut news = self.news(project, &settings, context, effort, limit)?;
        news.cards_first = effort == Effort::Open && limit.is_set();
        if !limit.is_set() && news.pending.len() > AT_ONCE_MAX {
            // Of many who find much to do, one does it and the others wait.
            let _turn = Lock::hold(&self.folder, &format!("{}.refresh", self.name))?;
            let news = self.news(project, &settings, context, effort, limit)?;
            return self.take_in(project, context, news, limit, progress);
        }
        self.take_in(project, context, news, limit, progress)
    }

    fn context(&self, settings: &str) -> Context {
        Context { settings: number(settings), worktree: self.worktree }
    }

    /// What looks different from what is known.
    fn news(
        &self,
        project: &Project,
        settings: &str,
        context: Context,
        effort: Effort,
        limit: Limit,
    ) -> Result<News, IndexError> {
        let settings = self.settings_changed(settings)?;
        let (most, turn) = match effort {
            Effort::Open | Effort::Prompt => (LOOKED_AT_FOR_CLIENT_MAX, TURN_FOR_CLIENT_MAX),
            Effort::Command | Effort::Fresh | Effort::Hurried => (LOOKED_AT_MAX, TURN_MAX),
        };
        let documents = self.documents()?;
        if effort == Effort::Fresh || documents <= most || settings.is_some() {
            // Of very many new documents a client does not wait for all times.
            let is_new = settings.is_some() && limit.is_set();
            let look = if is_new { Look::UpTo(newest::TIMED_MAX) } else { Look::Closely };
            let news = self.look_at_all(project, look, context)?;
            return Ok(News { whole: !is_new || documents == 0, settings, ..news });
        }
        let mut news = match self.folders_changed(project)? {
            true => self.look_at_all(project, Look::Names, context)?,
            false => {
                let pending = self.in_turn(project, turn, limit)?;
                News { documents, pending, ..News::default() }
            }
        };
        if effort == Effort::Open {
            self.open_in_place(project, &mut news.pending)?;
        }
        Ok(news)
    }

    /// Open handoffs that were written in place, besides what is pending already.
    fn open_in_place(
        &self,
        project: &Project,
        pending: &mut Vec<Pending>,
    ) -> Result<(), IndexError> {
        let there: HashSet<Spot> = pending.iter().map(|one| one.spot.clone()).collect();
        for (place, known) in known(&self.connection, "WHERE waits IS NOT NULL")? {
            let Some(spot) = spot(project, &place).filter(|spot| !there.contains(spot)) else {
                continue;
            };
            let stamp = project.stamp(&spot);
            if !known.stamp.settled || !stamp.is_some_and(|stamp| stamp.same(&known.stamp)) {
                pending.push(Pending { spot, stamp, known: Some(known) });
            }
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        project: &Project,
        context: Context,
        news: News,
        limit: Limit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let News { whole, cards_first, settings, documents, .. } = news;
        let News { mut pending, gone, folders, mut unread, .. } = news;
        sort_newest_first(project, &mut pending, limit, context);
        let is_cards_only = cards_first && pending.len() > HOOK_MAX;
        let now = match is_cards_only {
            true => pending.iter().filter(|one| !one.is_indexed(context)).count(),
            false => pending.len(),
        };
        let with = Reading { context, with_words: !is_cards_only };
        let (done, failed) = self.read(project, with, &pending[..now], limit, progress)?;
        unread.extend(failed);
        let gone_now = if limit.is_set() { gone.len().min(GONE_IN_HOOK_MAX) } else { gone.len() };
        let is_cut_short = done < pending.len() || gone_now < gone.len();
        // What the folders look like is taken down by the refresh that finishes: the next one after
        // a refresh that was cut short, or killed, looks at every name again.
        let remembered = match is_cut_short {
            true => self.remember(project, None, &[], &gone[..gone_now]),
            false => self.remember(project, settings.as_deref(), &folders, &gone),
        };
        match remembered {
            Err(error) if limit.is_set() && error.is_busy() => {}
            remembered => remembered?,
        }
        self.is_left_to_others = is_cut_short;
        let missing = pending[done..].iter().filter(|one| !one.is_indexed(context)).count();
        Ok(Freshness {
            whole: whole && !is_cut_short,
            unread,
            indexing: Indexing::of(documents, missing),
            is_cut_short,
        })
    }

    /// Reads some documents again, however they look.
    pub(crate) fn read_again(
        &mut self,
        project: &Project,
        spots: Vec<Spot>,
    ) -> Result<(), IndexError> {
        let pending = spots.into_iter().map(|spot| Pending { stamp: None, known: None, spot });
        let pending: Vec<Pending> = pending.collect();
        let with = Reading { context: self.context(&settings_of(project)), with_words: true };
        self.read(project, with, &pending, Limit::default(), &mut |_, _| ()).map(drop)
    }

    /// The configuration, unless everything was read with it.
    fn settings_changed(&self, now: &str) -> Result<Option<String>, IndexError> {
        let sql = "SELECT value FROM facts WHERE name = 'settings'";
        let then: Option<String> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok((then.as_deref() != Some(now)).then(|| now.to_owned()))
    }

    fn look_at_all(
        &self,
        project: &Project,
        look: Look,
        context: Context,
    ) -> Result<News, IndexError> {
        let Looked { documents, folders, unread } = project.look(look);
        let mut known = known(&self.connection, "")?;
        let mut pending = Vec::new();
        for (spot, stamp) in &documents {
            let known = known.remove(&place(project, spot));
            let is_current = |known: &Known| {
                known.stamp.settled && known.has_words && known.read_with == context
            };
            let same =
                known.as_ref().filter(|known| is_current(known)).is_some_and(|known| match look {
                    Look::Closely => known.stamp.same(stamp),
                    Look::UpTo(_) if stamp.is_timed() => known.stamp.same(stamp),
                    Look::Names | Look::UpTo(_) => known.stamp.inode == stamp.inode,
                });
            if !same {
                let stamp = Some(*stamp).filter(Stamp::is_timed);
                pending.push(Pending { spot: spot.clone(), stamp, known });
            }
        }
        // A shelf that cannot be looked at is no reason to forget it.
        let gone = known.values().filter(|_| unread.is_empty()).map(|known| known.id).collect();
        let documents = documents.len();
        Ok(News { documents, pending, gone, folders, unread, ..News::default() })
    }

    /// Whether a file was added, removed or exchanged anywhere: a folder tells.
    fn folders_changed(&self, project: &Project) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok((place_of(row, 0)?, stamp_of(row, 2)?)))?;
        let folders: HashMap<Place, Stamp> = rows.collect::<rusqlite::Result<_>>()?;
        let start = |shelf: &Shelf| {
            let root = stored_root(project, shelf.root().path());
            folders.contains_key(&(root.to_vec(), shelf.inside().as_os_str().as_bytes().to_vec()))
        };
        let same = |(place, then): (&Place, &Stamp)| {
            let now = spot(project, place).map(|spot| project.stamp(&spot).unwrap_or_default());
            now.is_some_and(|now| now.same(then)) && (then.settled || *then == Stamp::default())
        };
        Ok(!project.shelves().iter().all(start) || !folders.iter().all(same))
    }

    /// Documents that changed lately, and those whose turn it is.
    fn in_turn(
        &self,
        project: &Project,
        most: usize,
        limit: Limit,
    ) -> Result<Vec<Pending>, IndexError> {
        let deadline = Deadline::after(TURN);
        let mut pending = Vec::new();
        // After a checkout these can be all documents, and a client waits.
        let some = if limit.is_set() {
            format!("ORDER BY id DESC LIMIT {TURN_MAX}")
        } else {
            String::new()
        };
        for (place, known) in known(&self.connection, &format!("WHERE settled = 0 {some}"))? {
            let Some(spot) = spot(project, &place) else { continue };
            pending.push(Pending { stamp: project.stamp(&spot), known: Some(known), spot });
        }
        let sql = "SELECT value FROM facts WHERE name = 'turn'";
        let turn: i64 =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?.unwrap_or(BEFORE_ALL);
        let some = format!("WHERE id > {turn} AND settled = 1 ORDER BY id LIMIT {most}");
        let mut some: Vec<_> = known(&self.connection, &some)?.into_iter().collect();
        some.sort_unstable_by_key(|(_, known)| known.id);
        // After the last one it is the first one's turn again.
        let mut last = if some.is_empty() { BEFORE_ALL } else { turn };
        for (place, known) in some {
            if deadline.is_over() {
                break;
            }
            last = known.id;
            let Some(spot) = spot(project, &place) else { continue };
            let stamp = project.stamp(&spot);
            if !stamp.is_some_and(|stamp| stamp.same(&known.stamp)) {
                pending.push(Pending { spot, stamp, known: Some(known) });
            }
        }
        // Where somebody else is writing, the same ones are looked at once more.
        let _ = self.connection.execute("INSERT OR REPLACE INTO facts VALUES ('turn', ?1)", [last]);
        Ok(pending)
    }

    /// Takes down what the folders looked like, and forgets what is gone.
    fn remember(
        &mut self,
        project: &Project,
        settings: Option<&str>,
        folders: &[(Spot, Stamp)],
        gone: &[i64],
    ) -> Result<(), IndexError> {
        if settings.is_none() && gone.is_empty() && !self.news_in(project, folders)? {
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
        take_count(&transaction)?;
        if !folders.is_empty() {
            transaction.execute("DELETE FROM folders", [])?;
        }
        let sql = "INSERT OR REPLACE INTO folders VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for (spot, stamp) in folders {
            let (root, inside) = bytes(project, spot);
            let Stamp { modified, changed, size, inode, settled } = *stamp;
            transaction
                .prepare_cached(sql)?
                .execute((root, inside, modified, changed, size, inode, settled))?;
        }
        Ok(transaction.commit()?)
    }

    fn news_in(&self, project: &Project, folders: &[(Spot, Stamp)]) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok((place_of(row, 0)?, stamp_of(row, 2)?)))?;
        let known: HashMap<Place, Stamp> = rows.collect::<rusqlite::Result<_>>()?;
        let same = |(spot, stamp): &(Spot, Stamp)| known.get(&place(project, spot)) == Some(stamp);
        Ok(!folders.is_empty() && !folders.iter().all(same))
    }

    /// Reads documents and writes what they say, a piece at a time; what cannot be read is forgotten.
    /// Returns how many were read, and what could not be.
    fn read(
        &mut self,
        project: &Project,
        with: Reading,
        pending: &[Pending],
        limit: Limit,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(usize, Vec<FileError>), IndexError> {
        let all = pending.len();
        let (mut done, mut took, mut unread) = (0, Duration::ZERO, Vec::new());
        while done < all {
            let piece = &pending[done..all.min(done + limit.next_piece(done, took))];
            if piece.is_empty() {
                return Ok((done, unread));
            }
            progress(done, all);
            let watch = Stopwatch::start();
            let prepared = on_all_cores(piece, |one| prepare(project, one, with));
            match self.write(project, with.context, prepared) {
                // Another process writes. It gets there without us, and a client waits.
                Err(error) if limit.is_set() && error.is_busy() => {
                    let is_of_use = self.documents()? > 0;
                    return if is_of_use { Ok((done, unread)) } else { Err(IndexError::Late) };
                }
                failed => unread.extend(failed?),
            }
            (done, took) = (done + piece.len(), watch.elapsed());
        }
        progress(all, all);
        if all >= WORTH_ORDERING && !limit.is_set() {
            // The log has grown with it; written back, it is short again.
            self.connection.execute_batch(
                "INSERT INTO words (words) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)",
            )?;
        }
        Ok((done, unread))
    }

    fn write(
        &mut self,
        project: &Project,
        context: Context,
        prepared: Vec<Outcome>,
    ) -> Result<Vec<FileError>, IndexError> {
        let mut unread = Vec::new();
        let mut documents = Vec::new();
        if prepared.iter().all(|outcome| matches!(outcome, Outcome::Same)) {
            return Ok(unread);
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for outcome in prepared {
            match outcome {
                Outcome::Same => {}
                Outcome::Settled(id, stamp) => settle(&transaction, id, &stamp, context)?,
                Outcome::Changed(document) => documents.push(*document),
                Outcome::Unread(spot, error) => {
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
        take_count(&transaction)?;
        transaction.commit()?;
        Ok(unread)
    }
}

/// What became of a document that looked different.
enum Outcome {
    /// It says the same, and may still be changed unseen.
    Same,
    /// It says the same, and would be seen to change.
    Settled(i64, Stamp),
    /// It says something else.
    Changed(Box<Prepared>),
    /// It cannot be read.
    Unread(Spot, Option<FileError>),
}

/// What is read first. A few are read in any case, so their order does not matter.
fn sort_newest_first(project: &Project, pending: &mut [Pending], limit: Limit, context: Context) {
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
        let stamp = |one: &Pending| one.stamp.or_else(|| project.stamp(&one.spot));
        let stamps = on_all_cores(pending, stamp);
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
fn settings_of(project: &Project) -> String {
    let Settings { shelves, stages, .. } = project.settings();
    sha256(format!("{shelves:?} {stages:?}").as_bytes())
}

/// The beginning of a hash as a number.
fn number(hash: &str) -> i64 {
    const LETTERS: usize = 15;
    i64::from_str_radix(&hash[..LETTERS], 16).unwrap_or_default()
}

fn prepare(project: &Project, pending: &Pending, with: Reading) -> Outcome {
    let Reading { context, with_words } = with;
    let spot = pending.spot.clone();
    // Before it is read: a change meanwhile is seen next time.
    let Some(stamp) = pending.stamp.or_else(|| project.stamp(&spot)) else {
        return Outcome::Unread(spot, None);
    };
    let bytes = match project.bytes(&spot) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Unread(spot, Some(error)),
    };
    let hash = sha256(&bytes).as_bytes()[..HASH_LETTERS].to_vec();
    let is_same = |known: &&Known| {
        let has_enough = known.has_words || !with_words;
        has_enough && known.hash == hash && known.read_with.settings == context.settings
    };
    if let Some(known) = pending.known.as_ref().filter(is_same) {
        let is_here = known.read_with.worktree == context.worktree;
        let news = stamp.settled || !stamp.same(&known.stamp) || !is_here;
        return if news { Outcome::Settled(known.id, stamp) } else { Outcome::Same };
    }
    let shelved = project.shelved(spot.clone(), bytes);
    let columns = with_words.then(|| index_columns(&handoff_texts(&shelved.handoff(project))));
    let card = Card::of(project, &shelved);
    Outcome::Changed(Box::new(Prepared { spot, stamp, hash, card, columns }))
}

fn place(project: &Project, spot: &Spot) -> Place {
    let (root, inside) = bytes(project, spot);
    (root.to_vec(), inside.to_vec())
}

fn bytes<'s>(project: &'s Project, spot: &'s Spot) -> (&'s [u8], &'s [u8]) {
    let (root, inside) = project.root_and_path(spot);
    (stored_root(project, root), inside.as_os_str().as_bytes())
}

/// The root and the path that two columns hold.
fn place_of(row: &Row<'_>, from: usize) -> rusqlite::Result<Place> {
    let blob = |at| -> rusqlite::Result<Vec<u8>> { Ok(row.get_ref(at)?.as_blob()?.to_vec()) };
    Ok((blob(from)?, blob(from + 1)?))
}

/// The place on a shelf that a root and a path below it mean.
fn spot(project: &Project, (root, inside): &Place) -> Option<Spot> {
    project.spot_below(root_of(project, root), Path::new(OsStr::from_bytes(inside)))
}

fn stamp_of(row: &Row<'_>, from: usize) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        modified: row.get(from)?,
        changed: row.get(from + 1)?,
        size: row.get(from + 2)?,
        inode: row.get(from + 3)?,
        settled: row.get(from + 4)?,
    })
}

/// Some of the documents that are known.
fn known(connection: &Connection, which: &str) -> rusqlite::Result<HashMap<Place, Known>> {
    let sql = format!(
        "SELECT id, root, inside, modified, changed, size, inode, settled, hash,
             waits IS NOT NULL, settings, worktree, has_words FROM documents {which}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        Ok((
            place_of(row, 1)?,
            Known {
                id: row.get(0)?,
                stamp: stamp_of(row, 3)?,
                hash: row.get(8)?,
                is_open: row.get(9)?,
                has_words: row.get(12)?,
                read_with: Context { settings: row.get(10)?, worktree: row.get(11)? },
            },
        ))
    })?;
    rows.collect()
}

/// Counting takes longer than finding, so it is done when something was written.
fn take_count(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO facts SELECT 'documents', count(*) FROM documents";
    transaction.execute(sql, []).map(|_| ())
}

fn settle(
    transaction: &Transaction<'_>,
    id: i64,
    stamp: &Stamp,
    context: Context,
) -> rusqlite::Result<()> {
    let sql = "UPDATE documents SET modified = ?2, changed = ?3, size = ?4, inode = ?5, settled = ?6, \
               worktree = ?7 WHERE id = ?1";
    let Stamp { modified, changed, size, inode, settled } = *stamp;
    transaction
        .prepare_cached(sql)?
        .execute((id, modified, changed, size, inode, settled, context.worktree))
        .map(|_| ())
}

fn forget_at(
    transaction: &Transaction<'_>,
    project: &Project,
    spot: &Spot,
) -> rusqlite::Result<()> {
    let sql = "SELECT id FROM documents WHERE root = ?1 AND inside = ?2";
    let id = transaction
        .prepare_cached(sql)?
        .query_row(bytes(project, spot), |row| row.get(0))
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
    document: &Prepared,
    context: Context,
) -> rusqlite::Result<()> {
    let id = next_id(transaction, document.card.changed)?;
    let (root, inside) = bytes(project, &document.spot);
    let Stamp { modified, changed, size, inode, settled } = document.stamp;
    let Card { status, kind, stage, changed: moment, waits } = &document.card;
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
    use crate::store::ledger::Patience;
    use crate::sys::clock::Clock;
    use crate::sys::files::Scratch;
    use crate::workspace::settings::Environment;
    use std::path::PathBuf;

    /// A project as one with very many documents is looked at, long after its last change.
    struct Large {
        scratch: Scratch,
        project: Project,
        index: Index,
    }

    impl Large {
        fn new() -> Self {
            let scratch = Scratch::new("midstride-refresh").unwrap();
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
                inside: None,
                session: None,
                claude: None,
                codex: None,
                clock: Clock::System,
            };
            let project = Project::discover(environment).unwrap();
            let mut index = Index::open(&project, Patience::Command).unwrap();
            index.refresh(&project, Effort::Fresh, Limit::default(), &mut |_, _| ()).unwrap();
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

        fn pending(&self, look: impl Fn(&Self) -> Vec<Pending>) -> Vec<String> {
            let pending = look(self).into_iter();
            let mut paths: Vec<String> =
                pending.map(|one| self.project.shown(&one.spot).display().to_string()).collect();
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

    fn in_turn(large: &Large) -> Vec<Pending> {
        large.index.in_turn(&large.project, TURN_MAX, Limit::default()).unwrap()
    }

    fn names(large: &Large) -> News {
        let context = large.index.context(&settings_of(&large.project));
        large.index.look_at_all(&large.project, Look::Names, context).unwrap()
    }

    fn by_name(large: &Large) -> Vec<Pending> {
        names(large).pending
    }

    #[test]
    fn without_a_change_nothing_is_read_again() {
        let large = Large::new();
        assert!(!large.folders_changed());
        assert!(large.pending(in_turn).is_empty() && large.pending(by_name).is_empty());
        large.scratch.remove().unwrap();
    }

    #[test]
    fn an_edit_in_place_is_found_when_its_turn_comes() {
        let large = Large::new();
        large.scratch.write(path("two"), b"# Pelican no more\n").unwrap();
        assert!(!large.folders_changed(), "no folder tells");
        // Whose turn it is moves on, and comes back.
        let found: Vec<Vec<String>> = (0..3).map(|_| large.pending(in_turn)).collect();
        assert!(found.contains(&vec![path("two")]), "{found:?}");
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_short_turn_comes_round_to_every_document() {
        let large = Large::new();
        let names = ["one", "three", "two"].map(path);
        for name in &names {
            large.scratch.write(name, b"# Pelican no more\n").unwrap();
        }
        let one = |large: &Large| large.index.in_turn(&large.project, 1, Limit::default()).unwrap();
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
        let mut large = Large::new();
        let text = b"---\nhandoff:\n  title: Pelican\n---\n";
        large.scratch.write(path("open"), text).unwrap();
        large
            .index
            .refresh(&large.project, Effort::Fresh, Limit::default(), &mut |_, _| ())
            .unwrap();
        let open = large.index.open_ones(&large.project).unwrap();
        assert_eq!(open.len(), 1, "notes are none");
        large.index.connection.execute_batch("UPDATE documents SET settled = 1").unwrap();
        let in_place = |large: &Large| {
            let mut pending = Vec::new();
            large.index.open_in_place(&large.project, &mut pending).unwrap();
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
        let large = Large::new();
        let root = large.project.root();
        root.put(&PathBuf::from(path("two")), b"# Pelican\n").unwrap();
        root.put(&PathBuf::from(path("four")), b"# Pelican\n").unwrap();
        root.remove(&PathBuf::from(path("one")), b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), [path("four"), path("two")]);
        assert_eq!(names(&large).gone.len(), 1);
        large.scratch.remove().unwrap();
    }

    #[test]
    fn a_shelf_that_appears_is_told_too() {
        let large = Large::new();
        large.scratch.write("docs/handoffs/new.md", b"# Pelican\n").unwrap();
        assert!(large.folders_changed());
        assert_eq!(large.pending(by_name), ["docs/handoffs/new.md"]);
        large.scratch.remove().unwrap();
    }
}

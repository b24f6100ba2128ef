//! Bringing the index up to the files: what looks different is read again, what is gone is removed.

use super::search::BITS_BELOW_DAY;
use super::{Card, Index, IndexError};
use crate::clock::Deadline;
use crate::files::{FileError, Lock, Look, Stamp};
use crate::ids::sha256;
use crate::project::{Looked, Project, Spot, on_all_cores};
use crate::shelf::Shelf;
use midstride_core::search::{columns, parts};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
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
/// So many are read before they are written; sorted by day, they need no more room than this.
const CHUNK: usize = 4096;
/// Nobody waits in a hook for more than these to be read.
const HOOK_MAX: usize = 64;
/// More than these are not read by two commands at once.
const AT_ONCE_MAX: usize = 256;
/// From so many on, what was written is put in order for reading.
const WORTH_ORDERING: usize = 2000;

/// Enough of a hash to tell two texts of one document apart.
const HASH_LETTERS: usize = 16;

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
}

/// What the index knows of a document.
struct Known {
    id: i64,
    stamp: Stamp,
    hash: Vec<u8>,
}

/// What looks different from what is known.
#[derive(Default)]
struct News {
    whole: bool,
    settings: Option<String>,
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

/// A document as it is written.
struct Prepared {
    spot: Spot,
    stamp: Stamp,
    hash: Vec<u8>,
    card: Card,
    columns: [String; 3],
}

impl Index {
    /// Brings the index up to the files. Whoever waits is told how many of how many were read.
    pub fn refresh(
        &mut self,
        project: &Project,
        effort: Effort,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let news = self.news(project, effort)?;
        let is_hurried = matches!(effort, Effort::Hurried | Effort::Prompt);
        if is_hurried && news.pending.len() > HOOK_MAX {
            // The next one goes on; what the folders look like is taken down by the last.
            self.read(project, &news.pending[..HOOK_MAX], progress)?;
            return Ok(Freshness { whole: false, unread: Vec::new() });
        }
        if news.pending.len() > AT_ONCE_MAX {
            // Of many who find much to do, one does it and the others wait.
            let _turn = Lock::hold(&self.folder, &format!("{}.refresh", self.name))?;
            let news = self.news(project, effort)?;
            return self.take_in(project, news, progress);
        }
        self.take_in(project, news, progress)
    }

    /// What looks different from what is known.
    fn news(&self, project: &Project, effort: Effort) -> Result<News, IndexError> {
        let settings = self.settings_changed(project)?;
        let (most, turn) = match effort {
            Effort::Open | Effort::Prompt => (LOOKED_AT_FOR_CLIENT_MAX, TURN_FOR_CLIENT_MAX),
            Effort::Command | Effort::Fresh | Effort::Hurried => (LOOKED_AT_MAX, TURN_MAX),
        };
        let few = self.documents()? <= most;
        if effort == Effort::Fresh || few || settings.is_some() {
            let news = self.look_at_all(project, Look::Closely, settings.is_some())?;
            return Ok(News { whole: true, settings, ..news });
        }
        let mut news = match self.folders_changed(project)? {
            true => self.look_at_all(project, Look::Names, false)?,
            false => News { pending: self.in_turn(project, turn)?, ..News::default() },
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
        news: News,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Freshness, IndexError> {
        let News { whole, settings, pending, gone, folders, mut unread } = news;
        unread.extend(self.read(project, &pending, progress)?);
        // At the end: whoever is killed before has everything still to do.
        self.remember(project, settings.as_deref(), &folders, &gone)?;
        Ok(Freshness { whole, unread })
    }

    /// Reads some documents again, however they look.
    pub(crate) fn read_again(
        &mut self,
        project: &Project,
        spots: Vec<Spot>,
    ) -> Result<(), IndexError> {
        let pending = spots.into_iter().map(|spot| Pending { stamp: None, known: None, spot });
        self.read(project, &pending.collect::<Vec<_>>(), &mut |_, _| ()).map(|_| ())
    }

    /// What kinds and stages are depends on the configuration: with another one everything is read
    /// again.
    fn settings_changed(&self, project: &Project) -> Result<Option<String>, IndexError> {
        let now = sha256(format!("{:?}", project.settings()).as_bytes());
        let sql = "SELECT value FROM facts WHERE name = 'settings'";
        let then: Option<String> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok((then.as_ref() != Some(&now)).then_some(now))
    }

    fn look_at_all(&self, project: &Project, look: Look, all: bool) -> Result<News, IndexError> {
        let Looked { documents, folders, unread } = project.look(look);
        let mut known = known(&self.connection, "")?;
        let mut pending = Vec::new();
        for (spot, stamp) in &documents {
            let known = known.remove(&place(project, spot));
            let same = known.as_ref().is_some_and(|known| match look {
                Look::Names => known.stamp.inode == stamp.inode && known.stamp.settled,
                Look::Closely => known.stamp.same(stamp) && known.stamp.settled,
            });
            if all || !same {
                // By its name alone nothing is known of its time.
                let stamp = (look == Look::Closely).then_some(*stamp);
                pending.push(Pending { spot: spot.clone(), stamp, known: known.filter(|_| !all) });
            }
        }
        // A shelf that cannot be looked at is no reason to forget it.
        let gone = known.values().filter(|_| unread.is_empty()).map(|known| known.id).collect();
        Ok(News { pending, gone, folders, unread, ..News::default() })
    }

    /// Whether a file was added, removed or exchanged anywhere: a folder tells.
    fn folders_changed(&self, project: &Project) -> Result<bool, IndexError> {
        let sql = "SELECT root, inside, modified, changed, size, inode, settled FROM folders";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok((place_of(row, 0)?, stamp_of(row, 2)?)))?;
        let folders: HashMap<Place, Stamp> = rows.collect::<rusqlite::Result<_>>()?;
        let start = |shelf: &Shelf| {
            let (root, inside) = (shelf.root().path().as_os_str(), shelf.inside().as_os_str());
            folders.contains_key(&(root.as_bytes().to_vec(), inside.as_bytes().to_vec()))
        };
        let same = |(place, then): (&Place, &Stamp)| {
            let now = spot(project, place).map(|spot| project.stamp(&spot).unwrap_or_default());
            now.is_some_and(|now| now.same(then)) && (then.settled || *then == Stamp::default())
        };
        Ok(!project.shelves().iter().all(start) || !folders.iter().all(same))
    }

    /// Documents that changed lately, and those whose turn it is.
    fn in_turn(&self, project: &Project, most: usize) -> Result<Vec<Pending>, IndexError> {
        let deadline = Deadline::after(TURN);
        let mut pending = Vec::new();
        for (place, known) in known(&self.connection, "WHERE settled = 0")? {
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

    /// Reads documents and writes what they say; what cannot be read is forgotten.
    fn read(
        &mut self,
        project: &Project,
        pending: &[Pending],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<FileError>, IndexError> {
        let all = pending.len();
        let mut unread = Vec::new();
        for (number, chunk) in pending.chunks(CHUNK).enumerate() {
            progress(number * CHUNK, all);
            let prepared = on_all_cores(chunk, |pending| prepare(project, pending));
            unread.extend(self.write(project, prepared)?);
        }
        progress(all, all);
        if all >= WORTH_ORDERING {
            // The log has grown with it; written back, it is short again.
            self.connection.execute_batch(
                "INSERT INTO words (words) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)",
            )?;
        }
        Ok(unread)
    }

    fn write(
        &mut self,
        project: &Project,
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
                Outcome::Settled(id, stamp) => settle(&transaction, id, &stamp)?,
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
            insert(&transaction, project, document)?;
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

fn prepare(project: &Project, pending: &Pending) -> Outcome {
    let spot = pending.spot.clone();
    // Before it is read: a change meanwhile is seen next time.
    let Some(stamp) = pending.stamp.or_else(|| project.stamp(&spot)) else {
        return Outcome::Unread(spot, None);
    };
    let shelved = match project.read(&spot) {
        Ok(shelved) => shelved,
        Err(error) => return Outcome::Unread(spot, Some(error)),
    };
    let hash = sha256(&shelved.bytes).as_bytes()[..HASH_LETTERS].to_vec();
    if let Some(known) = pending.known.as_ref().filter(|known| known.hash == hash) {
        let news = stamp.settled || !stamp.same(&known.stamp);
        return if news { Outcome::Settled(known.id, stamp) } else { Outcome::Same };
    }
    let columns = columns(&parts(&shelved.handoff(project)));
    let card = Card::of(project, &shelved);
    Outcome::Changed(Box::new(Prepared { spot, stamp, hash, card, columns }))
}

fn place(project: &Project, spot: &Spot) -> Place {
    let (root, inside) = bytes(project, spot);
    (root.to_vec(), inside.to_vec())
}

fn bytes<'s>(project: &'s Project, spot: &'s Spot) -> (&'s [u8], &'s [u8]) {
    let (root, inside) = project.root_and_path(spot);
    (root.as_os_str().as_bytes(), inside.as_os_str().as_bytes())
}

/// The root and the path that two columns hold.
fn place_of(row: &Row<'_>, from: usize) -> rusqlite::Result<Place> {
    let blob = |at| -> rusqlite::Result<Vec<u8>> { Ok(row.get_ref(at)?.as_blob()?.to_vec()) };
    Ok((blob(from)?, blob(from + 1)?))
}

/// The place on a shelf that a root and a path below it mean.
fn spot(project: &Project, (root, inside): &Place) -> Option<Spot> {
    let path = |bytes: &Vec<u8>| PathBuf::from(OsStr::from_bytes(bytes));
    project.spot_below(&path(root), &path(inside))
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
        "SELECT id, root, inside, modified, changed, size, inode, settled, hash FROM documents {which}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        Ok((
            place_of(row, 1)?,
            Known { id: row.get(0)?, stamp: stamp_of(row, 3)?, hash: row.get(8)? },
        ))
    })?;
    rows.collect()
}

/// Counting takes longer than finding, so it is done when something was written.
fn take_count(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO facts SELECT 'documents', count(*) FROM documents";
    transaction.execute(sql, []).map(|_| ())
}

fn settle(transaction: &Transaction<'_>, id: i64, stamp: &Stamp) -> rusqlite::Result<()> {
    let sql = "UPDATE documents SET modified = ?2, changed = ?3, size = ?4, inode = ?5, settled = ?6 WHERE id = ?1";
    let Stamp { modified, changed, size, inode, settled } = *stamp;
    transaction
        .prepare_cached(sql)?
        .execute((id, modified, changed, size, inode, settled))
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
) -> rusqlite::Result<()> {
    let id = next_id(transaction, document.card.changed)?;
    let (root, inside) = bytes(project, &document.spot);
    let Stamp { modified, changed, size, inode, settled } = document.stamp;
    let Card { status, kind, stage, changed: moment, waits } = &document.card;
    let waits = waits.as_ref().and_then(|waits| serde_json::to_string(waits).ok());
    let sql = "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
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
        waits
    ])?;
    let [name, header, body] = &document.columns;
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
    use crate::clock::Clock;
    use crate::files::Scratch;
    use crate::settings::Environment;

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
            let mut index = Index::open(&project).unwrap();
            index.refresh(&project, Effort::Fresh, &mut |_, _| ()).unwrap();
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
        large.index.in_turn(&large.project, TURN_MAX).unwrap()
    }

    fn by_name(large: &Large) -> Vec<Pending> {
        large.index.look_at_all(&large.project, Look::Names, false).unwrap().pending
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
        let one = |large: &Large| large.index.in_turn(&large.project, 1).unwrap();
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
        large.index.refresh(&large.project, Effort::Fresh, &mut |_, _| ()).unwrap();
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
        let news = large.index.look_at_all(&large.project, Look::Names, false).unwrap();
        assert_eq!(news.gone.len(), 1);
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

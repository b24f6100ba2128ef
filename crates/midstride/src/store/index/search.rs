//! Queries on the index.

use super::briefable::retain_briefable;
use super::root::decode_root;
use super::{DocumentHit, Filter, Index, IndexCard, IndexError};
use crate::store::interrupt::with_timeout;
use crate::workspace::{DocumentPlace, Workspace};
use midstride_core::brief::search::{Query, Tier, Zone};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_core::text::words::SearchTerm;
use rusqlite::{OptionalExtension as _, Row};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// An id has the day of the change above these bits.
pub(super) const BITS_BELOW_DAY: u32 = 20;

const COLUMNS: &str =
    "documents.id, documents.root, documents.inside, documents.status, documents.kind,
     documents.stage, documents.moment, documents.waits, documents.made_from";

/// The documents that have a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermHits {
    /// The best zone with the term in each document, by document id; empty if too many have it.
    pub zones: HashMap<i64, Zone>,
    /// Number of documents that have the term, counted only up to the limit plus one.
    pub documents: usize,
}

impl Index {
    /// Number of documents in the index.
    pub fn documents(&self) -> Result<usize, IndexError> {
        let sql = "SELECT value FROM facts WHERE name = 'documents'";
        let count: Option<i64> = self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    /// The best hits, sorted, at most `limit`.
    pub fn find(
        &self,
        workspace: &Workspace,
        query: &Query,
        filter: &Filter,
        limit: usize,
        time: Duration,
    ) -> Result<Vec<DocumentHit>, IndexError> {
        with_timeout(&self.connection, time, || {
            let mut hits: Vec<DocumentHit> = Vec::new();
            let mut seen = HashSet::new();
            for tier in Tier::ALL {
                let Some(expression) = expression(query, tier) else { continue };
                let left = limit - hits.len();
                hits.extend(self.find_in_tier(
                    workspace,
                    &expression,
                    tier,
                    filter,
                    left,
                    &mut seen,
                )?);
                if hits.len() >= limit {
                    break;
                }
            }
            Ok(hits)
        })
    }

    /// The newest hits of a tier that are not in a better one.
    fn find_in_tier(
        &self,
        workspace: &Workspace,
        expression: &str,
        tier: Tier,
        filter: &Filter,
        limit: usize,
        seen: &mut HashSet<i64>,
    ) -> Result<Vec<DocumentHit>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM words JOIN documents ON documents.id = words.rowid
             WHERE words MATCH ?1 ORDER BY words.rowid DESC"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([expression])?;
        let mut hits = Vec::new();
        let mut last_day = None;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let day = id >> BITS_BELOW_DAY;
            // Ids are not sorted within a day, so the last day is read to its end.
            if hits.len() >= limit && last_day != Some(day) {
                break;
            }
            let Some((spot, card)) = card_from_row(workspace, row)? else { continue };
            if filter.matches(&card, || workspace.display_path(&spot)) && seen.insert(id) {
                hits.push(DocumentHit { spot, tier, card });
                last_day = Some(day);
            }
        }
        sort_hits(workspace, &mut hits);
        hits.truncate(limit);
        Ok(hits)
    }

    /// Passes all documents to `wanted`, newest first, until it returns false.
    pub(crate) fn newest(
        &self,
        workspace: &Workspace,
        mut wanted: impl FnMut(DocumentPlace, IndexCard) -> bool,
    ) -> Result<(), IndexError> {
        let sql = format!("SELECT {COLUMNS} FROM documents ORDER BY id DESC");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some((spot, card)) = card_from_row(workspace, row)? else { continue };
            if !wanted(spot, card) {
                break;
            }
        }
        Ok(())
    }

    /// The open handoffs that were compared in this worktree, newest first, without notes that sessions
    /// are not briefed from.
    pub fn open_handoffs(
        &self,
        workspace: &Workspace,
    ) -> Result<Vec<(DocumentPlace, IndexCard)>, IndexError> {
        let mut open = self.cards_where(workspace, "waits IS NOT NULL")?;
        let made = self.cards_where(workspace, "made_from IS NOT NULL")?.into_iter();
        let made: Vec<_> = made.map(|(place, card)| (place, card.made_from)).collect();
        retain_briefable(workspace, &mut open, &made);
        Ok(open)
    }

    /// The documents of this worktree that meet a condition, newest first.
    fn cards_where(
        &self,
        workspace: &Workspace,
        condition: &str,
    ) -> Result<Vec<(DocumentPlace, IndexCard)>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM documents WHERE {condition} AND worktree = ?1 ORDER BY id DESC"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([self.worktree], |row| card_from_row(workspace, row))?;
        let rows: Vec<Option<_>> = rows.collect::<rusqlite::Result<_>>()?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The documents that have each term, unless more than `many` do.
    pub(crate) fn find_terms(
        &self,
        terms: &[&SearchTerm],
        many: usize,
        time: Duration,
    ) -> Result<Vec<TermHits>, IndexError> {
        with_timeout(&self.connection, time, || {
            terms.iter().map(|term| self.find_term(term, many)).collect()
        })
    }

    fn find_term(&self, term: &SearchTerm, many: usize) -> Result<TermHits, IndexError> {
        let phrase = phrase(term);
        let everywhere = self.ids(&phrase, many)?;
        let mut hits = TermHits { documents: everywhere.len(), ..TermHits::default() };
        if hits.documents > many {
            return Ok(hits);
        }
        for (zone, ids) in [
            (Zone::Body, everywhere),
            (Zone::Header, self.ids(&format!("header : {phrase}"), many)?),
            (Zone::Name, self.ids(&format!("name : {phrase}"), many)?),
        ] {
            hits.zones.extend(ids.into_iter().map(|id| (id, zone)));
        }
        Ok(hits)
    }

    /// Returns at most `many` + 1 ids.
    fn ids(&self, expression: &str, many: usize) -> Result<Vec<i64>, IndexError> {
        let sql = "SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2";
        let limit = i64::try_from(many).unwrap_or(i64::MAX).saturating_add(1);
        let mut statement = self.connection.prepare_cached(sql)?;
        let ids = statement.query_map((expression, limit), |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// The place and card of the document with an id.
    pub(crate) fn card(
        &self,
        workspace: &Workspace,
        id: i64,
    ) -> Result<Option<(DocumentPlace, IndexCard)>, IndexError> {
        let sql = format!("SELECT {COLUMNS} FROM documents WHERE id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let card = statement.query_row([id], |row| card_from_row(workspace, row)).optional()?;
        Ok(card.flatten())
    }
}

/// The place and card in a row; `None` if the document is no longer in a handoff folder.
fn card_from_row(
    workspace: &Workspace,
    row: &Row<'_>,
) -> rusqlite::Result<Option<(DocumentPlace, IndexCard)>> {
    let root = decode_root(workspace, row.get_ref(1)?.as_blob()?);
    let inside = Path::new(OsStr::from_bytes(row.get_ref(2)?.as_blob()?));
    let status = Status::parse(row.get_ref(3)?.as_str()?).unwrap_or(Status::Planned);
    let kind = HandoffKind::parse(row.get_ref(4)?.as_str()?).unwrap_or(HandoffKind::Investigation);
    let waits = row.get_ref(7)?.as_str_or_null()?.and_then(|text| serde_json::from_str(text).ok());
    let made_from = row.get_ref(8)?.as_str_or_null()?.map(serde_json::from_str);
    let card = IndexCard {
        status,
        kind,
        stage: row.get(5)?,
        changed: row.get(6)?,
        routing: waits,
        made_from: made_from.and_then(Result::ok).unwrap_or_default(),
    };
    Ok(workspace.place_below(root, inside).map(|spot| (spot, card)))
}

/// Sorts by tier, best first, then by latest change, then by path.
pub(super) fn sort_hits(workspace: &Workspace, hits: &mut [DocumentHit]) {
    hits.sort_by_cached_key(|hit| {
        let changed = hit.card.changed.map(std::cmp::Reverse);
        (hit.tier, changed.is_none(), changed, workspace.display_path(&hit.spot))
    });
}

/// A term in FTS5 syntax. Its words have only letters and digits, so nothing in them can be read as
/// syntax.
fn phrase(term: &SearchTerm) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}

/// The FTS5 expression of a tier; it also matches hits of better tiers. A single term cannot match
/// a name partly.
fn expression(query: &Query, tier: Tier) -> Option<String> {
    let phrases: Vec<String> = query.terms().iter().map(phrase).collect();
    let all = phrases.join(" AND ");
    Some(match tier {
        Tier::Name => format!("name : ({all})"),
        Tier::PartlyName if phrases.len() == 1 => return None,
        Tier::PartlyName => format!("({all}) AND name : ({})", phrases.join(" OR ")),
        Tier::Header => format!("{{name header}} : ({all})"),
        Tier::Anywhere => all,
    })
}

//! Searches captured sessions by what was said and done in them.

use crate::store::Store;
use crate::store::index::Filter;
use crate::store::ledger::LedgerError;
use crate::verbs::brief::visit_latest_summaries;
use jiff::Timestamp;
use midstride_core::brief::search::{MatchExcerpt, Query, match_excerpts, session_texts, tier};
use midstride_core::text::id::{ClientName, SessionId};
use midstride_core::text::words::SearchTerm;

/// A session that matches, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    /// The client that ran it.
    pub client: ClientName,
    /// Its id.
    pub session: SessionId,
    /// When its last record was written.
    pub ended: Option<Timestamp>,
    /// The matching texts; the field names the kind of each.
    pub why: Vec<MatchExcerpt>,
}

/// Finds the sessions that contain every word, latest first, among the latest 200 captures. With a
/// filter it finds none: sessions have no status, kind or stage.
pub fn search_sessions(
    store: &Store,
    query: &Query,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<FoundSession>, LedgerError> {
    if !filter.is_empty() {
        return Ok(Vec::new());
    }
    let Some(ledger) = store.existing_ledger()? else {
        return Ok(Vec::new());
    };
    let terms: Vec<&SearchTerm> = query.terms().iter().collect();
    let mut found = Vec::new();
    visit_latest_summaries(ledger, |summary| {
        let parts = session_texts(&summary);
        if tier(query, &parts).is_some() {
            found.push(FoundSession {
                client: summary.client,
                session: summary.session,
                ended: summary.ended,
                why: match_excerpts(&terms, &parts),
            });
        }
        found.len() < limit
    })?;
    Ok(found)
}

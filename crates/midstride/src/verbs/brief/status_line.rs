//! The status line of a client: a session at a glance. The client asks many times a minute, so no git
//! runs and no transcript is read.

use super::summary_of_session;
use crate::clients::hook_memory::startup_briefing;
use crate::store::Store;
use crate::store::index::{Effort, IndexCard, RefreshLimit, scan_open};
use crate::sys::env::SessionName;
use crate::workspace::DocumentPlace;
use midstride_core::session::checkpoint::HighlightKind;
use midstride_core::text::tokens;

/// A session at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientStatusLine {
    /// How many handoffs are open; `None` if there was no time to count them.
    pub open_handoffs: Option<usize>,
    /// The last check of the session that was captured. One that failed comes first.
    pub last_check: Option<LastCheck>,
    /// The size of the briefing that the session got at its start.
    pub briefing_tokens: Option<u64>,
}

/// A check that a session ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheck {
    /// The command.
    pub command: String,
    /// Whether it passed.
    pub has_passed: bool,
}

/// A session at a glance. Reads only what may be passed on if the store is of an accessible workspace.
pub fn status_line(
    store: &Store,
    session: Option<&SessionName>,
    limit: RefreshLimit,
) -> ClientStatusLine {
    let workspace = store.workspace();
    let briefing =
        session.and_then(|session| startup_briefing(workspace, &session.client, &session.id));
    ClientStatusLine {
        open_handoffs: count_open_handoffs(store, limit),
        last_check: session.and_then(|session| last_check(store, session)),
        briefing_tokens: briefing.map(|text| tokens::estimate(&text)).filter(|count| *count > 0),
    }
}

fn count_open_handoffs(store: &Store, limit: RefreshLimit) -> Option<usize> {
    let workspace = store.workspace();
    let count = |cards: &[(DocumentPlace, IndexCard)]| {
        let routings = cards.iter().filter_map(|(_, card)| card.routing.as_ref());
        routings.filter(|routing| !routing.is_note).count()
    };
    let counted = store.with_index(|index| {
        let freshness = index.refresh(workspace, Effort::Open, limit, &mut |_, _| ())?;
        let open = index.open_handoffs(workspace)?;
        Ok(freshness.indexing.is_none().then(|| count(&open)))
    });
    counted.unwrap_or_else(|| {
        let open = scan_open(workspace, limit);
        open.indexing.is_none().then(|| count(&open.cards))
    })
}

fn last_check(store: &Store, session: &SessionName) -> Option<LastCheck> {
    let ledger = store.existing_ledger().ok()??;
    let summary = summary_of_session(ledger, session).ok()??;
    let of_kind = |kind| summary.of_kind(kind).next();
    let found = of_kind(HighlightKind::Failed).or_else(|| of_kind(HighlightKind::Check))?;
    let command = store.workspace().clean(found.text.trim()).0.as_str().to_owned();
    Some(LastCheck { command, has_passed: found.kind == HighlightKind::Check })
}

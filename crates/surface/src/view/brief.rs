//! Renders a briefing as JSON, and the remarks about it that the user sees.

use super::{Surface, count, shell_word};
use crate::json::JsonAnswer;
use midstride::sys::env::SessionName;
use midstride::verbs::{BriefOutcome, Delivery};
use midstride_core::brief::{BriefedItem, OmittedItem};
use midstride_core::text::id::{SessionId, Uid};
use midstride_core::text::tokens;
use midstride_core::work::event::DeliveredHandoff;
use serde::Serialize;

/// A briefing: its text, its items, and what it omits.
#[derive(Serialize)]
pub struct BriefJson<'b> {
    text: &'b str,
    tokens: u64,
    branch: Option<&'b str>,
    told: Vec<BriefedItemJson<'b>>,
    merged: Vec<OmittedItemJson<'b>>,
    repeated: Vec<OmittedItemJson<'b>>,
    omitted: Vec<OmittedItemJson<'b>>,
    handoffs: Vec<DeliveredHandoffJson<'b>>,
    open_handoffs: usize,
    predecessor: Option<PredecessorJson<'b>>,
    receipt: Option<&'static str>,
}

impl JsonAnswer for BriefJson<'_> {
    const SCHEMA: &'static str = "brief/1";
}

#[derive(Serialize)]
struct BriefedItemJson<'b> {
    rank: &'static str,
    what: &'static str,
    source: &'b str,
    characters_cut: usize,
    show: String,
}

#[derive(Serialize)]
struct OmittedItemJson<'b> {
    rank: &'static str,
    what: &'static str,
    text: String,
    source: &'b str,
    show: String,
}

#[derive(Serialize)]
struct DeliveredHandoffJson<'b> {
    uid: Option<&'b Uid>,
    id: &'b str,
    revision: Option<usize>,
}

#[derive(Serialize)]
struct PredecessorJson<'b> {
    client: String,
    session: &'b SessionId,
    checkpoint: &'b str,
}

/// A session that acknowledged handoffs, and how many were new to it.
#[derive(Serialize)]
pub struct AcknowledgmentJson<'s> {
    client: &'s str,
    session: &'s SessionId,
    new: usize,
}

impl JsonAnswer for AcknowledgmentJson<'_> {
    const SCHEMA: &'static str = "acknowledgment/1";
}

/// The request to start the next session without a briefing.
#[derive(Serialize)]
pub struct SkippedBriefJson {
    skip_next: bool,
    new: bool,
}

impl JsonAnswer for SkippedBriefJson {
    const SCHEMA: &'static str = "skipped-brief/1";
}

/// The JSON for a request to skip the next briefing; `is_new` if it was not requested before.
pub fn skipped_brief_json(is_new: bool) -> SkippedBriefJson {
    SkippedBriefJson { skip_next: true, new: is_new }
}

/// The last briefing of a session.
#[derive(Serialize)]
pub struct LastBriefingJson<'s> {
    client: &'s str,
    session: &'s SessionId,
    text: &'s str,
}

impl JsonAnswer for LastBriefingJson<'_> {
    const SCHEMA: &'static str = "delivered-brief/1";
}

/// The JSON for the last briefing of a session.
pub fn last_briefing_json<'s>(session: &'s SessionName, text: &'s str) -> LastBriefingJson<'s> {
    LastBriefingJson { client: &session.client, session: &session.id, text }
}

/// Names the session that a printed briefing was for.
pub fn last_briefing_line(session: &SessionName) -> String {
    format!("Briefing for session {} ({})", session.id, session.client)
}

/// A briefing in another form.
#[derive(Serialize)]
pub struct BriefFormJson<'t> {
    text: &'t str,
    tokens: u64,
}

impl JsonAnswer for BriefFormJson<'_> {
    const SCHEMA: &'static str = "brief-text/1";
}

/// The JSON for a briefing in another form.
pub fn form_json(text: &str) -> BriefFormJson<'_> {
    BriefFormJson { text, tokens: tokens::estimate(text) }
}

/// The JSON for a briefing.
pub fn json(briefed: &BriefOutcome) -> BriefJson<'_> {
    let briefing = &briefed.briefing;
    BriefJson {
        text: &briefing.text,
        tokens: briefing.tokens,
        branch: briefing.branch.as_deref(),
        told: briefing.included.iter().map(briefed_item_json).collect(),
        merged: briefing.merged.iter().map(omitted_item_json).collect(),
        repeated: briefing.repeated.iter().map(omitted_item_json).collect(),
        omitted: briefing.omitted.iter().map(omitted_item_json).collect(),
        handoffs: briefed.handoffs.iter().map(delivered_handoff_json).collect(),
        open_handoffs: briefed.open,
        predecessor: briefed.predecessor.as_ref().map(|predecessor| PredecessorJson {
            client: predecessor.client.to_string(),
            session: &predecessor.session,
            checkpoint: &predecessor.digest,
        }),
        receipt: match briefed.delivery {
            Delivery::New => Some("new"),
            Delivery::Known => Some("known"),
            Delivery::Queued => Some("put_aside"),
            Delivery::Nothing | Delivery::Failed(_) => None,
        },
    }
}

fn briefed_item_json(item: &BriefedItem) -> BriefedItemJson<'_> {
    BriefedItemJson {
        rank: item.rank.name(),
        what: item.heading,
        source: &item.source,
        characters_cut: item.characters_truncated,
        show: shell_command(&item.show),
    }
}

fn omitted_item_json(omitted: &OmittedItem) -> OmittedItemJson<'_> {
    OmittedItemJson {
        rank: omitted.rank.name(),
        what: omitted.heading,
        text: omitted.text(),
        source: &omitted.source,
        show: shell_command(&omitted.show),
    }
}

fn delivered_handoff_json(one: &DeliveredHandoff) -> DeliveredHandoffJson<'_> {
    DeliveredHandoffJson { uid: one.uid.as_ref(), id: &one.id, revision: one.revision }
}

fn shell_command(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// The remarks for the user: a summary of the briefing, or why it is empty.
pub fn remarks(briefed: &BriefOutcome, surface: Surface) -> Vec<String> {
    let briefing = &briefed.briefing;
    let line = briefing.user_line().or_else(|| {
        Some(match briefing.omitted.len() {
            0 => "Nothing to brief: no open handoffs, captured sessions or open tasks".to_owned(),
            left => {
                let left = count(left, "item");
                let budget = match surface {
                    Surface::Terminal => "try --budget 2000",
                    Surface::Tools => "raise `budget`",
                };
                format!("Nothing fits the budget ({left} omitted); {budget}")
            }
        })
    });
    let receipt = match briefed.delivery {
        Delivery::Queued => {
            Some("The ledger is busy; the next command records the delivery.".to_owned())
        }
        Delivery::Nothing | Delivery::New | Delivery::Known | Delivery::Failed(_) => None,
    };
    line.into_iter().chain(receipt).collect()
}

/// Confirms that a session acknowledged `all` handoffs; `new` counts those that were new to it.
pub fn acknowledgment_text(session: &SessionName, all: usize, new: usize) -> String {
    let SessionName { client, id } = session;
    match (all, new) {
        (_, 0) => format!("{client} session {id} already acknowledged them; nothing was written"),
        (all, new) if all == new => {
            format!("{client} session {id} acknowledged {}", count(all, "handoff"))
        }
        (_, new) => format!("{client} session {id} acknowledged {} more", count(new, "handoff")),
    }
}

/// The JSON for an acknowledgment; `new` counts the handoffs that were new to the session.
pub fn acknowledgment_json(session: &SessionName, new: usize) -> AcknowledgmentJson<'_> {
    AcknowledgmentJson { client: &session.client, session: &session.id, new }
}

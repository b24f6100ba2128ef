//! Renders which sessions were briefed on a handoff and which acknowledged it.

use super::count;
use midstride::store::Store;
use midstride::verbs;
use midstride::workspace::StoredHandoff;
use midstride_core::handoff::delivery::{DeliveryLog, DeliveryRecord};
use midstride_core::session::short_id;
use midstride_core::text::id::SessionId;
use midstride_core::text::time;
use serde::Serialize;

/// The maximum number of sessions named; the rest are counted.
const NAMED_MAX: usize = 3;

#[derive(Serialize)]
pub(crate) struct DeliveryLogJson {
    delivered: Vec<DeliveryRecordJson>,
    acknowledged: Vec<DeliveryRecordJson>,
}

#[derive(Serialize)]
struct DeliveryRecordJson {
    client: String,
    session: SessionId,
    at: String,
    revision: Option<usize>,
}

/// The delivery records of a handoff. Empty if the ledger cannot be read, so that the rest can
/// still be shown.
pub(super) fn read_delivery_log(store: &Store, stored: &StoredHandoff) -> DeliveryLog {
    verbs::delivery_records(store, stored).unwrap_or_default()
}

pub(super) fn json(receipts: &DeliveryLog) -> DeliveryLogJson {
    let all = |receipts: &[DeliveryRecord]| receipts.iter().map(record_json).collect();
    DeliveryLogJson {
        delivered: all(&receipts.delivered),
        acknowledged: all(&receipts.acknowledged),
    }
}

fn record_json(receipt: &DeliveryRecord) -> DeliveryRecordJson {
    DeliveryRecordJson {
        client: receipt.client.clone(),
        session: receipt.session.clone(),
        at: time::format_time(receipt.at),
        revision: receipt.revision,
    }
}

/// `delivered to 3 sessions, last 2026-03-22 · acknowledged by claude-code 5e550001`
pub(super) fn line(receipts: &DeliveryLog) -> Option<String> {
    let delivered = receipts.delivered.last().map(|last| {
        let sessions = count(receipts.delivered.len(), "session");
        format!("delivered to {sessions}, last {}", last.at.strftime("%Y-%m-%d"))
    });
    let named = receipts.acknowledged.iter().rev().take(NAMED_MAX).map(session_name);
    let named = named.collect::<Vec<String>>().join(", ");
    let more = match receipts.acknowledged.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let acknowledged = (!named.is_empty()).then(|| format!("acknowledged by {named}{more}"));
    let facts: Vec<String> = delivered.into_iter().chain(acknowledged).collect();
    (!facts.is_empty()).then(|| facts.join(" · "))
}

/// A session by its client and short id.
fn session_name(receipt: &DeliveryRecord) -> String {
    format!("{} {}", receipt.client, short_id(receipt.session.as_str()))
}

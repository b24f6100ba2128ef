//! Provenance: the record, line and time at which a fact was seen, with ids as they are stored.

use super::fact::RecordRef;
use super::item::{Attribution, Provenance};
use super::text;

/// The provenance of a record, as it is stored.
pub(super) fn provenance(mark: &RecordRef<'_>, source: Attribution) -> Provenance {
    let agent = mark.agent.as_deref().map(|agent| clean_id(agent).into_owned());
    Provenance {
        record: record_name(mark).into_owned(),
        number: mark.number,
        at: mark.at,
        source,
        agent,
    }
}

pub(super) fn record_name<'m>(mark: &'m RecordRef<'_>) -> std::borrow::Cow<'m, str> {
    clean_id(&mark.record)
}

/// Returns an id unchanged if it looks like one; otherwise redacts and truncates it.
pub(super) fn clean_id(id: &str) -> std::borrow::Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-' | b' ');
    if id.len() <= 100 && id.bytes().all(plain) {
        return id.into();
    }
    text::clean_head(id, 100, &mut text::RedactionTally::new()).into()
}

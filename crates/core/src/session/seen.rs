//! Where a fact was seen: the record, its number and its time, with ids as they are stored.

use super::fact::Mark;
use super::item::{Seen, Source};
use super::text;

/// Where a mark stands, as it is kept.
pub(super) fn seen(mark: &Mark<'_>, source: Source) -> Seen {
    let agent = mark.agent.as_deref().map(|agent| id_of(agent).into_owned());
    Seen { record: record_name(mark).into_owned(), number: mark.number, at: mark.at, source, agent }
}

pub(super) fn record_name<'m>(mark: &'m Mark<'_>) -> std::borrow::Cow<'m, str> {
    id_of(&mark.record)
}

/// An id as it is, unless somebody put something else in its place.
pub(super) fn id_of(id: &str) -> std::borrow::Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-' | b' ');
    if id.len() <= 100 && id.bytes().all(plain) {
        return id.into();
    }
    text::head(id, 100, &mut text::Redacted::new()).into()
}

//! Sentences that say a thing and its reason, as people type them: `X because Y`.

use crate::text::yaml::Data;

/// A decision and its reason.
pub(super) fn decision(sentence: &str) -> Data {
    let (decision, rationale) = parted(sentence, " because ");
    entry([("decision", Some(decision)), ("rationale", rationale)])
}

/// What was tried, why it was wrong, and what took its place.
pub(super) fn wrong_turn(sentence: &str) -> Data {
    let (rest, instead) = parted(sentence, "; instead ");
    let (tried, why) = parted(rest, " because ");
    entry([("tried", Some(tried)), ("why_wrong", why), ("replaced_by", instead)])
}

fn entry<const N: usize>(parts: [(&str, Option<&str>); N]) -> Data {
    Data::map(parts.into_iter().filter_map(|(key, text)| Some((key, Data::text(text?)))))
}

/// A text before and behind a word, if both say something.
fn parted<'t>(text: &'t str, word: &str) -> (&'t str, Option<&'t str>) {
    let text = text.trim();
    let clean = |part: &'t str| part.trim().trim_end_matches([',', ';']);
    match text.split_once(word) {
        Some((before, behind)) if !before.trim().is_empty() && !behind.trim().is_empty() => {
            (clean(before), Some(behind.trim()))
        }
        Some(_) | None => (text, None),
    }
}

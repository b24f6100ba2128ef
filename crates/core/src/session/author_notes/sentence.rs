//! Parses sentences with a reason, as users type them: `X because Y`.

use crate::text::yaml::YamlData;

/// Parses a decision and its reason.
pub(super) fn parse_decision(sentence: &str) -> YamlData {
    let (decision, rationale) = split_at_word(sentence, " because ");
    entry([("decision", Some(decision)), ("rationale", rationale)])
}

/// Parses what was tried, why it was wrong, and what replaced it.
pub(super) fn parse_wrong_turn(sentence: &str) -> YamlData {
    let (rest, instead) = split_at_word(sentence, "; instead ");
    let (tried, why) = split_at_word(rest, " because ");
    entry([("tried", Some(tried)), ("why_wrong", why), ("replaced_by", instead)])
}

/// The entry for an assumption.
pub(super) fn assumption(sentence: &str) -> YamlData {
    entry([("assumption", Some(sentence))])
}

fn entry<const N: usize>(parts: [(&str, Option<&str>); N]) -> YamlData {
    YamlData::map(parts.into_iter().filter_map(|(key, text)| Some((key, YamlData::text(text?)))))
}

/// Splits a text at a word, if there is text on both sides.
fn split_at_word<'t>(text: &'t str, word: &str) -> (&'t str, Option<&'t str>) {
    let text = text.trim();
    let clean = |part: &'t str| part.trim().trim_end_matches([',', ';']);
    match text.split_once(word) {
        Some((before, behind)) if !before.trim().is_empty() && !behind.trim().is_empty() => {
            (clean(before), Some(behind.trim()))
        }
        Some(_) | None => (text, None),
    }
}

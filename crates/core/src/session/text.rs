//! Stored texts: redacted, then truncated, with the truncation marked.

use crate::text::redact::CleanText;
use std::collections::BTreeMap;

/// The maximum stored length of a message or prompt.
pub(crate) const TEXT_BYTES_MAX: usize = 4 << 10;
/// The maximum stored length of a command.
pub(crate) const COMMAND_BYTES_MAX: usize = 1 << 10;
/// The maximum stored length of a path or a name.
pub(crate) const PATH_BYTES_MAX: usize = 1 << 10;
/// The maximum stored length of a failed command's output, counted from its end.
const ERROR_BYTES_MAX: usize = 2 << 10;
const ERROR_LINES_MAX: usize = 12;
/// This much more is scanned past the limit, so that a secret at the cut is seen whole.
const MARGIN: usize = 8 << 10;

/// The number of redacted secrets, by kind.
pub(super) type RedactionTally = BTreeMap<String, u64>;

/// The part of a text that is worth redacting later.
pub(super) fn truncate(text: &str, bytes_max: usize) -> &str {
    &text[..floor(text, bytes_max + MARGIN)]
}

/// Redacts a text and truncates it at the end.
pub(super) fn clean_head(text: &str, bytes_max: usize, redacted: &mut RedactionTally) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let clean = clean(truncate(text, bytes_max), redacted);
    let clean = clean.trim();
    if text.len() <= bytes_max + MARGIN && clean.len() <= bytes_max {
        return clean.to_owned();
    }
    let kept = &clean[..floor(clean, bytes_max)];
    format!("{kept}… (cut; {} bytes in all)", text.len())
}

/// A stored text as it is displayed: `[…]` where it was truncated.
pub(crate) fn display_text(text: &str) -> String {
    const BYTES: &str = " bytes in all)";
    let is_count = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let text = text.trim();
    let behind = text.strip_suffix(BYTES).and_then(|text| text.rsplit_once("… (cut; "));
    if let Some((kept, _)) = behind.filter(|(_, number)| is_count(number)) {
        return format!("{} […]", kept.trim_end());
    }
    let before = text.strip_prefix("(cut; ").and_then(|text| text.split_once(BYTES));
    if let Some((_, kept)) = before.filter(|(number, _)| is_count(number)) {
        return format!("[…] {}", kept.trim_start().trim_start_matches('…'));
    }
    text.to_owned()
}

/// Redacts a text and keeps its last lines.
pub(super) fn clean_tail(text: &str, redacted: &mut RedactionTally) -> String {
    let text = text.trim_end();
    let from = ceil(text, text.len().saturating_sub(ERROR_BYTES_MAX + MARGIN));
    let clean = clean(&text[from..], redacted);
    let lines = clean.rmatch_indices('\n').nth(ERROR_LINES_MAX - 1).map_or(0, |(at, _)| at + 1);
    let bytes = ceil(&clean, clean.len().saturating_sub(ERROR_BYTES_MAX));
    let start = lines.max(bytes);
    if from + start == 0 {
        return clean;
    }
    format!("(cut; {} bytes in all) …{}", text.len(), &clean[start..])
}

fn clean(text: &str, redacted: &mut RedactionTally) -> String {
    let (clean, found) = CleanText::redact(text);
    for redaction in found {
        *redacted.entry(redaction.kind.into_owned()).or_default() += 1;
    }
    clean.as_str().to_owned()
}

/// Whether a text is a short word, such as the name of a tool or
/// branch. A few letters alone are never redacted, so the rules need not run.
fn is_plain(text: &str) -> bool {
    const LENGTH_MAX: usize = 12;
    text.len() <= LENGTH_MAX && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn ceil(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_is_marked_and_never_splits_a_character() {
        let mut redacted = RedactionTally::new();
        assert_eq!(clean_head(" as it is \n", 100, &mut redacted), "as it is");
        assert_eq!(clean_head(&"ü".repeat(10), 5, &mut redacted), "üü… (cut; 20 bytes in all)");
        assert_eq!(display_text("üü… (cut; 20 bytes in all)"), "üü […]");
        assert_eq!(display_text("(cut; 789 bytes in all) …line 88"), "[…] line 88");
        assert_eq!(display_text(" as it (cut; no bytes in all) "), "as it (cut; no bytes in all)");
        let long: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let kept = clean_tail(&long, &mut redacted);
        assert!(kept.starts_with("(cut; 789 bytes in all) …line 88\n"), "{kept}");
        assert!(kept.ends_with("line 99"), "{kept}");
        assert_eq!(clean_tail("one\ntwo\n", &mut redacted), "one\ntwo");
        let wide = "ß".repeat(40_000);
        assert!(clean_tail(&wide, &mut redacted).len() < ERROR_BYTES_MAX + 100);
        assert!(redacted.is_empty());
    }

    #[test]
    fn a_secret_at_the_cut_is_redacted_as_a_whole() {
        let mut redacted = RedactionTally::new();
        let text = format!("{} ghp_{} and more", "x".repeat(90), "a1B2".repeat(10));
        for limit in 80..150 {
            assert!(!clean_head(&text, limit, &mut redacted).contains("ghp_"), "{limit}");
        }
        assert_eq!(redacted["github-token"], 70);
    }
}

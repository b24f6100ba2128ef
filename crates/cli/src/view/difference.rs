//! What changed between two texts: by words for people, unified for tools.

use super::{heading, tame};
use similar::{ChangeTag, TextDiff};

/// Lines around a change, as everywhere.
const CONTEXT: usize = 3;

pub(crate) fn unified(old: &str, new: &str, names: &(String, String)) -> String {
    let difference = TextDiff::from_lines(old, new);
    let mut unified = difference.unified_diff();
    unified.context_radius(CONTEXT).header(&names.0, &names.1).to_string()
}

/// Changed lines with the words that went `[-so-]` and those that came `{+so+}`, readable without
/// colour.
pub(crate) fn words(old: &str, new: &str, names: &(String, String)) -> String {
    let mut out = heading(&format!("{} → {}", names.0, names.1));
    let lines = TextDiff::from_lines(old, new);
    for group in lines.grouped_ops(CONTEXT) {
        out.push_str("  …\n");
        for operation in group {
            let before: String =
                operation.old_range().filter_map(|line| lines.old_slice(line)).collect();
            let after: String =
                operation.new_range().filter_map(|line| lines.new_slice(line)).collect();
            out.push_str(&marked(&before, &after));
        }
    }
    out
}

fn marked(before: &str, after: &str) -> String {
    let gone = anstyle::AnsiColor::Red.on_default();
    let come = anstyle::AnsiColor::Green.on_default();
    let mut text = String::new();
    for change in TextDiff::from_words(before, after).iter_all_changes() {
        let word = tame(change.value());
        // A line break or a blank that came or went is seen by what stands around it.
        let plain = word.trim().is_empty();
        text.push_str(&match change.tag() {
            ChangeTag::Equal => word,
            ChangeTag::Delete if plain => String::new(),
            ChangeTag::Insert if plain => word,
            ChangeTag::Delete => format!("{gone}[-{word}-]{gone:#}"),
            ChangeTag::Insert => format!("{come}{{+{word}+}}{come:#}"),
        });
    }
    text.split_inclusive('\n').map(|line| format!("  {line}")).collect()
}

//! Finds the unchecked boxes of a text.

use super::blocks::{ReportBlockKind, parse_blocks};
use std::collections::HashMap;

/// Returns the items with an empty box (`- [ ]`, `* [ ]`, `1. [ ]`, ☐) outside code fences, except
/// those that a later `[x]` with the same words checks.
pub fn unchecked_boxes(text: &str) -> Vec<String> {
    let mut last: HashMap<String, bool> = HashMap::new();
    let mut order = Vec::new();
    for block in parse_blocks(text) {
        let ReportBlockKind::Item { check: Some(is_checked), .. } = block.kind else { continue };
        if last.insert(block.text.clone(), is_checked).is_none() {
            order.push(block.text);
        }
    }
    order.retain(|text| !text.is_empty() && last.get(text) == Some(&false));
    order
}

/// Whether a text has boxes and all of them are checked.
pub fn is_checked_off(text: &str) -> bool {
    let is_box =
        |kind: &ReportBlockKind| matches!(kind, ReportBlockKind::Item { check: Some(_), .. });
    unchecked_boxes(text).is_empty() && parse_blocks(text).iter().any(|block| is_box(&block.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_open_until_it_is_checked() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(unchecked_boxes(text), expected, "{text}");
        check(
            "- [ ] run it\n* [ ] ship\n1. [ ] three\n☐ four",
            &["run it", "ship", "three", "four"],
        );
        check("- [x] done\n- [ ] open", &["open"]);
        check("- [ ] run it\n\nLater:\n- [x] run  it", &[]);
        check("- [x] run it\n\nAgain:\n- [ ] run it", &["run it"]);
        check("```\n- [ ] code\n```", &[]);
        check("- [ ] over\n  two lines", &["over two lines"]);
        check("- [ ]", &[]);
    }

    #[test]
    fn a_list_is_finished_when_every_box_is_checked() {
        for text in ["- [x] a", "* [X] a\n+ [x] b", "1. [x] a\n2) [X] b", "☑ a", "  - [X] a"] {
            assert!(is_checked_off(text), "{text}");
        }
        for text in ["no boxes", "1. [x] a\n2. [ ] b", "+ [ ] a", "[x](url)", "```\n- [x] a\n```"] {
            assert!(!is_checked_off(text), "{text}");
        }
    }
}

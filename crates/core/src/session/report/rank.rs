//! Ranks the items of several reports.

use super::sentences::{identifiers, words};
use super::{Report, ReportItem};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Subtracted per turn of age: newer statements are more likely to still be true.
const TURN_PENALTY: i32 = 4;
/// Subtracted from items that repeat higher-ranked ones.
const REPEAT_PENALTY: i32 = 20;

/// Returns the items of all reports, best first, each with the index of its report. `reports`
/// yields each report with its age in turns, newest first.
pub fn rank<'r>(
    reports: impl IntoIterator<Item = (usize, &'r Report)>,
) -> Vec<(usize, &'r ReportItem)> {
    let mut items: Vec<(i32, (usize, &ReportItem))> = Vec::new();
    for (position, (turns_ago, report)) in reports.into_iter().enumerate() {
        let age = i32::try_from(turns_ago)
            .unwrap_or(i32::MAX / TURN_PENALTY)
            .min(i32::MAX / TURN_PENALTY)
            * TURN_PENALTY;
        let worth = |item: &ReportItem| i32::from(item.weight) - age;
        items.extend(report.items.iter().map(|item| (worth(item), (position, item))));
    }
    items.sort_by_key(|(worth, _)| Reverse(*worth));
    let mut seen = SeenWords::default();
    for (worth, (_, item)) in &mut items {
        if seen.add_and_check_repeat(&item.text) {
            *worth = worth.saturating_sub(REPEAT_PENALTY);
        }
    }
    items.sort_by_key(|(worth, _)| Reverse(*worth));
    items.into_iter().map(|(_, item)| item).collect()
}

/// The words seen so far.
#[derive(Default)]
pub(super) struct SeenWords(HashSet<String>);

impl SeenWords {
    /// Whether most words of a text (at least three quarters) were seen before. Adds all of them.
    pub(super) fn add_and_check_repeat(&mut self, text: &str) -> bool {
        let names = identifiers(text).into_iter().map(str::to_lowercase);
        let words = words(text);
        let words = words.split(' ').filter(|word| word.chars().nth(3).is_some());
        let found: Vec<String> = names.chain(words.map(str::to_owned)).collect();
        let repeated = found.iter().filter(|word| self.0.contains(*word)).count();
        self.0.extend(found.iter().cloned());
        !found.is_empty() && repeated * 4 >= found.len() * 3
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_report;
    use super::*;

    #[test]
    fn items_rank_by_weight_then_age_then_novelty() {
        let check = |texts: &[&str], expected: &[&str]| {
            let reports: Vec<Report> = texts.iter().map(|text| parse_report(text)).collect();
            let ranked = rank(reports.iter().enumerate());
            let shown: Vec<&str> = ranked.iter().map(|(_, item)| item.text.as_str()).collect();
            assert_eq!(shown, expected);
        };
        check(
            &["Added `open()`.", "`open()` stalls because of `lock()`."],
            &["`open()` stalls because of `lock()`.", "Added `open()`."],
        );
        check(
            &["`a()` is never called.", "`b()` is never called."],
            &["`a()` is never called.", "`b()` is never called."],
        );
        check(
            &[
                "- `queue.rs` never closes sockets\n- sockets never closes `queue.rs`\n- Added `open()` there",
            ],
            &[
                "`queue.rs` never closes sockets",
                "Added `open()` there",
                "sockets never closes `queue.rs`",
            ],
        );
    }
}

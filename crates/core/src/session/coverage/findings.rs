//! What is wrong with a document that does not cover its session: one finding for all of it.

use super::{Coverage, Item, Told, What};
use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::handoff::check::heading;
use crate::text::span::Span;

/// More are counted.
const SHOWN_MAX: usize = 3;

impl Coverage {
    /// What has to be covered and is not named, and what is only named.
    pub fn findings(&self, handoff: &Handoff<'_>) -> Vec<Finding> {
        let at = handoff.node("state.recovery").map_or_else(|| heading(handoff), |node| node.at);
        let told_as = |told| self.uncovered().filter(move |item| item.told == told);
        let (missing, named): (Vec<&Item>, Vec<&Item>) =
            (told_as(Told::Missing).collect(), told_as(Told::Named).collect());
        let finding = |code, items: &[&Item], at, how: &str| {
            let message = format!("{how}: {}", some(items));
            (!items.is_empty()).then(|| Finding::new(code, at, message))
        };
        let named_at = named_at(&named, handoff).unwrap_or(at);
        let not_covered = finding(Code::NotTold, &missing, at, "not covered");
        let not_explained = finding(Code::NotExplained, &named, named_at, "named, not explained");
        not_covered.into_iter().chain(not_explained).collect()
    }
}

/// Where the first item is named by an author: its cause belongs there.
fn named_at(items: &[&Item], handoff: &Handoff<'_>) -> Option<Span> {
    let facts = handoff.node("state").map(|node| node.at);
    let is_written = |at: &Span| facts.is_none_or(|facts| !facts.contains(*at));
    let at = items.iter().filter_map(|item| item.at).find(is_written)?;
    // A sentence may go on over lines; its first one shows where it is.
    let text = at.of(handoff.document().text());
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default().trim_end();
    Some(Span::new(start, start + line.len()).shifted(at.start))
}

/// The first of some things in words, and how many more there are.
fn some(items: &[&Item]) -> String {
    let one = |item: &&Item| {
        let name = match item.what {
            What::FailedCommand | What::RevertedEdit | What::ChangedFile => {
                format!("`{}`", item.name)
            }
            What::Correction | What::Decision | What::OpenTask | What::AgentInFlight => {
                format!("\"{}\"", item.name)
            }
        };
        let record = item.seen.as_ref().map(|seen| format!(" (record {})", seen.record));
        format!("{} {name}{}", item.what.singular(), record.unwrap_or_default())
    };
    let mut words = items.iter().take(SHOWN_MAX).map(one).collect::<Vec<_>>().join(", ");
    if items.len() > SHOWN_MAX {
        words.push_str(&format!(", and {} more", items.len() - SHOWN_MAX));
    }
    words
}

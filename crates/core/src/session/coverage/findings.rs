//! Reports what a handoff does not cover: one finding for missing items, one for items without a
//! cause.

use super::{Coverage, CoverageItem, CoverageKind, CoverageLevel};
use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::handoff::check::header_key_span;
use crate::text::span::Span;

/// The maximum number of items named in a message; the rest are counted.
const SHOWN_MAX: usize = 3;

impl Coverage {
    /// Returns the findings for items that must be covered: those that are missing, and those that
    /// are only named.
    pub fn findings(&self, handoff: &Handoff<'_>) -> Vec<Finding> {
        let at =
            handoff.node("state.recovery").map_or_else(|| header_key_span(handoff), |node| node.at);
        let at_level = |level| self.uncovered().filter(move |item| item.level == level);
        let (missing, named): (Vec<&CoverageItem>, Vec<&CoverageItem>) =
            (at_level(CoverageLevel::Missing).collect(), at_level(CoverageLevel::Named).collect());
        let finding = |code, items: &[&CoverageItem], at, how: &str| {
            let message = format!("{how}: {}", item_names(items));
            (!items.is_empty()).then(|| Finding::new(code, at, message))
        };
        let named_at = first_mention(&named, handoff).unwrap_or(at);
        let not_covered = finding(Code::SessionNotCovered, &missing, at, "not covered");
        let not_explained =
            finding(Code::FailureNotExplained, &named, named_at, "mentioned but not explained");
        not_covered.into_iter().chain(not_explained).collect()
    }
}

/// Returns where the author names the first item, because its cause belongs there.
fn first_mention(items: &[&CoverageItem], handoff: &Handoff<'_>) -> Option<Span> {
    let facts = handoff.node("state").map(|node| node.at);
    let is_written = |at: &Span| facts.is_none_or(|facts| !facts.contains(*at));
    let at = items.iter().filter_map(|item| item.at).find(is_written)?;
    // A sentence can span several lines; the first one shows where it is.
    let text = at.slice(handoff.document().text());
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default().trim_end();
    Some(Span::new(start, start + line.len()).shifted(at.start))
}

/// Returns the names of the first items, and how many more there are.
fn item_names(items: &[&CoverageItem]) -> String {
    let one = |item: &&CoverageItem| {
        let name = match item.kind {
            CoverageKind::FailedCommand
            | CoverageKind::RevertedEdit
            | CoverageKind::ChangedFile => {
                format!("`{}`", item.name)
            }
            CoverageKind::Correction
            | CoverageKind::Decision
            | CoverageKind::OpenTask
            | CoverageKind::AgentInFlight => {
                format!("\"{}\"", item.name)
            }
        };
        let record = item.seen.as_ref().map(|seen| format!(" (record {})", seen.record));
        format!("{} {name}{}", item.kind.singular(), record.unwrap_or_default())
    };
    let mut words = items.iter().take(SHOWN_MAX).map(one).collect::<Vec<_>>().join(", ");
    if items.len() > SHOWN_MAX {
        words.push_str(&format!(", and {} more", items.len() - SHOWN_MAX));
    }
    words
}

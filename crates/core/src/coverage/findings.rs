//! What is wrong with a document that does not tell what happened: one finding for all of it.

use super::{Coverage, Item, Told, What};
use crate::check::heading;
use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::span::Span;

/// From this weight on something has to be told: corrections, what still fails, what was taken back.
pub(crate) const HEAVY: u32 = 8;
/// From this weight on it is worth an explanation: everything but files and what passed by itself.
const WORTH_EXPLAINING: u32 = 4;
/// More are counted.
const SHOWN_MAX: usize = 3;

impl Coverage {
    /// What has to be told and is not, and what is only listed; the weightiest first.
    pub fn findings(&self, handoff: &Handoff<'_>) -> Vec<Finding> {
        let at = handoff.node("state.recovery").map_or_else(|| heading(handoff), |node| node.at);
        let missing = self.told_as(Told::Missing).into_iter().filter(|item| item.weight >= HEAVY);
        let listed = self.told_as(Told::Listed).into_iter();
        let listed = listed.filter(|item| item.weight >= WORTH_EXPLAINING);
        let told = |code, items: &[&Item], at, how: &str| {
            let message = format!("{how}: {}", some(items));
            (!items.is_empty()).then(|| Finding::new(code, at, message))
        };
        let (missing, listed): (Vec<&Item>, Vec<&Item>) = (missing.collect(), listed.collect());
        let named = named_at(&listed, handoff).unwrap_or(at);
        let not_told = told(Code::NotTold, &missing, at, "not told");
        let not_explained = told(Code::NotExplained, &listed, named, "named, not explained");
        not_told.into_iter().chain(not_explained).collect()
    }
}

/// Where the weightiest thing is named that somebody wrote about: there its cause would stand. The
/// facts in the header are a program's.
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

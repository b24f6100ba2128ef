//! Builds briefing items from handoffs, sessions, tasks, missions and the repository.

mod concurrent;
mod handoff;
mod instruction;
mod repository;
mod session;
mod upstream;
mod work;

pub use concurrent::{ConcurrentSession, concurrent_session_items};
pub use handoff::{
    DriftedPlace, KnownHandoff, MissingCitations, PromptWords, ProofTrial, REJECTED, handoff_items,
    source_name,
};
pub use instruction::instruction_items;
pub use repository::{earlier_commit_items, mark_clean, since_then_item, work_tree_items};
pub use session::{
    NextStep, SessionScope, earlier_session_items, headline, mark_newer_session, next_step,
    session_items, unsettled_items,
};
pub use upstream::upstream_items;
pub use work::{TaskPlacement, mission_items, older_workflows_item, task_items, workflow_item};

use super::{BriefItem, ItemForm, ItemRank, SourcedStartupStep, StartupStep, excerpt, quote};
use crate::session::short_id;
use crate::text::id::SessionId;
use jiff::Timestamp;
use std::collections::HashMap;

/// Maximum length of a branch name in a generated line.
const BRANCH_LENGTH_MAX: usize = 60;

/// The source of items and the command that shows it.
struct ItemSource {
    source: String,
    show: Vec<String>,
}

impl ItemSource {
    fn new(source: String, show: &[&str]) -> Self {
        Self { source, show: show.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn item(&self, rank: ItemRank, heading: &'static str, text: impl Into<String>) -> BriefItem {
        BriefItem {
            rank,
            heading,
            text: text.into(),
            source: self.source.clone(),
            show: self.show.clone(),
            ..BriefItem::default()
        }
    }

    fn startup_step(&self, step: StartupStep) -> SourcedStartupStep {
        SourcedStartupStep { step, source: self.source.clone(), show: self.show.clone() }
    }
}

impl BriefItem {
    fn with_remark(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

/// Names the branch in the source line of the items, or else in the remark of the first item from
/// `Status` on.
pub fn mark_branch(items: &mut [BriefItem], branch: &str, is_closed: bool) {
    let branch = format!("on branch {}", quote::code(branch, BRANCH_LENGTH_MAX));
    let branch = if is_closed { format!("{branch}, which was merged or deleted") } else { branch };
    if let Some(item) = items.iter_mut().find(|item| item.rank == ItemRank::Source) {
        item.text = format!("{}, {branch}", item.text);
    } else if let Some(item) = items.iter_mut().find(|item| item.rank >= ItemRank::Status) {
        let before = item.remark.take().map(|remark| format!("{remark}, "));
        item.remark = Some(format!("{}{branch}", before.unwrap_or_default()));
    }
}

/// Interleaves the items of several sources: first the first item of each rank from every source,
/// then the second, and so on, so that no source fills the page alone. Earlier sources come first.
/// A run of names under the same heading counts as one, because they share a block.
pub fn interleave(sources: Vec<Vec<BriefItem>>) -> Vec<BriefItem> {
    let mut turns: Vec<(usize, BriefItem)> = Vec::new();
    for items in sources {
        let mut ranks: HashMap<ItemRank, RankTurns> = HashMap::new();
        for item in items {
            let turn = ranks.entry(item.rank).or_default();
            turns.push((turn.turn_for(&item), item));
        }
    }
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, item)| item).collect()
}

/// The turn counter for one rank of a source.
#[derive(Default)]
struct RankTurns {
    next: usize,
    names: Option<(&'static str, usize)>,
}

impl RankTurns {
    fn turn_for(&mut self, item: &BriefItem) -> usize {
        /// Maximum number of names that count as one. More would take too much of the page.
        const NAMES_MAX: usize = 8;
        // Items about the same piece of work stay together.
        if item.rank.is_work() {
            return 0;
        }
        let is_name = excerpt::is_name(&item.text);
        match self.names {
            Some((heading, names)) if is_name && heading == item.heading && names < NAMES_MAX => {
                self.names = Some((heading, names + 1));
            }
            _ => {
                self.names = is_name.then_some((item.heading, 1));
                self.next += 1;
            }
        }
        self.next
    }
}

/// Items that only name other open handoffs.
pub fn other_handoff_items(names: impl IntoIterator<Item = String>) -> Vec<BriefItem> {
    let origin = ItemSource::new("this project".to_owned(), &["midstride", "list"]);
    let to_item = |name| BriefItem {
        unbriefed: 1,
        ..origin.item(ItemRank::Rest, "Also open, not included here", name)
    };
    names.into_iter().map(to_item).collect()
}

/// A session that the briefing names only by its first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSession {
    /// The session id.
    pub id: SessionId,
    /// The user's first request.
    pub first_request: String,
    /// Its branch, if it is not the one checked out.
    pub branch: Option<String>,
    /// When it ended, if known.
    pub ended: Option<Timestamp>,
}

/// Whether a session ended after the one that the page is about, if there is one.
fn is_newer(ended: Option<Timestamp>, page_ended: Option<Timestamp>) -> bool {
    page_ended.is_some() && ended > page_ended
}

/// Items that name other sessions, one line each. `page_ended` is when the session ended that the
/// page is about.
pub fn other_session_items<'s>(
    sessions: impl IntoIterator<Item = &'s OtherSession>,
    page_ended: Option<Timestamp>,
) -> Vec<BriefItem> {
    let item = |one: &OtherSession| {
        let short = short_id(one.id.as_str());
        let show = ["midstride", "session", "show", short];
        let origin = ItemSource::new(format!("session {short}"), &show);
        let branch = one.branch.as_deref().map(|name| format!(" (branch {})", quote::label(name)));
        let asked = quote::inline(&one.first_request, 100);
        let text = format!("{short} {asked}{}", branch.unwrap_or_default());
        let heading = match is_newer(one.ended, page_ended) {
            true => "Newer sessions",
            false => "Earlier sessions",
        };
        let item = origin.item(ItemRank::Rest, heading, text);
        BriefItem {
            form: ItemForm::Line,
            is_page_subject: true,
            source: "this project".to_owned(),
            ..item
        }
    };
    sessions.into_iter().map(item).collect()
}

/// A date in UTC. It is absolute so that the text does not change from day to day.
fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}

/// The abbreviated commit id.
fn short_commit(commit: &str) -> String {
    commit.chars().take(7).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaving_gives_every_source_its_turn() {
        let of = |source: &str, texts: &[(ItemRank, &str)]| -> Vec<BriefItem> {
            let origin = ItemSource::new(source.to_owned(), &[]);
            texts.iter().map(|(rank, text)| origin.item(*rank, "x", *text)).collect()
        };
        let text_of =
            |sources| -> String { interleave(sources).into_iter().map(|item| item.text).collect() };
        let one = of(
            "one",
            &[(ItemRank::Status, "a "), (ItemRank::Status, "b "), (ItemRank::Rest, "c ")],
        );
        let two =
            of("two", &[(ItemRank::Status, "d "), (ItemRank::Rest, "e "), (ItemRank::Rest, "f ")]);
        assert_eq!(text_of(vec![one, two]), "a b d c e f ");
        let names = of("one", &[(ItemRank::Rest, "1"); 10]);
        let others = of("two", &[(ItemRank::Rest, "- "); 3]);
        assert_eq!(text_of(vec![names, others]), "11111111- 11- - ");
    }
}

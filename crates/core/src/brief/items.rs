//! What is worth telling, as points: of handoffs, of a session, of tasks and of the mission.

mod concurrent;
mod handoff;
mod instruction;
mod repository;
mod session;
mod upstream;
mod work;

pub use concurrent::{ConcurrentSession, concurrent_session_items};
pub use handoff::{
    DriftedPlace, KnownHandoff, PromptWords, ProofTrial, REJECTED, handoff_items, source_name,
};
pub use instruction::instruction_items;
pub use repository::{earlier_commit_items, later_commits_item, mark_clean, work_tree_items};
pub use session::{earlier_session_items, headline, session_items, unsettled_items};
pub use upstream::upstream_items;
pub use work::{TaskPlacement, mission_items, older_workflows_item, task_items, workflow_item};

use super::{BriefItem, ItemForm, ItemRank, SourcedStartupStep, StartupStep, excerpt, quote};
use crate::session::short_id;
use jiff::Timestamp;
use std::collections::HashMap;

/// A branch in a line of ours.
const BRANCH_LENGTH_MAX: usize = 60;

/// Where points come from, and the command that shows it.
struct ItemSource {
    source: String,
    show: Vec<String>,
}

impl ItemSource {
    fn new(source: String, show: &[&str]) -> Self {
        Self { source, show: show.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn item(&self, rank: ItemRank, what: &'static str, text: impl Into<String>) -> BriefItem {
        BriefItem {
            rank,
            heading: what,
            text: text.into(),
            source: self.source.clone(),
            show: self.show.clone(),
            ..BriefItem::default()
        }
    }

    fn startup_step(&self, action: StartupStep) -> SourcedStartupStep {
        SourcedStartupStep { step: action, source: self.source.clone(), show: self.show.clone() }
    }
}

impl BriefItem {
    fn with_remark(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

/// Names the branch in the line about the source of points, or else in the line about the status.
pub fn mark_branch(points: &mut [BriefItem], branch: &str, is_closed: bool) {
    let branch = format!("on branch {}", quote::code(branch, BRANCH_LENGTH_MAX));
    let branch = if is_closed { format!("{branch}, which was merged or deleted") } else { branch };
    if let Some(point) = points.iter_mut().find(|point| point.rank == ItemRank::Source) {
        point.text = format!("{}, {branch}", point.text);
    } else if let Some(point) = points.iter_mut().find(|point| point.rank >= ItemRank::Status) {
        let before = point.remark.take().map(|remark| format!("{remark}, "));
        point.remark = Some(format!("{}{branch}", before.unwrap_or_default()));
    }
}

/// The points of several sources in turn: the first of each rank of each source, then the second
/// of each, so that none fills the page alone. Of sources the first comes first. Some names of one
/// kind count as one, because they share an item.
pub fn interleave(sources: Vec<Vec<BriefItem>>) -> Vec<BriefItem> {
    let mut turns: Vec<(usize, BriefItem)> = Vec::new();
    for points in sources {
        let mut told: HashMap<ItemRank, RankTurns> = HashMap::new();
        for point in points {
            let turn = told.entry(point.rank).or_default();
            turns.push((turn.turn_for(&point), point));
        }
    }
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, point)| point).collect()
}

/// Whose turn it is within a rank of a source.
#[derive(Default)]
struct RankTurns {
    next: usize,
    names: Option<(&'static str, usize)>,
}

impl RankTurns {
    fn turn_for(&mut self, point: &BriefItem) -> usize {
        /// More would be a page of their own.
        const NAMES_MAX: usize = 8;
        // What is said about one piece of work stays together.
        if point.rank.is_work() {
            return 0;
        }
        let is_name = excerpt::is_name(&point.text);
        match self.names {
            Some((what, names)) if is_name && what == point.heading && names < NAMES_MAX => {
                self.names = Some((what, names + 1));
            }
            _ => {
                self.names = is_name.then_some((point.heading, 1));
                self.next += 1;
            }
        }
        self.next
    }
}

/// Open handoffs of which nothing but the name is told.
pub fn other_handoff_items(names: impl IntoIterator<Item = String>) -> Vec<BriefItem> {
    let origin = ItemSource::new("this project".to_owned(), &["midstride", "list"]);
    let point = |name| BriefItem {
        unbriefed: 1,
        ..origin.item(ItemRank::Rest, "Also open, not briefed here", name)
    };
    names.into_iter().map(point).collect()
}

/// A session of which nothing but what was asked first is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSession {
    /// Its id.
    pub id: String,
    /// What the user asked first.
    pub first_request: String,
    /// Its branch, where that is not the one that is checked out.
    pub branch: Option<String>,
}

/// Other sessions, a line each.
pub fn other_session_items<'s>(
    sessions: impl IntoIterator<Item = &'s OtherSession>,
) -> Vec<BriefItem> {
    let point = |one: &OtherSession| {
        let short = short_id(&one.id);
        let show = ["midstride", "session", "show", short];
        let origin = ItemSource::new(format!("session {short}"), &show);
        let branch = one.branch.as_deref().map(|name| format!(" (branch {})", quote::label(name)));
        let asked = quote::inline(&one.first_request, 100);
        let text = format!("{short} {asked}{}", branch.unwrap_or_default());
        let point = origin.item(ItemRank::Rest, "Earlier sessions", text);
        BriefItem {
            form: ItemForm::Line,
            is_page_subject: true,
            source: "this project".to_owned(),
            ..point
        }
    };
    sessions.into_iter().map(point).collect()
}

/// A day, which reads the same on every day.
fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}

/// The beginning of a commit, as people write it.
fn short_commit(commit: &str) -> String {
    commit.chars().take(7).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_fills_the_page_alone() {
        let of = |source: &str, texts: &[(ItemRank, &str)]| -> Vec<BriefItem> {
            let origin = ItemSource::new(source.to_owned(), &[]);
            texts.iter().map(|(rank, text)| origin.item(*rank, "x", *text)).collect()
        };
        let told = |sources| -> String {
            interleave(sources).into_iter().map(|point| point.text).collect()
        };
        let one = of(
            "one",
            &[(ItemRank::Status, "a "), (ItemRank::Status, "b "), (ItemRank::Rest, "c ")],
        );
        let two =
            of("two", &[(ItemRank::Status, "d "), (ItemRank::Rest, "e "), (ItemRank::Rest, "f ")]);
        assert_eq!(told(vec![one, two]), "a b d c e f ");
        let names = of("one", &[(ItemRank::Rest, "1"); 10]);
        let others = of("two", &[(ItemRank::Rest, "- "); 3]);
        assert_eq!(told(vec![names, others]), "11111111- 11- - ");
    }
}

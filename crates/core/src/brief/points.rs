//! What is worth telling, as points: of handoffs, of a session, of tasks and of the mission.

mod at_work;
mod handoff;
mod instruction;
mod repository;
mod session;
mod upstream;
mod work;

pub use at_work::{AtWork, of_at_work};
pub use handoff::{Asked, Drifted, KnownHandoff, ProofRun, REJECTED, of_handoff, source_of};
pub use instruction::of_instructions;
pub use repository::{mark_clean, of_earlier_commits, of_since, of_work_tree};
pub use session::{headline, of_carried, of_earlier, of_session};
pub use upstream::of_upstream;
pub use work::{Telling, of_mission, of_tasks, of_workflow, older_workflows};

use super::{Boot, BootAction, Form, Point, Rank, form, quote};
use crate::session::short_id;
use jiff::Timestamp;
use std::collections::HashMap;

/// A branch in a line of ours.
const BRANCH_LENGTH_MAX: usize = 60;

/// Where points come from, and the command that shows it.
struct Origin {
    source: String,
    show: Vec<String>,
}

impl Origin {
    fn of(source: String, show: &[&str]) -> Self {
        Self { source, show: show.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn point(&self, rank: Rank, what: &'static str, text: impl Into<String>) -> Point {
        Point {
            rank,
            what,
            text: text.into(),
            source: self.source.clone(),
            show: self.show.clone(),
            ..Point::default()
        }
    }

    fn boot(&self, action: BootAction) -> Boot {
        Boot { action, source: self.source.clone(), show: self.show.clone() }
    }
}

impl Point {
    fn remarked(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

/// Names the branch in the line about the source of points, or else in the line about the status.
pub fn mark_branch(points: &mut [Point], branch: &str, is_closed: bool) {
    let branch = format!("on branch {}", quote::code(branch, BRANCH_LENGTH_MAX));
    let branch = if is_closed { format!("{branch}, which was merged or deleted") } else { branch };
    if let Some(point) = points.iter_mut().find(|point| point.rank == Rank::Source) {
        point.text = format!("{}, {branch}", point.text);
    } else if let Some(point) = points.iter_mut().find(|point| point.rank >= Rank::Standing) {
        let before = point.remark.take().map(|remark| format!("{remark}, "));
        point.remark = Some(format!("{}{branch}", before.unwrap_or_default()));
    }
}

/// The points of several sources in turn: the first of each rank of each source, then the second
/// of each, so that none fills the page alone. Of sources the first comes first. Some names of one
/// kind count as one, because they share an item.
pub fn in_turn(sources: Vec<Vec<Point>>) -> Vec<Point> {
    let mut turns: Vec<(usize, Point)> = Vec::new();
    for points in sources {
        let mut told: HashMap<Rank, Turn> = HashMap::new();
        for point in points {
            let turn = told.entry(point.rank).or_default();
            turns.push((turn.of(&point), point));
        }
    }
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, point)| point).collect()
}

/// Whose turn it is within a rank of a source.
#[derive(Default)]
struct Turn {
    next: usize,
    names: Option<(&'static str, usize)>,
}

impl Turn {
    fn of(&mut self, point: &Point) -> usize {
        /// More would be a page of their own.
        const NAMES_MAX: usize = 8;
        // What is said about one piece of work stays together.
        if point.rank.is_work() {
            return 0;
        }
        let is_name = form::is_name(&point.text);
        match self.names {
            Some((what, names)) if is_name && what == point.what && names < NAMES_MAX => {
                self.names = Some((what, names + 1));
            }
            _ => {
                self.names = is_name.then_some((point.what, 1));
                self.next += 1;
            }
        }
        self.next
    }
}

/// Open handoffs of which nothing but the name is told.
pub fn of_others(names: impl IntoIterator<Item = String>) -> Vec<Point> {
    let origin = Origin::of("this project".to_owned(), &["midstride", "list"]);
    let point = |name| Point {
        unbriefed: 1,
        ..origin.point(Rank::Rest, "Also open, not briefed here", name)
    };
    names.into_iter().map(point).collect()
}

/// A session of which nothing but what was asked first is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSession {
    /// Its id.
    pub id: String,
    /// What the user asked first.
    pub asked: String,
    /// Its branch, where that is not the one that is checked out.
    pub branch: Option<String>,
}

/// Other sessions, a line each.
pub fn of_other_sessions<'s>(sessions: impl IntoIterator<Item = &'s OtherSession>) -> Vec<Point> {
    let point = |one: &OtherSession| {
        let short = short_id(&one.id);
        let show = ["midstride", "session", "show", short];
        let origin = Origin::of(format!("session {short}"), &show);
        let branch = one.branch.as_deref().map(|name| format!(" (branch {})", quote::label(name)));
        let asked = quote::inline(&one.asked, 100);
        let text = format!("{short} {asked}{}", branch.unwrap_or_default());
        let point = origin.point(Rank::Rest, "Earlier sessions", text);
        Point { form: Form::Line, is_of_page: true, source: "this project".to_owned(), ..point }
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
        let of = |source: &str, texts: &[(Rank, &str)]| -> Vec<Point> {
            let origin = Origin::of(source.to_owned(), &[]);
            texts.iter().map(|(rank, text)| origin.point(*rank, "x", *text)).collect()
        };
        let told =
            |sources| -> String { in_turn(sources).into_iter().map(|point| point.text).collect() };
        let one = of("one", &[(Rank::Standing, "a "), (Rank::Standing, "b "), (Rank::Rest, "c ")]);
        let two = of("two", &[(Rank::Standing, "d "), (Rank::Rest, "e "), (Rank::Rest, "f ")]);
        assert_eq!(told(vec![one, two]), "a b d c e f ");
        let names = of("one", &[(Rank::Rest, "1"); 10]);
        let others = of("two", &[(Rank::Rest, "- "); 3]);
        assert_eq!(told(vec![names, others]), "11111111- 11- - ");
    }
}

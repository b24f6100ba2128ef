//! What is worth telling of the repository: what is uncommitted, and what came since a session.

use super::Origin;
use crate::briefing::{Form, Point, Rank, quote};
use crate::checkpoint::{Gist, HighlightKind};
use crate::repository::{FileStatus, Observation, Operation, SinceThen, WorkTreeState};

/// Files that are named; more are counted.
const FILES_MAX: usize = 8;

/// What git said about the working tree, and when. A state that is outdated says nothing.
pub fn of_work_tree(state: &WorkTreeState) -> Vec<Point> {
    let origin = Origin::of("working tree".to_owned(), &["git", "status"]);
    let mut points = Vec::new();
    let at = state.at.strftime("%H:%M");
    if let Some(operation) = state.operation {
        let text = format!("git is in the middle of a {}", word(operation));
        points.push(line(&origin, "Working tree", text));
    }
    if state.moved {
        return points;
    }
    let total = state.uncommitted.len() + state.more;
    let names = state.uncommitted.iter().take(FILES_MAX).map(|file| {
        let status = match file.status {
            FileStatus::Modified => "",
            FileStatus::Added | FileStatus::Untracked => " (new)",
            FileStatus::Deleted => " (deleted)",
            FileStatus::Renamed => " (renamed)",
            FileStatus::Conflicted => " (conflict)",
        };
        format!("{}{status}", quote::code(&file.path, 120))
    });
    let names: Vec<String> = names.collect();
    let more = match total.saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = match total {
        0 => format!("clean at {at}"),
        1 => format!("1 uncommitted file at {at}: {}", names.join(", ")),
        total => format!("{total} uncommitted files at {at}: {}{more}", names.join(", ")),
    };
    points.push(line(&origin, "Working tree", text));
    points
}

/// Commits on this branch that a session did not make, and which of its files they changed.
pub fn of_since(observation: &Observation, gist: &Gist) -> Option<Point> {
    let ours: Vec<String> =
        gist.of_kind(HighlightKind::Commit).filter_map(|one| one.detail.clone()).collect();
    let files: Vec<String> =
        gist.of_kind(HighlightKind::Changed).map(|one| one.text.clone()).collect();
    let since = observation.since(gist.commit.as_deref(), gist.ended?, &ours, &files);
    let SinceThen { count, is_more, newest, touched } = since;
    if count == 0 {
        return None;
    }
    let commits = match count {
        1 => "1 other commit".to_owned(),
        count if is_more => format!("more than {count} other commits"),
        count => format!("{count} other commits"),
    };
    let newest = newest.filter(|subject| !subject.is_empty());
    let newest = newest.map(|subject| format!(", newest {}", quote::inline(&subject, 80)));
    let touched: Vec<String> =
        touched.iter().take(FILES_MAX).map(|path| quote::code(path, 120)).collect();
    let touched = match touched.is_empty() {
        true => String::new(),
        false => format!("; changed since: {}", touched.join(", ")),
    };
    let origin = Origin::of("working tree".to_owned(), &["git", "log"]);
    let text = format!("{commits} on this branch{}{touched}", newest.unwrap_or_default());
    Some(line(&origin, "Since then", text))
}

fn line(origin: &Origin, what: &'static str, text: String) -> Point {
    let point = origin.point(Rank::Standing, what, text);
    Point { form: Form::Line, is_of_page: true, ..point }
}

fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Merge => "merge",
        Operation::Rebase => "rebase",
        Operation::CherryPick => "cherry-pick",
        Operation::Revert => "revert",
        Operation::Bisect => "bisect",
    }
}

//! What is worth telling of a session that went before, or of this one before its context was
//! replaced.

use super::Origin;
use crate::briefing::{Point, Rank};
use crate::checkpoint::{Gist, Item, Sort};

/// Enough of an id to know a session by.
const ID_LETTERS: usize = 8;

/// What whoever goes on has to know of a session.
pub fn of_session(gist: &Gist) -> Vec<Point> {
    let short: String = gist.session.chars().take(ID_LETTERS).collect();
    let origin =
        Origin::of(format!("session {short}"), &["midstride", "session", "show", &gist.session]);
    let one_by_one = gist.items.iter().filter_map(|item| Some((item, told_as(item.sort)?)));
    let mut points: Vec<Point> =
        one_by_one.map(|(item, (rank, what))| point(&origin, item, rank, what)).collect();
    let joined = [
        (Sort::Reverted, Rank::WrongTurn, "Changes that were taken back"),
        (Sort::Missing, Rank::Landmine, "Files that should be there and are not"),
        (Sort::Changed, Rank::Rest, "Changed files"),
    ];
    points.extend(joined.iter().filter_map(|one| paths(gist, &origin, *one)));
    for (sort, more) in &gist.left_out {
        if let Some((_, what)) = told_as(*sort) {
            let text = format!("{more} more, older");
            points.push(origin.point(Rank::Rest, what, text));
        }
    }
    points
}

/// How important a sort is, and what it is called; none where it is told all in one.
fn told_as(sort: Sort) -> Option<(Rank, &'static str)> {
    Some(match sort {
        Sort::Correction => (Rank::Constraint, "The user corrected"),
        Sort::Goal => (Rank::Standing, "The user asked first"),
        Sort::Request => (Rank::Standing, "The user asked"),
        Sort::LastWords => (Rank::Standing, "The agent said last"),
        Sort::Agent => (Rank::Standing, "Agent in flight"),
        Sort::Queued => (Rank::NextAction, "The user typed, and nobody got to it"),
        Sort::Failed => (Rank::WrongTurn, "It failed, and did not pass since"),
        Sort::Task => (Rank::Task, "Open task of the session"),
        Sort::Answer => (Rank::Decision, "The user decided"),
        Sort::Plan => (Rank::Read, "Plan document"),
        Sort::Reverted | Sort::Missing | Sort::Changed => return None,
    })
}

fn point(origin: &Origin, item: &Item, rank: Rank, what: &'static str) -> Point {
    let text = match (&item.detail, item.sort) {
        (Some(id), Sort::Agent) => format!("{id}: {}", item.text),
        (Some(question), Sort::Answer) => format!("{question} → {}", item.text),
        (Some(detail), _) => format!("{} — {detail}", item.text),
        (None, _) => item.text.clone(),
    };
    let place = item.number.map(|number| match &item.agent {
        Some(agent) => format!("record {number} of agent {agent}"),
        None => format!("record {number}"),
    });
    Point { place, remark: item.state.clone(), ..origin.point(rank, what, text) }
}

/// Files of one sort, in one point.
fn paths(
    gist: &Gist,
    origin: &Origin,
    (sort, rank, what): (Sort, Rank, &'static str),
) -> Option<Point> {
    let paths: Vec<&str> = gist.of_sort(sort).map(|item| item.text.as_str()).collect();
    let more = gist.left_out.get(&sort).map(|more| format!("and {more} more"));
    let point = origin.point(rank, what, paths.join(", "));
    (!paths.is_empty()).then_some(Point { remark: more, ..point })
}

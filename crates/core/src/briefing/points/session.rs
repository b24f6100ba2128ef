//! What is worth telling of a session that went before, or of this one before its context was
//! replaced.

use super::Origin;
use crate::briefing::{Point, Rank};
use crate::checkpoint::{AT_LENGTH_MAX, Gist, Item, Sort};
use std::collections::HashMap;

/// Enough of an id to know a session by.
const ID_LETTERS: usize = 8;

/// What whoever goes on has to know of a session: everything that its gist names.
pub fn of_session(gist: &Gist) -> Vec<Point> {
    let short: String = gist.session.chars().take(ID_LETTERS).collect();
    let show = ["midstride", "session", "show", &gist.session];
    let origin = Origin::of(format!("session {short}"), &show);
    let mut told: HashMap<Sort, usize> = HashMap::new();
    let mut points = Vec::with_capacity(gist.items.len() + 1);
    for item in &gist.items {
        let before = told.entry(item.sort).or_default();
        points.push(point(&origin, item, *before >= AT_LENGTH_MAX));
        *before += 1;
    }
    points.extend(not_named(gist, &origin));
    points
}

/// How important a sort is, and what one of it is called; of some the older ones matter less.
fn told_as(sort: Sort, older: bool) -> (Rank, &'static str) {
    match (sort, older) {
        (Sort::Correction, false) => (Rank::Constraint, "The user corrected"),
        (Sort::Correction, true) => (Rank::WrongTurn, "The user corrected before"),
        (Sort::Goal, _) => (Rank::Standing, "The user asked first"),
        (Sort::Request, false) => (Rank::Standing, "The user asked"),
        (Sort::Request, true) => (Rank::Rest, "The user asked before"),
        (Sort::LastWords, _) => (Rank::Standing, "The agent said last"),
        (Sort::Agent, _) => (Rank::Standing, "Agent in flight"),
        (Sort::Queued, _) => (Rank::NextAction, "The user typed, and nobody got to it"),
        (Sort::Failed, _) => (Rank::WrongTurn, "It failed, and did not pass since"),
        (Sort::Reverted, _) => (Rank::WrongTurn, "A change was taken back"),
        (Sort::Missing, _) => (Rank::Landmine, "It should be there and is not"),
        (Sort::Task, _) => (Rank::Task, "Open task of the session"),
        (Sort::Answer, _) => (Rank::Decision, "The user decided"),
        (Sort::Plan, _) => (Rank::Read, "Plan document"),
        (Sort::Changed, _) => (Rank::Rest, "Changed file"),
        (Sort::Passed, _) => (Rank::Rest, "It failed, and passed since"),
        (Sort::TakenBack, _) => (Rank::Rest, "The user went back before it"),
    }
}

fn point(origin: &Origin, item: &Item, older: bool) -> Point {
    let (rank, what) = told_as(item.sort, older);
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
    // Of what is over, the text is enough to find it by.
    let place = place.filter(|_| rank != Rank::Rest);
    Point { place, remark: item.state.clone(), ..origin.point(rank, what, text) }
}

/// What the gist counts and does not name. It leads: whoever goes on must not take what is told for
/// all there was.
fn not_named(gist: &Gist, origin: &Origin) -> Option<Point> {
    let counted = |(sort, more): (&Sort, &usize)| {
        let (_, what) = told_as(*sort, true);
        format!("{what} ×{more}")
    };
    let mut parts: Vec<String> = gist.left_out.iter().map(counted).collect();
    if gist.not_kept > 0 {
        parts.push(format!("only in the transcript ×{}", gist.not_kept));
    }
    let text = parts.join("; ");
    (!parts.is_empty()).then(|| origin.point(Rank::Standing, "More than is named here", text))
}

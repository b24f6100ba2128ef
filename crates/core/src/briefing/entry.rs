//! Points in the order of importance, each with its forms.

use super::material::{Budget, Material, Point, Rank};
use super::visible::Visible;
use super::{boot, form};
use std::cell::OnceCell;

/// So many points of one kind in a row each have an item of their own; more share one. Names share
/// one at once.
const APART_MAX: usize = 5;

/// So many constraints and questions are told before the first piece of work. With more in front of it
/// a session with little room would hear what to keep to, and not what to do.
const BEFORE_WORK_MAX: usize = 5;

/// No text is told in more characters than these.
const LONG_LENGTH_MAX: usize = 2_000;

/// Points of one kind in a row that share an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The entry behind the last of them.
    pub(super) end: usize,
}

/// A point with its forms.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) point: Point,
    pub(super) run: Option<Run>,
    pub(super) short: Visible,
    /// Made when it is asked for: of many points few are told at length.
    long: OnceCell<Visible>,
    long_length_max: usize,
}

impl Entry {
    fn of(point: Point, run: Option<Run>, lengths: &Lengths) -> Self {
        let (short, long_length_max) = match run {
            Some(_) => (form::GATHERED_LENGTH_MAX, form::SHORT_LENGTH_MAX),
            None if leads(&point) => (form::SHORT_LENGTH_MAX, lengths.leading),
            None => (form::SHORT_LENGTH_MAX, lengths.other),
        };
        let short = form::short(&point.text, short);
        Self { point, run, short, long: OnceCell::new(), long_length_max }
    }

    /// Whether it is of those that are told at length before others are told at all.
    pub(super) fn leads(&self) -> bool {
        leads(&self.point)
    }

    /// The long form; one that shares its item stays in one line.
    pub(super) fn long(&self) -> &Visible {
        self.long.get_or_init(|| match self.run {
            Some(_) => form::short(&self.point.text, self.long_length_max),
            None => form::long(&self.point.text, self.long_length_max),
        })
    }
}

/// Where one piece of work stands and what is next there go together, as they come: what to do next in
/// the first outlives how the second stands.
fn order(point: &Point) -> Rank {
    if point.rank == Rank::NextAction { Rank::Standing } else { point.rank }
}

/// Brings where the first piece of work stands, and what is next, before all but the first constraints
/// and questions.
fn lift_work(points: &mut [Point]) {
    let mut to = BEFORE_WORK_MAX;
    for rank in [Rank::Standing, Rank::NextAction] {
        let at = points.iter().position(|point| point.rank == rank);
        if let Some(at) = at.filter(|at| *at > to) {
            points[to..=at].rotate_right(1);
            to += 1;
        }
    }
}

fn leads(point: &Point) -> bool {
    point.rank <= Rank::NextAction
}

/// Everything there is to tell, the most important first.
pub(super) fn in_order(material: &Material, budget: Budget) -> Vec<Entry> {
    let boot = material.boot.iter().flat_map(|boot| boot::points(boot, material.client));
    let mut points: Vec<Point> = boot.chain(material.points.iter().cloned()).collect();
    points.sort_by_key(order);
    lift_work(&mut points);
    let runs = runs(&points);
    let leading = points.iter().filter(|point| leads(point)).count();
    let lengths = Lengths::of(budget, leading);
    let entries = points.into_iter().zip(runs);
    entries.map(|(point, run)| Entry::of(point, run, &lengths)).collect()
}

/// How long the long forms are.
struct Lengths {
    leading: usize,
    other: usize,
}

impl Lengths {
    /// What leads shares about half of the budget, if each token is four characters; nothing else
    /// takes more than an eighth.
    fn of(budget: Budget, leading: usize) -> Self {
        let tokens = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
        let within = |length: usize| length.clamp(form::SHORT_LENGTH_MAX, LONG_LENGTH_MAX);
        let leading = within(tokens.saturating_mul(2) / leading.max(1));
        Self { leading, other: within(tokens / 2) }
    }
}

/// For each point, the run it belongs to.
fn runs(points: &[Point]) -> Vec<Option<Run>> {
    let mut runs = Vec::with_capacity(points.len());
    for kind in points.chunk_by(|one, next| (one.rank, one.what) == (next.rank, next.what)) {
        let run = Run { end: runs.len() + kind.len() };
        let many = kind.len() > APART_MAX || kind.len() > 1 && are_names(kind);
        let many = many && !leads(&kind[0]);
        runs.extend(kind.iter().map(|_| many.then_some(run)));
    }
    runs
}

fn are_names(points: &[Point]) -> bool {
    points.iter().all(|point| form::is_name(&point.text))
}

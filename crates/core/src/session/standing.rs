//! What stands at the end of a session: the last result of each check, failures that are still open,
//! commits that exist, what was done outside.

use super::Session;
use super::item::Seen;
use super::work::{CheckRun, Commit, Effect};
use crate::shell::{CheckKind, CheckResult, EffectKind};

/// How a check stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState<'s> {
    /// Its last run that passed or failed.
    pub run: &'s CheckRun,
    /// Files that were changed after it and that it can see.
    pub edits_since: Vec<&'s str>,
}

impl CheckState<'_> {
    /// What it checks.
    pub fn kind(&self) -> CheckKind {
        self.run.kind
    }

    /// How it ended.
    pub fn result(&self) -> CheckResult {
        self.run.result
    }
}

/// A failure that nothing settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFailure<'s> {
    /// Where it was last seen failing.
    pub seen: &'s Seen,
    /// The simple command, as typed.
    pub command: &'s str,
    /// The most telling lines, the best first.
    pub why: &'s [String],
    /// What failed.
    pub what: Failing,
    /// Whether a narrower run of the same check passed since. Where it did not, nothing comparable
    /// ran again.
    pub narrower_passed: Option<&'s CheckRun>,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// A check.
    Check(CheckKind),
    /// A merge, rebase, cherry-pick or pull that stopped on conflicts.
    Merge,
    /// Something outside.
    Effect(EffectKind),
}

/// Things of the same kind that were done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectDone<'s> {
    /// The newest of them.
    pub effect: &'s Effect,
    /// How many they are.
    pub count: usize,
    /// The first address that one of them showed.
    pub url: Option<&'s str>,
}

/// For each kind of check, the last run of each check that matters.
pub fn last_checks(session: &Session) -> Vec<CheckState<'_>> {
    let _ = session;
    Vec::new()
}

/// Failures that nothing settled, the oldest first.
pub fn open_failures(session: &Session) -> Vec<OpenFailure<'_>> {
    let _ = session;
    Vec::new()
}

/// Commits of the session that exist, as far as its transcript shows, the newest last.
pub fn commits_made(session: &Session) -> Vec<&Commit> {
    let _ = session;
    Vec::new()
}

/// What was done outside, in order; five replies are one entry with a count.
pub fn effects_done(session: &Session) -> Vec<EffectDone<'_>> {
    let _ = session;
    Vec::new()
}

/// Unchecked boxes in texts that the session wrote outside, each with the effect that wrote it last.
pub fn unchecked_boxes(session: &Session) -> Vec<(&Effect, &[String])> {
    let _ = session;
    Vec::new()
}

/// Files that were changed after a moment, in the order of their paths.
pub fn edits_since<'s>(session: &'s Session, since: &Seen) -> Vec<&'s str> {
    let is_later = |seen: &Seen| seen.is_after(since);
    let changed = session.files.changed();
    let later = changed.filter(|(_, touched)| touched.changed.iter().any(is_later));
    later.map(|(path, _)| path).collect()
}

//! What stands at the end of a session: the last result of each check, failures that are still open,
//! commits that exist, what was done outside.
//!
//! A check or an edit that the user went back from says nothing about now. A commit or something done
//! outside stays done.

use super::item::{CommandStatus, Provenance};
use super::work::{CheckRun, CommitState, Effect, SessionCommit};
use super::{AbandonedRecords, Session};
use crate::session::shell::{
    self, Check, CheckKind, CheckResult, EffectKind, EffectResult, GitCommand, Relation, ShellLine,
    SimpleCommand,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

/// How a check stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState<'s> {
    /// Its last run that passed or failed.
    pub run: &'s CheckRun,
    /// Files that were changed after it started and that it can see, in the order of their paths.
    pub edits_since: Vec<&'s str>,
    /// Commands after it that changed files, where it is not known which: merges, patches, scripts.
    pub commands_since: Vec<&'s str>,
    /// Where it ran again, or more than it, with a result that is not clear.
    pub ran_again: Option<&'s Provenance>,
}

impl CheckState<'_> {
    /// Whether nothing that it checks was changed since.
    pub fn is_current(&self) -> bool {
        self.edits_since.is_empty() && self.commands_since.is_empty()
    }
}

/// A failure that nothing settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFailure<'s> {
    /// Where it was last seen failing.
    pub seen: &'s Provenance,
    /// The simple command, as typed.
    pub command: &'s str,
    /// The most telling lines, the best first.
    pub why: &'s [String],
    /// What failed.
    pub kind: OpenFailureKind,
    /// What ran since.
    pub follow_up: FailureFollowUp<'s>,
}

/// What ran after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureFollowUp<'s> {
    /// Nothing that can be compared.
    Nothing,
    /// A narrower run of the same check, which passed.
    NarrowerPassed(&'s CheckRun),
    /// The check, or more than it, here; the result is not clear.
    RanAgain(&'s Provenance),
    /// Something that may include it; the result is not clear.
    MayHaveRun,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFailureKind {
    /// A check.
    Check(CheckKind),
    /// A merge, rebase, cherry-pick or pull that stopped on conflicts, or a commit that was not made.
    Merge,
    /// Something outside.
    Effect(EffectKind),
}

/// Things of one kind that were done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectGroup<'s> {
    /// The newest of them.
    pub effect: &'s Effect,
    /// How many they are.
    pub count: usize,
    /// An address that one of them showed, the newest.
    pub url: Option<&'s str>,
    /// A title that one of them was given, the newest.
    pub title: Option<&'s str>,
}

/// A run of a check, with what it is compared by.
struct ComparedCheck<'s> {
    run: &'s CheckRun,
    check: Check,
    /// The folder it ran in.
    folder: &'s str,
}

impl ComparedCheck<'_> {
    /// What this run says about an earlier one.
    fn relation_to(&self, earlier: &Self) -> Relation {
        relation_across_folders(self.folder, earlier.folder, self.check.relation_to(&earlier.check))
    }
}

/// What a run in one folder says about a run in another one, where their words say this. Above or below,
/// the same words may check the same; in another worktree they check something else.
fn relation_across_folders(folder: &str, earlier: &str, relation: Relation) -> Relation {
    if folder == earlier {
        return relation;
    }
    match relation {
        Relation::Covers | Relation::Unclear if !is_other_worktree(folder, earlier) => {
            Relation::Unclear
        }
        Relation::Covers | Relation::Unclear | Relation::Narrower | Relation::Different => {
            Relation::Different
        }
    }
}

/// Whether a folder of worktrees is on the way from one folder to the other.
fn is_other_worktree(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one).components(), Path::new(other).components());
    let shared = one.clone().zip(other.clone()).take_while(|(a, b)| a == b).count();
    let mut apart = one.skip(shared).chain(other.skip(shared));
    apart.any(|part| {
        part.as_os_str().to_str().is_some_and(|name| name.trim_matches('.') == "worktrees")
    })
}

/// Runs that are on the way to the end and that passed or failed, the oldest first. Of runs of the same
/// command with the same result, only the last: it says all that the others say.
fn compared_checks<'s>(session: &'s Session, left: &AbandonedRecords) -> Vec<ComparedCheck<'s>> {
    let is_told = |run: &&CheckRun| run.result != CheckResult::Unknown && !left.has(&run.seen);
    let mut told: Vec<&'s CheckRun> = session.checks.iter().filter(is_told).collect();
    // Runs of agents were added behind those of the session.
    told.sort_by(|one, other| order(&one.seen, &other.seen));
    let mut known = HashSet::new();
    let is_last =
        |run: &&'s CheckRun| known.insert((run.kind, run.result, &run.command, &run.folder));
    let read = |run: &'s CheckRun| {
        let mut checks = Check::parse_line(&run.command).into_iter();
        let check = checks.find(|check| check.kind == run.kind)?;
        Some(ComparedCheck { run, check, folder: folder_of(run, session) })
    };
    let last = told.into_iter().rev().filter(is_last);
    let mut all: Vec<ComparedCheck<'s>> = last.filter_map(read).collect();
    all.reverse();
    all
}

/// A run of which the result was not seen.
struct UnseenCheck<'s> {
    seen: &'s Provenance,
    folder: Cow<'s, str>,
    check: Check,
}

impl UnseenCheck<'_> {
    /// What it would say about an earlier run.
    fn relation_to(&self, earlier: &ComparedCheck<'_>) -> Relation {
        if !self.seen.is_after(&earlier.run.seen) {
            return Relation::Different;
        }
        relation_across_folders(
            &self.folder,
            earlier.folder,
            self.check.relation_to(&earlier.check),
        )
    }
}

/// The folder that a check ran in.
fn folder_of<'s>(run: &'s CheckRun, session: &'s Session) -> &'s str {
    run.folder.as_deref().or(session.cwd.as_deref()).unwrap_or_default()
}

/// Runs whose output does not say how they ended, and those that did not end.
fn unseen_checks<'s>(session: &'s Session, left: &AbandonedRecords) -> Vec<UnseenCheck<'s>> {
    let is_unknown = |run: &&CheckRun| run.result == CheckResult::Unknown;
    let unknown = session.checks.iter().filter(is_unknown).flat_map(|run| {
        let checks = Check::parse_line(&run.command).into_iter();
        let folder = folder_of(run, session);
        checks.map(move |check| UnseenCheck { seen: &run.seen, folder: folder.into(), check })
    });
    let stopped = session.commands.iter().filter(|command| match command.exit {
        CommandStatus::Running | CommandStatus::Interrupted => true,
        CommandStatus::Passed | CommandStatus::Failed | CommandStatus::NotAllowed => false,
    });
    let stopped = stopped.flat_map(|command| {
        let checks = |one: &SimpleCommand| {
            let cwd = session.cwd.as_deref();
            let folder = one.folder.as_deref().map(|folder| shell::join_folder(cwd, folder));
            let folder = folder.map_or(Cow::Borrowed(cwd.unwrap_or_default()), Cow::Owned);
            let checks = Check::all_from_command(one).into_iter();
            checks
                .map(|check| UnseenCheck { seen: &command.seen, folder: folder.clone(), check })
                .collect::<Vec<_>>()
        };
        ShellLine::parse(&command.text).commands.iter().flat_map(checks).collect::<Vec<_>>()
    });
    unknown.chain(stopped).filter(|run| !left.has(run.seen)).collect()
}

fn order(one: &Provenance, other: &Provenance) -> std::cmp::Ordering {
    match (one.is_after(other), other.is_after(one)) {
        (true, false) => std::cmp::Ordering::Greater,
        (false, true) => std::cmp::Ordering::Less,
        (true, true) | (false, false) => std::cmp::Ordering::Equal,
    }
}

/// Runs of one kind that are shown.
const LAST_MAX: usize = 3;

/// For each kind of check the last runs that matter, the newest first. A run is left out where a later
/// one checked as much, or may have.
pub fn last_checks<'s>(session: &'s Session, left: &AbandonedRecords) -> Vec<CheckState<'s>> {
    let runs = compared_checks(session, left);
    let unseen = unseen_checks(session, left);
    let mut last: Vec<CheckState<'s>> = Vec::new();
    for (at, one) in runs.iter().enumerate().rev() {
        let kind = one.run.kind;
        let of_kind = last.iter().filter(|state| state.run.kind == kind);
        let (shown, has_passed) = of_kind.fold((0, false), |(shown, passed), state| {
            (shown + 1, passed || state.run.result == CheckResult::Passed)
        });
        if kind == CheckKind::Script || shown >= LAST_MAX || is_outdated(one, &runs[at + 1..]) {
            continue;
        }
        let mut state = CheckState {
            run: one.run,
            edits_since: edits_since(session, &one.run.seen, left),
            commands_since: commands_since(session, &one.run.seen, left),
            ran_again: unseen_repeat(one, &unseen),
        };
        state.edits_since.retain(|path| !is_prose(path));
        // A part that passed before later edits says little where something passed after them.
        let is_stale = one.run.result == CheckResult::Passed
            && !one.check.is_whole()
            && !state.is_current()
            && has_passed;
        if !is_stale {
            last.push(state);
        }
    }
    last
}

/// Where a check ran again last, as a whole, with a result that was not seen.
fn unseen_repeat<'s>(
    one: &ComparedCheck<'_>,
    unseen: &[UnseenCheck<'s>],
) -> Option<&'s Provenance> {
    let again = unseen.iter().filter(|run| run.relation_to(one) == Relation::Covers);
    again.map(|run| run.seen).max_by(|one, other| order(one, other))
}

fn is_outdated(one: &ComparedCheck<'_>, later: &[ComparedCheck<'_>]) -> bool {
    later.iter().any(|other| match other.relation_to(one) {
        Relation::Covers => true,
        Relation::Unclear => {
            one.run.result == CheckResult::Failed && other.run.result == CheckResult::Passed
        }
        Relation::Narrower | Relation::Different => false,
    })
}

/// Commands that changed files after a moment, where it is not known which.
fn commands_since<'s>(
    session: &'s Session,
    since: &Provenance,
    left: &AbandonedRecords,
) -> Vec<&'s str> {
    let is_one = |edit: &&super::IndirectEdit| {
        edit.path.is_none() && edit.seen.is_after(since) && !left.has(&edit.seen)
    };
    let edits = session.other_edits.iter().filter(is_one);
    edits.filter_map(|edit| edit.command.as_deref()).collect()
}

/// Notes, which no check of code reads.
fn is_prose(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".md", ".mdx", ".txt", ".rst", ".adoc"].iter().any(|ending| lower.ends_with(ending))
        && !lower.ends_with("cmakelists.txt")
        && !lower.ends_with("requirements.txt")
}

/// Failures that nothing settled, the oldest first. What may have been settled is left out.
pub fn open_failures<'s>(session: &'s Session, left: &AbandonedRecords) -> Vec<OpenFailure<'s>> {
    let runs = compared_checks(session, left);
    let unseen = unseen_checks(session, left);
    let mut open: Vec<OpenFailure<'s>> = Vec::new();
    for (at, failed) in runs.iter().enumerate() {
        let later = &runs[at + 1..];
        if failed.run.result != CheckResult::Failed
            || is_settled(failed, later)
            || !is_worth_reporting(session, failed)
        {
            continue;
        }
        open.push(OpenFailure {
            seen: failed.run.ended.as_ref().unwrap_or(&failed.run.seen),
            command: &failed.run.command,
            why: &failed.run.why,
            kind: OpenFailureKind::Check(failed.run.kind),
            follow_up: follow_up(failed, later, &unseen),
        });
    }
    open.extend(open_conflicts(session, left));
    open.extend(open_effects(session));
    open.sort_by(|one, other| order(one.seen, other.seen));
    open
}

fn follow_up<'s>(
    failed: &ComparedCheck<'s>,
    later: &[ComparedCheck<'s>],
    unseen: &[UnseenCheck<'s>],
) -> FailureFollowUp<'s> {
    if let Some(seen) = unseen_repeat(failed, unseen) {
        return FailureFollowUp::RanAgain(seen);
    }
    if unseen.iter().any(|run| run.relation_to(failed) == Relation::Unclear) {
        return FailureFollowUp::MayHaveRun;
    }
    let narrower = |one: &&ComparedCheck<'_>| {
        one.run.result == CheckResult::Passed && one.relation_to(failed) == Relation::Narrower
    };
    let passed = later.iter().rev().find(narrower);
    passed.map_or(FailureFollowUp::Nothing, |one| FailureFollowUp::NarrowerPassed(one.run))
}

/// Whether later runs say that a check passes, failed again, or may pass by now.
fn is_settled(failed: &ComparedCheck<'_>, later: &[ComparedCheck<'_>]) -> bool {
    let settles = |one: &ComparedCheck<'_>| match one.relation_to(failed) {
        // One that failed again is told at its own place.
        Relation::Covers => true,
        Relation::Unclear => one.run.result == CheckResult::Passed,
        Relation::Narrower | Relation::Different => false,
    };
    if later.iter().any(settles) {
        return true;
    }
    // Run part by part, it passed as well.
    let parts = failed.check.parts();
    let passes = |part: &Check| {
        later.iter().any(|one| {
            one.run.result == CheckResult::Passed
                && one.run.folder == failed.run.folder
                && one.check.relation_to(part) == Relation::Covers
        })
    };
    parts.len() > 1 && parts.iter().all(passes)
}

/// Whether a failure says something about the project: trials do not.
fn is_worth_reporting(session: &Session, failed: &ComparedCheck<'_>) -> bool {
    let command = &failed.run.command;
    let outside = failed.run.folder.as_deref().is_some_and(|folder| {
        folder.starts_with("/tmp/")
            || folder.starts_with("/private/tmp/")
            || folder.starts_with('$')
    });
    // A script that the session wrote itself, or a file that is gone, was a trial.
    let words = command.split_whitespace().map(|word| word.trim_start_matches("./"));
    let files = words.map(|word| word.split_once("::").map_or(word, |(file, _)| file));
    let files: Vec<&str> = files.filter(|file| file.contains('.') && file.len() > 3).collect();
    let is_own =
        |path: &str, written: bool| written && files.iter().any(|file| path.ends_with(file));
    let is_trial = session.files.changed().any(|(path, touched)| {
        is_own(path, touched.deleted)
            || (failed.run.kind == CheckKind::Script && is_own(path, touched.writes > 0))
    });
    !outside && !is_trial
}

impl Session {
    /// Whether it continued or gave up what had stopped on conflicts, in this session or before it.
    pub fn settles_conflicts(&self) -> bool {
        let cwd = self.cwd.as_deref().unwrap_or_default();
        // Another checkout has conflicts of its own.
        let is_here = |git: &GitCommand<'_>| {
            let folder = git.folder.as_deref().filter(|folder| folder.starts_with(['/', '~', '$']));
            folder.is_none_or(|folder| Path::new(folder).starts_with(cwd))
        };
        let ends = |text: &str| {
            let line = ShellLine::parse(text);
            line.commands
                .iter()
                .filter_map(GitCommand::from_command)
                .any(|git| git.ends_conflicts() && is_here(&git))
        };
        // Few lines of a session are worth reading as commands.
        let may_end = |text: &str| {
            let words = ["--continue", "--abort", "--skip", "--quit", "reset"];
            text.contains("git") && words.iter().any(|word| text.contains(word))
        };
        let passed = self.commands.iter().filter(|one| one.exit == CommandStatus::Passed);
        passed.filter(|one| may_end(&one.text)).any(|one| ends(&one.text))
    }
}

fn open_conflicts<'s>(
    session: &'s Session,
    left: &AbandonedRecords,
) -> impl Iterator<Item = OpenFailure<'s>> {
    let commits = || session.commits.iter();
    let is_open = move |conflict: &&super::GitConflict| {
        conflict.settled.is_none()
            && !left.has(&conflict.seen)
            && !commits().any(|commit| commit.seen.is_after(&conflict.seen))
    };
    let open: Vec<_> = session.conflicts.iter().filter(is_open).collect();
    open.into_iter().map(|conflict| OpenFailure {
        seen: &conflict.seen,
        command: &conflict.command,
        why: &conflict.why,
        kind: OpenFailureKind::Merge,
        follow_up: FailureFollowUp::Nothing,
    })
}

/// What failed outside and was not done later.
fn open_effects(session: &Session) -> impl Iterator<Item = OpenFailure<'_>> {
    let effects = || session.effects.iter();
    let settles = |later: &Effect, failed: &Effect| {
        later.seen.is_after(&failed.seen)
            && later.result != EffectResult::Failed
            && later.kind == failed.kind
            && (verb(later) == verb(failed) || later.kind == EffectKind::Push)
            && (later.target == failed.target
                || later.target.is_none()
                || failed.target.is_none()
                || failed.kind == EffectKind::PullRequest)
    };
    let fails_again = move |later: &Effect, failed: &Effect| {
        later.seen.is_after(&failed.seen)
            && later.result == EffectResult::Failed
            && verb(later) == verb(failed)
            && later.target == failed.target
    };
    let is_open = move |failed: &&Effect| {
        // What is there already needs no second try.
        let is_there = failed.why.iter().any(|line| line.contains("already exists"));
        failed.result == EffectResult::Failed
            && !is_there
            && !effects().any(|later| settles(later, failed) || fails_again(later, failed))
    };
    session.effects.iter().filter(is_open).map(|failed| OpenFailure {
        seen: &failed.seen,
        command: &failed.command,
        why: &failed.why,
        kind: OpenFailureKind::Effect(failed.kind),
        follow_up: unfinished_retry(session, failed)
            .map_or(FailureFollowUp::Nothing, FailureFollowUp::RanAgain),
    })
}

/// Where something of the same kind was started outside, without an end.
fn unfinished_retry<'s>(session: &'s Session, failed: &Effect) -> Option<&'s Provenance> {
    let mut commands = session.commands.iter().rev();
    let again = commands.find(|command| {
        let has_no_end =
            matches!(command.exit, CommandStatus::Running | CommandStatus::Interrupted);
        let is_same = || {
            let line = ShellLine::parse(&command.text);
            let outside = line.commands.iter().filter_map(|one| shell::command_effect(one, &line));
            { outside }.any(|one| one.kind == failed.kind)
        };
        has_no_end && command.seen.is_after(&failed.seen) && is_same()
    });
    again.map(|command| &command.seen)
}

/// What an effect does, without its options.
fn verb(effect: &Effect) -> &str {
    effect.action.split(" --").next().unwrap_or(&effect.action)
}

/// Commits of the session that exist, as far as its transcript shows, the newest last.
pub fn existing_commits(session: &Session) -> Vec<&SessionCommit> {
    let made = session.commits.iter().filter(|commit| commit.state == CommitState::Made);
    let mut made: Vec<&SessionCommit> = made.collect();
    made.sort_by(|one, other| order(&one.seen, &other.seen));
    made
}

/// What was done outside, in the order of the newest of each; five replies are one entry with a
/// count.
pub fn effect_groups(session: &Session) -> Vec<EffectGroup<'_>> {
    let mut done: Vec<&Effect> =
        session.effects.iter().filter(|effect| effect.result == EffectResult::Done).collect();
    done.sort_by(|one, other| order(&one.seen, &other.seen));
    let mut grouped: Vec<EffectGroup<'_>> = Vec::new();
    for effect in done {
        let same = |one: &EffectGroup<'_>| {
            one.effect.kind == effect.kind
                && verb(one.effect) == verb(effect)
                && (one.effect.target == effect.target
                    || matches!(effect.kind, EffectKind::Reply | EffectKind::Comment)
                        && (effect.target.is_none() || one.effect.target.is_none()))
        };
        let (mut count, mut url, mut title) = (1, effect.url.as_deref(), effect.title.as_deref());
        if let Some(at) = grouped.iter().position(same) {
            let before = grouped.remove(at);
            count += before.count;
            url = url.or(before.url);
            title = title.or(before.title);
        }
        grouped.push(EffectGroup { effect, count, url, title });
    }
    grouped
}

/// Unchecked boxes in texts that the session wrote outside, each with the effect that wrote it last.
pub fn unchecked_boxes(session: &Session) -> Vec<(&Effect, &[String])> {
    let wrote = |effect: &&Effect| effect.result == EffectResult::Done && effect.boxes.is_some();
    let mut wrote: Vec<&Effect> = session.effects.iter().filter(wrote).collect();
    wrote.sort_by(|one, other| order(&one.seen, &other.seen));
    let mut last: Vec<&Effect> = Vec::new();
    for effect in wrote {
        // A text without a number is the one of the pull request that was made last.
        let same = |one: &Effect| {
            one.kind == effect.kind
                && (one.target == effect.target || one.target.is_none() || effect.target.is_none())
        };
        let is_text = matches!(effect.kind, EffectKind::PullRequest | EffectKind::Issue);
        if is_text && let Some(at) = last.iter().rposition(|one| same(one)) {
            last.remove(at);
        }
        last.push(effect);
    }
    let open = last.into_iter().filter_map(|effect| Some((effect, effect.boxes.as_deref()?)));
    open.filter(|(_, boxes)| !boxes.is_empty()).collect()
}

/// Files that were changed after a moment, by the session or its agents, in the order of their paths.
pub fn edits_since<'s>(
    session: &'s Session,
    since: &Provenance,
    left: &AbandonedRecords,
) -> Vec<&'s str> {
    let is_later = |seen: &Provenance| seen.is_after(since) && !left.has(seen);
    let changed = session.files.changed();
    let own = changed.filter(|(_, touched)| touched.changed.iter().any(is_later));
    let others = session.other_edits.iter().filter(|edit| is_later(&edit.seen));
    let mut edits: Vec<&str> = own.map(|(path, _)| path).collect();
    edits.extend(others.filter_map(|edit| edit.path.as_deref()));
    edits.sort_unstable();
    edits.dedup();
    edits
}

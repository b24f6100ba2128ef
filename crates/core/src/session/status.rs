//! The status at the end of a session: the last result of each check, open failures, existing
//! commits and effects outside the project.
//!
//! Checks and edits that the user went back from do not count. Commits and outside effects stay.

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

/// The status of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckState<'s> {
    /// Its last run that passed or failed.
    pub run: &'s CheckRun,
    /// Files that it checks and that changed after it started, sorted by path.
    pub edits_since: Vec<&'s str>,
    /// Later commands that changed unknown files: merges, patches, scripts.
    pub commands_since: Vec<&'s str>,
    /// A later run of the same check, or of more, with an unclear result.
    pub ran_again: Option<&'s Provenance>,
}

impl CheckState<'_> {
    /// Whether nothing that it checks changed since.
    pub fn is_current(&self) -> bool {
        self.edits_since.is_empty() && self.commands_since.is_empty()
    }
}

/// A failure that is not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFailure<'s> {
    /// The record where it was last seen failing.
    pub seen: &'s Provenance,
    /// The simple command, as typed.
    pub command: &'s str,
    /// The most telling lines, best first.
    pub why: &'s [String],
    /// What failed.
    pub kind: OpenFailureKind,
    /// What ran afterwards.
    pub follow_up: FailureFollowUp<'s>,
}

/// What ran after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureFollowUp<'s> {
    /// Nothing comparable.
    Nothing,
    /// A narrower run of the same check passed.
    NarrowerPassed(&'s CheckRun),
    /// The same check, or more, ran again with an unclear result, in this record.
    RanAgain(&'s Provenance),
    /// Something that may include the check ran with an unclear result.
    MayHaveRun,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFailureKind {
    /// A check.
    Check(CheckKind),
    /// A merge, rebase, cherry-pick or pull that stopped on conflicts, or a commit that failed.
    Merge,
    /// An effect outside the project.
    Effect(EffectKind),
}

/// Effects of one kind outside the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectGroup<'s> {
    /// The newest effect.
    pub effect: &'s Effect,
    /// The number of effects.
    pub count: usize,
    /// The newest URL among them.
    pub url: Option<&'s str>,
    /// The newest title among them.
    pub title: Option<&'s str>,
}

/// A run of a check, prepared for comparison.
struct ComparedCheck<'s> {
    run: &'s CheckRun,
    check: Check,
    /// The directory it ran in.
    folder: &'s str,
}

impl ComparedCheck<'_> {
    /// How this run relates to an earlier one.
    fn relation_to(&self, earlier: &Self) -> Relation {
        relation_across_folders(self.folder, earlier.folder, self.check.relation_to(&earlier.check))
    }
}

/// How runs in two directories relate, given the relation of their commands. In a parent or child
/// directory the same command may check the same; in another worktree it checks something else.
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

/// Whether the two directories differ by a `worktrees` component.
fn is_other_worktree(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one).components(), Path::new(other).components());
    let shared = one.clone().zip(other.clone()).take_while(|(a, b)| a == b).count();
    let mut apart = one.skip(shared).chain(other.skip(shared));
    apart.any(|part| {
        part.as_os_str().to_str().is_some_and(|name| name.trim_matches('.') == "worktrees")
    })
}

/// Runs that passed or failed and were not abandoned, oldest first. Of runs of the same command
/// with the same result, only the last one is kept, since it says as much as the others.
fn compared_checks<'s>(
    session: &'s Session,
    abandoned: &AbandonedRecords,
) -> Vec<ComparedCheck<'s>> {
    let has_result =
        |run: &&CheckRun| run.result != CheckResult::Unknown && !abandoned.has(&run.seen);
    let mut runs: Vec<&'s CheckRun> = session.checks.iter().filter(has_result).collect();
    // Runs of agents were appended after those of the session.
    runs.sort_by(|one, other| order(&one.seen, &other.seen));
    let mut known = HashSet::new();
    let is_last =
        |run: &&'s CheckRun| known.insert((run.kind, run.result, &run.command, &run.folder));
    let read = |run: &'s CheckRun| {
        let mut checks = Check::parse_line(&run.command).into_iter();
        let check = checks.find(|check| check.kind == run.kind)?;
        Some(ComparedCheck { run, check, folder: folder_of(run, session) })
    };
    let last = runs.into_iter().rev().filter(is_last);
    let mut all: Vec<ComparedCheck<'s>> = last.filter_map(read).collect();
    all.reverse();
    all
}

/// A run whose result was not seen.
struct UnseenCheck<'s> {
    seen: &'s Provenance,
    folder: Cow<'s, str>,
    check: Check,
}

impl UnseenCheck<'_> {
    /// How it would relate to an earlier run.
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

/// The directory that a check ran in.
fn folder_of<'s>(run: &'s CheckRun, session: &'s Session) -> &'s str {
    run.folder.as_deref().or(session.cwd.as_deref()).unwrap_or_default()
}

/// Runs that did not end, or whose output does not show how they ended.
fn unseen_checks<'s>(session: &'s Session, abandoned: &AbandonedRecords) -> Vec<UnseenCheck<'s>> {
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
    unknown.chain(stopped).filter(|run| !abandoned.has(run.seen)).collect()
}

fn order(one: &Provenance, other: &Provenance) -> std::cmp::Ordering {
    match (one.is_after(other), other.is_after(one)) {
        (true, false) => std::cmp::Ordering::Greater,
        (false, true) => std::cmp::Ordering::Less,
        (true, true) | (false, false) => std::cmp::Ordering::Equal,
    }
}

/// The maximum number of runs shown per kind.
const LAST_MAX: usize = 3;

/// The last runs that matter for each kind of check, newest first. A run is omitted if a later one
/// checked as much, or may have.
pub fn last_checks<'s>(session: &'s Session, abandoned: &AbandonedRecords) -> Vec<CheckState<'s>> {
    let runs = compared_checks(session, abandoned);
    let unseen = unseen_checks(session, abandoned);
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
            edits_since: edits_since(session, &one.run.seen, abandoned),
            commands_since: commands_since(session, &one.run.seen, abandoned),
            ran_again: unseen_repeat(one, &unseen),
        };
        state.edits_since.retain(|path| !is_prose(path));
        // A partial run that passed before later edits says little if another one passed after
        // them.
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

/// The last complete repeat of a check whose result was not seen.
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

/// Later commands that changed unknown files.
fn commands_since<'s>(
    session: &'s Session,
    since: &Provenance,
    abandoned: &AbandonedRecords,
) -> Vec<&'s str> {
    let is_one = |edit: &&super::IndirectEdit| {
        edit.path.is_none() && edit.seen.is_after(since) && !abandoned.has(&edit.seen)
    };
    let edits = session.other_edits.iter().filter(is_one);
    edits.filter_map(|edit| edit.command.as_deref()).collect()
}

/// Whether a file is prose, which no code check reads.
fn is_prose(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".md", ".mdx", ".txt", ".rst", ".adoc"].iter().any(|ending| lower.ends_with(ending))
        && !lower.ends_with("cmakelists.txt")
        && !lower.ends_with("requirements.txt")
}

/// Failures that are not resolved, oldest first. Failures that may be resolved are omitted.
pub fn open_failures<'s>(
    session: &'s Session,
    abandoned: &AbandonedRecords,
) -> Vec<OpenFailure<'s>> {
    let runs = compared_checks(session, abandoned);
    let unseen = unseen_checks(session, abandoned);
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
    open.extend(open_conflicts(session, abandoned));
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

/// Whether later runs show that a check passes, failed again, or may pass by now.
fn is_settled(failed: &ComparedCheck<'_>, later: &[ComparedCheck<'_>]) -> bool {
    let settles = |one: &ComparedCheck<'_>| match one.relation_to(failed) {
        // A later failure is reported on its own.
        Relation::Covers => true,
        Relation::Unclear => one.run.result == CheckResult::Passed,
        Relation::Narrower | Relation::Different => false,
    };
    if later.iter().any(settles) {
        return true;
    }
    // All of its parts passed one by one.
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

/// Whether a failure is about the project and not about an experiment.
fn is_worth_reporting(session: &Session, failed: &ComparedCheck<'_>) -> bool {
    let command = &failed.run.command;
    let outside = failed.run.folder.as_deref().is_some_and(|folder| {
        folder.starts_with("/tmp/")
            || folder.starts_with("/private/tmp/")
            || folder.starts_with('$')
    });
    // A script that the session wrote itself, or a deleted file, was an experiment.
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
    /// Whether the session continued or aborted a merge that had stopped on conflicts, its own or
    /// an earlier session's.
    pub(crate) fn settles_conflicts(&self) -> bool {
        let cwd = self.cwd.as_deref().unwrap_or_default();
        // Another checkout has its own conflicts.
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
        // Parse only the few lines that may match.
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
    abandoned: &AbandonedRecords,
) -> impl Iterator<Item = OpenFailure<'s>> {
    let commits = || session.commits.iter();
    let is_open = move |conflict: &&super::GitConflict| {
        conflict.settled.is_none()
            && !abandoned.has(&conflict.seen)
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

/// Effects that failed and did not succeed later.
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
        // Something that already exists needs no retry.
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

/// The record of a later command with the same kind of effect that did not finish.
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

/// The action of an effect, without options.
fn verb(effect: &Effect) -> &str {
    effect.action.split(" --").next().unwrap_or(&effect.action)
}

/// The session's commits that exist according to its transcript, newest last.
pub fn existing_commits(session: &Session) -> Vec<&SessionCommit> {
    let made = session.commits.iter().filter(|commit| commit.state == CommitState::Made);
    let mut made: Vec<&SessionCommit> = made.collect();
    made.sort_by(|one, other| order(&one.seen, &other.seen));
    made
}

/// Effects outside the project, ordered by the newest of each group. Five replies are one group
/// with a count.
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

/// Unchecked boxes in texts that the session wrote outside, each with the effect that wrote it
/// last.
pub fn unchecked_boxes(session: &Session) -> Vec<(&Effect, &[String])> {
    let wrote = |effect: &&Effect| effect.result == EffectResult::Done && effect.boxes.is_some();
    let mut wrote: Vec<&Effect> = session.effects.iter().filter(wrote).collect();
    wrote.sort_by(|one, other| order(&one.seen, &other.seen));
    let mut last: Vec<&Effect> = Vec::new();
    for effect in wrote {
        // A text without a number belongs to the pull request that was created last.
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

/// Files that the session or its agents changed after a record, sorted by path.
pub fn edits_since<'s>(
    session: &'s Session,
    since: &Provenance,
    abandoned: &AbandonedRecords,
) -> Vec<&'s str> {
    let is_later = |seen: &Provenance| seen.is_after(since) && !abandoned.has(seen);
    let changed = session.files.changed();
    let own = changed.filter(|(_, touched)| touched.changed.iter().any(is_later));
    let others = session.other_edits.iter().filter(|edit| is_later(&edit.seen));
    let mut edits: Vec<&str> = own.map(|(path, _)| path).collect();
    edits.extend(others.filter_map(|edit| edit.path.as_deref()));
    edits.sort_unstable();
    edits.dedup();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Fact, RecordRef, ToolDetail, ToolOutcome, ToolUse};
    use crate::text::id::ClientName;

    /// The failures that are open after a command failed.
    fn open_after(command: &str) -> usize {
        let mut session = Session::new(ClientName::new("claude-code"));
        let call = ToolUse::Command(command.into());
        let failed = ToolOutcome::Failed { code: Some(2), text: "1 test failed".into() };
        let facts = [
            Fact::Called { call: "c1", tool: "Bash", what: call },
            Fact::Returned { call: "c1", outcome: failed, detail: ToolDetail::None },
        ];
        for (number, fact) in (1..).zip(facts) {
            let record = format!("r{number}").into();
            session.apply(&RecordRef { record, number, at: None, agent: None }, fact);
        }
        open_failures(&session, &AbandonedRecords::default()).len()
    }

    #[test]
    fn a_failure_in_a_temporary_folder_is_not_reported() {
        assert_eq!(open_after("make test"), 1);
        assert_eq!(open_after("cd /home/dev/shop && make test"), 1);
        for folder in ["/tmp/trial", "/private/tmp/trial", "$WORK"] {
            assert_eq!(open_after(&format!("cd {folder} && make test")), 0, "{folder}");
        }
    }
}

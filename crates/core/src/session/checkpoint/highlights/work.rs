//! Highlights of the user's requests and of the session's work: commits, effects, checks, failures.

use super::{Highlight, HighlightKind, HighlightReader, SessionEnding};
use crate::session::intent::{self, Goal, PromptPermissions};
use crate::session::report;
use crate::session::repository::ReflogCommitState;
use crate::session::shell::{CheckResult, EffectKind, EffectResult};
use crate::session::{
    CheckRun, CheckState, EffectGroup, FailureFollowUp, OpenFailure, OpenFailureKind, Provenance,
    Request, SessionCommit, Turn, TurnStart, edits_since, effect_groups, existing_commits,
    last_checks, unchecked_boxes,
};
use crate::text::id::CommitId;
use jiff::Timestamp;
use std::path::Path;

/// The state of a pushed commit.
pub(crate) const PUSHED: &str = "pushed";
/// The state of a check without edits after it.
pub(crate) const NO_EDITS_SINCE: &str = "no edits since";
/// The state of a tree whose changes are all committed, according to the transcript.
pub(crate) const NO_EDITS: &str = "no edits since the last commit";
/// The maximum number of fixed failures; the newest ones are kept.
const FIXED_MAX: usize = 100;
/// The state of requests from the session that this one was forked from.
const BEFORE_FORK: &str = "before this session forked";

/// The user's requests, by state.
#[derive(Default)]
pub(super) struct RequestsByState {
    pub(super) goal: Vec<Highlight>,
    pub(super) open: Vec<Highlight>,
    pub(super) answered: Vec<Highlight>,
}

impl HighlightReader<'_> {
    /// The user's sentences that limit all further work, without revoked ones.
    pub(super) fn instructions(&self) -> Vec<Highlight> {
        let requests: Vec<&Request> = self.requests().map(|(one, _)| one).collect();
        let Some(first) = requests.iter().position(|one| !one.limits.is_empty()) else {
            return Vec::new();
        };
        // Each request is parsed once, however many limits there are.
        let permissions: Vec<PromptPermissions> =
            requests[first..].iter().map(|one| PromptPermissions::parse(&one.text)).collect();
        let mut found: Vec<Highlight> = Vec::new();
        for (at, request) in requests.iter().enumerate().skip(first) {
            for limit in &request.limits {
                let mut later = permissions[at - first + 1..].iter();
                let is_revoked = later.any(|later| later.revoke(limit));
                if !is_revoked && !found.iter().any(|known| known.text == *limit) {
                    let item = Highlight::new(HighlightKind::Instruction, limit);
                    found.push(item.with_seen(&request.seen));
                }
            }
        }
        found
    }

    /// The goal, the unfinished request and the answered requests.
    pub(super) fn requests_by_state(&self, ending: SessionEnding) -> RequestsByState {
        let mut asked = RequestsByState::default();
        let requests: Vec<(&Request, bool)> =
            self.requests().filter(|(one, _)| one.correction.is_none()).collect();
        let goal = match intent::find_goal(requests.iter().map(|(one, _)| one.text.as_str())) {
            Some(Goal::Request(at)) => Some(at),
            // "Continue" is no goal; the earlier session has it.
            Some(Goal::Continuation { from, then }) => {
                then.or(Some(from).filter(|from| !requests[*from].0.trivial))
            }
            None => None,
        };
        // A prompt during the work, or a reason for rejecting a call, is what the agent works on,
        // unless it only changes how to do the last request.
        let is_own = |(one, _): &(&Request, bool)| {
            one.correction.is_none() || intent::asks_for_work(&one.text)
        };
        let is_left = ending.is_open() && !self.is_about_notice();
        let last = self.requests().rev().find(is_own).filter(|_| is_left);
        if let Some((one, _)) = last.filter(|(one, _)| one.correction.is_some()) {
            asked.open.push(self.open_request(one));
        }
        let is_open = asked.open.is_empty() && is_left;
        let open = if is_open { requests.len().checked_sub(1) } else { None };
        for (at, (one, is_before)) in requests.iter().enumerate().rev() {
            let marked = |item: Highlight| match is_before {
                true => item.with_state(BEFORE_FORK),
                false => item,
            };
            let item = |kind| marked(Highlight::new(kind, &one.text).with_seen(&one.seen));
            if Some(at) == goal {
                asked.goal.push(item(HighlightKind::Goal));
            }
            if Some(at) == open {
                asked.open.push(marked(self.open_request(one)));
            }
            if Some(at) != goal && Some(at) != open && !one.trivial {
                asked.answered.push(item(HighlightKind::Request));
            }
        }
        asked
    }

    /// Whether the last turn is about a client notice, after the user was answered. Earlier notices
    /// may have split the answer into several turns.
    fn is_about_notice(&self) -> bool {
        let turns = &self.checkpoint.session.turns.items;
        let since = turns.iter().rposition(|turn| turn.start == TurnStart::User).unwrap_or(0);
        let Some((last, answer)) = turns[since..].split_last() else { return false };
        let is_over = |turn: &Turn| turn.is_over == Some(true);
        last.start == TurnStart::Notice && answer.iter().any(is_over)
    }

    /// The unfinished request. A short one may be the answer to a question of the agent.
    fn open_request(&self, request: &Request) -> Highlight {
        const ANSWER_LENGTH_MAX: usize = 60;
        let turns = &self.checkpoint.session.turns.items;
        let before = turns.iter().take_while(|turn| turn.seen.number < request.seen.number).last();
        let message = before.and_then(|turn| turn.said.last());
        let message = message.filter(|_| request.text.chars().nth(ANSWER_LENGTH_MAX).is_none());
        let question = message.and_then(|message| report::question(&message.text));
        let item =
            Highlight::new(HighlightKind::OpenRequest, &request.text).with_seen(&request.seen);
        item.with_detail(question)
    }

    pub(super) fn corrections(&self) -> Vec<Highlight> {
        let corrections = self.requests().rev().filter(|(one, _)| one.correction.is_some());
        let item = |(one, is_before): (&Request, bool)| {
            let item = Highlight::new(HighlightKind::Correction, &one.text).with_seen(&one.seen);
            if is_before { item.with_state(BEFORE_FORK) } else { item }
        };
        corrections.map(item).collect()
    }

    /// Commits that exist according to the transcript, newest first.
    pub(super) fn commits(&self) -> Vec<Highlight> {
        let item = |commit: &SessionCommit| {
            let merged = commit.merged.as_deref().map(|what| format!("merge of {what}"));
            let subject = commit.subject.clone().or(merged).unwrap_or_default();
            let item = Highlight::new(HighlightKind::Commit, &subject).with_seen(&commit.seen);
            let state = if commit.pushed.is_some() { PUSHED } else { "no push seen" };
            item.with_detail(commit.id.as_ref().map(CommitId::to_string)).with_state(state)
        };
        self.existing_commits().into_iter().map(item).collect()
    }

    /// Commit messages, those of refused commits first.
    pub(super) fn messages(&self, open: &[OpenFailure<'_>]) -> Vec<Highlight> {
        let is_open = |seen: &Provenance| open.iter().any(|failure| failure.seen == seen);
        let conflicts = self.checkpoint.session.conflicts.iter().rev();
        let refused = conflicts.filter(|conflict| is_open(&conflict.seen)).filter_map(|conflict| {
            let body = conflict.body.as_deref()?;
            let item = Highlight::new(HighlightKind::Message, body).with_seen(&conflict.seen);
            Some(item.with_state("not committed"))
        });
        let made = self.existing_commits().into_iter().filter_map(|commit| {
            let body = commit.body.as_deref()?;
            let item = Highlight::new(HighlightKind::Message, body).with_seen(&commit.seen);
            Some(item.with_detail(commit.id.as_ref().map(CommitId::to_string)))
        });
        refused.chain(made).collect()
    }

    fn existing_commits(&self) -> Vec<&SessionCommit> {
        let commits = existing_commits(&self.checkpoint.session).into_iter().rev();
        // The repository knows better: a commit that was amended or reset elsewhere no longer
        // exists.
        let is_gone = |commit: &&SessionCommit| {
            let id = commit.id.as_ref().map_or("?", CommitId::as_str);
            let made = self.checkpoint.reflog.iter().find(|made| made.id.starts_with(id));
            made.is_some_and(|made| made.state == ReflogCommitState::Replaced)
        };
        commits.filter(|commit| !is_gone(commit)).collect()
    }

    /// Effects outside the project, newest first. Pushes are omitted if the commits show them.
    pub(super) fn effects(&self) -> Vec<Highlight> {
        let effects = effect_groups(&self.checkpoint.session).into_iter().rev();
        let commits = existing_commits(&self.checkpoint.session);
        let has_pushed = commits.iter().any(|commit| commit.pushed.is_some());
        let effects = effects.filter(|done| done.effect.kind != EffectKind::Push || !has_pushed);
        effects.map(|done| effect_highlight(&done)).collect()
    }

    /// Unchecked boxes in texts that the session wrote outside.
    pub(super) fn unchecked_boxes(&self) -> Vec<Highlight> {
        let boxes = unchecked_boxes(&self.checkpoint.session).into_iter().rev();
        let items = boxes.flat_map(|(effect, boxes)| {
            let place = match effect.kind {
                EffectKind::PullRequest => "in the pull request",
                EffectKind::Issue => "in the issue",
                EffectKind::Push
                | EffectKind::Comment
                | EffectKind::Reply
                | EffectKind::Review
                | EffectKind::Release
                | EffectKind::Publish
                | EffectKind::Deployment
                | EffectKind::Migration
                | EffectKind::Other => "in text that the session wrote",
            };
            let item = move |text: &String| {
                Highlight::new(HighlightKind::Unchecked, text)
                    .with_seen(&effect.seen)
                    .with_state(place)
            };
            boxes.iter().map(item)
        });
        items.collect()
    }

    /// The last run of each check that passed, with the edits since. Failing checks are separate.
    pub(super) fn checks(&self) -> Vec<Highlight> {
        let checks = last_checks(&self.checkpoint.session, &self.abandoned);
        let passed = checks.iter().filter(|state| state.run.result == CheckResult::Passed);
        let item = |state: &CheckState<'_>| {
            let again = state.ran_again.map(repeat_state).unwrap_or_default();
            let since = match state.edits_since.len() {
                0 if state.is_current() => NO_EDITS_SINCE.to_owned(),
                0 => format!("later commands may have changed files{again}"),
                1 => format!("1 file edited since{again}"),
                edits => format!("{edits} files edited since{again}"),
            };
            let ended = state.run.ended.as_ref().unwrap_or(&state.run.seen);
            let item = Highlight::new(HighlightKind::Check, &state.run.command).with_seen(ended);
            item.with_detail(self.other_folder(state.run)).with_state(&since)
        };
        passed.map(item).collect()
    }

    /// Checks that failed and passed since, newest first. Each kind of failure appears once, with
    /// the agent's remark about it.
    pub(super) fn fixed_checks(&self, open: &[OpenFailure<'_>]) -> Vec<Highlight> {
        let session = &self.checkpoint.session;
        let mut found: Vec<Highlight> = Vec::new();
        for run in session.checks.iter().rev().filter(|run| run.result == CheckResult::Failed) {
            if found.len() >= FIXED_MAX {
                break;
            }
            let is_open = open.iter().any(|failure| failure.command == run.command);
            let why = run.why.first();
            let is_known =
                |one: &Highlight| one.text == run.command.trim() && one.detail.as_ref() == why;
            let later = session.checks.iter().filter(|later| later.seen.number > run.seen.number);
            let passed = { later }
                .any(|later| later.result == CheckResult::Passed && later.command == run.command);
            if passed && !is_open && !found.iter().any(is_known) && self.is_current(&run.seen) {
                let ended = run.ended.as_ref();
                let remark = ended.and_then(|ended| self.remark_on_failure(&run.why, ended));
                let item = Highlight::new(HighlightKind::Passed, &run.command).with_seen(&run.seen);
                let item = item.with_detail(why.cloned()).with_state("failed, and passed later");
                found.push(Highlight { remark, ..item });
            }
        }
        // Group the failures of one check.
        let commands: Vec<String> = found.iter().map(|one| one.text.clone()).collect();
        found.sort_by_key(|one| commands.iter().position(|command| *command == one.text));
        found
    }

    /// The directory of a check outside the session's directory, which says nothing about this
    /// tree.
    fn other_folder(&self, run: &CheckRun) -> Option<String> {
        let folder = run.folder.as_deref().filter(|folder| folder.starts_with('/'))?;
        (!Path::new(folder).starts_with(self.folder)).then(|| folder.to_owned())
    }

    /// What the agent said about a failure right after it.
    fn remark_on_failure(&self, why: &[String], ended: &Provenance) -> Option<String> {
        /// Allows for one record in between, such as a call or its result.
        const RECORDS_BETWEEN: u64 = 1;
        let session = &self.checkpoint.session;
        let mut messages = session.turns.items.iter().flat_map(|turn| &turn.said);
        let next = ended.number + 1..=ended.number + 1 + RECORDS_BETWEEN;
        let message = messages.find(|message| {
            message.seen.agent == ended.agent && next.contains(&message.seen.number)
        })?;
        report::statement_about(&message.text, why)
    }

    /// What is committed and what is not, according to the transcript.
    pub(super) fn tree_status(&self) -> Option<String> {
        let session = &self.checkpoint.session;
        let commits = existing_commits(session);
        let edited =
            session.files.changed().filter(|(_, file)| !self.checkpoint.is_abandoned_file(file));
        let edited = edited.filter(|(path, file)| !file.deleted && !is_client_file(path)).count();
        let files = |count: usize| match count {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        match commits.last() {
            None if edited > 0 => Some(format!("{} edited, no commit seen", files(edited))),
            None => None,
            Some(last) => {
                let mut since = edits_since(session, &last.seen, &self.abandoned);
                since.retain(|path| !is_client_file(path));
                let since = since.len();
                let pushed = match commits.iter().filter(|one| one.pushed.is_none()).count() {
                    0 => "all commits pushed".to_owned(),
                    left if left == commits.len() => "no push seen".to_owned(),
                    left => format!("no push seen for {left} of {} commits", commits.len()),
                };
                Some(match since {
                    0 => format!("{NO_EDITS}, {pushed}"),
                    since => format!("{} edited since the last commit, {pushed}", files(since)),
                })
            }
        }
    }
}

/// Failures that are not resolved, newest first.
pub(super) fn open_failure_highlights(open: &[OpenFailure<'_>]) -> Vec<Highlight> {
    let item = |failure: &OpenFailure<'_>| {
        let at = failure.seen.at.map(|at| format!(" at {}", time_of_day(at))).unwrap_or_default();
        let is_conflict = failure.why.iter().any(|line| line.starts_with("CONFLICT"));
        let state = match failure.kind {
            // It waits for a commit; running it again would be wrong.
            OpenFailureKind::Merge if is_conflict => {
                format!("stopped on conflicts{at}, neither committed nor aborted since")
            }
            OpenFailureKind::Merge => format!("failed{at}, nothing committed since"),
            OpenFailureKind::Check(_) | OpenFailureKind::Effect(_) => {
                let since = match failure.follow_up {
                    FailureFollowUp::Nothing => ", not run again since".to_owned(),
                    FailureFollowUp::NarrowerPassed(_) => {
                        ", a narrower run passed since".to_owned()
                    }
                    FailureFollowUp::RanAgain(seen) => repeat_state(seen),
                    FailureFollowUp::MayHaveRun => String::new(),
                };
                format!("last seen failing{at}{since}")
            }
        };
        let item = Highlight::new(HighlightKind::Failed, failure.command).with_seen(failure.seen);
        item.with_detail(failure.why.first().cloned()).with_state(&state)
    };
    open.iter().rev().map(item).collect()
}

/// Describes a later run of a check.
fn repeat_state(seen: &Provenance) -> String {
    let at = seen.at.map(|at| format!(" at {}", time_of_day(at))).unwrap_or_default();
    format!(", run again{at}, result unclear")
}

/// Describes an effect in midstride's words. Its title and URL are quoted.
fn effect_highlight(done: &EffectGroup<'_>) -> Highlight {
    let effect = done.effect;
    let many = |one: &str, noun: &str| match done.count {
        1 => format!("{one} 1 {noun}"),
        count => format!("{one} {count} {noun}s"),
    };
    let ran = || match done.count {
        1 => format!("Ran {}", effect.action),
        count => format!("Ran {} {count} times", effect.action),
    };
    let is_opened = effect.action.ends_with(" create") || effect.action.ends_with(" new");
    let did = match effect.kind {
        EffectKind::Reply => many("Replied to", "review thread"),
        EffectKind::Comment => many("Wrote", "comment"),
        EffectKind::Push if done.count == 1 => "Pushed".to_owned(),
        EffectKind::Push => format!("Pushed {} times", done.count),
        EffectKind::PullRequest if is_opened => "Opened pull request".to_owned(),
        EffectKind::Issue if is_opened => "Opened issue".to_owned(),
        EffectKind::PullRequest
        | EffectKind::Issue
        | EffectKind::Review
        | EffectKind::Release
        | EffectKind::Publish
        | EffectKind::Deployment
        | EffectKind::Migration
        | EffectKind::Other => ran(),
    };
    let did = match effect.result {
        EffectResult::Done => did,
        EffectResult::Failed => format!("{did} (failed)"),
        EffectResult::Unknown => format!("{did} (result not seen)"),
    };
    // A number alone adds nothing to the URL.
    let target =
        effect.target.as_deref().filter(|target| !target.chars().all(|c| c.is_ascii_digit()));
    let text = effect.title.as_deref().or(target).unwrap_or_default();
    let address = done.url.map(|url| url.split('#').next().unwrap_or(url).to_owned());
    Highlight::new(HighlightKind::Effect, text)
        .with_seen(&effect.seen)
        .with_detail(address)
        .with_state(&did)
}

/// Whether a file is the client's own, such as a plan: it is never committed.
fn is_client_file(path: &str) -> bool {
    path.contains("/.claude/plans/")
}

fn time_of_day(time: Timestamp) -> String {
    time.strftime("%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use crate::session::checkpoint::{Checkpoint, CheckpointContext, CheckpointMode, Highlights};
    use crate::session::{
        Attribution, CommitState, Fact, Provenance, PushRecord, RecordRef, Session, SessionCommit,
        ToolDetail, ToolFileChange, ToolOutcome, ToolUse,
    };
    use crate::text::id::ClientName;

    fn tree_of(session: Session) -> Option<String> {
        let (mode, context) = (CheckpointMode::Auto, CheckpointContext::default());
        let checkpoint = Checkpoint::new(session, "t.jsonl".into(), 1, mode, context);
        Highlights::from_checkpoint(&checkpoint).tree
    }

    #[test]
    fn edits_without_a_commit_are_counted() {
        let tree = |changes: Vec<ToolFileChange>| {
            let mut session = Session::new(ClientName::new("claude-code"));
            let called = Fact::Called { call: "c1", tool: "Edit", what: ToolUse::Change(changes) };
            let (outcome, detail) = (ToolOutcome::Succeeded, ToolDetail::None);
            let facts = [called, Fact::Returned { call: "c1", outcome, detail }];
            for (number, fact) in (1..).zip(facts) {
                let record = format!("r{number}").into();
                session.apply(&RecordRef { record, number, at: None, agent: None }, fact);
            }
            tree_of(session)
        };
        let edit = |path: &str| ToolFileChange::Edit { path: path.into(), parts: vec![(1, 2)] };
        let delete = |path: &str| ToolFileChange::Delete { path: path.into() };
        let plan = edit("/home/dev/.claude/plans/cache.md");
        let changes = vec![edit("/shop/a.rs"), edit("/shop/b.rs"), delete("/shop/c.rs"), plan];
        assert_eq!(tree(changes).as_deref(), Some("2 files edited, no commit seen"));
        assert_eq!(tree(vec![delete("/shop/c.rs")]), None);
    }

    #[test]
    fn commits_that_were_not_pushed_are_counted() {
        let tree = |pushed: &[bool]| {
            let mut session = Session::new(ClientName::new("claude-code"));
            for (number, pushed) in (1..).zip(pushed) {
                let seen = Provenance {
                    record: format!("r{number}"),
                    number,
                    at: None,
                    source: Attribution::Observed,
                    agent: None,
                };
                let push = PushRecord { seen: seen.clone(), to: None };
                session.commits.push(SessionCommit {
                    seen,
                    id: None,
                    subject: None,
                    body: None,
                    branch: None,
                    files: None,
                    merged: None,
                    folder: None,
                    state: CommitState::Made,
                    pushed: pushed.then_some(push),
                });
            }
            tree_of(session).unwrap().replace("no edits since the last commit, ", "")
        };
        assert_eq!(tree(&[true, true]), "all commits pushed");
        assert_eq!(tree(&[false, false]), "no push seen");
        assert_eq!(tree(&[true, false, false]), "no push seen for 2 of 3 commits");
    }
}

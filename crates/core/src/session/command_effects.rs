//! Records what a finished command line did: checks, commits and effects outside the project.

use super::Session;
use super::fact::{ToolDetail, ToolOutcome};
use super::fold::{PendingEffect as MadeOutside, Script};
use super::item::Provenance;
use super::text::{self, COMMAND_BYTES_MAX, PATH_BYTES_MAX, RedactionTally};
use super::work::{
    CheckRun, CommitState, Effect, GitConflict, IndirectEdit, PushRecord, SessionCommit,
};
use crate::session::shell::{
    self, CommandEffect, EffectKind, EffectResult, FileStep, GitCommand, LineStatus, PrintedCommit,
    PushedRef, ShellLine, SimpleCommand,
};
use crate::text::id::CommitId;

/// The maximum stored length of a failure line.
const WHY_BYTES_MAX: usize = 300;
/// The maximum stored length of a subject, a title or a checkbox text.
const SUBJECT_BYTES_MAX: usize = 300;
/// The maximum stored length of a commit message body.
const BODY_BYTES_MAX: usize = 2 << 10;
/// The maximum length of a command line that is parsed.
const SCRIPT_BYTES_MAX: usize = 24 << 10;
/// The maximum number of scratch repositories that are remembered.
const SCRATCH_MAX: usize = 16;

/// A command line that finished.
pub(super) struct FinishedCommand<'r> {
    /// The record of the call.
    pub(super) call: &'r Provenance,
    /// The record of its end.
    pub(super) end: &'r Provenance,
    /// The redacted command line.
    pub(super) text: &'r str,
    /// The directory it ran in, if known.
    pub(super) folder: Option<&'r str>,
    pub(super) ended: LineStatus,
    pub(super) output: &'r str,
}

impl FinishedCommand<'_> {
    /// Whether a command passed. None if the exit status of the line does not tell.
    fn has_passed(&self, command: &SimpleCommand) -> Option<bool> {
        match self.ended {
            LineStatus::Passed if command.implied_by_status.passed => Some(true),
            LineStatus::Failed(_) if command.implied_by_status.failed => Some(false),
            LineStatus::Passed | LineStatus::Failed(_) => None,
        }
    }
}

impl Session {
    /// What the result of a command needs, if the command may change something.
    pub(super) fn pending_script(&mut self, text: &str) -> Option<Script> {
        if !shell::is_of_interest(text) && !shell::may_change(text) {
            return None;
        }
        // The stored command is enough unless it was truncated.
        let is_long = text.len() > COMMAND_BYTES_MAX;
        let text =
            is_long.then(|| text::clean_head(text, SCRIPT_BYTES_MAX, &mut RedactionTally::new()));
        Some(Script { text, folder: self.folder_now.clone() })
    }

    /// Records what a finished command did.
    pub(super) fn apply_command(
        &mut self,
        number: u64,
        end: &Provenance,
        script: Option<Script>,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let Some(command) = self.commands.get_mut(number) else { return };
        let (call, kept) = (command.seen.clone(), command.text.clone());
        let script = match script {
            Some(script) => script,
            // It ran in the background.
            None if command.background.is_some() => Script { text: None, folder: None },
            None => return,
        };
        let text = script.text.as_deref().unwrap_or(&kept);
        self.apply_line((&call, end), (text, script.folder.as_deref()), outcome, detail);
    }

    /// Records what a command line did. The arguments are the records of its call and its end, its
    /// text and its directory.
    pub(super) fn apply_line(
        &mut self,
        (call, end): (&Provenance, &Provenance),
        (text, folder): (&str, Option<&str>),
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let (ended, output) = match (outcome, detail) {
            (ToolOutcome::Succeeded, ToolDetail::Output(output)) => (LineStatus::Passed, &**output),
            (ToolOutcome::Succeeded, _) => (LineStatus::Passed, ""),
            (ToolOutcome::Failed { code, text }, _) => (LineStatus::Failed(*code), &**text),
            _ => return,
        };
        self.apply_finished_command(&FinishedCommand { call, end, text, folder, ended, output });
    }

    /// Records the call of a tool with an effect outside the project.
    pub(super) fn pending_effect(
        &mut self,
        action: &str,
        title: Option<&str>,
        body: Option<&str>,
    ) -> MadeOutside {
        let boxes = body.map(shell::unchecked_boxes_in);
        MadeOutside {
            action: self.clean_head(action, PATH_BYTES_MAX),
            title: title.map(|title| self.clean_head(title, SUBJECT_BYTES_MAX)),
            boxes: boxes.map(|boxes| self.clean_lines(&boxes, SUBJECT_BYTES_MAX)),
        }
    }

    /// Records the result of such a tool.
    pub(super) fn finish_effect(
        &mut self,
        tool: &str,
        seen: &Provenance,
        made: MadeOutside,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let (result, output) = match (outcome, detail) {
            (ToolOutcome::Succeeded, ToolDetail::Output(output)) => (EffectResult::Done, &**output),
            (ToolOutcome::Succeeded, _) => (EffectResult::Done, ""),
            (ToolOutcome::Failed { text, .. }, _) => (EffectResult::Failed, &**text),
            _ => return,
        };
        let url = shell::url(EffectKind::Other, output);
        let target = url.as_deref().and_then(number_in).or_else(|| identifier(output));
        let why = match result {
            EffectResult::Failed => shell::failure_lines(output),
            EffectResult::Done | EffectResult::Unknown => Vec::new(),
        };
        let effect = Effect {
            seen: seen.clone(),
            kind: EffectKind::from_tool_action(&made.action),
            action: made.action,
            command: tool.to_owned(),
            result,
            target: target.map(|target| self.clean_head(&target, PATH_BYTES_MAX)),
            title: made.title,
            url: url.map(|url| self.clean_head(&url, PATH_BYTES_MAX)),
            boxes: made.boxes,
            why: self.clean_lines(&why, WHY_BYTES_MAX),
        };
        self.effects.push(effect);
    }

    /// Records the checks, commits, file changes and effects of a command line.
    pub(super) fn apply_finished_command(&mut self, ran: &FinishedCommand<'_>) {
        let line = ShellLine::parse(ran.text);
        self.add_checks(ran, &line);
        let mut made = commits_by_command(&line, ran.output);
        for (at, command) in line.commands.iter().enumerate() {
            if let Some(git) = GitCommand::from_command(command) {
                self.apply_git(ran, &line, (at, command, &git), std::mem::take(&mut made[at]));
            }
            if let Some(step) =
                shell::file_step(command).filter(|_| ran.has_passed(command) != Some(false))
            {
                self.apply_file_step(ran, command, &step);
            }
            if let Some(outside) = shell::command_effect(command, &line) {
                self.add_effect(ran, command, outside);
            }
        }
    }

    fn apply_file_step(
        &mut self,
        ran: &FinishedCommand<'_>,
        command: &SimpleCommand,
        step: &FileStep,
    ) {
        let folder = resolve_folder(ran.folder, command.folder.as_deref());
        self.files.apply_step(step, folder.as_deref(), ran.end);
        let is_new = !ran.output.contains("Already up to date");
        let paths: Vec<Option<String>> = match step {
            FileStep::Write(paths) => {
                let whole = |path: &String| shell::join_folder(folder.as_deref(), path);
                paths.iter().map(whole).filter(|path| self.is_in_project(path)).map(Some).collect()
            }
            FileStep::Rewrite if is_new => vec![None],
            FileStep::Rewrite
            | FileStep::Remove(_)
            | FileStep::Move { .. }
            | FileStep::Restore(_)
            | FileStep::Stash
            | FileStep::Unstash
            | FileStep::Switch
            | FileStep::Clean => return,
        };
        let command = command.text.clone();
        for path in paths {
            let path = path.map(|path| self.clean_name(&path));
            let (seen, command) = (ran.end.clone(), Some(command.clone()));
            self.other_edits.push(IndirectEdit { seen, path, command });
        }
    }

    fn is_in_project(&self, path: &str) -> bool {
        let cwd = self.cwd.as_deref().unwrap_or_default();
        !path.starts_with('/') || is_within(path, cwd)
    }

    fn add_checks(&mut self, ran: &FinishedCommand<'_>, line: &ShellLine) {
        // While changes are stashed, a check says nothing about them.
        let stashes = |command: &SimpleCommand| shell::file_step(command) == Some(FileStep::Stash);
        if self.files.has_stashed() || line.commands.iter().any(stashes) {
            return;
        }
        for check in shell::check_results(line, ran.ended, ran.output) {
            let folder = self.folder_of(ran, check.folder.as_deref());
            let run = CheckRun {
                seen: ran.call.clone(),
                ended: Some(ran.end.clone()),
                kind: check.kind,
                command: check.command,
                folder,
                result: check.result,
                why: self.clean_lines(&check.why, WHY_BYTES_MAX),
            };
            self.checks.push(run);
        }
    }

    fn apply_git(
        &mut self,
        ran: &FinishedCommand<'_>,
        line: &ShellLine,
        (at, command, git): (usize, &SimpleCommand, &GitCommand<'_>),
        made: Vec<PrintedCommit>,
    ) {
        let passed = ran.has_passed(command);
        match git.verb {
            "init" | "clone" => self.note_scratch(ran, git),
            "reset" if passed != Some(false) => self.apply_reset(ran, git),
            "rebase" | "pull" if passed != Some(false) => self.apply_rebase(ran, git),
            "branch" if passed != Some(false) && git.has("-D") => self.drop_branch_commits(git),
            "log" | "rev-parse" => self.fill_commit_ids(git, ran.output),
            _ => {}
        }
        let has_made = !made.is_empty();
        for one in made {
            let message = shell::commit_message(command, git, line);
            let message = message.filter(|message| message.subject == one.subject);
            self.add_printed_commit(ran, line, git, one, message.and_then(|message| message.body));
        }
        if !has_made && git.verb == "commit" && !git.has("--dry-run") {
            let is_made = self.add_commit_without_id(ran, line, (at, command, git));
            let is_last = at + 1 == line.commands.len() && !command.is_nested;
            if !is_made && (passed == Some(false) || is_last) {
                self.add_refused_commit(ran, line, (command, git));
            }
        }
        if matches!(git.verb, "merge" | "pull") && ran.output.contains("Merge made by") {
            self.add_merge(ran, line, git);
        }
        if has_made || (git.ends_conflicts() && passed != Some(false)) {
            self.settle_conflicts(ran.end);
        }
        if git.can_conflict() && !git.has_any(&["--abort", "--quit"]) {
            let why = shell::conflicts(ran.output);
            if !why.is_empty() {
                self.settle_conflicts(ran.end);
                let why = self.clean_lines(&why, WHY_BYTES_MAX);
                let command = command.text.clone();
                let edit = IndirectEdit {
                    seen: ran.end.clone(),
                    path: None,
                    command: Some(command.clone()),
                };
                self.other_edits.push(edit);
                self.conflicts.push(GitConflict {
                    seen: ran.end.clone(),
                    command,
                    body: None,
                    why,
                    settled: None,
                });
            }
        }
    }

    /// Records a commit that failed because a hook or an earlier command on its line failed. The
    /// last such line counts.
    fn add_refused_commit(
        &mut self,
        ran: &FinishedCommand<'_>,
        line: &ShellLine,
        (commit, git): (&SimpleCommand, &GitCommand<'_>),
    ) {
        const NOTHING: [&str; 3] =
            ["nothing to commit", "nothing added to commit", "no changes added to commit"];
        let is_empty = || NOTHING.iter().any(|phrase| ran.output.contains(phrase));
        let is_scratch = || self.commit_state(ran, line, git) == CommitState::Scratch;
        if !matches!(ran.ended, LineStatus::Failed(_)) || is_empty() || is_scratch() {
            return;
        }
        let Some(typed) = self.commands.iter().rev().find(|one| one.seen == *ran.call) else {
            return;
        };
        let command = typed.text.clone();
        let is_before = |one: &&mut GitConflict| one.settled.is_none() && has_commit(&one.command);
        for before in self.conflicts.items.iter_mut().filter(is_before) {
            before.settled = Some(ran.end.clone());
        }
        let why = self.clean_lines(&shell::failure_lines(ran.output), WHY_BYTES_MAX);
        let body = shell::commit_message(commit, git, line).and_then(|message| message.body);
        let body = body.map(|body| self.clean_head(&body, BODY_BYTES_MAX));
        let seen = ran.end.clone();
        self.conflicts.push(GitConflict { seen, command, body, why, settled: None });
    }

    fn settle_conflicts(&mut self, seen: &Provenance) {
        let open = self.conflicts.items.iter_mut().filter(|conflict| conflict.settled.is_none());
        for conflict in open {
            conflict.settled = Some(seen.clone());
        }
    }

    fn add_printed_commit(
        &mut self,
        ran: &FinishedCommand<'_>,
        line: &ShellLine,
        git: &GitCommand<'_>,
        made: PrintedCommit,
        body: Option<String>,
    ) {
        let commit = SessionCommit {
            seen: ran.end.clone(),
            id: Some(made.id),
            subject: Some(self.clean_head(&made.subject, SUBJECT_BYTES_MAX)),
            body: body.map(|body| self.clean_head(&body, BODY_BYTES_MAX)),
            branch: made.branch.map(|branch| self.clean_head(&branch, PATH_BYTES_MAX)),
            files: made.files,
            merged: None,
            folder: self.folder_of(ran, git.folder.as_deref()),
            state: self.commit_state(ran, line, git),
            pushed: None,
        };
        self.add_commit(commit, Some(git));
    }

    /// Records a commit whose output was not shown: it was quiet or redirected.
    fn add_commit_without_id(
        &mut self,
        ran: &FinishedCommand<'_>,
        line: &ShellLine,
        (at, command, git): (usize, &SimpleCommand, &GitCommand<'_>),
    ) -> bool {
        let (subject, body) = match shell::commit_message(command, git, line) {
            Some(message) => (Some(message.subject), message.body),
            None => (None, None),
        };
        let logged = subject.as_ref().and_then(|subject| {
            let shown = shell::logged_commits(ran.output);
            shown.into_iter().find(|(_, other)| other == subject).map(|(id, _)| id)
        });
        let is_made = match ran.has_passed(command) {
            Some(passed) => passed,
            None if command.is_nested => false,
            None => {
                logged.is_some()
                    || has_later_push(line, at, ran.output)
                    || has_file_count(line, ran)
            }
        };
        if !is_made {
            return false;
        }
        let amends = git.has("--amend");
        let before = || self.commits.items.iter().rev().find(|one| one.state == CommitState::Made);
        let subject = match subject {
            None if amends => before().and_then(|one| one.subject.clone()),
            subject => subject.map(|subject| self.clean_head(&subject, SUBJECT_BYTES_MAX)),
        };
        let branch = new_branch(line, at).map(str::to_owned).or_else(|| self.branch.clone());
        let commit = SessionCommit {
            seen: ran.end.clone(),
            id: logged,
            subject,
            body: body.map(|body| self.clean_head(&body, BODY_BYTES_MAX)),
            branch: branch.map(|branch| self.clean_head(&branch, PATH_BYTES_MAX)),
            files: None,
            merged: None,
            folder: self.folder_of(ran, git.folder.as_deref()),
            state: self.commit_state(ran, line, git),
            pushed: None,
        };
        self.add_commit(commit, Some(git));
        self.settle_conflicts(ran.end);
        true
    }

    /// Records a merge commit. The output of `git merge` does not show its id.
    fn add_merge(&mut self, ran: &FinishedCommand<'_>, line: &ShellLine, git: &GitCommand<'_>) {
        let what: Vec<&str> = git.operands().collect();
        let what = if what.is_empty() { "upstream".to_owned() } else { what.join(" ") };
        let commit = SessionCommit {
            seen: ran.end.clone(),
            id: None,
            subject: None,
            body: None,
            branch: self.branch.clone(),
            files: None,
            merged: Some(self.clean_head(&what, SUBJECT_BYTES_MAX)),
            folder: self.folder_of(ran, git.folder.as_deref()),
            state: self.commit_state(ran, line, git),
            pushed: None,
        };
        self.add_commit(commit, None);
    }

    /// Adds a commit. With `--amend`, the commit before it is marked as amended.
    fn add_commit(&mut self, mut commit: SessionCommit, git: Option<&GitCommand<'_>>) {
        if let Some(git) = git.filter(|git| git.verb == "commit" && git.has("--amend")) {
            let is_it = |one: &&mut SessionCommit| is_on_branch(one, commit.branch.as_deref());
            let before =
                self.commits.items.iter_mut().rev().filter(|one| one.state == commit.state);
            if let Some(before) = before.filter(|_| commit.state == CommitState::Made).find(is_it) {
                before.state = CommitState::Amended;
                if !git.has_message() {
                    commit.body = before.body.clone();
                }
            }
        }
        self.commits.push(commit);
    }

    /// Whether a commit is in a scratch repository: those say nothing about the project.
    fn commit_state(
        &self,
        ran: &FinishedCommand<'_>,
        line: &ShellLine,
        git: &GitCommand<'_>,
    ) -> CommitState {
        let inits = |one: &SimpleCommand| {
            GitCommand::from_command(one)
                .is_some_and(|git| matches!(git.verb, "init" | "clone") && !one.is_nested)
        };
        let folder = resolve_folder(ran.folder, git.folder.as_deref());
        let is_scratch = |folder: &str| {
            let is_below = |known: &String| is_within(folder, known);
            self.scratch.iter().any(is_below)
                || (is_temporary(folder)
                    && !self.cwd.as_deref().is_some_and(|cwd| is_within(folder, cwd))
                    && !self.is_worktree(folder))
        };
        let inits_here =
            line.commands.iter().any(inits) && self.cwd.as_deref() != folder.as_deref();
        match inits_here || folder.as_deref().is_some_and(is_scratch) {
            true => CommitState::Scratch,
            false => CommitState::Made,
        }
    }

    /// Whether the session created a worktree of the project there.
    fn is_worktree(&self, folder: &str) -> bool {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        self.commands.iter().any(|one| one.text.contains("worktree add") && one.text.contains(name))
    }

    fn note_scratch(&mut self, ran: &FinishedCommand<'_>, git: &GitCommand<'_>) {
        let to = match git.verb {
            "init" => git.operands().next(),
            _ => git.operands().nth(1),
        };
        let here = resolve_folder(ran.folder, git.folder.as_deref());
        let folder = match (to, here) {
            (Some(to), here) => resolve_folder(here.as_deref(), Some(to)),
            (None, here) => here,
        };
        let Some(folder) = folder else { return };
        if self.cwd.as_deref() == Some(&*folder) || self.scratch.len() >= SCRATCH_MAX {
            return;
        }
        let folder = self.clean_head(&folder, PATH_BYTES_MAX);
        self.scratch.push(folder);
    }

    /// Marks commits that `git reset` removed from their branch.
    fn apply_reset(&mut self, ran: &FinishedCommand<'_>, git: &GitCommand<'_>) {
        let has_mode = git.has_any(&["--hard", "--soft", "--mixed", "--keep", "--merge"]);
        let Some(to) = git.operands().next().filter(|_| !git.has("--")) else { return };
        let branch = self.branch.clone();
        let steps = steps_back(to);
        let looks_like_commit = steps.is_some() || shell::is_id(to) || to.starts_with("origin/");
        if to == "HEAD" || to == "@" || !(has_mode || looks_like_commit) {
            return;
        }
        let kept = shell::logged_commits(&ran.output.replace("HEAD is now at ", ""));
        let is_kept = |commit: &SessionCommit| {
            let id = commit.id.as_ref().map(CommitId::as_str);
            let same =
                |other: &str| id.is_some_and(|id| other.starts_with(id) || id.starts_with(other));
            kept.iter().any(|(id, _)| same(id.as_str())) || same(to)
        };
        let is_remote = to.contains('/') || to == "@{u}";
        let mut left = steps.unwrap_or(usize::MAX);
        let on_branch = |one: &&mut SessionCommit| {
            one.state == CommitState::Made && is_on_branch(one, branch.as_deref())
        };
        for commit in self.commits.items.iter_mut().rev().filter(on_branch) {
            if left == 0 || is_kept(commit) || (is_remote && commit.pushed.is_some()) {
                break;
            }
            commit.state = CommitState::Dropped;
            left -= 1;
        }
    }

    /// Clears the ids of rebased commits. An interactive rebase may also drop them.
    fn apply_rebase(&mut self, ran: &FinishedCommand<'_>, git: &GitCommand<'_>) {
        if !ran.output.contains("Successfully rebased") {
            return;
        }
        let branch = self.branch.clone();
        let may_drop = git.has_any(&["-i", "--interactive", "--autosquash", "--onto", "--root"]);
        for commit in &mut self.commits.items {
            if commit.state == CommitState::Made && is_on_branch(commit, branch.as_deref()) {
                commit.pushed = None;
                commit.id = None;
                if may_drop {
                    commit.state = CommitState::Dropped;
                }
            }
        }
    }

    /// Marks commits on a force-deleted branch as dropped, unless they were merged or pushed.
    fn drop_branch_commits(&mut self, git: &GitCommand<'_>) {
        let deleted: Vec<&str> = git.operands().collect();
        let is_merged = |branch: &str| {
            self.commands.iter().any(|one| one.text.contains(&format!("git merge {branch}")))
        };
        let lost: Vec<&str> = deleted.into_iter().filter(|branch| !is_merged(branch)).collect();
        for commit in &mut self.commits.items {
            let is_on = commit.branch.as_deref().is_some_and(|branch| lost.contains(&branch));
            if is_on && commit.state == CommitState::Made && commit.pushed.is_none() {
                commit.state = CommitState::Dropped;
            }
        }
    }

    /// Adds missing commit ids from the output of `git log` or `git rev-parse HEAD`.
    fn fill_commit_ids(&mut self, git: &GitCommand<'_>, output: &str) {
        let lacks_id = |one: &SessionCommit| one.state == CommitState::Made && one.id.is_none();
        if !self.commits.iter().any(lacks_id) {
            return;
        }
        if git.verb == "rev-parse" {
            let is_head = git.operands().eq(["HEAD"]);
            let mut ids = output.lines().map(str::trim).filter(|line| shell::is_id(line));
            if let (true, Some(id), None) = (is_head, ids.next(), ids.next())
                && let Some(last) = self.commits.items.last_mut()
                && lacks_id(last)
            {
                last.id = Some(CommitId::new(id));
            }
            return;
        }
        for (id, subject) in shell::logged_commits(output) {
            let is_it = |one: &&mut SessionCommit| {
                lacks_id(one) && one.subject.as_deref() == Some(&*subject)
            };
            if let Some(commit) = self.commits.items.iter_mut().rev().find(is_it) {
                commit.id = Some(id);
            }
        }
    }

    fn add_effect(
        &mut self,
        ran: &FinishedCommand<'_>,
        command: &SimpleCommand,
        outside: CommandEffect,
    ) {
        let result = shell::effect_result(command, &outside, ran.ended, ran.output);
        let url = shell::url(outside.kind, ran.output);
        let is_push = outside.kind == EffectKind::Push;
        let refs = if is_push { shell::pushed_refs(ran.output) } else { Vec::new() };
        let done: Vec<&PushedRef> = refs.iter().filter(|one| one.is_done).collect();
        let mut target = outside.target.clone();
        if is_push {
            target = target.or_else(|| done.first().map(|one| one.remote.clone()));
            target = target.or_else(|| self.branch.clone());
            if result == EffectResult::Done && !outside.action.ends_with("--delete") {
                self.mark_commits_pushed(ran.end, command, &done);
            }
        }
        if target.is_none() && outside.kind != EffectKind::Deployment {
            target = url.as_deref().and_then(number_in);
        }
        let effect = Effect {
            seen: ran.end.clone(),
            kind: outside.kind,
            action: self.clean_head(&outside.action, SUBJECT_BYTES_MAX),
            command: command.text.clone(),
            result,
            target: target.map(|target| self.clean_head(&target, PATH_BYTES_MAX)),
            title: outside.title.map(|title| self.clean_head(&title, SUBJECT_BYTES_MAX)),
            url: url.map(|url| self.clean_head(&url, PATH_BYTES_MAX)),
            boxes: outside.boxes.map(|boxes| self.clean_lines(&boxes, SUBJECT_BYTES_MAX)),
            why: match result {
                EffectResult::Failed => {
                    self.clean_lines(&shell::failure_lines(ran.output), WHY_BYTES_MAX)
                }
                EffectResult::Done | EffectResult::Unknown => Vec::new(),
            },
        };
        self.effects.push(effect);
    }

    /// Marks the commits on a pushed branch as pushed.
    fn mark_commits_pushed(
        &mut self,
        seen: &Provenance,
        command: &SimpleCommand,
        refs: &[&PushedRef],
    ) {
        let Some(git) = GitCommand::from_command(command) else { return };
        let mut operands = git.operands();
        let (remote, named) = (operands.next(), operands.next());
        let branches: Vec<(Option<String>, Option<String>, Option<CommitId>)> = match refs {
            [] => {
                let (local, to) = named.map_or((None, None), |named| match named.split_once(':') {
                    Some((local, to)) => (Some(local), Some(to)),
                    None => (Some(named), Some(named)),
                });
                let local = local.filter(|local| *local != "HEAD").map(str::to_owned);
                let to = to.filter(|to| *to != "HEAD").map(str::to_owned);
                vec![(local.or_else(|| self.branch.clone()), to, None)]
            }
            refs => refs
                .iter()
                .filter(|one| !one.is_tag)
                .map(|one| {
                    let local = Some(one.local.clone()).filter(|local| local != "HEAD");
                    (local, Some(one.remote.clone()), one.id.clone())
                })
                .collect(),
        };
        for (local, to, id) in branches {
            let to = match (remote, to.or_else(|| local.clone())) {
                (Some(remote), Some(to)) => Some(format!("{remote}/{to}")),
                (_, to) => to,
            };
            let to = to.map(|to| self.clean_head(&to, PATH_BYTES_MAX));
            let mut id = id;
            for commit in self.commits.items.iter_mut().rev() {
                let is_it =
                    commit.state == CommitState::Made && is_on_branch(commit, local.as_deref());
                if !is_it {
                    continue;
                }
                // The branch points to its last commit.
                let newest = id.take();
                if commit.id.is_none() {
                    commit.id = newest;
                }
                if commit.pushed.is_none() {
                    commit.pushed = Some(PushRecord { seen: seen.clone(), to: to.clone() });
                }
            }
        }
    }

    /// The directory that a command worked in, if not the session's.
    fn folder_of(&mut self, ran: &FinishedCommand<'_>, cd: Option<&str>) -> Option<String> {
        let folder = resolve_folder(ran.folder, cd)?;
        (self.cwd.as_deref() != Some(&*folder)).then(|| self.clean_head(&folder, PATH_BYTES_MAX))
    }

    fn clean_lines(&mut self, lines: &[String], bytes_max: usize) -> Vec<String> {
        lines.iter().map(|line| self.clean_head(line, bytes_max)).collect()
    }
}

/// Assigns each printed commit to its command: by subject, otherwise in order.
fn commits_by_command(line: &ShellLine, output: &str) -> Vec<Vec<PrintedCommit>> {
    let mut by_command: Vec<Vec<PrintedCommit>> = vec![Vec::new(); line.commands.len()];
    let mut makers: Vec<(usize, Option<String>)> = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        let Some(git) = GitCommand::from_command(command) else { continue };
        let makes = matches!(
            git.verb,
            "commit" | "merge" | "cherry-pick" | "revert" | "am" | "rebase" | "pull"
        );
        if makes {
            let message = shell::commit_message(command, &git, line);
            makers.push((at, message.map(|message| message.subject)));
        }
    }
    let Some((last, _)) = makers.last().cloned() else { return by_command };
    for made in shell::printed_commits(output) {
        let same =
            |(_, subject): &&(usize, Option<String>)| subject.as_ref() == Some(&made.subject);
        let free = |(at, subject): &&(usize, Option<String>)| {
            subject.is_none() && by_command[*at].is_empty()
        };
        let at =
            makers.iter().find(same).or_else(|| makers.iter().find(free)).map_or(last, |m| m.0);
        by_command[at].push(made);
    }
    by_command
}

/// Whether a push after the commit on the same `&&` chain ran, which means that the commit was
/// made.
fn has_later_push(line: &ShellLine, at: usize, output: &str) -> bool {
    let chain = line.commands[at].chain;
    let is_push = |one: &SimpleCommand| {
        one.chain == chain && GitCommand::from_command(one).is_some_and(|git| git.verb == "push")
    };
    line.commands[at].filters.is_empty()
        && line.commands[at + 1..].iter().any(is_push)
        && !shell::pushed_refs(output).is_empty()
}

/// Whether the output has the file count of the only commit on the line.
fn has_file_count(line: &ShellLine, ran: &FinishedCommand<'_>) -> bool {
    let git = |command: &SimpleCommand| {
        GitCommand::from_command(command)
            .map(|git| git.verb.to_owned())
            .filter(|verb| verb != "add" && verb != "push")
    };
    let verbs: Vec<String> = line.commands.iter().filter_map(git).collect();
    verbs == ["commit"] && ran.output.lines().any(|line| shell::files_changed(line).is_some())
}

/// The branch that a line creates before a command.
fn new_branch(line: &ShellLine, at: usize) -> Option<&str> {
    let made = |command: &'_ SimpleCommand| -> Option<usize> {
        let git = GitCommand::from_command(command)?;
        let makes =
            (git.verb == "checkout" && git.has("-b")) || (git.verb == "switch" && git.has("-c"));
        let option = if git.verb == "checkout" { "-b" } else { "-c" };
        makes.then(|| command.words.iter().position(|word| word == option)).flatten()
    };
    let mut before = line.commands[..at].iter().rev();
    before.find_map(|command| command.words.get(made(command)? + 1)).map(String::as_str)
}

/// Whether a commit is on a branch. Unknown branches match.
fn is_on_branch(commit: &SessionCommit, branch: Option<&str>) -> bool {
    match (commit.branch.as_deref(), branch) {
        (Some(of), Some(branch)) => of == branch,
        (None, _) | (_, None) => true,
    }
}

/// How many commits `HEAD~2` or `HEAD^^` goes back.
fn steps_back(to: &str) -> Option<usize> {
    let rest = to.strip_prefix("HEAD").or_else(|| to.strip_prefix('@'))?;
    if let Some(count) = rest.strip_prefix('~') {
        return if count.is_empty() { Some(1) } else { count.parse().ok() };
    }
    (!rest.is_empty() && rest.bytes().all(|byte| byte == b'^')).then_some(rest.len())
}

/// The number of a pull request or an issue in its URL.
fn number_in(url: &str) -> Option<String> {
    let parts: Vec<&str> = url.split(['/', '#', '?']).collect();
    let at = parts
        .iter()
        .position(|part| matches!(*part, "pull" | "issues" | "issue" | "merge_requests"))?;
    let number = parts.get(at + 1)?;
    (!number.is_empty()).then(|| (*number).to_owned())
}

/// Finds `"identifier": "ENG-12"` or `"number": 12` in a server's response.
fn identifier(output: &str) -> Option<String> {
    ["\"identifier\"", "\"number\"", "\"key\""].iter().find_map(|name| {
        let (_, rest) = output.split_once(name)?;
        let rest = rest.trim_start_matches([':', ' ', '"']);
        let value = rest.split(['"', ',', '}', '\n']).next()?.trim();
        (!value.is_empty() && value.len() < 60).then(|| value.to_owned())
    })
}

fn resolve_folder(from: Option<&str>, to: Option<&str>) -> Option<String> {
    match (from, to) {
        (_, Some(to)) => Some(shell::join_folder(from, to)),
        (Some(from), None) => Some(from.to_owned()),
        (None, None) => None,
    }
}

fn is_within(folder: &str, whole: &str) -> bool {
    folder.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_temporary(folder: &str) -> bool {
    ["/tmp/", "/private/tmp/", "/var/folders/", "$(mktemp", "$TMP", "${TMP"]
        .iter()
        .any(|start| folder.starts_with(start))
}

/// Whether a command line contains a commit.
fn has_commit(line: &str) -> bool {
    ShellLine::parse(line)
        .commands
        .iter()
        .filter_map(GitCommand::from_command)
        .any(|git| git.verb == "commit")
}

//! Tests of observing a repository: commits from the reflog, the working tree from git, and what of
//! that still holds later. Git itself is the reference.

use crate::open_on_disk;
use midstride::store::Store;
use midstride::sys::git::{BranchState, Repository};
use midstride::workspace::observation::{
    branch_state, commits_made, is_due, last_observation, observe, observe_in_background,
};
use midstride_core::session::repository::{
    FileStatus, GitOperation, ReflogAction, ReflogCommit, ReflogCommitState,
};
use midstride_core::text::id::CommitId;
use midstride_testkit::{NOW, Sandbox};
use std::path::{Path, PathBuf};

/// Before any commit in the sandboxes.
const EARLIER: &str = "2026-03-21T10:00:00Z";

/// A repository in which midstride is set up.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new("").repository();
    store(&sandbox).workspace().make_private().unwrap();
    sandbox
}

fn store(sandbox: &Sandbox) -> Store {
    open_on_disk(sandbox.root())
}

/// The output of git, with ids unchanged.
fn git(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes a file and commits it under its own name.
fn commit(sandbox: &Sandbox, name: &str) -> CommitId {
    sandbox.write(name, name);
    git(sandbox, &["add", name]);
    git(sandbox, &["commit", "--quiet", "--message", name]);
    CommitId::new(git(sandbox, &["rev-parse", "HEAD"]))
}

fn made(sandbox: &Sandbox) -> Vec<ReflogCommit> {
    commits_made(store(sandbox).workspace(), EARLIER.parse().unwrap(), None)
}

/// The `subject state` of each commit after the first one.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let made = made(sandbox).into_iter().skip(1);
    made.map(|one| format!("{} {:?}", one.subject, one.state).to_lowercase()).collect()
}

/// Compares every state with what git says about the same commit.
#[track_caller]
fn agrees_with_git(sandbox: &Sandbox) {
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    for commit in made(sandbox) {
        let id = commit.id.as_str();
        let on_branches = git(sandbox, &["for-each-ref", "--contains", id, "--format=%(refname)"]);
        let mut contains = sandbox.command("git");
        contains.args(["merge-base", "--is-ancestor", id, "HEAD"]);
        let exists = !on_branches.is_empty() || contains.status().unwrap().success();
        match commit.state {
            ReflogCommitState::Exists => assert!(exists, "{commit:?}"),
            ReflogCommitState::Replaced => assert!(!exists, "{commit:?}"),
            ReflogCommitState::Unknown => {}
        }
        assert_eq!(repository.commit_of(id), None, "an id is no ref");
    }
}

#[test]
fn commits_are_tracked_through_amend_and_reset() {
    let sandbox = repository();
    let steps: &[(&[&str], &[&str])] = &[
        (&["commit", "--amend", "--message", "one again"], &["one replaced", "one again exists"]),
        (&["reset", "--hard", "HEAD~1"], &["one replaced", "one again replaced"]),
    ];
    commit(&sandbox, "one");
    assert_eq!(told(&sandbox), ["one exists"]);
    for (step, expected) in steps {
        git(&sandbox, step);
        assert_eq!(&told(&sandbox), expected, "{step:?}");
        agrees_with_git(&sandbox);
    }
}

#[test]
fn rebased_commits_are_named_by_their_copies() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "-b", "feat"]);
    let (two, three) = (commit(&sandbox, "two"), commit(&sandbox, "three"));
    git(&sandbox, &["checkout", "--quiet", "main"]);
    commit(&sandbox, "four");
    git(&sandbox, &["checkout", "--quiet", "feat"]);
    git(&sandbox, &["rebase", "--quiet", "main"]);
    let expected = ["two replaced", "three replaced", "four exists", "two exists", "three exists"];
    assert_eq!(told(&sandbox), expected);
    agrees_with_git(&sandbox);
    let copies = made(&sandbox).into_iter().filter(|one| one.state == ReflogCommitState::Exists);
    let copies: Vec<ReflogCommit> = copies.filter(|one| one.subject != "four").collect();
    assert!(copies.iter().all(|one| one.id != two && one.id != three));
    let on_feat = copies.iter().filter(|one| one.branch.as_deref() == Some("feat")).count();
    assert_eq!(on_feat, 2, "{copies:?}");
    // Squashed into one.
    let editor = "sed -i '2s/pick/squash/'";
    let mut rebase = sandbox.command("git");
    rebase.args(["rebase", "--quiet", "--interactive", "HEAD~2"]);
    rebase.env("GIT_SEQUENCE_EDITOR", editor).env("GIT_EDITOR", "true");
    assert!(rebase.output().unwrap().status.success());
    let exist =
        made(&sandbox).into_iter().filter(|one| one.state == ReflogCommitState::Exists).count();
    assert_eq!(exist, 3, "the first one, four, and the squashed one: {:?}", told(&sandbox));
    agrees_with_git(&sandbox);
}

#[test]
fn merged_and_picked_commits_exist() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "-b", "feat"]);
    let two = commit(&sandbox, "two");
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["merge", "--quiet", "--no-ff", "feat", "--message", "Merge feat"]);
    git(&sandbox, &["branch", "--quiet", "-D", "feat"]);
    assert_eq!(told(&sandbox), ["two exists", " exists"]);
    agrees_with_git(&sandbox);
    git(&sandbox, &["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    commit(&sandbox, "base");
    git(&sandbox, &["cherry-pick", two.as_str()]);
    git(&sandbox, &["revert", "--no-edit", "HEAD"]);
    let told = told(&sandbox);
    assert_eq!(told[2..], ["base exists", "two exists", "revert \"two\" exists"]);
    agrees_with_git(&sandbox);
}

#[test]
fn a_deleted_branch_leaves_its_commits_unknown() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "-b", "feat"]);
    commit(&sandbox, "two");
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["branch", "--quiet", "-D", "feat"]);
    assert_eq!(told(&sandbox), ["two unknown"]);
}

#[test]
fn a_detached_head_has_commits_without_a_branch() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "--detach"]);
    commit(&sandbox, "two");
    let last = made(&sandbox).pop().unwrap();
    assert_eq!((last.branch, last.state), (None, ReflogCommitState::Exists));
    git(&sandbox, &["checkout", "--quiet", "main"]);
    assert_eq!(told(&sandbox), ["two unknown"], "nothing has it, and nothing replaced it");
}

#[test]
fn each_worktree_has_its_own_commits() {
    let sandbox = repository();
    git(&sandbox, &["worktree", "add", "--quiet", "../second", "-b", "second"]);
    let second = sandbox.root().parent().unwrap().join("second");
    let there = |arguments: &[&str]| {
        git(&sandbox, &[&["-C", second.to_str().unwrap()], arguments].concat())
    };
    there(&["commit", "--quiet", "--allow-empty", "--message", "there"]);
    commit(&sandbox, "here");
    assert_eq!(told(&sandbox), ["here exists"]);
    let made = commits_made(open_on_disk(&second).workspace(), EARLIER.parse().unwrap(), None);
    let told: Vec<_> = made.iter().map(|one| (one.subject.as_str(), one.state)).collect();
    assert_eq!(told, [("there", ReflogCommitState::Exists)]);
    // The other worktree moves a branch that this one left; only the log of the branch has that.
    git(&sandbox, &["checkout", "--quiet", "-b", "shared"]);
    commit(&sandbox, "first");
    commit(&sandbox, "second");
    git(&sandbox, &["checkout", "--quiet", "main"]);
    there(&["checkout", "--quiet", "shared"]);
    there(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(self::told(&sandbox), ["here exists", "first exists", "second replaced"]);
    there(&["commit", "--quiet", "--allow-empty", "--message", "third"]);
    assert_eq!(self::told(&sandbox), ["here exists", "first exists", "second replaced"]);
    agrees_with_git(&sandbox);
}

#[test]
fn commits_count_between_two_times() {
    let sandbox = repository();
    for hour in ["12", "13", "14"] {
        let time = format!("2026-03-22T{hour}:00:00Z");
        let mut commit = sandbox.command("git");
        commit.args(["commit", "--quiet", "--allow-empty", "--message", hour]);
        assert!(commit.env("GIT_COMMITTER_DATE", time).status().unwrap().success());
    }
    let made = |from: &str, to: Option<&str>| -> Vec<String> {
        let to = to.map(|to| to.parse().unwrap());
        let made = commits_made(store(&sandbox).workspace(), from.parse().unwrap(), to);
        made.into_iter().map(|one| one.subject).collect()
    };
    assert_eq!(made("2026-03-22T13:00:00Z", None), ["13", "14"]);
    assert_eq!(made("2026-03-22T13:00:00.9Z", None), ["13", "14"], "git knows no fractions");
    assert_eq!(made("2026-03-22T11:00:00Z", Some("2026-03-22T13:30:00Z")), ["12", "13"]);
    assert!(made("2026-03-22T14:00:01Z", None).is_empty());
    // The clock is set back; later entries still show what happened to a commit.
    git(&sandbox, &["commit", "--quiet", "--amend", "--allow-empty", "--message", "14 again"]);
    assert_eq!(made("2026-03-22T14:00:00Z", None), ["14"]);
    let store = store(&sandbox);
    let last = commits_made(store.workspace(), "2026-03-22T14:00:00Z".parse().unwrap(), None);
    assert_eq!(last[0].state, ReflogCommitState::Replaced);
}

#[test]
fn a_long_log_with_odd_lines_is_read_from_its_end() {
    let sandbox = repository();
    commit(&sandbox, "two");
    let log = sandbox.read(".git/logs/HEAD");
    let last = log.lines().last().unwrap();
    let odd = format!("odd\n\n{}\u{0}\n{}", "x".repeat(1 << 20), last.replace("two", "first"));
    sandbox.write(".git/logs/HEAD", format!("{log}{odd}\n{last}\n"));
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let read = |from: Option<&str>| -> Vec<String> {
        let entries = repository.reflog(from.map(|from| from.parse().unwrap()), None);
        entries.into_iter().map(|entry| entry.subject).collect()
    };
    assert_eq!(read(None), ["first", "two"], "the limit cuts off what comes before");
    assert_eq!(read(Some(EARLIER)), ["first", "two"]);
    sandbox.write(".git/logs/HEAD", [0xff, 0x00, b'\n', 0xfe]);
    assert!(read(None).is_empty());
}

#[test]
fn without_a_log_or_a_repository_nothing_is_known() {
    let sandbox = Sandbox::new("");
    let nothing = store(&sandbox);
    assert!(
        observe(nothing.workspace()).unwrap().is_none()
            && last_observation(nothing.workspace()).is_none()
    );
    assert!(commits_made(nothing.workspace(), EARLIER.parse().unwrap(), None).is_empty());
    assert!(!is_due(nothing.workspace(), None));
    let sandbox = repository();
    commit(&sandbox, "two");
    std::fs::remove_dir_all(sandbox.root().join(".git/logs")).unwrap();
    assert!(made(&sandbox).is_empty());
}

#[test]
fn before_the_first_commit_everything_is_uncommitted() {
    let sandbox = Sandbox::new("");
    git(&sandbox, &["init", "--quiet", "--initial-branch=main"]);
    store(&sandbox).workspace().make_private().unwrap();
    sandbox.write("a.rs", "a");
    let observed = observe(store(&sandbox).workspace()).unwrap().unwrap();
    let state = &observed.work_tree;
    assert_eq!((state.branch.as_deref(), &state.head), (Some("main"), &None));
    assert!(state.uncommitted("a.rs").is_some() && observed.recent.is_empty());
    assert_eq!(last_observation(store(&sandbox).workspace()), Some(observed));
}

#[test]
fn the_working_tree_is_observed_and_kept() {
    let sandbox = repository();
    for name in ["changed.rs", "deleted.rs", "moved.rs"] {
        commit(&sandbox, name);
    }
    sandbox.write("changed.rs", "other");
    std::fs::remove_file(sandbox.root().join("deleted.rs")).unwrap();
    git(&sandbox, &["mv", "moved.rs", "to here.rs"]);
    sandbox.write("added.rs", "x");
    git(&sandbox, &["add", "added.rs"]);
    sandbox.write("new/deep/file.rs", "x");
    sandbox.write(".midstride/handoffs/x.md", "x");
    let observed = observe(store(&sandbox).workspace()).unwrap().unwrap();
    let state = &observed.work_tree;
    let mut told: Vec<String> =
        state.uncommitted.iter().map(|file| format!("{:?} {}", file.status, file.path)).collect();
    told.sort();
    let expected = [
        "Added added.rs",
        "Deleted deleted.rs",
        "Modified changed.rs",
        "Renamed to here.rs",
        "Untracked new/",
    ];
    assert_eq!(told, expected);
    assert_eq!(state.at.to_string(), NOW);
    assert_eq!(state.branch.as_deref(), Some("main"));
    let changed = state.uncommitted("changed.rs").unwrap();
    assert_eq!(changed.size, Some(5));
    assert!(changed.modified.is_some() && state.uncommitted("new/deep/file.rs").is_some());
    assert_eq!(observed.recent.first().map(|one| one.subject.as_str()), Some("moved.rs"));
    assert_eq!(observed.recent[0].files, ["moved.rs"]);
    assert_eq!(last_observation(store(&sandbox).workspace()), Some(observed));
}

/// The file that stores an observation.
fn kept(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.root().join(".git/midstride/work-trees");
    std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn outdated_observations_are_dropped() {
    let sandbox = repository();
    for name in ["same.rs", "again.rs", "gone.rs", "back.rs"] {
        commit(&sandbox, name);
        sandbox.write(name, "other");
    }
    std::fs::remove_file(sandbox.root().join("back.rs")).unwrap();
    observe(store(&sandbox).workspace()).unwrap();
    sandbox.write("again.rs", "and again");
    std::fs::remove_file(sandbox.root().join("gone.rs")).unwrap();
    git(&sandbox, &["checkout", "--quiet", "back.rs"]);
    let state = last_observation(store(&sandbox).workspace()).unwrap().work_tree;
    let told: Vec<_> =
        state.uncommitted.iter().map(|file| (file.path.as_str(), file.changed_since)).collect();
    assert_eq!(told, [("again.rs", true), ("same.rs", false)]);
    assert!(!state.moved);
    std::fs::write(kept(&sandbox), "{\"version\": 99}").unwrap();
    assert_eq!(last_observation(store(&sandbox).workspace()), None, "another version is not read");
}

#[test]
fn a_commit_removes_its_files_from_the_list() {
    let sandbox = repository();
    sandbox.write("a.rs", "a");
    let observed = observe(store(&sandbox).workspace()).unwrap().unwrap();
    let then = observed.work_tree.head.clone().unwrap();
    let new = commit(&sandbox, "a.rs");
    let last = last_observation(store(&sandbox).workspace()).unwrap();
    assert!(last.work_tree.moved && last.work_tree.uncommitted.is_empty());
    assert!(!last.work_tree.is_clean(), "git was not asked since");
    assert_eq!(last.work_tree.head.as_ref(), Some(&new));
    let since = |last: &midstride_core::session::repository::Observation, ours: &[CommitId]| {
        last.commits_since(Some(&then), NOW.parse().unwrap(), ours, &["a.rs".to_owned()])
    };
    let found = since(&last, &[]);
    assert_eq!((found.count, found.newest.as_deref()), (1, Some("a.rs")));
    assert_eq!(since(&last, &[new]).count, 0);
    // Asked again, git knows the files too.
    let observed = observe(store(&sandbox).workspace()).unwrap().unwrap();
    assert_eq!(since(&observed, &[]).changed_files, ["a.rs"]);
    assert!(observed.work_tree.is_clean());
}

#[test]
fn very_many_files_are_counted() {
    let sandbox = repository();
    for number in 0..350 {
        sandbox.write(&format!("f{number}.rs"), "x");
    }
    let state = observe(store(&sandbox).workspace()).unwrap().unwrap().work_tree;
    assert_eq!(state.uncommitted.len() + state.more, 350);
    assert_eq!(state.uncommitted.len(), 200);
}

#[test]
fn upstream_stash_and_conflict_are_observed() {
    let sandbox = repository();
    git(&sandbox, &["init", "--quiet", "--bare", "../remote.git"]);
    git(&sandbox, &["remote", "add", "origin", "../remote.git"]);
    commit(&sandbox, "a.rs");
    git(&sandbox, &["push", "--quiet", "--set-upstream", "origin", "main"]);
    let pushed = commit(&sandbox, "b.rs");
    sandbox.write("a.rs", "stashed");
    git(&sandbox, &["stash", "push", "--quiet"]);
    let state = observe(store(&sandbox).workspace()).unwrap().unwrap().work_tree;
    let upstream = state.upstream.clone().unwrap();
    assert_eq!((upstream.name.as_str(), upstream.ahead, upstream.behind), {
        ("origin/main", Some(1), Some(0))
    });
    assert_eq!((state.stashes, state.operation), (1, None));
    let is_pushed = || made(&sandbox).into_iter().find(|one| one.id == pushed).unwrap().pushed;
    assert!(!is_pushed());
    git(&sandbox, &["push", "--quiet"]);
    assert!(is_pushed());
    git(&sandbox, &["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    sandbox.write("b.rs", "conflict");
    git(&sandbox, &["add", "b.rs"]);
    git(&sandbox, &["commit", "--quiet", "--message", "other b"]);
    let merged = sandbox.command("git").args(["merge", "--quiet", "main"]).output().unwrap();
    assert!(!merged.status.success());
    let state = observe(store(&sandbox).workspace()).unwrap().unwrap().work_tree;
    assert_eq!(state.operation, Some(GitOperation::Merge));
    let file = state.uncommitted("b.rs").unwrap();
    assert_eq!(file.status, FileStatus::Conflicted);
    git(&sandbox, &["merge", "--abort"]);
    let last = last_observation(store(&sandbox).workspace()).unwrap().work_tree;
    assert_eq!(last.operation, None, "its mark is a file");
}

#[test]
fn secrets_are_not_kept() {
    let sandbox = repository();
    let token = ["ghp_", "Zk3vYq8Lr2Xw9Tn5Bd7Hs1Pj4Mc6Vf0GaQeU"].concat();
    sandbox.write(&format!("{token}.txt"), "x");
    let message = format!("Use {token}");
    git(&sandbox, &["commit", "--quiet", "--allow-empty", "--message", &message]);
    let observed = observe(store(&sandbox).workspace()).unwrap().unwrap();
    let text = std::fs::read_to_string(kept(&sandbox)).unwrap();
    assert!(!text.contains(&token) && text.contains("Use "), "{text}");
    assert!(!format!("{observed:?}{:?}", made(&sandbox)).contains(&token));
    assert!(last_observation(store(&sandbox).workspace()).is_some());
}

#[test]
fn git_runs_again_when_something_changed() {
    let sandbox = repository();
    let store = store(&sandbox);
    assert!(is_due(store.workspace(), None), "it never was");
    observe_in_background(store.workspace()).unwrap();
    assert!(!is_due(store.workspace(), None));
    assert!(!is_due(store.workspace(), Some("2020-01-01T00:00:00Z".parse().unwrap())));
    assert!(is_due(store.workspace(), Some("2099-01-01T00:00:00Z".parse().unwrap())));
    // Set the time explicitly instead of waiting for the file system clock.
    let file = std::fs::File::options().write(true).open(kept(&sandbox)).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(9)).unwrap();
    commit(&sandbox, "two");
    assert!(is_due(store.workspace(), None));
}

#[test]
fn concurrent_observations_all_finish() {
    let sandbox = repository();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| observe_in_background(store(&sandbox).workspace()).unwrap());
        }
    });
    assert!(last_observation(store(&sandbox).workspace()).is_some());
}

#[test]
fn a_folder_that_is_not_set_up_stays_unchanged() {
    let sandbox = Sandbox::new("").repository();
    assert!(observe(store(&sandbox).workspace()).unwrap().is_none());
    observe_in_background(store(&sandbox).workspace()).unwrap();
    assert!(!sandbox.root().join(".git/midstride").exists());
}

#[test]
fn only_the_newest_observations_are_kept() {
    let sandbox = repository();
    for number in 0..40 {
        sandbox.write(&format!(".git/midstride/work-trees/old{number}.json"), "{}");
    }
    observe(store(&sandbox).workspace()).unwrap();
    let left = std::fs::read_dir(sandbox.root().join(".git/midstride/work-trees")).unwrap().count();
    assert_eq!(left, 32);
    assert!(last_observation(store(&sandbox).workspace()).is_some(), "the newest stays");
}

#[test]
fn a_branch_exists_is_merged_renamed_or_deleted() {
    let sandbox = repository();
    git(&sandbox, &["branch", "fresh"]);
    for name in ["merged", "old-name", "open", "squashed/deep"] {
        git(&sandbox, &["checkout", "--quiet", "-b", name, "main"]);
        commit(&sandbox, &name.replace('/', "-"));
    }
    git(&sandbox, &["checkout", "--quiet", "old-name"]);
    git(&sandbox, &["branch", "--move", "new-name"]);
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["merge", "--quiet", "--no-ff", "merged", "--message", "Merge"]);
    git(&sandbox, &["branch", "--quiet", "-D", "squashed/deep"]);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let check = |branch: &str, expected: Option<BranchState>| {
        let observed = last_observation(store(&sandbox).workspace());
        let state = branch_state(&repository.branches(), branch, observed.as_ref());
        assert_eq!(state, expected, "{branch}");
    };
    check("merged", Some(BranchState::Exists));
    observe(store(&sandbox).workspace()).unwrap();
    let observed = last_observation(store(&sandbox).workspace());
    let found = branch_state(&repository.branches(), "merged", observed.as_ref());
    let Some(BranchState::Merged(merge)) = &found else { panic!("{found:?}") };
    let log = sandbox.read(".git/logs/refs/heads/main");
    let at = log.lines().last().unwrap().split_once("> ").unwrap().1.split(' ').next().unwrap();
    assert_eq!(
        (merge.into.as_str(), merge.at.unwrap().as_second().to_string()),
        ("main", at.to_owned())
    );
    let merged = found;
    for packed in [false, true] {
        check("merged", merged.clone());
        check("open", Some(BranchState::Exists));
        check("main", Some(BranchState::Exists));
        check("fresh", Some(BranchState::Exists));
        check("old-name", Some(BranchState::Renamed("new-name".to_owned())));
        check("squashed/deep", Some(BranchState::Deleted));
        check("never-here", None);
        check("squashed", None);
        for odd in ["HEAD", "", "../main", "/etc/passwd", "a/../main"] {
            check(odd, None);
        }
        if !packed {
            git(&sandbox, &["pack-refs", "--all"]);
        }
    }
    // Work on it continues.
    git(&sandbox, &["checkout", "--quiet", "merged"]);
    commit(&sandbox, "more");
    check("merged", Some(BranchState::Exists));
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["merge", "--quiet", "merged", "--message", "Merge again"]);
    git(&sandbox, &["checkout", "--quiet", "merged"]);
    observe(store(&sandbox).workspace()).unwrap();
    check("merged", Some(BranchState::Exists));
}

#[test]
fn a_log_that_is_very_long_is_read_from_its_end() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "-b", "first"]);
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["branch", "--quiet", "-D", "first"]);
    let log = sandbox.root().join(".git/logs/HEAD");
    let before = std::fs::read_to_string(&log).unwrap();
    let noise = before.lines().next().unwrap();
    let noise = format!("{noise}\n").repeat(4_000);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    assert_eq!(repository.branches().state("first"), Some(BranchState::Deleted));
    std::fs::write(&log, format!("{before}{noise}")).unwrap();
    assert_eq!(repository.branches().state("first"), None, "too long ago");
    std::fs::write(&log, format!("{noise}{before}")).unwrap();
    assert_eq!(repository.branches().state("first"), Some(BranchState::Deleted));
    // One log is read for all branches, so changes made meanwhile do not count.
    let branches = repository.branches();
    assert_eq!(branches.state("second"), None);
    git(&sandbox, &["checkout", "--quiet", "-b", "second"]);
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["branch", "--quiet", "-D", "second"]);
    assert_eq!(branches.state("second"), None);
    assert_eq!(repository.branches().state("second"), Some(BranchState::Deleted));
}

#[test]
fn a_branch_knows_its_former_names() {
    let sandbox = repository();
    git(&sandbox, &["checkout", "--quiet", "-b", "one"]);
    git(&sandbox, &["branch", "--move", "two"]);
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["branch", "--move", "two", "three"]);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let names = |branch: &str| {
        let former = repository.former_names(branch).into_iter();
        former.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names("three"), ["one", "two"]);
    assert_eq!(names("main"), [""; 0]);
}

#[test]
fn an_unborn_branch_exists() {
    let sandbox = Sandbox::new("");
    git(&sandbox, &["init", "--quiet", "--initial-branch=main"]);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    assert_eq!(repository.branch_state("main"), Some(BranchState::Exists));
}

#[test]
fn the_actions_of_a_real_log_are_known() {
    let sandbox = repository();
    commit(&sandbox, "two");
    git(&sandbox, &["commit", "--quiet", "--amend", "--message", "two again"]);
    git(&sandbox, &["checkout", "--quiet", "-b", "feat", "HEAD~1"]);
    commit(&sandbox, "three");
    git(&sandbox, &["rebase", "--quiet", "main"]);
    git(&sandbox, &["checkout", "--quiet", "main"]);
    git(&sandbox, &["merge", "--quiet", "feat"]);
    git(&sandbox, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let repository = Repository::discover(sandbox.root()).unwrap().unwrap();
    let actions: Vec<ReflogAction> =
        repository.reflog(None, None).into_iter().map(|entry| entry.action).collect();
    assert!(!actions.contains(&ReflogAction::Other), "{actions:?}");
    assert!(Path::new(sandbox.root()).exists());
}

//! Cached git observations of a working tree, for hooks. Hooks do not run git, so they read what a
//! command or a background process found.
//!
//! There is one small file per worktree. Without it, nothing is known until git runs again.

use crate::sys::clock::Deadline;
use crate::sys::files::{self, FileError, Lock, Root};
use crate::sys::git::{self, BranchState, Branches, GitError, Repository};
use crate::sys::ids::sha256;
use crate::sys::process::ProcessLimits;
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::session::repository::{
    LoggedCommit, MergedBranch, Observation, ReflogCommit, WorkTreeState,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the file format.
const VERSION: u32 = 1;
/// The folder of the observations, below the private folder.
pub(crate) const FOLDER: &str = "work-trees";
/// Maximum number of worktrees kept. The oldest observation is removed first.
const WORK_TREES_MAX: usize = 32;
/// Maximum size of an observation file.
const BYTES_MAX: u64 = 1 << 20;
/// Time limit in a command, because the user waits.
const COMMAND_TIME: Duration = Duration::from_secs(3);
/// Time limit in a background process.
const BACKGROUND_TIME: Duration = Duration::from_secs(30);
/// Maximum bytes of git's output.
const OUTPUT_BYTES: usize = 4 << 20;

/// Runs git to observe the working tree and stores the result. Returns `None` outside of a
/// repository or if midstride is not set up.
pub fn observe(workspace: &Workspace) -> Result<Option<Observation>, GitError> {
    let Some(repository) = workspace.repository() else { return Ok(None) };
    if workspace.private()?.is_none() {
        return Ok(None);
    }
    observe_within(workspace, repository, COMMAND_TIME).map(Some)
}

/// The working tree as git sees it now. Stores the observation if midstride is set up.
pub(crate) fn current_work_tree(workspace: &Workspace) -> Option<WorkTreeState> {
    let repository = workspace.repository()?;
    Some(observe_within(workspace, repository, COMMAND_TIME).ok()?.work_tree)
}

/// The same for a background process. If several run at once, one observes, one waits and the
/// others exit.
pub fn observe_in_background(workspace: &Workspace) -> Result<(), GitError> {
    let Some(repository) = workspace.repository() else { return Ok(()) };
    let Some(private) = workspace.private()? else { return Ok(()) };
    let name = file_stem(repository);
    let Some(waiting) = Lock::try_acquire(&private, &format!("observe-next-{name}"))? else {
        return Ok(());
    };
    let _observes = Lock::acquire(&private, &format!("observe-{name}"))?;
    drop(waiting);
    observe_within(workspace, repository, BACKGROUND_TIME).map(drop)
}

fn observe_within(
    workspace: &Workspace,
    repository: &Repository,
    time: Duration,
) -> Result<Observation, GitError> {
    let deadline = Deadline::after(time);
    let bounds = || ProcessLimits { time: deadline.remaining(), output_bytes: OUTPUT_BYTES };
    let now = workspace.environment().clock.now();
    let work_tree = repository.work_tree_state(now, bounds())?;
    let (recent, has_older, may_have_newer) = match repository.last_commits(bounds()) {
        Ok((recent, has_older)) => (recent, has_older, false),
        Err(_) => (Vec::new(), true, true),
    };
    let before = read_stored(workspace, repository).map(|before| before.merged).unwrap_or_default();
    let merged = match repository.merged_branches(bounds()) {
        Ok(merged) => with_merge_times(repository, merged, &before, now),
        Err(_) => before,
    };
    let observation = Observation { work_tree, recent, has_older, may_have_newer, merged };
    store(workspace, repository, observation)
}

/// Sets the time of each merge: as recorded earlier, from the reflog, or else now.
fn with_merge_times(
    repository: &Repository,
    mut merged: Vec<MergedBranch>,
    before: &[MergedBranch],
    now: Timestamp,
) -> Vec<MergedBranch> {
    for one in &mut merged {
        let seen = before.iter().find(|seen| (&seen.name, &seen.tip) == (&one.name, &one.tip));
        let seen = seen.and_then(|seen| seen.at);
        one.at = seen.or_else(|| repository.merged_at(one)).or(Some(now));
    }
    merged
}

/// Stores an observation with secrets removed.
fn store(
    workspace: &Workspace,
    repository: &Repository,
    observation: Observation,
) -> Result<Observation, GitError> {
    let clean = workspace.rules().clean_json(&to_text(observation.clone())).0;
    let clean = clean.as_str();
    // Do not recreate a private folder that was removed in the meantime.
    if let Some(private) = workspace.private()? {
        let folder = private.make_below(Path::new(FOLDER))?;
        folder.put_without_sync(&file_name(repository), clean.as_bytes())?;
        remove_oldest(&folder)?;
    }
    Ok(parse(clean.as_bytes()).unwrap_or(observation))
}

/// Removes the oldest observations if there are too many.
fn remove_oldest(folder: &Root) -> Result<(), FileError> {
    let mut names = folder.names(".json")?;
    let over = names.len().saturating_sub(WORK_TREES_MAX);
    if over > 0 {
        names.sort_by_cached_key(|name| folder.stamp(name).map_or(0, |stamp| stamp.modified));
    }
    names[..over].iter().try_for_each(|name| files::remove_if_exists(&folder.path().join(name)))
}

/// The last observation of this worktree, without what is provably outdated. Reads files and starts
/// no process.
pub fn last_observation(workspace: &Workspace) -> Option<Observation> {
    let repository = workspace.repository()?;
    let mut observation = read_stored(workspace, repository)?;
    let (branch, head) = (repository.branch(), repository.head_commit());
    let seen = &observation.work_tree;
    if (&seen.branch, &seen.head) == (&branch, &head) {
        observation.work_tree = drop_changed_files(repository, observation.work_tree);
    } else {
        let log = repository.reflog(Some(seen.at), None);
        observation = observation.after_head_moved((branch, head), &log);
        observation.work_tree.operation = repository.operation();
    }
    Some(observation)
}

/// The last observed working tree, if the same commit is still checked out.
pub(crate) fn last_work_tree(workspace: &Workspace) -> Option<WorkTreeState> {
    let repository = workspace.repository()?;
    let seen = parse_work_tree(&read_bytes(workspace, repository)?)?;
    let is_there = seen.branch == repository.branch() && seen.head == repository.head_commit();
    is_there.then(|| drop_changed_files(repository, seen))
}

/// Updates a working tree by comparing its files with the disk, and removes what is outdated.
fn drop_changed_files(repository: &Repository, mut state: WorkTreeState) -> WorkTreeState {
    let Ok(top) = Root::open(repository.work_tree()) else { return state };
    let files = std::mem::take(&mut state.uncommitted).into_iter();
    let compared = files.filter_map(|file| {
        let now = git::file_size_and_time(&top, &file.path);
        file.compare_with_disk(now)
    });
    state.uncommitted = compared.collect();
    state.operation = repository.operation();
    state
}

/// Whether git must run again: it never did, the repository changed since, or a session changed a
/// file after that. Checks the metadata of three files and reads none.
pub fn is_due(workspace: &Workspace, changed: Option<Timestamp>) -> bool {
    let Some(repository) = workspace.repository() else { return false };
    let Ok(Some(private)) = workspace.private() else { return true };
    let folder = private.path().join(FOLDER);
    let Some(observed) = changed_at(&folder.join(file_name(repository))) else { return true };
    let marks = ["index", "logs/HEAD"].map(|name| changed_at(&repository.git_dir().join(name)));
    marks.into_iter().flatten().chain(changed).any(|time| time > observed)
}

fn changed_at(path: &Path) -> Option<Timestamp> {
    files::read_entry(path)?.changed
}

/// The state of a branch, or `None` if it is unknown. Merges are known only from the observation.
pub fn branch_state(
    branches: &Branches<'_>,
    branch: &str,
    observed: Option<&Observation>,
) -> Option<BranchState> {
    let state = branches.state(branch)?;
    if state != BranchState::Exists {
        return Some(state);
    }
    let tip = branches.tip(branch);
    let merge =
        observed.zip(tip).and_then(|(observed, tip)| observed.merge_of(branch, &tip).cloned());
    Some(merge.map_or(state, BranchState::Merged))
}

/// The commits made in this worktree between two times, oldest first, with secrets removed. Reads
/// files and starts no process.
pub fn commits_made(
    workspace: &Workspace,
    from: Timestamp,
    to: Option<Timestamp>,
) -> Vec<ReflogCommit> {
    let Some(repository) = workspace.repository() else { return Vec::new() };
    let mut commits = repository.commits_made(from, to);
    for commit in &mut commits {
        commit.subject = workspace.clean(&commit.subject).0.as_str().to_owned();
        let branch = commit.branch.take();
        commit.branch = branch.map(|name| workspace.clean(&name).0.as_str().to_owned());
    }
    commits
}

/// The first line of the file, which is all that a capture needs. It is separate because parsing
/// the rest takes longer.
#[derive(Serialize, Deserialize)]
struct WorkTreeLine {
    version: u32,
    work_tree: WorkTreeState,
}

/// The second line, which a briefing needs too.
#[derive(Serialize, Deserialize)]
struct HistoryLine {
    recent: Vec<LoggedCommit>,
    has_older: bool,
    may_have_newer: bool,
    merged: Vec<MergedBranch>,
}

fn to_text(observation: Observation) -> String {
    let Observation { work_tree, recent, has_older, may_have_newer, merged } = observation;
    let first = serde_json::to_string(&WorkTreeLine { version: VERSION, work_tree });
    let second = serde_json::to_string(&HistoryLine { recent, has_older, may_have_newer, merged });
    format!("{}\n{}\n", first.unwrap_or_default(), second.unwrap_or_default())
}

fn parse(text: &[u8]) -> Option<Observation> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let work_tree = parse_work_tree(text)?;
    let second: HistoryLine = serde_json::from_slice(&text[end..]).ok()?;
    let HistoryLine { recent, has_older, may_have_newer, merged } = second;
    Some(Observation { work_tree, recent, has_older, may_have_newer, merged })
}

/// Parses the working tree alone. Returns `None` for another version of the format.
fn parse_work_tree(text: &[u8]) -> Option<WorkTreeState> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let first: WorkTreeLine = serde_json::from_slice(line).ok()?;
    (first.version == VERSION).then_some(first.work_tree)
}

fn read_stored(workspace: &Workspace, repository: &Repository) -> Option<Observation> {
    parse(&read_bytes(workspace, repository)?)
}

fn read_bytes(workspace: &Workspace, repository: &Repository) -> Option<Vec<u8>> {
    let folder = workspace.private().ok()??.open_below(Path::new(FOLDER)).ok()??;
    folder.read_up_to(&file_name(repository), BYTES_MAX).ok()
}

fn file_name(repository: &Repository) -> PathBuf {
    PathBuf::from(format!("{}.json", file_stem(repository)))
}

fn file_stem(repository: &Repository) -> String {
    sha256(repository.work_tree().as_os_str().as_encoded_bytes())[..32].to_owned()
}

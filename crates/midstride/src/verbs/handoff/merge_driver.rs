//! Sets up git to merge handoffs with midstride, and removes that again.

use crate::sys::files::{FileError, FileProblem};
use crate::sys::git::{GitError, Repository};
use crate::workspace::Workspace;
use crate::workspace::folder::HandoffFolder;
use std::path::{Path, PathBuf};

/// The name of the driver in git's configuration.
const SECTION: &str = "merge.midstride";
const ATTRIBUTES: &str = ".gitattributes";

/// What was changed.
#[derive(Debug)]
pub struct MergeDriverChange {
    /// The file that assigns documents to the driver.
    pub attributes: PathBuf,
    /// The lines that were added or removed.
    pub lines: Vec<String>,
    /// The command git runs; `None` if the driver was removed.
    pub command: Option<String>,
}

/// Why git's setup was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// There is no repository.
    #[error("this is not a git repository")]
    NoRepository,
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Installs the merge driver. `program` is how the shell finds this program.
pub fn install_driver(
    workspace: &Workspace,
    program: &str,
) -> Result<MergeDriverChange, DriverError> {
    let repository = workspace.repository().ok_or(DriverError::NoRepository)?;
    let before = read_attributes(workspace)?;
    let known =
        |line: &String| lines_with_ends(&before).any(|other| other.trim_ascii() == line.as_bytes());
    let lines: Vec<String> =
        attribute_lines(workspace).into_iter().filter(|line| !known(line)).collect();
    if !lines.is_empty() {
        let end: &[u8] = if before.is_empty() || before.ends_with(b"\n") { b"" } else { b"\n" };
        let added: String = lines.iter().map(|line| format!("{line}\n")).collect();
        write_attributes(workspace, &before, &[&before, end, added.as_bytes()].concat())?;
    }
    let command = format!("{program} merge --driver %O %A %B %P");
    configure(repository, &command)?;
    let attributes = PathBuf::from(ATTRIBUTES);
    Ok(MergeDriverChange { attributes, lines, command: Some(command) })
}

fn configure(repository: &Repository, command: &str) -> Result<(), GitError> {
    repository.configure(&format!("{SECTION}.name"), "midstride handoff merge driver")?;
    repository.configure(&format!("{SECTION}.driver"), command)
}

/// Whether [`remove_driver`] has anything to remove: an attribute line or the configuration.
pub(in crate::verbs) fn has_driver(workspace: &Workspace) -> Result<bool, DriverError> {
    let Some(repository) = workspace.repository() else { return Ok(false) };
    let is_configured = || repository.configured(&format!("{SECTION}.driver")).is_some();
    Ok(lines_with_ends(&read_attributes(workspace)?).any(|line| is_ours(&line)) || is_configured())
}

fn is_ours(line: &&[u8]) -> bool {
    line.trim_ascii().ends_with(b" merge=midstride")
}

/// Removes what [`install_driver`] added, and nothing else.
pub fn remove_driver(workspace: &Workspace) -> Result<MergeDriverChange, DriverError> {
    let repository = workspace.repository().ok_or(DriverError::NoRepository)?;
    let before = read_attributes(workspace)?;
    let text = |line: &[u8]| String::from_utf8_lossy(line).trim().to_owned();
    let lines: Vec<String> = lines_with_ends(&before).filter(is_ours).map(text).collect();
    let kept: Vec<u8> =
        lines_with_ends(&before).filter(|line| !is_ours(line)).flatten().copied().collect();
    if kept.is_empty() && !before.is_empty() {
        workspace.root().remove(Path::new(ATTRIBUTES), &before)?;
    } else if kept != before {
        write_attributes(workspace, &before, &kept)?;
    }
    if repository.configured(&format!("{SECTION}.driver")).is_some() {
        repository.unconfigure(SECTION)?;
    }
    Ok(MergeDriverChange { attributes: PathBuf::from(ATTRIBUTES), lines, command: None })
}

/// One line per folder of committed handoffs.
fn attribute_lines(workspace: &Workspace) -> Vec<String> {
    let configured = workspace.folders().iter();
    let committed = configured.filter(|one| one.root_path() == workspace.root().path());
    let folders = committed.filter_map(HandoffFolder::handoffs_only_folder);
    folders.map(|folder| format!("{}/**/*.md merge=midstride", folder.display())).collect()
}

/// The lines of a file, including their line breaks.
fn lines_with_ends(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn read_attributes(workspace: &Workspace) -> Result<Vec<u8>, FileError> {
    match workspace.root().read(Path::new(ATTRIBUTES)) {
        Ok(bytes) => Ok(bytes),
        Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn write_attributes(workspace: &Workspace, before: &[u8], after: &[u8]) -> Result<(), FileError> {
    let (root, path) = (workspace.root(), Path::new(ATTRIBUTES));
    if root.exists(path) { root.replace(path, before, after) } else { root.create(path, after) }
}

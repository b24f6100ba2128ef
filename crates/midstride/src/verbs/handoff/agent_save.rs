//! Limits what an agent can reach with `save`. The user allows `midstride save` with any arguments,
//! so the arguments must not lead out of the agent's project.

use crate::clients;
use crate::sys::env::{self, Environment};
use crate::sys::files;
use crate::verbs::SaveError;
use crate::workspace::Workspace;
use std::path::Path;

/// Refuses to save into a project other than the one the agent's shell is in.
pub fn check_agent_project(workspace: &Workspace) -> Result<(), SaveError> {
    if !is_agent(workspace) {
        return Ok(());
    }
    let folder = env::current_folder().map_err(|_| SaveError::OtherProject)?;
    let environment = Environment { folder, ..workspace.environment().clone() };
    let own =
        Workspace::discover_ignoring_settings(environment).map_err(|_| SaveError::OtherProject)?;
    let target = files::canonical(workspace.root().path());
    let is_own = own.identity() == workspace.identity()
        || target.starts_with(files::canonical(own.root().path()));
    if is_own { Ok(()) } else { Err(SaveError::OtherProject) }
}

/// Refuses a transcript that does not belong to the agent's project.
pub fn check_agent_transcript(workspace: &Workspace, path: &Path) -> Result<(), SaveError> {
    if !is_agent(workspace) {
        return Ok(());
    }
    let named = files::canonical(&workspace.environment().folder.join(path));
    let (found, _) = clients::transcripts(workspace, None);
    match found.iter().any(|one| files::canonical(&one.path) == named) {
        true => Ok(()),
        false => Err(SaveError::TranscriptOutside(path.to_owned())),
    }
}

/// Reads the file given as `--body`. An agent can only name files in its project.
pub fn read_body(workspace: &Workspace, path: &Path) -> Result<Vec<u8>, SaveError> {
    let named = workspace.environment().folder.join(path);
    if !is_agent(workspace) {
        return Ok(files::read_named(&named)?);
    }
    let root = workspace.root();
    let real = files::canonical(&named);
    let inside = real.strip_prefix(files::canonical(root.path()));
    let inside = inside.map_err(|_| SaveError::BodyOutside(path.to_owned()))?;
    Ok(root.read(inside)?)
}

fn is_agent(workspace: &Workspace) -> bool {
    workspace.environment().automation().is_some_and(|caller| caller.is_agent())
}

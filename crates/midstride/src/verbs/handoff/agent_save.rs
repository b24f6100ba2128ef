//! Limits what an agent can reach with `save`. The user allows `midstride save` with any arguments,
//! so the arguments must not lead out of the agent's project.

use crate::clients;
use crate::sys::env::{self, Automation, Environment};
use crate::sys::files;
use crate::verbs::SaveError;
use crate::workspace::project::Project;
use std::path::Path;

/// Refuses to save into a project other than the one the agent's shell is in.
pub fn check_agent_project(project: &Project) -> Result<(), SaveError> {
    if !is_agent(project) {
        return Ok(());
    }
    let folder = env::current_folder().map_err(|_| SaveError::OtherProject)?;
    let environment = Environment { folder, ..project.environment().clone() };
    let own =
        Project::discover_ignoring_settings(environment).map_err(|_| SaveError::OtherProject)?;
    let target = files::canonical(project.root().path());
    let is_own = own.identity() == project.identity()
        || target.starts_with(files::canonical(own.root().path()));
    if is_own { Ok(()) } else { Err(SaveError::OtherProject) }
}

/// Refuses a transcript that does not belong to the agent's project.
pub fn check_agent_transcript(project: &Project, path: &Path) -> Result<(), SaveError> {
    if !is_agent(project) {
        return Ok(());
    }
    let named = files::canonical(&project.environment().folder.join(path));
    let (found, _) = clients::transcripts(project, None);
    match found.iter().any(|one| files::canonical(&one.path) == named) {
        true => Ok(()),
        false => Err(SaveError::TranscriptOutside(path.to_owned())),
    }
}

/// Reads the file given as `--body`. An agent can only name files in its project.
pub fn read_body(project: &Project, path: &Path) -> Result<Vec<u8>, SaveError> {
    let named = project.environment().folder.join(path);
    if !is_agent(project) {
        return Ok(files::read_named(&named)?);
    }
    let root = project.root();
    let real = files::canonical(&named);
    let inside = real.strip_prefix(files::canonical(root.path()));
    let inside = inside.map_err(|_| SaveError::BodyOutside(path.to_owned()))?;
    Ok(root.read(inside)?)
}

fn is_agent(project: &Project) -> bool {
    matches!(project.environment().automation, Some(Automation::Agent(_)))
}

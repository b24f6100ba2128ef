//! What `save` may reach when an agent runs it. A user allows `midstride save` with any arguments, so the
//! arguments must not lead out of the project in which the agent works.

use crate::clients;
use crate::sys::files;
use crate::verbs::SaveError;
use crate::workspace::project::Project;
use crate::workspace::settings::{self, Automation, Environment};
use std::path::Path;

/// Refuses to save into a project in which the shell of the agent is not.
pub fn check_agent_project(project: &Project) -> Result<(), SaveError> {
    if !is_agent(project) {
        return Ok(());
    }
    let folder = settings::current_folder().map_err(|_| SaveError::OtherProject)?;
    let environment = Environment { folder, ..project.environment().clone() };
    let own =
        Project::discover_ignoring_settings(environment).map_err(|_| SaveError::OtherProject)?;
    let target = files::canonical(project.root().path());
    let is_own = own.identity() == project.identity()
        || target.starts_with(files::canonical(own.root().path()));
    if is_own { Ok(()) } else { Err(SaveError::OtherProject) }
}

/// Refuses a transcript that is not one of the project of the agent.
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

/// Reads the file that `--body` names. An agent names files of its project only.
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

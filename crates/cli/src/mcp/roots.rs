//! MCP roots: the directories a client works in. The server asks for them only if it was not
//! started inside a project.

use super::message;
use super::uri;
use midstride::sys::env::Environment;
use midstride::sys::files;
use midstride::workspace::{SetupMode, Workspace};
use serde_json::Value;
use std::path::Path;

/// The id of the only request this server sends.
const ID: &str = "midstride-roots";
const ROOTS_MAX: usize = 100;

/// The request for the client's roots, if the current directory is not in a project.
pub(super) fn roots_request(environment: &Environment) -> Option<Value> {
    (!is_project(environment, &environment.folder)).then(|| message::request(ID, "roots/list"))
}

/// Switches to the first root that is a project, if there is one.
pub(super) fn apply_response(environment: &mut Environment, id: &Value, result: Option<&Value>) {
    let roots = result.and_then(|result| result["roots"].as_array());
    let Some(roots) = roots.filter(|_| id == ID) else { return };
    let folders =
        roots.iter().take(ROOTS_MAX).filter_map(|root| uri::file_path(root["uri"].as_str()?));
    let folders = folders.map(|folder| files::canonical(&folder));
    let mut projects = folders.filter(|folder| files::is_folder(folder));
    if let Some(folder) = projects.find(|folder| is_project(environment, folder)) {
        environment.folder = folder;
    }
}

fn is_project(environment: &Environment, folder: &Path) -> bool {
    let there = Environment { folder: folder.to_owned(), ..environment.clone() };
    let is_project = |workspace: Workspace| {
        workspace.setup() != SetupMode::NotSetUp && workspace.exclusion().is_none()
    };
    Workspace::discover(there).is_ok_and(is_project)
}

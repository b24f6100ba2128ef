//! Roots: where a client works, if it says so. They are asked for only where the server was started
//! somewhere else than in a project.

use super::message;
use super::uri;
use midstride::sys::files;
use midstride::workspace::project::{Project, SetupMode};
use midstride::workspace::settings::Environment;
use serde_json::Value;
use std::path::Path;

/// The id of our only request.
const ID: &str = "midstride-roots";
const ROOTS_MAX: usize = 100;

/// Asks for the roots, where they are of use.
pub(super) fn roots_request(environment: &Environment) -> Option<Value> {
    (!is_project(environment, &environment.folder)).then(|| message::request(ID, "roots/list"))
}

/// Works in the first root that is a project, if one is.
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
    Project::discover(there).is_ok_and(|project| project.setup() != SetupMode::NotSetUp)
}

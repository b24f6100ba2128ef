//! Installs midstride into clients and removes it again.
//!
//! A plan contains the new text of each file before anything is written. An install record has what
//! was inserted, not what was there before. Removing it restores the original bytes if the file was
//! not edited since, and otherwise removes only midstride's entries.

mod on_path;
mod plan;
mod record;
mod status;

pub use super::config::{
    AllowedTools, ClientSettings, HookTrust, InstallError, InstallOptions, InstallScope,
    SavePermission,
};
pub(crate) use on_path::find_client_program;
pub use on_path::{ClientProgram, PathLookup, find_on_path};
pub use plan::{FileChange, InstallNote, InstallPlan};
pub(crate) use status::read_install_status;
pub use status::{FileInstallStatus, HookStatus, InstallStatus};

use super::client::Client;
use super::config::TargetFile;
use crate::sys::env::Environment;

/// All files midstride wants in a client, in display order.
fn target_files(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<Vec<TargetFile>, InstallError> {
    client.target_files(environment, scope, options)
}

/// Plans an installation.
pub(crate) fn plan_add(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let is_permission =
        options.allow.is_some_and(|allow| allow != AllowedTools::Nothing) || options.trust_hooks;
    // The other entries only make clients call midstride; these remove prompts to the user.
    match is_permission.then(|| environment.automation()).flatten() {
        Some(inside) => Err(InstallError::RunByAgent(inside)),
        None => plan::add(environment, client, scope, options),
    }
}

/// Plans a removal.
pub(crate) fn plan_remove(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    plan::remove(environment, client, scope)
}

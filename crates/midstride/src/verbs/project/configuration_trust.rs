//! Trusts the current configuration to use folders outside the project and redaction rules of its
//! own, and revokes that.

use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{Grant, GrantKind, PermissionError, PermissionStore};
use crate::workspace::{OutsideFolder, Workspace};
use midstride_core::text::redact::CustomRule;
use std::path::PathBuf;

/// The configuration of a project, and whether the user trusts it.
#[derive(Clone, Debug)]
pub struct TrustStatus {
    /// The path of the configuration, if there is one.
    pub configuration: Option<PathBuf>,
    /// The folders it names outside the root.
    pub outside_folders: Vec<OutsideFolder>,
    /// The redaction rules it adds.
    pub redaction_rules: Vec<CustomRule>,
    /// Whether its current content is trusted.
    pub is_trusted: bool,
}

impl TrustStatus {
    /// Whether the configuration has settings that are used only once it is trusted.
    pub fn needs_trust(&self) -> bool {
        !self.outside_folders.is_empty() || !self.redaction_rules.is_empty()
    }
}

/// Which outside folders the configuration of a project uses, and whether it is trusted.
pub fn trust_status(workspace: &Workspace) -> TrustStatus {
    let source = workspace.settings().source.as_ref();
    TrustStatus {
        configuration: source.map(|(path, _)| path.clone()),
        outside_folders: workspace.outside_folders(),
        redaction_rules: workspace.settings().redact.clone(),
        is_trusted: workspace.trusts_configuration(),
    }
}

/// Trusts the project and its current configuration. Returns whether there is a configuration.
pub fn trust(workspace: &Workspace, consent: &UserConsent) -> Result<bool, PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    workspace.record_trust(consent)?;
    let Some(bound) = workspace.configuration_key() else { return Ok(false) };
    let reach = trust_status(workspace);
    let folders = reach.outside_folders.into_iter().map(|folder| folder.name);
    let rules = reach.redaction_rules.into_iter();
    let rules = rules.map(|rule| format!("redact {}{}", rule.begins, rule.then));
    let shown: Vec<String> = folders.chain(rules).collect();
    let path = reach.configuration.unwrap_or_default();
    let granted = Grant {
        about: path.display().to_string(),
        shown: shown.join(", "),
        at: Some(workspace.environment().clock.now()),
    };
    // A permission that still applies keeps its date.
    if !permissions.allows(&bound) {
        permissions.grant(&bound, &granted, consent)?;
    }
    Ok(true)
}

/// Revokes all trust, including that for earlier content. Returns whether there was any.
pub fn distrust(workspace: &Workspace) -> Result<bool, PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let was_trusted = workspace.remove_trust()?;
    Ok(permissions.revoke_all(GrantKind::Configuration, &workspace.identity())? > 0 || was_trusted)
}

/// All trusted configurations of this project, including earlier content.
pub fn trusted_configurations(workspace: &Workspace) -> Result<Vec<Grant>, PermissionError> {
    PermissionStore::for_environment(workspace.environment())
        .in_project(GrantKind::Configuration, &workspace.identity())
}

//! Trusts the current configuration to use folders outside the project and redaction rules of its
//! own, and revokes that.

use crate::store::Store;
use crate::store::contents::{StoreContents, count_contents};
use crate::store::ledger::WaitPolicy;
use crate::store::merge::{StoreMergeError, merge_store};
use crate::sys::git::Repository;
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{Grant, GrantKind, PermissionError, PermissionStore};
use crate::workspace::trusted_remotes::TrustedRemotes;
use crate::workspace::{OutsideFolder, Workspace, WorkspaceError};
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
    /// The private stores that are not the user's.
    pub unread_stores: Vec<UnreadStore>,
    /// Whether its current content is trusted, and every private store.
    pub is_trusted: bool,
}

/// A private store that is not read before the user trusts it.
#[derive(Clone, Debug)]
pub struct UnreadStore {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it, if it can be looked at.
    pub contents: Option<StoreContents>,
}

impl TrustStatus {
    /// Whether there is something that is used only once it is trusted: settings, or a private store.
    pub fn needs_trust(&self) -> bool {
        let has_settings = !self.outside_folders.is_empty() || !self.redaction_rules.is_empty();
        has_settings || !self.unread_stores.is_empty()
    }
}

/// What is used only once the user trusts the project, and whether they do.
pub fn trust_status(workspace: &Workspace) -> TrustStatus {
    let source = workspace.settings().source.as_ref();
    let unread_stores: Vec<UnreadStore> = workspace
        .unread_stores()
        .into_iter()
        .map(|path| UnreadStore { contents: count_contents(&path).ok(), path })
        .collect();
    TrustStatus {
        configuration: source.map(|(path, _)| path.clone()),
        outside_folders: workspace.outside_folders(),
        redaction_rules: workspace.settings().redact.clone(),
        is_trusted: workspace.trusts_configuration() && unread_stores.is_empty(),
        unread_stores,
    }
}

/// What `trust` did.
#[derive(Debug, Default)]
pub struct TrustOutcome {
    /// Private stores that are used where they are.
    pub taken_stores: Vec<PathBuf>,
    /// Private stores that were set aside, and are merged into the current one.
    pub merged_stores: Vec<PathBuf>,
}

/// Why not everything was trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A permission could not be recorded.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// A private store could not be merged.
    #[error(transparent)]
    Merge(#[from] StoreMergeError),
    /// The project could not be opened again.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// Trusts the project and its current configuration, and takes back its private stores.
pub fn trust(workspace: &Workspace, consent: &UserConsent) -> Result<TrustOutcome, TrustError> {
    workspace.record_trust(consent)?;
    grant_configuration(workspace, consent)?;
    let taken = workspace.take_back_stores(consent).map_err(PermissionError::from)?;
    let aside = workspace.stores_set_aside();
    if taken.is_empty() && aside.is_empty() {
        return Ok(TrustOutcome::default());
    }
    // The configuration of a private setup is in the store.
    let workspace = Workspace::discover_ignoring_settings(workspace.environment().clone())?;
    grant_configuration(&workspace, consent)?;
    let store = Store::new(workspace, WaitPolicy::Command);
    for path in &aside {
        merge_store(&store, path)?;
    }
    Ok(TrustOutcome { taken_stores: taken, merged_stores: aside })
}

fn grant_configuration(
    workspace: &Workspace,
    consent: &UserConsent,
) -> Result<(), PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let Some(bound) = workspace.configuration_key() else { return Ok(()) };
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
    Ok(())
}

/// Revokes all trust, including that for earlier content. Returns whether there was any.
pub fn distrust(workspace: &Workspace) -> Result<bool, PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let was_trusted = workspace.remove_trust()?;
    if let Some(url) = workspace.repository().and_then(Repository::origin_url) {
        TrustedRemotes::for_environment(workspace.environment()).remove(&url)?;
    }
    Ok(permissions.revoke_all(GrantKind::Configuration, &workspace.identity())? > 0 || was_trusted)
}

/// Everything that the user trusts in a project.
#[derive(Clone, Debug, Default)]
pub struct TrustGrants {
    /// The documents, including those that are added later.
    pub documents: Option<Grant>,
    /// The remote that this clone came from.
    pub remote: Option<Grant>,
    /// The configurations, including earlier content.
    pub configurations: Vec<Grant>,
    /// The proof commands, including those that were changed since.
    pub proofs: Vec<Grant>,
}

impl TrustGrants {
    /// Whether the user trusts nothing.
    pub fn is_empty(&self) -> bool {
        let Self { documents, remote, configurations, proofs } = self;
        documents.is_none() && remote.is_none() && configurations.is_empty() && proofs.is_empty()
    }
}

/// Everything that the user trusts in this project.
pub fn trust_grants(workspace: &Workspace) -> Result<TrustGrants, PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let in_project = |kind| permissions.in_project(kind, &workspace.identity());
    let remotes = TrustedRemotes::for_environment(workspace.environment());
    let url = workspace.repository().and_then(Repository::origin_url);
    Ok(TrustGrants {
        documents: workspace.document_grant(),
        remote: url.and_then(|url| remotes.grant(&url)),
        configurations: in_project(GrantKind::Configuration)?,
        proofs: in_project(GrantKind::Proof)?,
    })
}

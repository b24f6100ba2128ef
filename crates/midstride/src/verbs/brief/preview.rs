//! Previews the briefing of a repository in which midstride has stored nothing yet: captures its newest
//! sessions in a temporary folder and changes nothing else.

use crate::clients::SessionLiveness;
use crate::store::Store;
use crate::store::ledger::WaitPolicy;
use crate::sys::files::ScratchFolder;
use crate::verbs::brief::{BriefRequest, brief};
use crate::verbs::session::checkpoint::CheckpointError;
use crate::verbs::session::sessions::{ListedSession, import_sessions, sessions};
use crate::workspace::observation::observe;
use crate::workspace::{Access, Workspace, WorkspaceError};
use midstride_core::brief::{BriefOccasion, Briefing};

/// How many sessions are captured.
const CAPTURED_MAX: usize = 20;

/// The briefing that the next session would get.
#[derive(Debug)]
pub struct BriefingPreview {
    /// The sessions that ended, newest first.
    pub sessions: Vec<ListedSession>,
    /// The briefing.
    pub briefing: Briefing,
    /// How many documents of others it does not include.
    pub withheld: usize,
}

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// The project could not be opened.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The sessions could not be captured.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Previews the briefing. What it stores is in the temporary folder.
pub fn preview_briefing(
    workspace: &Workspace,
    scratch: &ScratchFolder,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<BriefingPreview, PreviewError> {
    let store = Store::new(workspace.preview_in(scratch)?, WaitPolicy::Command);
    let workspace = store.workspace();
    import_sessions(&store, CAPTURED_MAX, progress)?;
    let (mut sessions, _) = sessions(&store, None).map_err(CheckpointError::from)?;
    sessions.retain(|one| one.life != SessionLiveness::Running);
    // Without it, the briefing does not say what is uncommitted.
    drop(observe(workspace));
    let access = workspace.access();
    let own_view = match access {
        Access::Granted => None,
        Access::Own { .. } | Access::Untrusted { .. } => {
            Some(Store::new(workspace.own_view()?, WaitPolicy::Command))
        }
    };
    let occasion = Some(BriefOccasion::Startup);
    let asked = BriefRequest { occasion, ..BriefRequest::default() };
    let briefed = brief(own_view.as_ref().unwrap_or(&store), &asked, &mut |_, _| ());
    Ok(BriefingPreview { sessions, briefing: briefed.briefing, withheld: access.withheld() })
}

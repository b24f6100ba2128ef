//! Task lists that several sessions share. The client names the list only in the
//! environment of its hooks, so the hooks save which list a session uses.

use crate::sys::env::SessionName;
use crate::sys::files::FileError;
use crate::workspace::Workspace;
use midstride_core::text::id::SessionId;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file name, inside the private folder.
pub(crate) const FILE: &str = "task-lists.json";
/// With more sessions than this, the oldest entries are dropped.
const SESSIONS_MAX: usize = 500;
/// midstride does not write larger files.
const BYTES_MAX: u64 = 1 << 20;

/// Sessions and their lists, in the order they were saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct SharedTaskLists {
    version: u32,
    sessions: Vec<TaskListSession>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TaskListSession {
    client: String,
    id: SessionId,
    list: String,
}

impl TaskListSession {
    fn matches(&self, client: &str, id: &SessionId) -> bool {
        self.client == client && self.id == *id
    }
}

fn parse(bytes: Option<&[u8]>) -> SharedTaskLists {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Saves which list a session shares with others.
pub(crate) fn save_shared_list(
    workspace: &Workspace,
    session: &SessionName,
    list: &str,
) -> Result<(), FileError> {
    let list = workspace.clean(list).0.as_str().to_owned();
    workspace.make_private()?.update_without_sync(Path::new(FILE), BYTES_MAX, |bytes| {
        let mut shared = parse(bytes.as_deref());
        let known = shared.sessions.iter().find(|one| one.matches(&session.client, &session.id));
        if known.is_some_and(|known| known.list == list) {
            return (None, ());
        }
        shared.version = 1;
        shared.sessions.retain(|one| !one.matches(&session.client, &session.id));
        let over = (shared.sessions.len() + 1).saturating_sub(SESSIONS_MAX);
        shared.sessions.drain(..over);
        let (client, id) = (session.client.clone(), session.id.clone());
        shared.sessions.push(TaskListSession { client, id, list });
        (serde_json::to_vec(&shared).ok(), ())
    })
}

/// The list that a session shares with others; `None` if it does not share one.
pub(crate) fn shared_list(
    workspace: &Workspace,
    client: &str,
    session: &SessionId,
) -> Option<String> {
    let private = workspace.private().ok()??;
    let bytes = private.read_up_to(Path::new(FILE), BYTES_MAX).ok()?;
    let sessions = parse(Some(&bytes)).sessions.into_iter();
    { sessions }.find(|one| one.matches(client, session)).map(|one| one.list)
}

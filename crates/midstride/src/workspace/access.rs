//! What a surface may pass on of a project: the one decision that hooks, MCP and briefings ask for.

use super::documents::DocumentScope;
use super::private_store::{PrivateStore, StoreOwner};
use super::{DocumentPlace, StoredHandoff, Workspace, WorkspaceError};
use crate::sys::files::FileError;
use crate::workspace::consent::UserConsent;
use std::path::PathBuf;
use std::sync::Arc;

/// What a surface may pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything: the user trusts the project, or it has no documents of others.
    Granted,
    /// Only the user's own documents, in [`Workspace::own_view`].
    Own {
        /// How many documents of others there are.
        withheld: usize,
    },
    /// Nothing: documents came from elsewhere and the user has not trusted them.
    Untrusted {
        /// How many documents there are.
        documents: usize,
    },
}

impl Access {
    /// How many documents surfaces do not pass on.
    pub fn withheld(self) -> usize {
        match self {
            Self::Granted => 0,
            Self::Own { withheld } => withheld,
            Self::Untrusted { documents } => documents,
        }
    }
}

impl Workspace {
    /// What surfaces may pass on of this project.
    pub fn access(&self) -> Access {
        if self.is_trusted() {
            return Access::Granted;
        }
        let places = self.document_places().into_iter().filter_map(Result::ok);
        let documents = places.filter(|place| !self.is_own(place)).count();
        match self.store_owner() {
            StoreOwner::Unrecorded => Access::Untrusted { documents },
            _ if documents == 0 => Access::Granted,
            StoreOwner::User | StoreOwner::Unknown | StoreOwner::Missing => {
                Access::Own { withheld: documents }
            }
        }
    }

    /// The same project without documents and settings of others, for surfaces in a project that the
    /// user does not trust.
    pub fn own_view(&self) -> Result<Self, WorkspaceError> {
        let preview = self.preview.as_deref();
        Self::discover_scope(self.environment.clone(), DocumentScope::Own, preview)
    }

    /// The project without documents that the user does not trust; `None` if surfaces may pass on
    /// nothing.
    pub fn accessible(self) -> Option<Self> {
        match self.access() {
            Access::Granted => Some(self),
            Access::Own { .. } => self.own_view().ok(),
            Access::Untrusted { .. } => None,
        }
    }

    /// Whether this is such a view.
    pub(crate) fn is_own_view(&self) -> bool {
        self.scope == DocumentScope::Own
    }

    /// Whether a document is in a private store of the user.
    pub(crate) fn is_own(&self, place: &DocumentPlace) -> bool {
        place.folder.is_some_and(|index| self.is_own_folder(index))
    }

    /// Whether surfaces may pass on what a document says.
    pub(crate) fn may_pass_on(&self, stored: &StoredHandoff) -> bool {
        self.is_trusted() || self.is_own(&stored.document_place())
    }

    /// Whether a handoff folder is in a private store of the user.
    pub(super) fn is_own_folder(&self, index: usize) -> bool {
        let root = self.folders[index].root_path();
        let mut stores = self.stores.iter().filter(|store| store.path() == root);
        stores.any(|store| matches!(store.owner(), Ok(StoreOwner::User | StoreOwner::Missing)))
    }

    /// Whose the private store is that is written to.
    pub fn store_owner(&self) -> StoreOwner {
        // A store that cannot be read is not read either.
        self.stores[0].owner().unwrap_or(StoreOwner::Unknown)
    }

    /// Records that the private stores are the user's own. Returns the paths of those that were not
    /// before.
    pub(crate) fn take_back_stores(
        &self,
        _consent: &UserConsent,
    ) -> Result<Vec<PathBuf>, FileError> {
        let mut taken = Vec::new();
        for store in &self.stores {
            if store.take_back()? {
                taken.push(store.path());
            }
        }
        Ok(taken)
    }

    /// The private stores that exist and are not the user's, in place or set aside.
    pub fn unread_stores(&self) -> Vec<PathBuf> {
        let is_unread =
            |store: &&Arc<PrivateStore>| matches!(store.owner(), Ok(StoreOwner::Unknown));
        let in_place = self.stores.iter().filter(is_unread).map(|store| store.path());
        in_place.chain(self.stores_set_aside()).collect()
    }

    /// The private stores that were set aside because they are not the user's.
    pub fn stores_set_aside(&self) -> Vec<PathBuf> {
        self.stores[0].stores_set_aside().unwrap_or_default()
    }
}

//! An index of all handoffs by key, built once for many lookups by name.

use super::{DocumentPlace, StoredHandoff, Workspace};
use crate::sys::files::FileError;
use midstride_core::text::id::{HandoffKey, HandoffNames};

/// The keys of all documents and their places.
#[derive(Debug)]
pub(super) struct Catalog {
    entries: Vec<(HandoffKey, DocumentPlace)>,
    names: HandoffNames,
}

impl Workspace {
    /// The catalog, built on first use.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            let read = self.map_all(|stored| (stored.handoff(self).key(), stored.document_place()));
            Catalog::new(read.into_iter().filter_map(Result::ok).collect())
        })
    }

    /// Reads all documents and maps each one. Builds the catalog on the way, so that later lookups
    /// by name do not read them again.
    pub fn map_all_in_catalog<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<(DocumentPlace, T), FileError>> {
        let mut entries = Vec::new();
        let read = self.map_all(|stored| {
            let entry = (stored.handoff(self).key(), stored.document_place());
            (entry, each(stored))
        });
        let done = read.into_iter().map(|result| {
            result.map(|(entry, done)| {
                let place = entry.1.clone();
                entries.push(entry);
                (place, done)
            })
        });
        let done = done.collect();
        self.catalog.get_or_init(|| Catalog::new(entries));
        done
    }
}

impl Catalog {
    fn new(entries: Vec<(HandoffKey, DocumentPlace)>) -> Self {
        let names = HandoffNames::new(entries.iter().map(|(key, _)| key));
        Self { entries, names }
    }

    /// The place of the handoff with this key, or with this id if only one has it.
    pub(super) fn find(&self, name: &str) -> Option<&DocumentPlace> {
        self.names.find(name).map(|index| &self.entries[index].1)
    }

    /// The keys of all handoffs with this id.
    pub(super) fn keys_of_id(&self, id: &str) -> impl Iterator<Item = &HandoffKey> {
        self.names.all_with_id(id).iter().map(|index| &self.entries[*index].0)
    }
}

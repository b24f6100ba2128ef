//! Which handoffs there are, read once where many are asked for by name.

use super::{DocumentPlace, Project, StoredHandoff};
use crate::sys::files::FileError;
use midstride_core::text::id::{HandoffKey, HandoffNames};

/// The keys of all documents and where they lie.
#[derive(Debug)]
pub(super) struct Catalog {
    entries: Vec<(HandoffKey, DocumentPlace)>,
    names: HandoffNames,
}

impl Project {
    /// The catalog, made when it is first needed.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            let read =
                self.map_all(|shelved| (shelved.handoff(self).key(), shelved.document_place()));
            Catalog::new(read.into_iter().filter_map(Result::ok).collect())
        })
    }

    /// Reads every document and does something with it; the catalog is made on the way, so that
    /// asking for names later reads none of them again.
    pub fn map_all_in_catalog<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<(DocumentPlace, T), FileError>> {
        let mut entries = Vec::new();
        let read = self.map_all(|shelved| {
            let entry = (shelved.handoff(self).key(), shelved.document_place());
            (entry, each(shelved))
        });
        let done = read.into_iter().map(|result| {
            result.map(|(entry, done)| {
                let spot = entry.1.clone();
                entries.push(entry);
                (spot, done)
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

    /// The place of the one handoff with this key, or with this id where only one has it.
    pub(super) fn find(&self, name: &str) -> Option<&DocumentPlace> {
        self.names.find(name).map(|index| &self.entries[index].1)
    }

    /// The keys of all that have this id.
    pub(super) fn keys_of_id(&self, id: &str) -> impl Iterator<Item = &HandoffKey> {
        self.names.all_with_id(id).iter().map(|index| &self.entries[*index].0)
    }
}

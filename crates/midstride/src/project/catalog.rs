//! Which handoffs there are, read once where many are asked for by name.

use super::{Project, Spot};
use midstride_core::id::HandoffKey;

/// The keys of all documents and where they lie.
#[derive(Debug)]
pub(super) struct Catalog {
    entries: Vec<(HandoffKey, Spot)>,
}

impl Project {
    /// The catalog, made when it is first needed.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            let read = self.with_all(|shelved| (shelved.handoff(self).key(), shelved.spot()));
            Catalog { entries: read.into_iter().filter_map(Result::ok).collect() }
        })
    }
}

impl Catalog {
    /// The place of the one handoff with this key, or with this id where only one has it.
    pub(super) fn find(&self, name: &str) -> Option<&Spot> {
        let exact = self.entries.iter().find(|(key, _)| key.to_string() == name);
        let by_id = || {
            let mut of_id = self.entries.iter().filter(|(key, _)| key.id == name);
            of_id.next().filter(|_| of_id.next().is_none())
        };
        exact.or_else(by_id).map(|(_, spot)| spot)
    }
}

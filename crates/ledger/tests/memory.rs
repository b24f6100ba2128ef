//! The ledger in memory passes the suite.

use midstride_ledger::conformance::{LOCAL_SUITE, LocalWorld, SUITE, World};
use midstride_ledger::{Ledger, LocalLedger, MemoryLedger, StreamId};

#[derive(Default)]
struct Memory(MemoryLedger);

impl World for Memory {
    fn open(&self) -> Box<dyn Ledger> {
        Box::new(self.0.clone())
    }

    fn push_text(&self, stream: &StreamId, events: &str) {
        self.0.push_text(stream, events);
    }

    fn lose_lease(&self, name: &str) -> bool {
        self.0.lose_lease(name);
        true
    }
}

impl LocalWorld for Memory {
    fn open_local(&self) -> Box<dyn LocalLedger> {
        Box::new(self.0.clone())
    }
}

#[test]
fn the_ledger_in_memory_conforms() {
    for (_, test) in SUITE {
        test(&Memory::default());
    }
    for (_, test) in LOCAL_SUITE {
        test(&Memory::default());
    }
}

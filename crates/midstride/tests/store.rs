//! The store opens each database once, on first use.

use crate::{open_on_disk, set_up};
use midstride_testkit::Sandbox;
use std::path::PathBuf;

fn project() -> Sandbox {
    let sandbox = Sandbox::new("").repository();
    set_up(&open_on_disk(sandbox.root()));
    sandbox
}

fn ledger_path(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join(".git/midstride/ledger.db")
}

#[test]
fn nothing_is_opened_or_created_before_it_is_needed() {
    let sandbox = project();
    let store = open_on_disk(sandbox.root());
    assert!(store.existing_ledger().unwrap().is_none());
    assert!(!ledger_path(&sandbox).exists());
    let ledger = store.ledger().unwrap();
    assert!(std::ptr::eq(ledger, store.ledger().unwrap()));
    assert!(std::ptr::eq(ledger, store.existing_ledger().unwrap().unwrap()));
}

/// Only Linux reports that a file was opened.
#[cfg(target_os = "linux")]
mod opens {
    use super::{ledger_path, project};
    use midstride::store::Store;
    use midstride::store::index::RefreshLimit;
    use midstride::verbs;
    use midstride_core::brief::BriefOccasion;
    use midstride_core::brief::hook::HookEvent;

    use midstride_testkit::Sandbox;
    use notify::event::{AccessKind, AccessMode};
    use notify::{EventKind, RecursiveMode, Watcher as _};
    use std::sync::mpsc::channel;

    /// How often the ledger is opened while `act` runs.
    fn count_opens(sandbox: &Sandbox, act: impl FnOnce()) -> usize {
        let (path, (send, receive)) = (ledger_path(sandbox), channel());
        let opened = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let report = move |event: notify::Result<notify::Event>| send.send(event.unwrap()).unwrap();
        let mut watcher = notify::recommended_watcher(report).unwrap();
        let folder = path.parent().unwrap();
        watcher.watch(folder, RecursiveMode::NonRecursive).unwrap();
        act();
        // Events come in order, so this file is reported after everything else.
        let last = folder.join("last");
        std::fs::write(&last, "").unwrap();
        let events = receive.iter().take_while(|event| !event.paths.contains(&last));
        events.filter(|event| event.kind == opened && event.paths.contains(&path)).count()
    }

    fn start(store: &Store, session: &str) {
        let call =
            crate::hook_call("SessionStart", session, HookEvent::Start(BriefOccasion::Resume));
        let done = verbs::hook(store, &call, RefreshLimit::default());
        assert!(done.errors.is_empty(), "{:?}", done.errors);
    }

    #[test]
    fn a_session_start_opens_the_ledger_once() {
        let sandbox = project();
        let start = |letter: &str| {
            let session = format!("0195b9d2-4c00-7000-8000-00000000{}", letter.repeat(4));
            start(&crate::open_in_hook(sandbox.root()), &session);
        };
        start("a");
        assert_eq!(count_opens(&sandbox, || start("b")), 1);
        assert_eq!(count_opens(&sandbox, || ["c", "d"].into_iter().for_each(start)), 2);
    }
}

//! Integration tests of the library against a real file system and real git.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look from outside")]

mod at_work;
mod brief;
mod capture;
mod carried;
mod codex_agents;
mod compaction;
mod drift;
mod files;
mod first_index;
mod forget;
mod forks;
mod git;
mod index;
mod journal;
mod ledger;
mod lifecycle;
mod nearness;
mod notes;
mod observation;
mod private_store;
mod private_texts;
mod process;
mod prompts;
mod redact_stored;
mod redaction;
mod store;
mod transcript;
mod trust;
mod trust_evidence;
mod undo;
mod upstream;
mod verb_outcomes;
mod workflow;
mod writers;

use midstride::journal::RevisionInfo;
use midstride::store::Store;
use midstride::store::ledger::{ProjectLedger, WaitPolicy};
use midstride::sys::clock::Clock;
use midstride::sys::env::{Environment, Invoker, UserName, Variables};
use midstride::sys::files::Root;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride::workspace::consent::UserConsent;
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::text::id::{ClientName, SessionId};
use midstride_ledger::MemoryLedger;
use midstride_testkit::{NOW, Sandbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The ledgers of projects whose tests need no process, no database and no file of it.
static LEDGERS: Mutex<BTreeMap<PathBuf, MemoryLedger>> = Mutex::new(BTreeMap::new());

/// The project in a folder with its ledger in memory, as another process with that ledger sees it.
fn open(root: &Path) -> Store {
    let workspace = Workspace::discover(without_home(root)).unwrap();
    let ledger =
        LEDGERS.lock().unwrap().entry(workspace.root().path().to_owned()).or_default().clone();
    let folder = Root::open(root).unwrap();
    let ledger = ProjectLedger::new(Box::new(ledger), folder, WaitPolicy::Command);
    Store::with_ledger(workspace, ledger)
}

/// The project in a folder, as a new process sees it.
fn open_on_disk(root: &Path) -> Store {
    Store::new(Workspace::discover(without_home(root)).unwrap(), WaitPolicy::Command)
}

/// The same, as the process of a hook sees it.
fn open_in_hook(root: &Path) -> Store {
    Store::new(Workspace::discover(without_home(root)).unwrap(), WaitPolicy::Hook)
}

/// The environment of a process in a folder, without a home directory.
fn without_home(folder: &Path) -> Environment {
    // The folder that holds the project and the home of a sandbox.
    let base = folder.ancestors().find(|base| base.join("home").is_dir());
    Environment {
        folder: folder.to_owned(),
        home: None,
        state: base.map(|base| base.join("home/.local/state")),
        editor: None,
        user: UserName::given("tester"),
        invoker: Invoker::User,
        session: None,
        clock: Clock::Fixed(NOW.parse().unwrap()),
        variables: Variables::NONE,
    }
}

/// A hook call of Claude Code.
fn hook_call(event: &str, session: &str, kind: HookEvent) -> HookInput {
    HookInput {
        client: ClientName::new("claude-code"),
        event: event.to_owned(),
        session: Some(SessionId::new(session)),
        transcript: None,
        folder: None,
        agent: None,
        turn: None,
        is_unrestricted: false,
        kind,
    }
}

/// The environment of a process in a sandbox folder whose user has both clients.
fn environment(sandbox: &Sandbox, folder: &Path) -> Environment {
    Environment { home: Some(sandbox.home().to_owned()), ..without_home(folder) }
}

/// The consent of the user.
fn consent() -> UserConsent {
    UserConsent::by_presence(&without_home(Path::new("/"))).unwrap()
}

/// Sets up a project as the user does.
fn set_up(store: &Store) {
    verbs::init(store.workspace(), false, Some(&consent())).unwrap();
}

fn because(reason: &str) -> RevisionInfo {
    RevisionInfo::by_text(reason, None)
}

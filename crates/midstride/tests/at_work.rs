//! Tests of concurrent sessions: how a starting session is briefed on others that are still
//! running.

use crate::set_up;
use crate::transcript::Transcript;
use jiff::{SignedDuration, Timestamp};
use midstride::clients;
use midstride::store::Store;
use midstride::store::index::RefreshLimit;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::clock::Clock;
use midstride::sys::env::{Environment, Invoker, UserName, Variables};
use midstride::verbs::{self, BriefRequest, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_testkit::{NOW, Sandbox};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The session that the page is about.
const BEFORE: &str = "5e550001-4c00-4000-8000-00000000aaaa";
/// The session that is running.
const BUSY: &str = "5e550002-4c00-4000-8000-00000000aaaa";
/// The session that starts.
const NEW: &str = "5e550003-4c00-4000-8000-00000000aaaa";

struct Shop {
    sandbox: Sandbox,
    /// A second worktree, on branch `fix`.
    second: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let sandbox = Sandbox::new("none").repository();
        let second = sandbox.home().join("shop-fix");
        let shop = Self { sandbox, second };
        set_up(&shop.open(shop.root()));
        shop.sandbox.git(&["add", "--all"]);
        shop.sandbox.git(&["commit", "--quiet", "--message", "set up"]);
        let path = shop.second.to_str().unwrap();
        shop.sandbox.git(&["worktree", "add", "--quiet", "-b", "fix", path]);
        shop
    }

    fn root(&self) -> &Path {
        self.sandbox.root()
    }

    fn open(&self, folder: &Path) -> Store {
        self.open_at(folder, now())
    }

    fn open_at(&self, folder: &Path, now: Timestamp) -> Store {
        let home = self.sandbox.home();
        let environment = Environment {
            folder: folder.to_owned(),
            invoker: Invoker::User,
            session: None,
            home: Some(home.to_owned()),
            state: Some(home.join(".local/state")),
            editor: None,
            user: UserName::given("tester"),
            clock: Clock::Fixed(now),
            variables: Variables::NONE,
        };
        Store::new(Workspace::discover(environment).unwrap(), WaitPolicy::Command)
    }

    fn transcript(&self, folder: &Path, id: &str) -> PathBuf {
        let path = folder.display().to_string();
        let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.sandbox.home().join(".claude/projects").join(slug).join(format!("{id}.jsonl"))
    }

    /// A session that edits some files in a folder and says so.
    fn works(&self, folder: &Path, id: &str, files: &[&str]) -> PathBuf {
        let asked = Transcript::of(id, folder).user("Make the cache fast");
        let edited = files.iter().fold(asked, |transcript, file| transcript.edits(file));
        let path = self.transcript(folder, id);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, edited.says("The cache is fast.").text()).unwrap();
        path
    }

    /// The previous session changed a file and left it uncommitted.
    fn worked_before(&self, file: &str) {
        self.sandbox.write(file, "x");
        let path = self.works(self.root(), BEFORE, &[file]);
        let which = SessionChoice::Transcript(path);
        let store = self.open(self.root());
        verbs::checkpoint(&store, &which, clients::find("claude-code"), CheckpointMode::Auto)
            .unwrap();
    }

    fn hook(&self, folder: &Path, id: &str, event: &str, moment: HookEvent) -> Option<String> {
        self.hook_at(now(), folder, id, event, moment)
    }

    fn hook_at(
        &self,
        now: Timestamp,
        folder: &Path,
        id: &str,
        event: &str,
        moment: HookEvent,
    ) -> Option<String> {
        let call = HookInput {
            transcript: Some(self.transcript(folder, id).display().to_string()),
            folder: Some(folder.display().to_string()),
            ..crate::hook_call(event, id, moment)
        };
        let done = verbs::hook(&self.open_at(folder, now), &call, RefreshLimit::default());
        assert_eq!(done.errors, Vec::<String>::new());
        done.answer.context
    }

    fn start(&self, folder: &Path, id: &str) -> String {
        let moment = HookEvent::Start(BriefOccasion::Startup);
        self.hook(folder, id, "SessionStart", moment).unwrap_or_default()
    }

    /// Starts a session in a live process; it edits these files and waits for its user.
    fn busy(&self, folder: &Path, files: &[&str]) -> PathBuf {
        let started = now() - SignedDuration::from_hours(6);
        let moment = HookEvent::Start(BriefOccasion::Startup);
        self.hook_at(started, folder, BUSY, "SessionStart", moment);
        let path = self.works(folder, BUSY, files);
        self.hook(folder, BUSY, "Stop", HookEvent::Stop { again: false });
        self.register(std::process::id());
        active(&path, SignedDuration::from_mins(-25));
        path
    }

    /// Registers the process of the busy session, as the client does.
    fn register(&self, pid: u32) {
        let started = midstride::sys::process::start_time(u64::from(std::process::id())).unwrap();
        let text = json!({"pid": pid, "sessionId": BUSY, "procStart": started}).to_string();
        let folder = self.sandbox.home().join(".claude/sessions");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("1.json"), text).unwrap();
    }

    fn page(&self) -> String {
        let asked = BriefRequest { tokens: Some(2_000), ..BriefRequest::default() };
        let store = self.open(self.root());
        verbs::brief(&store, &asked, &mut |_, _| ()).briefing.text
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// Sets the time of the client's last write to a transcript, relative to now.
fn active(path: &Path, after: SignedDuration) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified((now() + after).into()).unwrap();
}

/// The line about a running session.
fn at_work(page: &str) -> Option<&str> {
    page.lines().find(|line| line.contains(" running: "))
}

#[test]
fn a_starting_session_is_briefed_on_a_running_one_and_files_changed_by_both() {
    let shop = Shop::new();
    shop.worked_before("src/cache.rs");
    shop.busy(&shop.second, &["src/cache.rs", "src/pages.rs"]);
    let told = shop.start(shop.root(), NEW);
    let second = shop.second.display();
    let expected = format!(
        "Also running: Claude Code session 5e550002 in `{second}`, branch fix; last active 16:59, not \
         ended; both sessions changed `src/cache.rs`"
    );
    assert_eq!(at_work(&told), Some(expected.as_str()), "{told}");
    assert_eq!(at_work(&shop.page()), Some(expected.as_str()));
    // A session is never briefed on itself.
    let own = shop.hook(&shop.second, BUSY, "SessionStart", HookEvent::Start(BriefOccasion::Clear));
    assert_eq!(at_work(&own.unwrap_or_default()), None);
}

#[test]
fn a_running_session_in_the_same_worktree_is_named_without_committed_files() {
    let shop = Shop::new();
    shop.worked_before("src/cache.rs");
    shop.sandbox.git(&["add", "--all"]);
    shop.sandbox.git(&["commit", "--quiet", "--message", "the cache"]);
    midstride::workspace::observation::observe(shop.open(shop.root()).workspace()).unwrap();
    shop.busy(shop.root(), &["src/cache.rs"]);
    assert_eq!(
        at_work(&shop.page()),
        Some(
            "Also running: Claude Code session 5e550002 in this working tree, branch main; last active \
             16:59, not ended"
        )
    );
}

#[test]
fn an_ended_killed_or_idle_session_is_not_running() {
    let shop = Shop::new();
    shop.worked_before("src/cache.rs");
    let path = shop.busy(shop.root(), &["src/cache.rs"]);
    let mark = shop.root().join(".git/midstride/hooks").join(format!("claude-code.{BUSY}.running"));
    assert!(at_work(&shop.page()).is_some() && mark.exists());
    // It wrote nothing for hours.
    active(&path, SignedDuration::from_hours(-5));
    assert_eq!(at_work(&shop.page()), None);
    assert!(!mark.exists());
    // Its user comes back.
    active(&path, SignedDuration::ZERO);
    shop.hook(shop.root(), BUSY, "UserPromptSubmit", HookEvent::Prompt("Go on".to_owned()));
    assert!(at_work(&shop.page()).unwrap().contains("last active 17:24"));
    // Its process is gone.
    shop.register(u32::MAX);
    assert_eq!(at_work(&shop.page()), None);
    // It continues in another process and then ends.
    shop.register(std::process::id());
    shop.hook(shop.root(), BUSY, "SessionStart", HookEvent::Start(BriefOccasion::Resume));
    assert!(at_work(&shop.page()).is_some());
    shop.hook(shop.root(), BUSY, "SessionEnd", HookEvent::End { is_clear: false });
    assert_eq!(at_work(&shop.page()), None);
    assert!(!mark.exists());
}

#[test]
fn a_page_about_a_session_that_still_runs_says_so() {
    let shop = Shop::new();
    shop.busy(shop.root(), &["src/cache.rs"]);
    shop.hook(shop.root(), BUSY, "PreCompact", HookEvent::BeforeCompaction);
    active(&shop.transcript(shop.root(), BUSY), SignedDuration::ZERO);
    let page = shop.page();
    assert_eq!(
        at_work(&page),
        Some(
            "Still running: Claude Code session 5e550002 in this working tree, branch main; last active \
             17:24, not ended"
        ),
        "{page}"
    );
}

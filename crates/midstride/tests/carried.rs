//! Tests of what outlives a session: standing instructions, and open items until something settles
//! them.

use crate::{consent, open_on_disk, set_up};
use midstride::clients;
use midstride::store::Store;
use midstride::store::ledger::{LocalLedger as _, WaitPolicy};
use midstride::sys::env::{Automation, Invoker};
use midstride::verbs::{self, BriefRequest, DismissError, SessionChoice, StateChange};
use midstride::workspace::Workspace;
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::id::BlobHash;
use midstride_testkit::Sandbox;
use serde_json::{Value, json};

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    sandbox
}

/// A Claude Code session, record by record.
struct Script {
    id: String,
    day: u32,
    branch: &'static str,
    records: Vec<(&'static str, &'static str, Value)>,
}

fn session(day: u32) -> Script {
    let id = format!("5e55{day:04}-4c00-7000-8000-00000000aaaa");
    Script { id, day, branch: "main", records: Vec::new() }
}

impl Script {
    fn on(mut self, branch: &'static str) -> Self {
        self.branch = branch;
        self
    }

    fn user(mut self, text: &str) -> Self {
        self.records.push(("user", self.branch, json!({"role": "user", "content": text})));
        self
    }

    fn says(mut self, text: &str) -> Self {
        let content = json!([{"type": "text", "text": text}]);
        self.records.push((
            "assistant",
            self.branch,
            json!({"role": "assistant", "content": content}),
        ));
        self
    }

    fn calls(mut self, name: &str, input: &Value, output: &str, failed: bool) -> Self {
        let id = format!("call-{}-{}", self.day, self.records.len());
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = json!([{
            "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed
        }]);
        self.records.push((
            "assistant",
            self.branch,
            json!({"role": "assistant", "content": call}),
        ));
        self.records.push(("user", self.branch, json!({"role": "user", "content": result})));
        self
    }

    fn runs(self, command: &str, output: &str, failed: bool) -> Self {
        self.calls("Bash", &json!({"command": command}), output, failed)
    }

    fn edits(self, path: &str) -> Self {
        self.calls("Write", &json!({"file_path": path, "content": "x"}), "ok", false)
    }

    /// Captures the script as a session of this project and returns the hash of its checkpoint.
    fn ended(self, sandbox: &Sandbox) -> BlobHash {
        let folder = sandbox.root().display().to_string();
        let mut lines = String::new();
        for (number, (kind, branch, message)) in self.records.iter().enumerate() {
            let name = |number: usize| format!("{}-{number}", self.id);
            let record = json!({
                "type": kind,
                "uuid": name(number),
                "parentUuid": number.checked_sub(1).map(name),
                "sessionId": self.id,
                "cwd": folder,
                "gitBranch": branch,
                "timestamp": format!("2026-03-{:02}T09:{number:02}:00.000Z", self.day),
                "message": message,
            });
            lines.push_str(&record.to_string());
            lines.push('\n');
        }
        let path = sandbox.home().join(format!("{}.jsonl", self.id));
        std::fs::write(&path, lines).unwrap();
        let client = clients::find("claude-code");
        let store = open_on_disk(sandbox.root());
        verbs::checkpoint(&store, &SessionChoice::Transcript(path), client, CheckpointMode::Auto)
            .unwrap()
            .blob
    }
}

/// Some work that leaves nothing open.
fn work(day: u32) -> Script {
    session(day).user("Tidy the cache").edits("/work/src/cache.rs").says("Tidied the cache.")
}

fn page(sandbox: &Sandbox) -> String {
    let asked = BriefRequest { tokens: Some(2_000), ..BriefRequest::default() };
    verbs::brief(&open_on_disk(sandbox.root()), &asked, &mut |_, _| ()).briefing.text
}

fn handles(sandbox: &Sandbox) -> Vec<(String, &'static str, String)> {
    let all = verbs::dismissable_items(&open_on_disk(sandbox.root())).unwrap();
    all.into_iter().map(|one| (one.handle, one.kind, one.text)).collect()
}

const RULE: &str = "Never touch web/.";

/// Whether the rule is briefed as an instruction.
fn holds(sandbox: &Sandbox) -> bool {
    page(sandbox).contains(&format!("The user's instruction: \"{RULE}\""))
}

/// A session in which the user gives the rule. Returns its handle and the hash of the checkpoint.
fn given(sandbox: &Sandbox) -> (String, BlobHash) {
    let first = session(1).user(&format!("Speed up the cache. {RULE}"));
    let stored = first.edits("/work/src/cache.rs").says("Done.").ended(sandbox);
    let all = handles(sandbox);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].1, all[0].2.as_str()), ("instruction", RULE));
    (all[0].0.clone(), stored)
}

#[test]
fn an_instruction_comes_first_in_every_later_session_on_its_branch() {
    let sandbox = shop();
    let (handle, _) = given(&sandbox);
    for day in 2..10 {
        work(day).ended(&sandbox);
        let page = page(&sandbox);
        let line = format!("The user's instruction: \"{RULE}\" ({handle})");
        assert_eq!(page.lines().nth(3), Some(line.as_str()), "{page}");
        assert_eq!(page.matches("The user's instruction").count(), 1, "{page}");
    }
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    assert!(!holds(&sandbox), "it holds on its branch");
}

#[test]
fn an_instruction_outlives_the_checkpoint_of_its_session() {
    let sandbox = shop();
    let (_, stored) = given(&sandbox);
    work(2).ended(&sandbox);
    let store = open_on_disk(sandbox.root());
    store.ledger().unwrap().forget_blob(&stored).unwrap();
    drop(store);
    assert!(holds(&sandbox), "{}", page(&sandbox));
}

#[test]
fn forgetting_a_session_forgets_its_instructions() {
    let sandbox = shop();
    let (_, stored) = given(&sandbox);
    work(2).ended(&sandbox);
    let store = open_on_disk(sandbox.root());
    let text = verbs::kept_text(&store, stored.as_str()).unwrap();
    verbs::forget(&store, &text, None, &consent(), &|_| ()).unwrap();
    assert!(!holds(&sandbox), "{}", page(&sandbox));
}

#[test]
fn an_instruction_ends_when_the_user_revokes_it() {
    let sandbox = shop();
    given(&sandbox);
    work(2).user("You may touch web/ now.").says("Good.").ended(&sandbox);
    assert!(!holds(&sandbox), "{}", page(&sandbox));
    assert!(handles(&sandbox).is_empty());
}

#[test]
fn only_the_user_dismisses_an_instruction() {
    let sandbox = shop();
    let (handle, _) = given(&sandbox);
    let mut environment = open_on_disk(sandbox.root()).workspace().environment().clone();
    for inside in [Automation::agent("claude-code", "Claude Code"), Automation::Proof] {
        environment.invoker = Invoker::Automation(inside);
        let agent =
            Store::new(Workspace::discover(environment.clone()).unwrap(), WaitPolicy::Command);
        let refused = verbs::dismiss(&agent, &handle.to_uppercase(), false);
        assert!(matches!(refused, Err(DismissError::OnlyUser { .. })), "{refused:?}");
    }
    let refused = verbs::settle(&open_on_disk(sandbox.root()), &handle);
    assert!(matches!(refused, Err(DismissError::OnlyUser { .. })), "{refused:?}");
    assert!(holds(&sandbox));
    verbs::dismiss(&open_on_disk(sandbox.root()), &handle, false).unwrap();
    assert!(!holds(&sandbox), "{}", page(&sandbox));
    // The same words, said again later, apply again.
    session(30).user(RULE).edits("/work/a.rs").says("Noted.").ended(&sandbox);
    assert!(holds(&sandbox), "{}", page(&sandbox));
}

const FAILED: &str = "cargo test -p core";

fn failing(sandbox: &Sandbox) {
    let first = session(1).user("Speed up the cache").edits("/work/src/cache.rs");
    let output = "test cache::evicts ... FAILED\n\nerror: test failed";
    first.runs(FAILED, output, true).says("One test fails.").ended(sandbox);
    work(2).ended(sandbox);
    let page = page(sandbox);
    assert!(page.contains(FAILED), "{page}");
}

#[test]
fn a_failure_is_briefed_until_an_equal_or_wider_check_passes() {
    let sandbox = shop();
    failing(&sandbox);
    // A session that only runs checks is not work, but its results still count.
    let passed = "test result: ok. 12 passed; 0 failed; 0 ignored";
    session(3).user("Run the tests").runs("cargo test", passed, false).says("ok").ended(&sandbox);
    let page = page(&sandbox);
    assert!(!page.contains("FAILED") && !page.contains(FAILED), "{page}");
    assert!(handles(&sandbox).is_empty());
}

#[test]
fn trivial_sessions_hide_neither_work_nor_open_items() {
    let sandbox = shop();
    failing(&sandbox);
    for day in 3..=20 {
        session(day).user("Hi").says("Hello.").ended(&sandbox);
    }
    let page = page(&sandbox);
    assert!(page.contains("Tidy the cache") && page.contains(FAILED), "{page}");
}

#[test]
fn an_instruction_without_a_branch_applies_everywhere() {
    let sandbox = shop();
    session(1).on("HEAD").user(RULE).edits("/work/a.rs").says("Noted.").ended(&sandbox);
    assert!(holds(&sandbox), "{}", page(&sandbox));
}

#[test]
fn an_instruction_applies_on_its_branch() {
    let sandbox = shop();
    let first = session(1).user(RULE).says("Noted.").on("fix-parser");
    first.user("Fix the parser").edits("/work/a.rs").says("Fixed.").ended(&sandbox);
    assert!(holds(&sandbox), "{}", page(&sandbox));
    sandbox.git(&["checkout", "--quiet", "-b", "fix-parser"]);
    assert!(!holds(&sandbox), "{}", page(&sandbox));
}

#[test]
fn a_remark_about_the_same_words_revokes_nothing() {
    let sandbox = shop();
    given(&sandbox);
    let remarks = ["The web/ build is ok, look at the api instead.", "As you can see, web/ broke."];
    for (day, remark) in (2..).zip(remarks) {
        session(day).user(remark).edits("/work/a.rs").says("Fixed.").ended(&sandbox);
        assert!(holds(&sandbox), "{remark}: {}", page(&sandbox));
    }
}

#[test]
fn an_unsettled_failure_is_only_counted_after_five_working_sessions() {
    let sandbox = shop();
    failing(&sandbox);
    for day in 3..=5 {
        work(day).ended(&sandbox);
    }
    assert!(page(&sandbox).contains(FAILED), "{}", page(&sandbox));
    work(6).ended(&sandbox);
    let page = page(&sandbox);
    assert!(!page.contains(FAILED), "{page}");
    assert!(page.contains("Open from earlier sessions: 1 older"), "{page}");
}

#[test]
fn an_agent_settles_items_and_the_user_dismisses_them() {
    let sandbox = shop();
    failing(&sandbox);
    let handle = handles(&sandbox)[0].0.clone();
    assert!(page(&sandbox).contains(&handle));
    let settled = verbs::settle(&open_on_disk(sandbox.root()), &handle).unwrap();
    assert_eq!(settled.text, FAILED);
    assert!(!page(&sandbox).contains(FAILED));
    let again = verbs::settle(&open_on_disk(sandbox.root()), &handle);
    assert!(matches!(again, Err(DismissError::NoSuch { .. })), "{again:?}");
}

#[test]
fn outside_effects_of_earlier_sessions_are_listed_as_done() {
    let sandbox = shop();
    let opened = "https://github.com/o/r/pull/7";
    let first = session(1).user("Release 1.2").edits("/work/src/a.rs");
    let first = first.runs("npm publish", "+ shop@1.2.0", false);
    let first = first.runs("gh pr create --title Release --body x", opened, false);
    first.says("Published 1.2; the retry count of the uploader is fixed at three.").ended(&sandbox);
    work(2).ended(&sandbox);
    let page = page(&sandbox);
    assert!(page.contains(&format!("Opened pull request {opened}")), "{page}");
    assert!(page.contains("Ran npm publish (5e550001)"), "{page}");
    assert!(page.contains("Report from an earlier session (5e550001, 2026-03-01"), "{page}");
    assert!(page.contains("the retry count of the uploader"), "{page}");
}

#[test]
fn a_commit_reset_after_the_session_is_not_named() {
    let sandbox = shop();
    let commit = |file: &str, subject: &str| {
        std::fs::write(sandbox.root().join(file), "x").unwrap();
        sandbox.git(&["add", file]);
        sandbox.git(&["commit", "--quiet", "-m", subject]);
        let head = std::fs::read_to_string(sandbox.root().join(".git/refs/heads/main")).unwrap();
        head.trim().to_owned()
    };
    // The clock of a sandbox is fixed.
    let began = midstride_testkit::NOW.parse::<jiff::Timestamp>().unwrap().as_second();
    let ids = [commit("a.rs", "First"), commit("b.rs", "Second")].map(|id| id[..7].to_owned());
    let path = sandbox.home().join("5e550001-4c00-7000-8000-00000000aaaa.jsonl");
    let mut lines = String::new();
    let records = [
        ("user", json!("Build it")),
        (
            "assistant",
            json!([{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "git commit -m First && git commit -m Second"}}]),
        ),
        (
            "user",
            json!([{"type": "tool_result", "tool_use_id": "c", "content": format!("[main {}] First\n[main {}] Second", ids[0], ids[1])}]),
        ),
        ("assistant", json!([{"type": "text", "text": "Built and committed."}])),
    ];
    for (number, (role, content)) in records.into_iter().enumerate() {
        let second = began - 5 + 5 * i64::try_from(number).unwrap();
        let at = jiff::Timestamp::from_second(second).unwrap();
        let record = json!({
            "type": role, "uuid": format!("r{number}"), "sessionId": "5e550001-4c00-7000-8000-00000000aaaa",
            "cwd": sandbox.root(), "gitBranch": "main", "timestamp": at.to_string(),
            "message": {"role": role, "content": content},
        });
        lines.push_str(&format!("{record}\n"));
    }
    std::fs::write(&path, lines).unwrap();
    let client = clients::find("claude-code");
    verbs::checkpoint(
        &open_on_disk(sandbox.root()),
        &SessionChoice::Transcript(path),
        client,
        CheckpointMode::Auto,
    )
    .unwrap();
    let before = page(&sandbox);
    assert!(before.contains(&ids[0]) && before.contains(&ids[1]), "{before}");
    sandbox.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let after = page(&sandbox);
    assert!(after.contains(&ids[0]) && !after.contains(&ids[1]), "{after}");
    sandbox.git(&["commit", "--quiet", "--amend", "-m", "First, better"]);
    let amended = page(&sandbox);
    assert!(!amended.contains(&ids[0]) && !amended.contains(&ids[1]), "{amended}");
}

#[test]
fn an_item_of_the_last_session_can_be_dismissed() {
    let sandbox = shop();
    let first = session(1).user("Build the feature").edits("/work/src/new.rs");
    first.runs(FAILED, "error: test failed", true).says("It is built.").ended(&sandbox);
    assert!(page(&sandbox).contains("Failing"), "{}", page(&sandbox));
    let (handle, kind, text) = handles(&sandbox).remove(0);
    assert_eq!((kind, text.as_str()), ("failure", FAILED));
    verbs::dismiss(&open_on_disk(sandbox.root()), &handle, true).unwrap();
    assert!(!page(&sandbox).contains("Failing"), "{}", page(&sandbox));
    assert!(handles(&sandbox).is_empty());
    assert_eq!(verbs::count_dismissals(&open_on_disk(sandbox.root())).unwrap().wrong, 1);
}

#[test]
fn counted_items_can_be_listed_and_dismissed() {
    let sandbox = shop();
    let first = session(1).user("Build the feature").edits("/work/src/new.rs");
    first.runs(FAILED, "error: test failed", true).says("It is built.").ended(&sandbox);
    for day in 2..9 {
        let other = session(day).user("Tidy the cache").edits("/work/src/cache.rs");
        other.says(&format!("Tidied the cache, part {day}.")).ended(&sandbox);
    }
    let counted = page(&sandbox);
    assert!(counted.contains("1 older (listed by midstride dismiss)"), "{counted}");
    assert!(counted.contains("1 item from earlier sessions only mentioned above"), "{counted}");
    let (handle, ..) = handles(&sandbox).remove(0);
    verbs::dismiss(&open_on_disk(sandbox.root()), &handle, false).unwrap();
    assert!(!page(&sandbox).contains("older"), "{}", page(&sandbox));
}

#[test]
fn a_deleted_branch_closes_what_its_sessions_left_open() {
    let sandbox = shop();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let first = session(1).on("feature").user("Build the feature").edits("/work/src/new.rs");
    first.runs(FAILED, "error: test failed", true).says("Shall I push?").ended(&sandbox);
    sandbox.git(&["checkout", "--quiet", "main"]);
    work(2).ended(&sandbox);
    assert!(page(&sandbox).contains(FAILED), "{}", page(&sandbox));
    sandbox.git(&["branch", "--quiet", "-D", "feature"]);
    let page = page(&sandbox);
    assert!(!page.contains(FAILED) && !page.contains("Shall I push"), "{page}");
}

#[test]
fn a_session_of_a_deleted_branch_leaves_no_next_step() {
    let sandbox = shop();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let first = session(1).on("feature").user("Build the feature").edits("/work/src/new.rs");
    first.runs(FAILED, "error: test failed", true).says("Shall I push?").ended(&sandbox);
    sandbox.git(&["checkout", "--quiet", "main"]);
    let before = page(&sandbox);
    assert!(before.contains("Shall I push?") && before.contains("Next"), "{before}");
    sandbox.git(&["branch", "--quiet", "-D", "feature"]);
    let page = page(&sandbox);
    assert!(page.contains("Build the feature"), "{page}");
    assert!(page.contains("on branch `feature`, which was merged or deleted"), "{page}");
    for closed in ["Next", "Failing", "not answered"] {
        assert!(!page.contains(closed), "{closed}: {page}");
    }
}

/// A branch with its own commit, on which a session left a failure.
fn with_feature(sandbox: &Sandbox) {
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let first = session(1).on("feature").user("Build the feature").edits("/work/src/new.rs");
    first.runs(FAILED, "error: test failed", true).says("It fails.").ended(sandbox);
    sandbox.write("new.rs", "");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "Build it"]);
}

#[test]
fn a_merge_closes_only_earlier_open_items() {
    const LATER: &str = "cargo clippy";
    let sandbox = shop();
    with_feature(&sandbox);
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["merge", "--quiet", "--no-ff", "feature", "--message", "Merge it"]);
    // A session continues on the branch after its merge and commits nothing.
    let later = session(30).on("feature").user("Tidy the feature").edits("/work/src/new.rs");
    later.runs(LATER, "error: lint failed", true).says("It fails still.").ended(&sandbox);
    work(31).ended(&sandbox);
    verbs::observe(open_on_disk(sandbox.root()).workspace()).unwrap();
    let page = page(&sandbox);
    assert!(!page.contains(FAILED), "{page}");
    assert!(page.contains(LATER), "{page}");
}

#[test]
fn a_session_that_continues_after_a_merge_is_briefed_as_open() {
    let sandbox = shop();
    with_feature(&sandbox);
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["merge", "--quiet", "feature"]);
    verbs::observe(open_on_disk(sandbox.root()).workspace()).unwrap();
    let closed = page(&sandbox);
    assert!(closed.contains("merged or deleted") && !closed.contains("Failing"), "{closed}");
    let later = session(30).on("feature").user("Tidy the feature").edits("/work/src/new.rs");
    later.runs(FAILED, "error: test failed", true).says("Shall I push?").ended(&sandbox);
    let open = page(&sandbox);
    assert!(!open.contains("merged or deleted"), "{open}");
    assert!(open.contains(FAILED) && open.contains("Shall I push?"), "{open}");
}

#[test]
fn an_instruction_follows_its_branch_to_a_new_name() {
    let sandbox = shop();
    sandbox.git(&["checkout", "--quiet", "-b", "fix-parser"]);
    session(1).on("fix-parser").user(RULE).edits("/work/a.rs").says("Noted.").ended(&sandbox);
    assert!(holds(&sandbox), "{}", page(&sandbox));
    sandbox.git(&["branch", "--move", "fix-lexer"]);
    assert!(holds(&sandbox), "{}", page(&sandbox));
    assert_eq!(handles(&sandbox).len(), 1);
    sandbox.git(&["checkout", "--quiet", "main"]);
    assert!(!holds(&sandbox), "{}", page(&sandbox));
}

#[test]
fn aborting_a_merge_in_a_later_session_settles_its_conflict() {
    const MERGE: &str = "git merge main";
    for settling in ["git merge --abort", "cd src && git merge --continue", "git reset --hard"] {
        let sandbox = shop();
        let stopped = "CONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts and then commit the result.";
        let first = session(1).user("Bring it up to main").edits("/work/a.rs");
        first.runs(MERGE, stopped, true).says("It stopped.").ended(&sandbox);
        work(2).ended(&sandbox);
        assert!(page(&sandbox).contains(MERGE), "{}", page(&sandbox));
        session(3).user("Undo that").runs(settling, "", false).says("Done.").ended(&sandbox);
        assert!(!page(&sandbox).contains(MERGE), "{settling}: {}", page(&sandbox));
    }
    // Another checkout has its own conflicts.
    for elsewhere in ["cd /other && git reset --hard", "git -C /other merge --abort"] {
        let sandbox = shop();
        let first = session(1).user("Bring it up to main").edits("/work/a.rs");
        let stopped = "CONFLICT (content): Merge conflict in a.rs";
        first.runs(MERGE, stopped, true).says("It stopped.").ended(&sandbox);
        work(2).ended(&sandbox);
        session(3).user("Undo that").runs(elsewhere, "", false).says("Done.").ended(&sandbox);
        assert!(page(&sandbox).contains(MERGE), "{elsewhere}: {}", page(&sandbox));
    }
}

#[test]
fn an_untouched_workflow_state_is_only_counted_after_five_working_sessions() {
    let sandbox = shop();
    let save = |step: u32| {
        let change = StateChange::Whole(json!({"release_step": step}));
        verbs::save_state(&open_on_disk(sandbox.root()), "release", &change, None).unwrap();
    };
    save(1);
    for day in 22..=25 {
        work(day).ended(&sandbox);
    }
    assert!(page(&sandbox).contains("release_step: 1"), "{}", page(&sandbox));
    session(26).user("hello").says("Hello.").ended(&sandbox);
    assert!(page(&sandbox).contains("release_step: 1"), "no work: {}", page(&sandbox));
    work(27).ended(&sandbox);
    let told = page(&sandbox);
    assert!(!told.contains("release_step"), "{told}");
    assert!(told.contains("Workflow states (workflows): 1 older state"), "{told}");
}

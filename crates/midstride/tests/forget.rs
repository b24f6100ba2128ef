//! Tests of forgetting: nothing of the text remains on disk, whatever it was and wherever the
//! process was killed.

use crate::{because, consent, open_on_disk};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::files::Root;
use midstride::sys::git::LazyObjectReader;
use midstride::sys::git::RemovalOutcome;
use midstride::verbs::{self, CheckpointError, ForgetOutcome, ForgetStep, KeptText, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::format::document::Document;
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::id::BlobHash;
use midstride_testkit::Sandbox;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// A word that no redaction rule matches.
const SECRET: &str = "zanzibarquux";
const FILE: &str = ".midstride/handoffs/a.md";

/// The files in a folder that contain the secret.
fn files_with_secret(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_secret(&path));
        } else if has_secret(&std::fs::read(&path).unwrap()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn has_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| window.eq_ignore_ascii_case(SECRET.as_bytes()))
}

/// The repository of the project and our own one, where they exist.
fn repositories(sandbox: &Sandbox) -> impl Iterator<Item = &'static str> {
    let all = [".git", ".git/midstride/texts.git"].into_iter();
    all.filter(move |repository| sandbox.root().join(repository).exists())
}

/// Whether any git object contains the secret. Objects are compressed, so git reads them.
fn git_has_secret(sandbox: &Sandbox) -> bool {
    repositories(sandbox).any(|repository| {
        let all = ["--git-dir", repository, "cat-file", "--batch-all-objects", "--batch"];
        has_secret(&sandbox.command("git").args(all).output().unwrap().stdout)
    })
}

fn assert_whole(sandbox: &Sandbox) {
    for repository in repositories(sandbox) {
        let fsck = ["--git-dir", repository, "fsck", "--full", "--no-dangling"];
        let run = sandbox.finish(sandbox.command("git").args(fsck));
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run}");
    }
}

/// The same as [`revised`] in a repository that has the handoff in a commit, with another history.
fn revised_and_committed(sandbox: Sandbox) -> Sandbox {
    let history = "revisions:\n    - {at: 2026-03-20T08:00:00Z, reason: else}";
    sandbox.write(FILE, format!("---\nhandoff:\n  id: a\n  uid: one\n  {history}\n---\n"));
    sandbox.git(&["add", FILE]);
    sandbox.git(&["commit", "--quiet", "--message", "another text"]);
    revised(sandbox)
}

/// A handoff whose first text contained the secret; it was also searched and is revised now.
fn revised(sandbox: Sandbox) -> Sandbox {
    sandbox.write(".midstride/config.toml", "");
    let text = |said: &str| format!("---\nhandoff:\n  id: a\n  uid: one\n---\n\nIt is {said}.\n");
    sandbox.write(FILE, text(SECRET));
    let store = open_on_disk(sandbox.root());
    verbs::reindex(&store, &mut |_, _| ()).unwrap();
    let shelved = store.workspace().find("a").unwrap();
    let next = Document::parse(text("out").as_bytes());
    store.record(&shelved, &next, &because("took it out"), &|_| ()).unwrap();
    sandbox
}

fn first_text(store: &Store) -> KeptText {
    verbs::kept_revision(store, &store.workspace().find("a").unwrap(), 1).unwrap()
}

fn forget(store: &Store, text: &KeptText) -> ForgetOutcome {
    verbs::forget(store, text, Some("it was in it"), &consent(), &|_| ()).unwrap()
}

/// Forgets the text and dies at a step.
fn forget_up_to(store: &Store, text: &KeptText, step: ForgetStep) {
    let die = |reached| {
        if reached == step {
            resume_unwind(Box::new(()));
        }
    };
    let died =
        catch_unwind(AssertUnwindSafe(|| verbs::forget(store, text, None, &consent(), &die)));
    assert!(died.is_err(), "it got past {step:?}");
}

#[test]
fn nothing_of_a_revision_remains_after_a_kill_at_any_step() {
    let prepare: [fn(Sandbox) -> Sandbox; 2] = [revised, revised_and_committed];
    for (step, prepare) in
        ForgetStep::ALL.into_iter().flat_map(|step| prepare.map(|one| (step, one)))
    {
        let sandbox = prepare(Sandbox::new("").repository());
        let store = open_on_disk(sandbox.root());
        assert!(git_has_secret(&sandbox));
        assert!(!files_with_secret(&sandbox.root().join(".git")).is_empty(), "the index has it");
        forget_up_to(&store, &first_text(&store), step);
        // A later reader gets an error, and the text is not stored again.
        let told =
            store.revision_text(&store.workspace().find("a").unwrap(), 1).unwrap_err().to_string();
        assert_eq!(told, "revision `a@1` was forgotten on 2026-03-21 by tester");
        let again = forget(&store, &first_text(&store));
        assert!(!again.is_new && again.removal == RemovalOutcome::Removed, "{step:?}");
        assert!(!git_has_secret(&sandbox), "{step:?}");
        assert_eq!(files_with_secret(&sandbox.root().join(".git")), [""; 0], "{step:?}");
        assert_eq!(store.tombstones().unwrap().len(), 1);
        assert_whole(&sandbox);
    }
}

#[test]
fn nothing_remains_without_git() {
    let sandbox = revised(Sandbox::new(""));
    let store = open_on_disk(sandbox.root());
    let text = first_text(&store);
    assert!(text.bytes.is_some() && !text.is_shared);
    assert!(!files_with_secret(sandbox.root()).is_empty());
    assert!(forget(&store, &text).is_new);
    assert_eq!(files_with_secret(sandbox.root()), [""; 0]);
    assert!(!forget(&store, &first_text(&store)).is_new);
}

#[test]
fn reflogs_of_midstride_references_are_forgotten() {
    let sandbox = Sandbox::new("").repository();
    sandbox.git(&["config", "core.logAllRefUpdates", "always"]);
    let sandbox = revised_and_committed(sandbox);
    let store = open_on_disk(sandbox.root());
    assert_eq!(forget(&store, &first_text(&store)).removal, RemovalOutcome::Removed);
    assert!(!git_has_secret(&sandbox));
    assert_whole(&sandbox);
}

#[test]
fn text_in_a_commit_stays_and_the_commit_is_named() {
    let sandbox = revised_and_committed(Sandbox::new("").repository());
    let store = open_on_disk(sandbox.root());
    let text = first_text(&store);
    let earlier = store.workspace().repository().unwrap().blob(&text.hash).unwrap();
    let now = sandbox.read(FILE);
    sandbox.write(FILE, earlier);
    sandbox.git(&["add", "--all"]);
    let staged = forget(&store, &text);
    assert_eq!(
        (staged.removal, staged.staged),
        (RemovalOutcome::Referenced, vec![FILE.to_owned()])
    );
    sandbox.git(&["commit", "--quiet", "--message", "with it"]);
    sandbox.write(FILE, now);
    sandbox.git(&["commit", "--quiet", "--all", "--message", "without it"]);
    let done = forget(&store, &text);
    assert_eq!(done.removal, RemovalOutcome::Referenced);
    let subjects: Vec<&str> = done.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert!(subjects.contains(&"with it") && subjects.contains(&"without it"), "{subjects:?}");
    assert!(done.commits.iter().all(|commit| commit.paths == [FILE]));
    assert!(git_has_secret(&sandbox), "the history of the user is not touched");
    assert_whole(&sandbox);
    assert!(
        store.revision_text(&store.workspace().find("a").unwrap(), 1).is_err(),
        "not shown all the same"
    );
}

#[test]
fn packed_text_is_removed_by_the_next_gc() {
    let sandbox = revised_and_committed(Sandbox::new("").repository());
    sandbox.git(&["gc", "--quiet"]);
    let store = open_on_disk(sandbox.root());
    assert_eq!(forget(&store, &first_text(&store)).removal, RemovalOutcome::Packed);
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(forget(&store, &first_text(&store)).removal, RemovalOutcome::Removed);
    assert!(!git_has_secret(&sandbox));
}

#[test]
fn a_change_that_would_replace_a_forgotten_text_is_refused() {
    let sandbox = revised_and_committed(Sandbox::new("").repository());
    let store = open_on_disk(sandbox.root());
    let shelved = store.workspace().find("a").unwrap();
    let now = store.workspace().repository().unwrap().hash_blob(&shelved.bytes);
    let text = verbs::kept_text(&store, &now.as_str()[..7]).unwrap();
    assert_eq!(text.documents, [Path::new(FILE)]);
    assert_eq!(text.others, ["a@1"]);
    forget(&store, &text);
    let refused = store.record(&shelved, &shelved.document, &because("x"), &|_| ());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("forgotten on 2026-03-21 by tester: it was in it"), "{refused}");
    assert_eq!(store.workspace().find("a").unwrap().bytes, shelved.bytes);
    let mut objects = LazyObjectReader::new(store.workspace().repository().unwrap());
    let kept = objects.kept_blobs("refs/midstride/handoffs/one");
    assert!(!kept.unwrap().unwrap().ids.contains(&now));
    // Once the user edited the file, changes work again.
    let edited = format!("{}\nEdited.\n", shelved.document.text());
    std::fs::write(sandbox.root().join(FILE), edited).unwrap();
    let edited = store.workspace().find("a").unwrap();
    assert!(store.record(&edited, &edited.document, &because("x"), &|_| ()).is_ok());
}

#[test]
fn an_object_that_midstride_did_not_store_is_not_removed() {
    let sandbox = Sandbox::new("").repository();
    // A document names an object of the user that nothing else refers to.
    sandbox.write("mine.txt", "not yet committed\n");
    sandbox.git(&["hash-object", "-w", "mine.txt"]);
    let git = open_on_disk(sandbox.root());
    let id = git.workspace().repository().unwrap().hash_blob(b"not yet committed\n");
    let text = format!(
        "---\nhandoff:\n  id: a\n  uid: one\n  revisions:\n    - {{at: 2026-03-21T17:24:00Z, was: {id}}}\n---\nA\n"
    );
    sandbox.write(FILE, &text);
    let store = open_on_disk(sandbox.root());
    let done = forget(&store, &first_text(&store));
    assert_eq!(done.removal, RemovalOutcome::NotOurs);
    assert!(store.workspace().repository().unwrap().blob(&id).is_some());
}

/// A project with a session that was asked about the secret.
struct Asked(Sandbox);

const SESSION: &str = "0195b9d2-4c00-7000-8000-00000000cccc";

impl Asked {
    fn new() -> Self {
        let asked = Self(Sandbox::new("").repository());
        asked.0.write(".midstride/config.toml", "");
        // A later session was briefed with it.
        let briefed = format!(r#"{{"briefed": ["2026-03-21T17:10:00Z", "Try {SECRET}"]}}"#);
        asked.0.write(".git/midstride/hooks/claude-code.later.json", briefed);
        let root = asked.0.root().display().to_string();
        let slug = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = Root::make(&asked.0.home().join(".claude/projects").join(slug)).unwrap();
        let record = serde_json::json!({
            "type": "user", "uuid": "u1", "sessionId": SESSION, "cwd": root,
            "timestamp": "2026-03-21T17:00:00Z",
            "message": {"role": "user",
                "content": format!("Log in with {SECRET}, please. Never touch the {SECRET} folder.")},
        });
        let todos = [
            serde_json::json!({"content": format!("Try {SECRET}"), "status": "pending", "activeForm": "x"}),
        ];
        let call = serde_json::json!({
            "type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": SESSION, "cwd": root,
            "timestamp": "2026-03-21T17:00:10Z",
            "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": {"todos": todos}}]},
        });
        let answer = serde_json::json!({
            "type": "user", "uuid": "u2", "parentUuid": "a1", "sessionId": SESSION, "cwd": root,
            "timestamp": "2026-03-21T17:00:11Z",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
        });
        let file = format!("{SESSION}.jsonl");
        let text = format!("{record}\n{call}\n{answer}\n");
        folder.put(Path::new(&file), text.as_bytes()).unwrap();
        asked
    }

    fn open(&self) -> Store {
        Store::new(
            Workspace::discover(crate::environment(&self.0, self.0.root())).unwrap(),
            WaitPolicy::Command,
        )
    }

    fn capture(&self) -> Result<BlobHash, CheckpointError> {
        verbs::checkpoint(&self.open(), &SessionChoice::Newest, None, CheckpointMode::Checkpoint)
            .map(|done| done.blob)
    }

    fn private(&self) -> Vec<String> {
        files_with_secret(&self.0.root().join(".git/midstride"))
    }
}

#[test]
fn nothing_of_a_checkpoint_remains_after_a_kill_at_any_step() {
    for step in ForgetStep::ALL {
        let asked = Asked::new();
        let blob = asked.capture().unwrap();
        let held = asked.private();
        let has = |part: &str| held.iter().any(|path| path.contains(part));
        assert!(has("ledger.db") && has("cursors"), "{held:?}");
        let store = asked.open();
        let text = verbs::kept_text(&store, &blob.as_str()[..8]).unwrap();
        assert_eq!(text.names, [format!("claude-code session {SESSION}")]);
        assert_eq!(verbs::instructions(&store).unwrap().len(), 1);
        assert_eq!(verbs::TaskBoard::open(&store).unwrap().tasks.iter().count(), 1);
        assert!(text.transcript.as_ref().is_some_and(|path| path.exists()));
        forget_up_to(&store, &text, step);
        let again = forget(&store, &verbs::kept_text(&store, blob.as_str()).unwrap());
        assert!(!again.is_new, "{step:?}");
        assert_eq!(asked.private(), [""; 0], "{step:?}");
        assert_eq!(verbs::instructions(&store).unwrap(), []);
        let open = verbs::TaskBoard::open(&store).unwrap().tasks;
        assert!(!open.iter().any(|task| task.status.is_open()), "{step:?}: {open:?}");
    }
}

#[test]
fn a_forgotten_checkpoint_is_captured_again_only_once_a_rule_redacts_the_secret() {
    let asked = Asked::new();
    let blob = asked.capture().unwrap();
    let store = asked.open();
    forget(&store, &verbs::kept_text(&store, blob.as_str()).unwrap());
    let refused = asked.capture().unwrap_err();
    assert!(matches!(refused, CheckpointError::Forgotten { .. }), "{refused}");
    let rule = "[[redact]]\nkind = \"word\"\nbegins = \"zanz\"\nthen = \"[a-z]+\"\n";
    asked.0.write(".midstride/config.toml", rule);
    verbs::trust(asked.open().workspace(), &consent()).unwrap();
    let other = asked.capture().unwrap();
    assert_ne!(other, blob);
    let ledger = asked.private().into_iter().filter(|path| path.contains("ledger"));
    assert_eq!(ledger.collect::<Vec<_>>(), [""; 0]);
}

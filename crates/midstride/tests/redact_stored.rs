//! Tests of redacting stored data again: after the rules changed, no file has the secret,
//! at whichever step the process was killed, and nothing else is lost.

use crate::{because, consent, environment};
use midstride::clients::hook_log::{self, HookLogLine};
use midstride::store::Store;
use midstride::store::index::Filter;
use midstride::store::ledger::{Cursor, Ledger as _, WaitPolicy};
use midstride::verbs::{self, RedactStoredStep, SessionChoice, StateChange};
use midstride::workspace::Workspace;
use midstride_core::brief::search::Query;
use midstride_core::format::document::Document;
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_testkit::{Sandbox, fixtures};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// A token that only a rule of the project recognizes.
const TOKEN: &str = "acme_q7w2e9r4t1y6u3i8";
const RULE: &str = "[[redact]]\nkind = \"acme-token\"\nbegins = \"acme_\"\nthen = '[a-z0-9]{16}'\n";

fn open(sandbox: &Sandbox) -> Store {
    let workspace = Workspace::discover(environment(sandbox, sandbox.root())).unwrap();
    Store::new(workspace, WaitPolicy::Command)
}

/// The files below a folder with the token in their name or content.
fn files_with_token(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let in_name = path.file_name().is_some_and(|name| name.to_string_lossy().contains(TOKEN));
        if path.is_dir() {
            found.extend(files_with_token(&path));
        }
        let has = |bytes: Vec<u8>| {
            bytes.windows(TOKEN.len()).any(|part| part.eq_ignore_ascii_case(TOKEN.as_bytes()))
        };
        if in_name || path.is_file() && has(std::fs::read(&path).unwrap()) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Whether a git object of the project or of our own repository has the token. Objects are compressed,
/// so git reads them.
fn git_has_token(sandbox: &Sandbox) -> bool {
    [".git", ".git/midstride/texts.git"].into_iter().any(|repository| {
        let all = ["--git-dir", repository, "cat-file", "--batch-all-objects", "--batch"];
        let output = sandbox.command("git").args(all).output().unwrap().stdout;
        output.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes())
    })
}

fn private(sandbox: &Sandbox) -> PathBuf {
    open(sandbox).workspace().private_path()
}

/// A store in which the token was stored everywhere before the rule existed.
fn stored(sandbox: Sandbox) -> Sandbox {
    verbs::init(open(&sandbox).workspace(), false, Some(&consent())).unwrap();
    let store = open(&sandbox);
    let source = fixtures("transcripts/claude-code").join("cache.jsonl");
    let text = std::fs::read_to_string(source).unwrap();
    let text = text
        .replace("/home/dev/shop", &sandbox.root().display().to_string())
        .replace("npm test", &format!("npm test {TOKEN}"))
        .replace("fast again", &format!("fast again with {TOKEN}"));
    let transcript = sandbox.home().join("cache.jsonl");
    std::fs::write(&transcript, text).unwrap();
    let which = SessionChoice::Transcript(transcript);
    verbs::checkpoint(&store, &which, None, CheckpointMode::Checkpoint).unwrap();
    let handoffs = private(&sandbox).join("handoffs");
    std::fs::create_dir_all(&handoffs).unwrap();
    let text = |said: &str| format!("---\nhandoff:\n  id: a\n  uid: one\n---\n\nIt is {said}.\n");
    std::fs::write(handoffs.join("a.md"), text(TOKEN)).unwrap();
    let handoff = store.workspace().find("a").unwrap();
    let next = Document::parse(text(&format!("{TOKEN} now")).as_bytes());
    store.record(&handoff, &next, &because(TOKEN), &|_| ()).unwrap();
    std::fs::write(handoffs.join("note.md"), format!("# A note\n\nWith {TOKEN}.\n")).unwrap();
    let state = json!({ "said": format!("use {TOKEN}") });
    verbs::save_state(&store, "release", &StateChange::Whole(state), None).unwrap();
    let line = HookLogLine {
        at: environment(&sandbox, sandbox.root()).clock.now(),
        client: "codex",
        event: "Stop",
        session: None,
        milliseconds: 1,
        tokens: 0,
        did: "nothing",
        error: Some(TOKEN),
    };
    hook_log::add(&private(&sandbox), &line).unwrap();
    let memory = json!({ "told": format!("about {TOKEN}"), "nudged": true });
    std::fs::create_dir_all(private(&sandbox).join("hooks")).unwrap();
    for name in ["claude-code.5e55-0001.json".to_owned(), format!("codex.{TOKEN}.json")] {
        std::fs::write(private(&sandbox).join("hooks").join(name), memory.to_string()).unwrap();
    }
    let spool = private(&sandbox).join("spool");
    std::fs::create_dir_all(&spool).unwrap();
    std::fs::write(spool.join("x.unreadable"), json!({ "text": TOKEN }).to_string()).unwrap();
    drop(store);
    // A committed handoff belongs to the user.
    sandbox.write(".midstride/handoffs/b.md", format!("---\nhandoff:\n  id: b\n---\n{TOKEN}\n"));
    sandbox.write(".midstride/config.toml", RULE);
    verbs::trust(open(&sandbox).workspace(), &consent()).unwrap();
    sandbox
}

#[track_caller]
fn assert_redacted(sandbox: &Sandbox, about: &str) {
    let store = open(sandbox);
    let workspace = store.workspace();
    assert!(!verbs::is_redaction_due(workspace), "{about}");
    assert_eq!(files_with_token(&private(sandbox)), [""; 0], "{about}");
    assert!(sandbox.read(".midstride/handoffs/b.md").contains(TOKEN), "{about}");
    // Everything can still be read, without the token.
    let ledger = store.ledger().unwrap();
    let records = ledger.read_all(&Cursor::START, usize::MAX).unwrap().records;
    assert!(records.iter().all(|record| !record.events.is_empty()), "{about}");
    let handoff = workspace.find("a").unwrap();
    let text = handoff.document.text();
    assert!(text.contains("It is REDACTED-acme-token now."), "{about}: {text}");
    assert!(text.contains("reason: REDACTED-acme-token"), "{about}: {text}");
    let first = String::from_utf8(store.revision_text(&handoff, 1).unwrap()).unwrap();
    assert_eq!(first, "---\nhandoff:\n  id: a\n  uid: one\n---\n\nIt is REDACTED-acme-token.\n");
    let second = String::from_utf8(store.revision_text(&handoff, 2).unwrap()).unwrap();
    assert!(second.contains("It is REDACTED-acme-token now."), "{about}: {second}");
    assert!(!store.is_edited_outside(&handoff).unwrap(), "{about}");
    let note = std::fs::read_to_string(private(sandbox).join("handoffs/note.md")).unwrap();
    assert_eq!(note, "# A note\n\nWith REDACTED-acme-token.\n", "{about}");
    let state = verbs::load_state(&store, "release", None).unwrap().state;
    assert_eq!(state, json!({ "said": "use REDACTED-acme-token" }), "{about}");
    let query = Query::parse("REDACTED-acme-token").unwrap();
    let found = verbs::search_sessions(&store, &query, &Filter::default(), 9).unwrap();
    assert_eq!(found.len(), 1, "{about}");
    let memory =
        std::fs::read_to_string(private(sandbox).join("hooks/claude-code.5e55-0001.json")).unwrap();
    assert!(memory.contains("about REDACTED-acme-token"), "{about}: {memory}");
    // The cursor still fits its transcript, so nothing is read again.
    let which = SessionChoice::Transcript(sandbox.home().join("cache.jsonl"));
    let done = verbs::checkpoint(&store, &which, None, CheckpointMode::Checkpoint).unwrap();
    assert_eq!(done.new_bytes, 0, "{about}");
    assert_eq!(files_with_token(&private(sandbox)), [""; 0], "{about}");
    // The text of a revision can be forgotten by its number.
    let text = verbs::kept_revision(&store, &handoff, 1).unwrap();
    assert!(text.names.contains(&"a@1".to_owned()) && text.tombstone.is_none(), "{text:?}");
    verbs::forget(&store, &text, None, &consent(), &|_| ()).unwrap();
    assert!(store.revision_text(&handoff, 1).is_err(), "{about}");
}

#[test]
fn nothing_stored_has_a_secret_that_newer_rules_recognize() {
    let sandbox = stored(Sandbox::new("").repository());
    let store = open(&sandbox);
    let before = files_with_token(&private(&sandbox));
    for part in ["ledger.db", "cursors/", "hooks.log", "hooks/", "spool/", "handoffs/"] {
        assert!(before.iter().any(|path| path.contains(part)), "{part}: {before:?}");
    }
    assert!(git_has_token(&sandbox) && verbs::is_redaction_due(store.workspace()));
    let state = verbs::redact_stored(&store, &|_| ()).unwrap().unwrap();
    assert_eq!((state.handoffs, state.left), (2, 0), "{state:?}");
    assert!(state.blobs >= 2 && state.records >= 2 && state.texts >= 2, "{state:?}");
    assert!(verbs::examine(&store).redacted >= 4);
    drop(store);
    assert!(!git_has_token(&sandbox));
    assert_redacted(&sandbox, "in one run");
    assert_eq!(verbs::redact_stored(&open(&sandbox), &|_| ()).unwrap(), None);
}

#[test]
fn a_killed_redaction_of_stored_texts_is_finished_by_the_next_one() {
    for step in RedactStoredStep::ALL {
        let sandbox = stored(Sandbox::new("").repository());
        let store = open(&sandbox);
        let die = |reached| {
            if reached == step {
                resume_unwind(Box::new(()));
            }
        };
        let died = catch_unwind(AssertUnwindSafe(|| verbs::redact_stored(&store, &die)));
        assert!(died.is_err(), "it got past {step:?}");
        drop(store);
        let store = open(&sandbox);
        assert!(verbs::is_redaction_due(store.workspace()), "{step:?}");
        verbs::redact_stored(&store, &|_| ()).unwrap().unwrap();
        drop(store);
        assert!(!git_has_token(&sandbox), "{step:?}");
        assert_redacted(&sandbox, &format!("{step:?}"));
    }
}

#[test]
fn texts_stored_without_git_are_redacted() {
    let sandbox = stored(Sandbox::new(""));
    verbs::redact_stored(&open(&sandbox), &|_| ()).unwrap().unwrap();
    assert_redacted(&sandbox, "without git");
}

#[test]
fn events_that_are_appended_meanwhile_are_kept() {
    let sandbox = stored(Sandbox::new("").repository());
    let subjects: Vec<String> = (0..40).map(|number| format!("Task {number}")).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let store = open(&sandbox);
            for subject in &subjects {
                let state = json!({ "subject": subject });
                verbs::save_state(&store, "other", &StateChange::Whole(state), None).unwrap();
            }
        });
        verbs::redact_stored(&open(&sandbox), &|_| ()).unwrap().unwrap();
    });
    let store = open(&sandbox);
    for (number, subject) in subjects.iter().enumerate() {
        let state = verbs::load_state(&store, "other", Some(number + 1)).unwrap().state;
        assert_eq!(state, json!({ "subject": subject }));
    }
    drop(store);
    assert_redacted(&sandbox, "beside a writer");
}

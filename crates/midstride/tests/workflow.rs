//! Tests of workflow states: saving, loading and changing them, with their history.

use crate::{consent, open, open_on_disk, set_up};
use midstride::verbs::{
    self, STATE_BYTES_MAX, StateChange, WorkflowError, kept_text, load_state, save_state, states,
};
use midstride_testkit::Sandbox;
use serde_json::{Value, json};

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open(sandbox.root()));
    sandbox
}

fn save(sandbox: &Sandbox, name: &str, state: Value) -> usize {
    let change = StateChange::Whole(state);
    save_state(&open(sandbox.root()), name, &change, Some("codex")).unwrap().number
}

fn load(sandbox: &Sandbox, name: &str, number: Option<usize>) -> Value {
    load_state(&open(sandbox.root()), name, number).unwrap().state
}

#[test]
fn every_state_is_kept_and_the_last_one_counts() {
    let sandbox = shop();
    let project = open(sandbox.root());
    assert_eq!(save(&sandbox, "release", json!({"step": 1, "who": {"a": 1, "b": 2}})), 1);
    assert_eq!(save(&sandbox, "release", json!({"step": 1, "who": {"a": 1, "b": 2}})), 1);
    let patch = StateChange::Patch(json!({"step": 2, "who": {"b": null}}));
    let saved = save_state(&project, "release", &patch, None).unwrap();
    assert_eq!((saved.number, saved.is_new), (2, true));
    assert_eq!(load(&sandbox, "release", None), json!({"step": 2, "who": {"a": 1}}));
    assert_eq!(load(&sandbox, "release", Some(1))["step"], 1);
    save(&sandbox, "audit", json!({}));
    let all = states(&project).unwrap();
    let told: Vec<_> = all.iter().map(|(last, count)| (last.name.as_str(), *count)).collect();
    assert_eq!(told, [("audit", 1), ("release", 2)]);
    let history = load_state(&project, "release", None).unwrap().history;
    assert_eq!(
        history.iter().map(|kept| kept.by.as_str()).collect::<Vec<_>>(),
        ["codex", "tester"]
    );
}

#[test]
fn an_earlier_record_that_cannot_be_read_still_counts() {
    let sandbox = shop();
    let store = open_on_disk(sandbox.root());
    for step in [1, 2] {
        let change = StateChange::Whole(json!({"step": step}));
        save_state(&store, "release", &change, Some("codex")).unwrap();
    }
    let path = sandbox.root().join(".git/midstride/ledger.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql = "UPDATE records SET events = 'broken' WHERE stream LIKE 'workflow%' AND number = 1";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    drop(connection);
    let all = states(&open_on_disk(sandbox.root())).unwrap();
    assert_eq!((all.len(), all[0].1), (1, 2));
}

#[test]
fn concurrent_changes_are_all_kept() {
    let sandbox = shop();
    save(&sandbox, "race", json!({}));
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let root = sandbox.root();
            scope.spawn(move || {
                let patch = StateChange::Patch(json!({format!("w{writer}"): true}));
                save_state(&open(root), "race", &patch, None).unwrap();
            });
        }
    });
    assert_eq!(load(&sandbox, "race", None).as_object().unwrap().len(), 8);
    assert_eq!(load_state(&open(sandbox.root()), "race", None).unwrap().history.len(), 9);
}

#[test]
fn secrets_are_not_written() {
    let sandbox = shop();
    let secret = format!("ghp_{}", "k3Vx9QmZ7tRb2LwY8sNf4HcJ6pDa1GeU5oTi");
    let state = json!({"notes": [format!("line\n{secret}")], (secret.clone()): 1});
    let change = StateChange::Whole(state);
    let saved = save_state(&open(sandbox.root()), "s", &change, None).unwrap();
    assert!(!saved.redacted.is_empty());
    assert!(!load(&sandbox, "s", None).to_string().contains(&secret[4..]), "{}", saved.state);
}

#[test]
fn an_unsavable_state_is_refused_with_the_reason() {
    let sandbox = shop();
    let project = open(sandbox.root());
    let refused = |name: &str, change: StateChange| {
        save_state(&project, name, &change, None).unwrap_err().to_string()
    };
    for name in ["../../etc/passwd", "a/b", "", "A", "con", &"x".repeat(500)] {
        let why = refused(name, StateChange::Whole(json!({})));
        assert!(why.contains("is not a valid workflow name"), "{why}");
    }
    assert_eq!(refused("a", StateChange::Whole(json!([1]))), "a state must be a JSON object");
    assert_eq!(refused("a", StateChange::Patch(json!({}))), "no state is saved under `a`");
    let large = json!({"text": "x".repeat(STATE_BYTES_MAX)});
    assert!(refused("a", StateChange::Whole(large)).contains("the maximum is"));
    assert!(states(&project).unwrap().is_empty(), "nothing was written");
    save(&sandbox, "release", json!({}));
    let error = load_state(&project, "relase", None).unwrap_err();
    assert!(
        matches!(&error, WorkflowError::NoSuch { nearest: Some(near), .. } if near == "release")
    );
    let error = load_state(&project, "release", Some(2)).unwrap_err().to_string();
    assert_eq!(error, "`release` has no state 2 (stored states: 1)");
}

#[test]
fn a_state_can_be_forgotten() {
    let sandbox = shop();
    save(&sandbox, "release", json!({"step": 1}));
    save(&sandbox, "release", json!({"step": 2}));
    let project = open(sandbox.root());
    let first = load_state(&project, "release", None).unwrap().history[0].blob.clone();
    let text = kept_text(&project, first.as_str()).unwrap();
    verbs::forget(&project, &text, None, &consent(), &|_| ()).unwrap();
    let error = load_state(&project, "release", Some(1)).unwrap_err();
    assert_eq!(error.to_string(), "state 1 of `release` was forgotten");
    assert_eq!(load(&sandbox, "release", None), json!({"step": 2}));
}

#[test]
fn a_name_with_a_secret_is_refused() {
    let sandbox = shop();
    let name = format!("glpat-{}", "x7kp2mq9vt4nr6sw8yz1");
    let change = StateChange::Whole(json!({}));
    let refused = save_state(&open(sandbox.root()), &name, &change, None).unwrap_err();
    assert!(matches!(refused, WorkflowError::SecretName(_)), "{refused}");
}

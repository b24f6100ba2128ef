//! Tests of briefings: what they contain, which sessions get them, and that they do not depend on
//! caches.

use crate::{open, set_up};
use midstride::clients;
use midstride::store::Store;
use midstride::store::ledger::{Cursor, Ledger as _, LocalLedger as _, WaitPolicy};
use midstride::sys::env::SessionName;
use midstride::verbs::{self, BriefOutcome, BriefRequest, Delivery, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::brief::{BriefOccasion, Budget, Material, compose, items};
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, SessionSummary,
};
use midstride_core::session::{AgentState, CommandStatus, intent};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::tokens::estimate;
use midstride_core::work::event::{Event, SessionEvent};
use midstride_testkit::{Sandbox, corpus, fixtures};
use midstride_testkit::{client, cursor};
use std::path::Path;

const ID: &str = "5e550001-4c00-7000-8000-00000000aaaa";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open(sandbox.root()));
    sandbox
}

fn put(sandbox: &Sandbox, name: &str, status: &str, day: usize, more: &str) {
    let text = format!(
        "---\nhandoff:\n  id: {name}\n  uid: uid-{name}\n  title: Title of {name}\n  status: {status}\n  \
         created: 2026-03-{day:02}T08:00:00Z\n  context_summary: Summary of {name}.\n{more}---\n"
    );
    sandbox.write(&format!(".midstride/handoffs/{name}.md"), &text);
}

fn briefed(store: &Store, asked: &BriefRequest) -> BriefOutcome {
    verbs::brief(store, asked, &mut |_, _| ())
}

fn plain(sandbox: &Sandbox) -> BriefOutcome {
    briefed(&open(sandbox.root()), &BriefRequest::default())
}

/// Captures the fixture session as one of this project.
fn capture(sandbox: &Sandbox) {
    capture_in(sandbox, sandbox.root(), ID, "2026-03-20");
}

/// Captures the fixture as a session in a folder, with this id and day.
fn capture_in(sandbox: &Sandbox, folder: &Path, id: &str, day: &str) {
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &folder.display().to_string());
    let mut text = text.replace(ID, id).replace("2026-03-20", day);
    // Records with the same id would count as copies and make this session a fork.
    for name in ["uuid", "parentUuid", "logicalParentUuid"] {
        text = text.replace(&format!("\"{name}\": \""), &format!("\"{name}\": \"{}-", &id[..8]));
    }
    let path = sandbox.home().join(format!("{id}.jsonl"));
    std::fs::write(&path, text).unwrap();
    let client = clients::find("claude-code");
    verbs::checkpoint(
        &open(folder),
        &SessionChoice::Transcript(path),
        client,
        CheckpointMode::Auto,
    )
    .unwrap();
}

fn events(sandbox: &Sandbox) -> Vec<Event> {
    let store = open(sandbox.root());
    let ledger = store.ledger().unwrap();
    let records = ledger.read_all(&Cursor::START, 10_000).unwrap().records;
    records.into_iter().flat_map(|record| record.events).map(|envelope| envelope.event).collect()
}

fn receipts(sandbox: &Sandbox) -> usize {
    let is_one = |event: &&Event| matches!(event, Event::Session(SessionEvent::Briefed { .. }));
    events(sandbox).iter().filter(is_one).count()
}

fn told_ids(briefed: &BriefOutcome) -> Vec<&str> {
    briefed.handoffs.iter().map(|one| one.id.as_str()).collect()
}

#[test]
fn closed_handoffs_are_never_briefed_at_startup() {
    let sandbox = shop();
    put(&sandbox, "open", "planned", 2, "");
    put(&sandbox, "done", "resolved", 3, "");
    sandbox.write("HANDOFF.md", "# A note\n\nStatus: done\n\nThe build is green.\n");
    let briefed = plain(&sandbox);
    assert_eq!((told_ids(&briefed), briefed.open), (vec!["open"], 1));
    assert!(!briefed.briefing.text.contains("done"), "{}", briefed.briefing.text);
}

#[test]
fn named_handoffs_come_first_then_this_branch_then_latest_change() {
    let sandbox = shop();
    put(&sandbox, "newest", "planned", 9, "");
    put(&sandbox, "elsewhere", "planned", 8, "  state: {environment: {branch: other}}\n");
    put(&sandbox, "here", "planned", 7, "  state: {environment: {branch: main}}\n");
    put(&sandbox, "mine", "planned", 1, "  to: [Implementer]\n");
    let order = |asked: &BriefRequest| -> Vec<String> {
        let told = briefed(&open(sandbox.root()), asked);
        told_ids(&told).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(order(&BriefRequest::default()), ["here", "newest", "mine", "elsewhere"]);
    let asked = BriefRequest { role: Some("implementer".to_owned()), ..BriefRequest::default() };
    assert_eq!(order(&asked), ["mine", "here", "newest", "elsewhere"]);
}

#[test]
fn of_very_many_handoffs_the_best_are_included_and_the_rest_counted() {
    let sandbox = shop();
    for number in 0..40 {
        put(&sandbox, &format!("open-{number:02}"), "planned", 1 + number % 28, "");
    }
    let briefed = plain(&sandbox);
    assert_eq!(briefed.open, 40);
    // The handoffs are short, so more than the usual eight fit.
    let told = briefed.handoffs.len();
    assert!((9..=32).contains(&told), "{told}");
    for number in 0..40 {
        let name = format!("open-{number:02}");
        let is_named = briefed.briefing.text.contains(&name)
            || briefed.briefing.omitted.iter().any(|one| one.text().contains(&name));
        assert!(is_named, "{name}: {}", briefed.briefing.text);
    }
    // With a larger budget, all of them are included.
    let asked = BriefRequest { tokens: Some(20_000), ..BriefRequest::default() };
    let all = verbs::brief(&open(sandbox.root()), &asked, &mut |_, _| ());
    assert_eq!(all.handoffs.len(), 40, "{}", all.briefing.text);
}

#[test]
fn sessions_before_the_last_one_are_named() {
    let sandbox = shop();
    capture(&sandbox);
    let later = "5e550002-4c00-7000-8000-00000000bbbb";
    capture_in(&sandbox, sandbox.root(), later, "2026-03-21");
    let told = plain(&sandbox);
    assert_eq!(told.predecessor.unwrap().session, SessionId::new(later));
    let text = &told.briefing.text;
    assert!(text.contains("\nEarlier sessions: 5e550001 "), "{text}");
}

#[test]
fn work_on_another_branch_names_it() {
    let sandbox = shop();
    capture(&sandbox);
    let other = "on branch `fix-cache`";
    assert!(plain(&sandbox).briefing.text.contains(other), "{}", plain(&sandbox).briefing.text);
    sandbox.finish(sandbox.command("git").args(["checkout", "-q", "-b", "fix-cache"])).exits(0);
    assert!(!plain(&sandbox).briefing.text.contains(other));
}

#[test]
fn the_briefing_is_the_same_without_an_index_or_with_a_broken_one() {
    let sandbox = shop();
    for number in 0..30 {
        let status = ["planned", "resolved", "in_progress"][number % 3];
        put(&sandbox, &format!("one-{number:02}"), status, 1 + number % 28, "");
    }
    capture(&sandbox);
    let first = plain(&sandbox);
    assert!(!first.briefing.text.is_empty());
    let index = midstride::store::index::Index::facts(open(sandbox.root()).workspace()).path;
    assert_eq!(plain(&sandbox).briefing, first.briefing, "with the index that was made");
    std::fs::write(&index, b"this is no database, and it is long enough to be looked at").unwrap();
    assert_eq!(plain(&sandbox).briefing, first.briefing, "with a damaged index");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", index.display()));
    }
    assert_eq!(plain(&sandbox).briefing, first.briefing, "without an index");
    // Put a folder in its place, so that no index can be created and every document is read.
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", index.display()));
    }
    std::fs::create_dir(&index).unwrap();
    assert_eq!(plain(&sandbox).briefing, first.briefing, "where none can be");
}

#[test]
fn in_place_changes_of_open_handoffs_are_noticed() {
    let sandbox = shop();
    put(&sandbox, "one", "planned", 1, "");
    put(&sandbox, "two", "planned", 2, "");
    assert_eq!(told_ids(&plain(&sandbox)), ["two", "one"]);
    let path = sandbox.root().join(".midstride/handoffs/two.md");
    let text = std::fs::read_to_string(&path).unwrap().replace("planned", "resolved");
    std::fs::write(&path, text).unwrap();
    assert_eq!(told_ids(&plain(&sandbox)), ["one"]);
    put(&sandbox, "three", "in_progress", 3, "");
    std::fs::remove_file(sandbox.root().join(".midstride/handoffs/one.md")).unwrap();
    assert_eq!(told_ids(&plain(&sandbox)), ["three"]);
}

#[test]
fn a_session_resumed_a_hundred_times_gets_the_same_briefing_and_one_delivery_record() {
    let sandbox = shop();
    put(&sandbox, "open", "planned", 2, "");
    capture(&sandbox);
    let asked = BriefRequest {
        occasion: Some(BriefOccasion::Resume),
        client: clients::find("claude-code"),
        session: SessionName::parse("claude-code", ID),
        ..BriefRequest::default()
    };
    let before = events(&sandbox).len();
    let first = briefed(&open(sandbox.root()), &asked);
    assert!(matches!(first.delivery, Delivery::New), "{:?}", first.delivery);
    assert!(first.briefing.text.contains("Keep it in one file"), "{}", first.briefing.text);
    for _ in 0..99 {
        let again = briefed(&open(sandbox.root()), &asked);
        assert_eq!(again.briefing, first.briefing);
        assert!(matches!(again.delivery, Delivery::Known), "{:?}", again.delivery);
    }
    assert_eq!(events(&sandbox).len(), before + 1);
    assert_eq!(receipts(&sandbox), 1);
    let store = open(sandbox.root());
    let told = verbs::delivery_records(&store, &store.workspace().find("open").unwrap()).unwrap();
    assert_eq!((told.delivered.len(), told.acknowledged.len()), (1, 0));
    // Reading does not consume anything.
    assert!(store.workspace().find("open").unwrap().handoff(store.workspace()).status().is_open());
}

#[test]
fn a_session_with_context_is_briefed_on_unknown_handoffs_only() {
    let sandbox = shop();
    for number in 0..40 {
        let more = "  state: {environment: {branch: main}}\n";
        put(&sandbox, &format!("here-{number:02}"), "planned", 10 + number % 10, more);
    }
    let told = |has_context| {
        let asked = BriefRequest {
            occasion: Some(BriefOccasion::Resume),
            session: SessionName::parse("claude-code", ID),
            has_context,
            ..BriefRequest::default()
        };
        briefed(&open(sandbox.root()), &asked)
    };
    let first = told(false);
    assert!(first.handoffs.len() < 40, "{:?}", told_ids(&first));
    // Every handoff that the session knows is a better match than this one.
    put(&sandbox, "elsewhere", "planned", 1, "  state: {environment: {branch: other}}\n");
    let own = format!("  state: {{recovery: {{session: {ID}}}}}\n");
    put(&sandbox, "own", "planned", 28, &own);
    let mut known: Vec<String> = first.handoffs.into_iter().map(|one| one.id).collect();
    let second = told(true);
    assert!(told_ids(&second).iter().all(|id| !known.contains(&(*id).to_owned())));
    assert!(told_ids(&second).contains(&"elsewhere"), "{:?}", told_ids(&second));
    known.extend(second.handoffs.into_iter().map(|one| one.id));
    known.sort();
    let mut all: Vec<String> = (0..40).map(|number| format!("here-{number:02}")).collect();
    all.insert(0, "elsewhere".to_owned());
    assert_eq!(known, all, "each once, and not what it wrote itself");
    assert_eq!(told(true).briefing.text, "");
}

#[test]
fn without_a_session_nothing_is_written() {
    let sandbox = shop();
    put(&sandbox, "open", "planned", 2, "");
    capture(&sandbox);
    let before = events(&sandbox);
    assert!(matches!(plain(&sandbox).delivery, Delivery::Nothing));
    assert_eq!(events(&sandbox), before);
    // A folder that is not set up stays unchanged, even for a named session.
    let bare = Sandbox::new("none");
    bare.write("docs/handoffs/a.md", "---\nhandoff:\n  id: a\n  title: A\n---\n");
    let asked =
        BriefRequest { session: SessionName::parse("codex", "s"), ..BriefRequest::default() };
    let told = briefed(&open(bare.root()), &asked);
    assert_eq!((told_ids(&told), matches!(told.delivery, Delivery::Nothing)), (vec!["a"], true));
    assert!(!bare.root().join(".midstride").exists());
}

#[test]
fn a_session_is_its_own_predecessor_only_when_it_continues() {
    let sandbox = shop();
    capture(&sandbox);
    let of = |occasion, id: &str| {
        let asked = BriefRequest {
            occasion: Some(occasion),
            session: SessionName::parse("claude-code", id),
            ..BriefRequest::default()
        };
        briefed(&open(sandbox.root()), &asked).predecessor.map(|gist| gist.session)
    };
    assert_eq!(of(BriefOccasion::Startup, ID), None);
    assert_eq!(of(BriefOccasion::Startup, "another").as_ref().map(SessionId::as_str), Some(ID));
    assert_eq!(of(BriefOccasion::Compact, ID).as_ref().map(SessionId::as_str), Some(ID));
    assert_eq!(of(BriefOccasion::Resume, "another"), None);
}

#[test]
fn each_worktree_continues_from_its_own_last_session() {
    const LATER: &str = "5e550002-4c00-7000-8000-00000000bbbb";
    let sandbox = shop();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "set up"]);
    let second = sandbox.root().with_file_name("second");
    sandbox.git(&["worktree", "add", "--quiet", second.to_str().unwrap()]);
    capture(&sandbox);
    let before = |folder: &Path| {
        let told = briefed(&open(folder), &BriefRequest::default());
        told.predecessor.map(|gist| gist.session)
    };
    assert_eq!((before(sandbox.root()), before(&second)), (Some(SessionId::new(ID)), None));
    // There is one ledger, and the other session is later.
    capture_in(&sandbox, &second, LATER, "2026-03-21");
    assert_eq!(before(sandbox.root()).as_ref().map(SessionId::as_str), Some(ID));
    assert_eq!(before(&second).as_ref().map(SessionId::as_str), Some(LATER));
    // A session that started in a subfolder worked in the same worktree.
    let third = "5e550003-4c00-7000-8000-00000000cccc";
    let below = second.join("src");
    std::fs::create_dir_all(&below).unwrap();
    capture_in(&sandbox, &below, third, "2026-03-22");
    assert_eq!(before(&second).as_ref().map(SessionId::as_str), Some(third));
    assert_eq!(before(sandbox.root()).as_ref().map(SessionId::as_str), Some(ID));
}

#[test]
fn an_older_summary_is_used_only_if_the_checkpoint_is_deleted() {
    let sandbox = shop();
    capture(&sandbox);
    let with = plain(&sandbox).predecessor.unwrap();
    let store = open(sandbox.root());
    let ledger = store.ledger().unwrap();
    let records = ledger.latest_with_prefix("session/", 1).unwrap();
    let kept = ledger.get_blob(&blobs(&sandbox)[0]).unwrap().unwrap();
    let mut older = serde_json::to_value(&with).unwrap();
    older["version"] = 1.into();
    older.as_object_mut().unwrap().remove("not_kept");
    older["items"].as_array_mut().unwrap().truncate(3);
    let told = |has_checkpoint: bool| {
        let other = shop();
        let store = open(other.root());
        let ledger = store.ledger().unwrap();
        let mut envelope = records[0].events[0].clone();
        let Event::Session(SessionEvent::Checkpointed { gist, folder, .. }) = &mut envelope.event
        else {
            panic!("{envelope:?}");
        };
        *gist = Some(ledger.put_blob(older.to_string().as_bytes()).unwrap());
        *folder = None;
        if has_checkpoint {
            ledger.put_blob(&kept).unwrap();
        }
        ledger.append_missing(&[(records[0].stream.clone(), vec![envelope])]).unwrap();
        plain(&other).predecessor.unwrap()
    };
    assert_eq!(told(true), with);
    assert_eq!((told(false).version, told(false).items.len()), (1, 3));
}

#[test]
fn a_checkpoint_without_a_summary_is_briefed_the_same() {
    let sandbox = shop();
    capture(&sandbox);
    let with = plain(&sandbox);
    let store = open(sandbox.root());
    let ledger = store.ledger().unwrap();
    let records = ledger.latest_with_prefix("session/", 1).unwrap();
    let mut envelope = records[0].events[0].clone();
    let Event::Session(SessionEvent::Checkpointed { gist, folder, .. }) = &mut envelope.event
    else {
        panic!("{envelope:?}");
    };
    assert!(gist.take().is_some() && folder.take().is_some());
    let other = shop();
    let store = open(other.root());
    let older = store.ledger().unwrap();
    for hash in blobs(&sandbox) {
        older.put_blob(&ledger.get_blob(&hash).unwrap().unwrap()).unwrap();
    }
    older.append_missing(&[(records[0].stream.clone(), vec![envelope])]).unwrap();
    assert_eq!(plain(&other).predecessor, with.predecessor);
    assert!(with.predecessor.is_some());
}

/// The blobs of a project's checkpoints.
fn blobs(sandbox: &Sandbox) -> Vec<BlobHash> {
    let blob = |event| {
        let Event::Session(SessionEvent::Checkpointed { blob, .. }) = event else { return None };
        Some(blob)
    };
    events(sandbox).into_iter().filter_map(blob).collect()
}

#[test]
fn a_session_with_a_handoff_is_briefed_through_it() {
    let sandbox = shop();
    capture(&sandbox);
    put(&sandbox, "newer", "planned", 28, "");
    put(&sandbox, "saved", "planned", 1, &format!("  state: {{recovery: {{session: {ID}}}}}\n"));
    let text = plain(&sandbox).briefing.text;
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
    assert!(at("Summary of saved") < at("Summary of newer"), "{text}");
    // The author's text replaces the derived one; facts are shown next to it.
    assert!(!text.contains("Make the market pages fast again"), "{text}");
    assert!(at("Last session: Claude Code 5e550001") > 0, "{text}");
}

#[test]
fn a_handoff_that_did_not_pass_the_gate_does_not_hide_its_session() {
    let sandbox = shop();
    capture(&sandbox);
    let gate = |passed: bool| {
        let recovery = format!("recovery: {{client: claude-code, session: {ID}}}");
        format!("  state: {{{recovery}, quality_gates: {{passed: {passed}}}}}\n")
    };
    put(&sandbox, "saved", "planned", 1, &gate(false));
    // A later session is the one that is briefed.
    let later = "5e550002-4c00-7000-8000-00000000bbbb";
    let path = sandbox.home().join(format!("{later}.jsonl"));
    let root = sandbox.root().display();
    let record = format!(
        r#"{{"type":"user","uuid":"z1","parentUuid":null,"sessionId":"{later}","cwd":"{root}","timestamp":"2026-03-21T09:00:00.000Z","message":{{"role":"user","content":"What time is it?"}}}}"#
    );
    std::fs::write(&path, record + "\n").unwrap();
    let client = clients::find("claude-code");
    verbs::checkpoint(
        &open(sandbox.root()),
        &SessionChoice::Transcript(path),
        client,
        CheckpointMode::Auto,
    )
    .unwrap();
    let corrected = "Do not touch the pages, only the cache.";
    let told = plain(&sandbox);
    assert_eq!(
        told.predecessor.unwrap().session,
        SessionId::new(ID),
        "a trivial session hides nothing"
    );
    assert!(told.briefing.text.contains(corrected), "{}", told.briefing.text);
    assert!(told.briefing.text.contains("npm run build"), "{}", told.briefing.text);
    // A handoff that passed the gate replaces its session.
    put(&sandbox, "saved", "planned", 1, &gate(true));
    let text = plain(&sandbox).briefing.text;
    assert!(!text.contains(corrected), "{text}");
}

#[test]
fn an_agent_that_begins_a_handoff_in_a_known_session_acknowledges_it() {
    use midstride::journal::RevisionInfo;
    use midstride_core::format::header::RevisionVerb;
    let sandbox = shop();
    put(&sandbox, "open", "planned", 2, "");
    let mut environment = open(sandbox.root()).workspace().environment().clone();
    environment.session = SessionName::parse("claude-code", ID);
    let store = Store::new(Workspace::discover(environment).unwrap(), WaitPolicy::Command);
    let change = RevisionInfo::by_verb(RevisionVerb::Start, "started", None);
    let begin = |store: &Store| {
        let shelved = store.workspace().find("open").unwrap();
        verbs::apply(store, &shelved, &midstride_core::handoff::lifecycle::start, &change)
    };
    begin(&store).unwrap();
    let acknowledged = |store: &Store| {
        verbs::delivery_records(store, &store.workspace().find("open").unwrap())
            .unwrap()
            .acknowledged
    };
    let told = acknowledged(&store);
    assert_eq!((told.len(), told[0].session.as_str(), told[0].revision), (1, ID, Some(2)));
    let shelved = store.workspace().find("open").unwrap();
    let session = SessionName::parse("claude-code", ID).unwrap();
    assert_eq!(verbs::acknowledge(&store, &session, &[&shelved], "brief").unwrap(), 0);
    let other = SessionName::parse("codex", "s").unwrap();
    assert_eq!(verbs::acknowledge(&store, &other, &[&shelved], "brief").unwrap(), 1);
    assert_eq!(acknowledged(&store).len(), 2);
}

/// Checkpoints of every transcript in a folder, read as either client's.
fn checkpoints(folder: &Path) -> Vec<Checkpoint> {
    let mut found = Vec::new();
    for path in transcripts(folder) {
        let text = std::fs::read(&path).unwrap();
        let name = path.display().to_string();
        found.extend(clients::ALL.map(|client| checkpoint(client.name(), &text, &name)));
    }
    found
}

fn transcripts(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(transcripts(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn checkpoint(client: &str, text: &[u8], name: &str) -> Checkpoint {
    use midstride_core::session::transcript::LineSplitter;
    let mut cursor = cursor(client);
    LineSplitter::default().feed(text, &mut |piece| cursor.take(piece));
    cursor.session.settle();
    let around = CheckpointContext {
        at: midstride_testkit::NOW.parse().unwrap(),
        commit: None,
        branch: Some("main".to_owned()),
        plan_documents: Vec::new(),
        on_disk: std::collections::BTreeMap::new(),
        ..CheckpointContext::default()
    };
    Checkpoint::new(cursor.session, name.to_owned(), 1, CheckpointMode::Auto, around)
}

/// The budget for a client that also counts UTF-16 units.
fn budget(tokens: u64) -> Budget {
    Budget { tokens, utf16_units: client("claude-code").profile().hook_utf16_units_max }
}

/// The complete material of a session, for a client that counts.
fn material(gist: &SessionSummary) -> Material {
    Material {
        tools: client("claude-code").profile().tools,
        occasion: BriefOccasion::Compact,
        role: None,
        branch: Some("main".to_owned()),
        startup: Vec::new(),
        items: items::session_items(gist, "Claude Code"),
        unread: 0,
        show_all: vec!["midstride".to_owned(), "brief".to_owned()],
        headline: None,
    }
}

#[test]
fn no_briefing_exceeds_its_budget() {
    check_budgets(&checkpoints(&fixtures("transcripts")));
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn no_briefing_about_a_corpus_session_exceeds_its_budget() {
    check_budgets(&checkpoints(&corpus("transcripts")));
}

fn check_budgets(checkpoints: &[Checkpoint]) {
    assert!(checkpoints.len() >= 2);
    for checkpoint in checkpoints {
        let gist = SessionSummary::from_checkpoint(checkpoint);
        assert_eq!(
            SessionSummary::parse(&serde_json::to_vec(&gist).unwrap()).as_ref(),
            Some(&gist)
        );
        let material = material(&gist);
        for tokens in (200..=8_000).step_by(300) {
            let budget = budget(tokens);
            let briefing = compose(&material, budget);
            let cost = estimate(&briefing.text);
            assert!(cost <= tokens, "{} > {tokens}: {}", cost, checkpoint.transcript);
            assert_eq!(cost, briefing.tokens);
            assert!(briefing.text.encode_utf16().count() <= 10_000);
            assert_eq!(compose(&material, budget), briefing);
            let elsewhere = briefing.repeated.len() + briefing.merged.len();
            let accounted = briefing.included.len() + elsewhere + briefing.omitted.len();
            assert_eq!(accounted, material.items.len(), "nothing is cut silently");
        }
    }
}

/// What the next session must not lose: its kind, how to recognize it, and whether required: action.
/// Found without the session summary.
fn happened(checkpoint: &Checkpoint) -> Vec<(&'static str, String, bool)> {
    const CHECKS: [&str; 6] =
        ["npm test", "npm run build", "cargo test", "go test", "pytest", "make test"];
    let session = &checkpoint.session;
    let mut found = Vec::new();
    // A check that failed and was not run again by a command with the same words. Other failing
    // commands, such as a search without hits, do not matter to the next session.
    for (at, command) in session.commands.items.iter().enumerate() {
        let is_check = CHECKS.iter().any(|check| command.text.trim() == *check);
        if command.exit == CommandStatus::Failed && is_check && command.seen.agent.is_none() {
            let mut later = session.commands.items[at + 1..].iter();
            let again = later.any(|one| one.text.contains(command.text.trim()));
            if !again && !checkpoint.is_abandoned(&command.seen) {
                found.push(("failed check", beginning(&command.text), true));
            }
        }
    }
    for (path, _) in session.files.changed() {
        let below = session.cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd));
        found.push(("changed path", letters(below.unwrap_or(path)), false));
    }
    for request in session.requests.iter().filter(|one| !intent::is_trivial(&one.text)) {
        let corrects = request.correction.is_some();
        let open = corrects && !checkpoint.is_abandoned(&request.seen);
        let kind = if corrects { "correction" } else { "request" };
        found.push((kind, beginning(&request.text), open));
    }
    let open = session.tasks.iter().filter(|task| task.status.is_open());
    found.extend(open.map(|task| ("open task", beginning(&task.subject), true)));
    for agent in session.agents.iter().filter(|agent| agent.state == AgentState::InFlight) {
        let asked = agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default();
        let open = !checkpoint.is_abandoned(&agent.seen);
        found.push(("agent in flight", beginning(asked), open));
    }
    found
}

/// A text in which paths listed by folder, `src/: a.rs, b.rs`, are written out.
fn with_paths(text: &str) -> String {
    let mut all = text.to_owned();
    for (folder, names) in text.split(['`', ';']).filter_map(|part| part.split_once("/: ")) {
        for name in names.split(", ") {
            all.push_str(&format!("\n{}/{name}", folder.trim()));
        }
    }
    all
}

/// Only letters and digits, because punctuation may change.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A text may be truncated, but must stay recognizable.
fn beginning(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    letters(&first.chars().take(60).collect::<String>())
}

#[test]
fn a_briefing_accounts_for_everything_that_happened() {
    let kinds = check_accounts(&checkpoints(&fixtures("transcripts")));
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn a_briefing_accounts_for_everything_that_happened_in_a_corpus_session() {
    let kinds = check_accounts(&checkpoints(&corpus("transcripts")));
    assert!(kinds.values().sum::<usize>() > 100, "{kinds:?}");
}

/// Checks what happened in each session, and returns how often each kind of it did.
fn check_accounts(checkpoints: &[Checkpoint]) -> std::collections::BTreeMap<&'static str, usize> {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for checkpoint in checkpoints {
        let material = material(&SessionSummary::from_checkpoint(checkpoint));
        let briefing = compose(&material, budget(2_000));
        let text = letters(&with_paths(&briefing.text));
        let omitted = briefing.omitted.iter().map(|one| letters(&with_paths(&one.text())));
        let omitted: Vec<String> = omitted.collect();
        for (kind, known, open) in happened(checkpoint) {
            *counts.entry(kind).or_default() += 1;
            let told = text.contains(&known);
            let listed = omitted.iter().any(|one| one.contains(&known));
            let what = format!("{kind} {known} of {}", checkpoint.transcript);
            assert!(told || listed, "neither told nor left out: {what}");
            assert!(told || !open, "to be done something about, and not told: {what}");
        }
    }
    counts
}

/// A session that did a lot.
fn busy(times: usize) -> Checkpoint {
    let mut lines = Vec::new();
    let mut line = |number: usize, message: serde_json::Value| {
        let kind = message["role"].as_str().unwrap().to_owned();
        let record = serde_json::json!({
            "type": kind, "uuid": format!("r{number}"), "sessionId": "busy", "cwd": "/work",
            "timestamp": "2026-03-01T08:00:00Z", "message": message,
        });
        lines.push(record.to_string());
    };
    for at in 0..times {
        let call = |name: &str, input: serde_json::Value| serde_json::json!({"type": "tool_use", "id": format!("{name}{at}"), "name": name, "input": input});
        let result = |name: &str, failed: bool| {
            let id = format!("{name}{at}");
            serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": failed})
        };
        let asked = format!("Request number {at}: {}", "make it so ".repeat(9));
        line(at * 4, serde_json::json!({"role": "user", "content": asked}));
        let calls = [
            call("Bash", serde_json::json!({"command": format!("make part-{at}")})),
            call(
                "Write",
                serde_json::json!({"file_path": format!("/work/src/part-{at}.rs"), "content": "x"}),
            ),
        ];
        line(at * 4 + 1, serde_json::json!({"role": "assistant", "content": calls}));
        let results = [result("Bash", true), result("Write", false)];
        line(at * 4 + 2, serde_json::json!({"role": "user", "content": results}));
    }
    lines.push(String::new());
    checkpoint("claude-code", lines.join("\n").as_bytes(), "busy")
}

#[test]
fn items_of_a_busy_session_are_named_or_counted() {
    let account = |checkpoint: &Checkpoint| {
        let gist = SessionSummary::from_checkpoint(checkpoint);
        let briefing = compose(&material(&gist), budget(2_000));
        (gist, briefing)
    };
    // Hundreds of items are all named.
    let some = busy(300);
    let (gist, briefing) = account(&some);
    assert_eq!((gist.items.len(), gist.left_out.len()), (900, 0));
    let omitted = briefing.omitted.iter().map(|one| letters(&with_paths(&one.text())));
    let omitted: Vec<String> = omitted.collect();
    let text = letters(&with_paths(&briefing.text));
    for (kind, known, _) in happened(&some) {
        let listed = || omitted.iter().any(|one| one.contains(&known));
        assert!(text.contains(&known) || listed(), "{kind} {known}");
    }
    assert!(!briefing.text.contains("Nothing omitted"), "{}", briefing.text);
    // Of thousands, some are only counted, and the text says so.
    let (gist, briefing) = account(&busy(3_000));
    let counted: usize = gist.left_out.values().sum();
    assert_eq!(gist.items.len() + counted, 9_000);
    assert!(counted > 0);
    assert!(serde_json::to_vec(&gist).unwrap().len() < 512 << 10);
    let told = briefing.text.lines().find(|line| line.starts_with("Not listed here"));
    let numbers = told.unwrap_or_else(|| panic!("{}", briefing.text)).split('×').skip(1);
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let said: usize = numbers.map(|one| digits(one).parse::<usize>().unwrap()).sum();
    assert_eq!(said, counted, "{told:?}");
}

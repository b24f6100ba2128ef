//! Tests of the fold of standing instructions, and of the instructions found in sessions.

use crate::transcripts::read;
use jiff::Timestamp;
use midstride_core::session::Session;
use midstride_core::session::instruction::{
    Instruction, InstructionId, InstructionState, Instructions,
};
use midstride_core::text::id::SessionId;
use midstride_core::work::event::{Envelope, Event, InstructionEvent};
use proptest::prelude::*;
use proptest::sample::select;

fn id(session: &str, text: &str) -> InstructionId {
    InstructionId::from_record(&SessionId::new(session), "r1", text)
}

fn given(session: &str, text: &str, branch: Option<&str>) -> InstructionEvent {
    InstructionEvent::Given {
        id: id(session, text).as_str().to_owned(),
        text: text.to_owned(),
        branch: branch.map(str::to_owned),
        client: "codex".into(),
        session: SessionId::new(session),
        record: "r1".into(),
        headless: false,
    }
}

fn dismissed(session: &str, text: &str, wrong: bool) -> InstructionEvent {
    InstructionEvent::Dismissed { id: id(session, text).as_str().to_owned(), wrong }
}

fn revoked(session: &str, text: &str) -> InstructionEvent {
    let id = id(session, text).as_str().to_owned();
    InstructionEvent::Revoked { id, session: SessionId::new("later"), record: "r9".into() }
}

fn envelope(second: i64, event: InstructionEvent) -> Envelope {
    let time = Timestamp::from_second(1_774_000_000 + second).unwrap();
    let id = format!("{second}-{}", event.id());
    Envelope {
        id,
        time,
        source: "tester".into(),
        received_from: None,
        event: Event::Instruction(event),
    }
}

fn texts<'i>(all: &'i Instructions, branch: Option<&str>) -> Vec<&'i str> {
    all.active(branch).iter().map(|one| one.text.as_str()).collect()
}

#[test]
fn an_instruction_applies_on_its_branch_until_the_user_closes_it() {
    let web = given("s1", "never touch web/", Some("fix"));
    let push = given("s1", "do not push", None);
    let mut events = vec![envelope(1, web), envelope(2, push)];
    let all = Instructions::fold(&events);
    assert_eq!(texts(&all, Some("fix")), ["never touch web/", "do not push"]);
    assert_eq!(texts(&all, Some("main")), ["do not push"]);
    assert_eq!(texts(&all, None), ["do not push"]);
    events.push(envelope(3, revoked("s1", "do not push")));
    events.push(envelope(4, dismissed("s1", "never touch web/", true)));
    let all = Instructions::fold(&events);
    assert_eq!(texts(&all, Some("fix")), [""; 0]);
    let is_wrong = |one: &&Instruction| one.state == InstructionState::Dismissed { wrong: true };
    assert_eq!(all.iter().filter(is_wrong).count(), 1);
    events.push(envelope(5, given("s2", "do not push", None)));
    assert_eq!(texts(&Instructions::fold(&events), None), ["do not push"], "given again");
}

#[test]
fn an_instruction_follows_a_branch_to_its_new_name() {
    let later = given("s2", "given on another branch of that name", Some("fix"));
    let events = [envelope(1, given("s1", "never touch web/", Some("fix"))), envelope(9, later)];
    let all = Instructions::fold(&events);
    assert!(all.has_elsewhere("fix-menu") && !all.has_elsewhere("fix"));
    let at = Timestamp::from_second(1_774_000_000 + 5).unwrap();
    let all = all.with_renamed_branch("fix", "fix-menu", at);
    assert_eq!(texts(&all, Some("fix-menu")), ["never touch web/"]);
    assert_eq!(texts(&all, Some("fix")), ["given on another branch of that name"]);
}

#[test]
fn duplicate_instructions_count_once_and_close_together() {
    let mut events = vec![
        envelope(1, given("s1", "no mocks", None)),
        envelope(2, given("s2", "no mocks", None)),
        envelope(2, given("s2", "no mocks", None)),
    ];
    assert_eq!(texts(&Instructions::fold(&events), None), ["no mocks"]);
    events.push(envelope(3, dismissed("s2", "no mocks", false)));
    let all = Instructions::fold(&events);
    assert_eq!(texts(&all, None), [""; 0]);
    let state = InstructionState::Dismissed { wrong: false };
    assert!(all.iter().all(|one| one.state == state));
}

#[test]
fn a_handle_finds_an_instruction() {
    let all = Instructions::fold(&[envelope(1, given("s1", "no mocks", None))]);
    let id = id("s1", "no mocks");
    assert_eq!(all.find(&id.short()).len(), 1);
    assert_eq!(all.find(&id.as_str()[..4]).len(), 1);
    assert_eq!(all.find("i-").len(), 0);
    assert_eq!(all.find("i-zz").len(), 0);
    assert_eq!(InstructionId::parse(id.as_str()), Some(id));
    assert_eq!(InstructionId::parse("../x"), None);
}

fn session(id: &str, prompts: &[&str]) -> Session {
    session_from("cli", id, prompts)
}

/// A session started by a user (`cli`) or a script (`sdk-cli`).
fn session_from(entrypoint: &str, id: &str, prompts: &[&str]) -> Session {
    let record = |(number, text): (usize, &&str)| {
        format!(
            r#"{{"type":"user","sessionId":"{id}","entrypoint":"{entrypoint}","uuid":"{number}","timestamp":"2026-03-21T17:0{number}:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    };
    let text: String = prompts.iter().enumerate().map(record).collect();
    read("claude-code", text.as_bytes())
}

/// Records the instructions of a session, as a verb would.
fn record(events: &mut Vec<Envelope>, session: &Session) -> usize {
    let told = Instructions::fold(events.iter()).events_from_session(session, Some("fix"));
    for one in &told {
        let id = format!("{}-{}", events.len(), one.event.id());
        let event = Event::Instruction(one.event.clone());
        events.push(Envelope {
            id,
            time: one.at.unwrap(),
            source: "tester".into(),
            received_from: None,
            event,
        });
    }
    told.len()
}

#[test]
fn a_script_cannot_revoke_a_user_instruction() {
    let rule = "Never touch web/.";
    let allowed = "You may touch web/ now.";
    let mut events = Vec::new();
    record(&mut events, &session("a", &[rule]));
    record(&mut events, &session_from("sdk-cli", "b", &["Fix it", allowed]));
    assert_eq!(texts(&Instructions::fold(&events), Some("fix")), [rule]);
    // Not even if the script said it first.
    record(&mut events, &session_from("sdk-cli", "c", &[rule, "Fix it", allowed]));
    assert_eq!(texts(&Instructions::fold(&events), Some("fix")), [rule]);
    record(&mut events, &session("d", &["Fix it", "And now", "Then", allowed]));
    assert_eq!(texts(&Instructions::fold(&events), Some("fix")), [""; 0]);
}

#[test]
fn a_script_instruction_applies_until_anyone_revokes_it() {
    for taker in ["sdk-cli", "cli"] {
        let mut events = Vec::new();
        record(&mut events, &session_from("sdk-cli", "a", &["Never touch web/."]));
        assert_eq!(texts(&Instructions::fold(&events), Some("fix")), ["Never touch web/."]);
        record(&mut events, &session_from(taker, "b", &["Fix it", "You may touch web/ now."]));
        assert_eq!(texts(&Instructions::fold(&events), Some("fix")), [""; 0], "{taker}");
    }
}

#[test]
fn a_session_yields_given_and_revoked_instructions() {
    let first = session("a", &["Fix the menu. Never touch web/.", "do not push without asking"]);
    let mut events = Vec::new();
    assert_eq!(record(&mut events, &first), 2);
    assert_eq!(record(&mut events, &first), 0, "told once");
    let active = ["Never touch web/.", "do not push without asking"];
    assert_eq!(texts(&Instructions::fold(&events), Some("fix")), active);

    let later = session("b", &["next: the footer", "ok, you can touch web/ now"]);
    assert_eq!(record(&mut events, &later), 1);
    assert_eq!(record(&mut events, &later), 0, "told once");
    assert_eq!(texts(&Instructions::fold(&events), Some("fix")), active[1..]);
    assert_eq!(record(&mut events, &first), 0, "an old session gives nothing again");
}

fn events() -> impl Strategy<Value = Vec<Envelope>> {
    let session = || select(vec!["s1", "s2", "s3"]);
    let text = || select(vec!["no mocks", "never touch web/"]);
    let branch = select(vec![None, Some("fix")]);
    let event = prop_oneof![
        3 => (session(), text(), branch).prop_map(|(s, t, b)| given(s, t, b)),
        1 => (session(), text(), any::<bool>()).prop_map(|(s, t, w)| dismissed(s, t, w)),
        1 => (session(), text()).prop_map(|(s, t)| revoked(s, t)),
    ];
    prop::collection::vec((0..4_i64, event), 0..12)
        .prop_map(|list| list.into_iter().map(|(second, event)| envelope(second, event)).collect())
}

proptest! {
    #[test]
    fn the_order_of_events_does_not_matter(events in events(), turn in any::<prop::sample::Index>()) {
        let whole = Instructions::fold(&events);
        let at = if events.is_empty() { 0 } else { turn.index(events.len()) };
        let turned = events[at..].iter().chain(&events[..at]).rev();
        prop_assert_eq!(&Instructions::fold(turned), &whole);
        let twice = events.iter().chain(events.iter().rev());
        prop_assert_eq!(&Instructions::fold(twice), &whole);
    }
}

#[test]
fn a_codex_exec_session_counts_as_a_script() {
    let started = |originator: &str| {
        let record = format!(
            r#"{{"timestamp":"2026-03-21T17:00:00Z","type":"session_meta","payload":{{"id":"s","cwd":"/work","originator":"{originator}"}}}}"#
        );
        read("codex", format!("{record}\n").as_bytes()).headless
    };
    assert!(started("codex_exec") && !started("codex-tui"));
}

use super::*;
use crate::text::id::Uid;
use crate::work::event::TaskChange;

fn id(number: u8) -> TaskId {
    TaskId::parse(&format!("0198c0f2-4c00-7000-8000-0000000000{number:02x}")).unwrap()
}

fn at(second: u32, name: &str, event: TaskEvent) -> Envelope {
    let time = Timestamp::from_second(1_774_000_000 + i64::from(second)).unwrap();
    Envelope {
        id: name.to_owned(),
        time,
        source: "tester".into(),
        received_from: None,
        event: Event::Task(event),
    }
}

fn added(subject: &str, before: &[u8]) -> TaskEvent {
    let depends_on = before.iter().map(|number| id(*number)).collect();
    NewTask { subject: subject.to_owned(), depends_on, ..NewTask::default() }.to_event()
}

fn status(status: TaskStatus) -> TaskEvent {
    TaskEvent::Changed(TaskChange { status: Some(status), ..TaskChange::default() })
}

/// Tasks by number, each with its dependencies and its status.
fn chain(tasks: &[(u8, &[u8], TaskStatus)]) -> Tasks {
    let events: Vec<(TaskId, Envelope)> = tasks
        .iter()
        .flat_map(|(number, before, new_status)| {
            let begin = at(0, &format!("a{number}"), added("x", before));
            let change = at(1, &format!("b{number}"), status(*new_status));
            [(id(*number), begin), (id(*number), change)]
        })
        .collect();
    Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)))
}

#[test]
fn a_task_is_ready_once_its_dependencies_are_done() {
    use TaskStatus::{Done, Dropped, Pending};
    let tasks =
        chain(&[(1, &[], Done), (2, &[1], Pending), (3, &[2], Pending), (4, &[9], Pending)]);
    let ready = |number| tasks.is_ready(tasks.get(&id(number)).unwrap());
    assert!(ready(2) && !ready(1) && !ready(3) && !ready(4));
    let four = tasks.get(&id(4)).unwrap();
    assert_eq!(tasks.awaited_tasks(four), [AwaitedTask { id: &id(9), status: None }]);
    assert!(tasks.is_blocked(four));
    let tasks = chain(&[(1, &[], Dropped), (2, &[1], Pending)]);
    let two = tasks.get(&id(2)).unwrap();
    assert_eq!(tasks.awaited_tasks(two), [AwaitedTask { id: &id(1), status: Some(Dropped) }]);
}

#[test]
fn dependency_cycles_are_refused_and_reported() {
    use TaskStatus::Pending;
    let tasks = chain(&[(1, &[2], Pending), (2, &[3], Pending), (3, &[], Pending)]);
    let wait = |number, before| {
        let patch = TaskPatch { depends_on: [id(before)].into(), ..TaskPatch::default() };
        tasks.change(tasks.get(&id(number)).unwrap(), &patch)
    };
    assert_eq!(wait(3, 3), Err(TaskRefusal::DependsOnItself));
    assert_eq!(wait(3, 1), Err(TaskRefusal::DependencyCycle([3, 1, 2, 3].map(id).to_vec())));
    assert!(wait(1, 3).is_ok());
    assert!(tasks.cycles().is_empty());
    // Two clones together can create a cycle. It is reported, and the search still ends.
    let tasks =
        chain(&[(1, &[2], Pending), (2, &[3], Pending), (3, &[1], Pending), (4, &[1], Pending)]);
    assert_eq!(tasks.cycles(), [[1, 2, 3].map(id).to_vec()]);
    let tasks = chain(&[(1, &[2], TaskStatus::Done), (2, &[1], Pending)]);
    assert!(tasks.cycles().is_empty(), "what is done keeps nobody waiting");
}

#[test]
fn a_long_chain_is_walked_without_a_deep_stack() {
    let uid = |n: u32| TaskId::parse(&format!("0198c0f2-4c00-7000-8000-0000{n:08x}")).unwrap();
    let long = 50_000;
    let events: Vec<(TaskId, Envelope)> = (0..long)
        .map(|n| {
            let depends_on = [uid((n + 1) % long)].into();
            let event = NewTask { depends_on, ..NewTask::default() }.to_event();
            (uid(n), at(0, &format!("{n}"), event))
        })
        .collect();
    let tasks = Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)));
    assert_eq!(tasks.cycles()[0].len(), usize::try_from(long).unwrap());
}

#[test]
fn other_events_override_a_task_from_a_handoff() {
    let carried = TaskEvent::Carried {
        subject: "old".into(),
        description: None,
        status: TaskStatus::InProgress,
        reason: None,
        depends_on: BTreeSet::new(),
        metadata: [("agent_id".to_owned(), "abc".to_owned())].into(),
        handoff: Some(Uid::new("h")),
    };
    // It arrives late but describes an earlier state.
    let carried = at(9, "c", carried);
    let alone = Task::fold(&id(1), [&carried]).unwrap();
    assert_eq!((alone.subject.as_str(), alone.status), ("old", TaskStatus::InProgress));
    let own = [at(1, "a", added("new", &[])), at(2, "b", status(TaskStatus::Done))];
    let both = Task::fold(&id(1), own.iter().chain([&carried])).unwrap();
    assert_eq!((both.subject.as_str(), both.status), ("new", TaskStatus::Done));
    assert_eq!(both.metadata["agent_id"], "abc");
}

#[test]
fn a_task_with_unknown_events_cannot_be_changed() {
    let mut envelope = at(1, "n", added("x", &[]));
    envelope.event = Event::parse("task.split", 1, serde_json::json!({"into": 2}));
    let begun = at(0, "a", added("x", &[]));
    let events = [(id(1), &begun), (id(1), &envelope)];
    let tasks = Tasks::fold(events);
    let task = tasks.get(&id(1)).unwrap();
    assert_eq!(task.subject, "x");
    let newer = TaskRefusal::NewerEvent("task.split".into());
    assert_eq!(tasks.change(task, &TaskPatch::default()), Err(newer.clone()));
    assert_eq!(task.note("x"), Err(newer));
}

#[test]
fn a_change_without_effect_is_refused() {
    let tasks = chain(&[(1, &[], TaskStatus::Done)]);
    let task = tasks.get(&id(1)).unwrap();
    let done = TaskPatch { status: Some(TaskStatus::Done), ..TaskPatch::default() };
    assert_eq!(tasks.change(task, &done), Err(TaskRefusal::AlreadyHasStatus(TaskStatus::Done)));
    assert_eq!(tasks.change(task, &TaskPatch::default()), Err(TaskRefusal::NoChange));
    let open = TaskPatch { status: Some(TaskStatus::Pending), ..TaskPatch::default() };
    assert!(tasks.change(task, &open).is_ok(), "a task can be opened again");
    let reason = TaskPatch { reason: Some("no key".into()), ..TaskPatch::default() };
    assert_eq!(tasks.change(task, &reason), Err(TaskRefusal::ReasonWithoutBlock));
}

#[test]
fn a_task_is_found_by_the_start_of_its_name() {
    let tasks = chain(&[(1, &[], TaskStatus::Pending), (33, &[], TaskStatus::Pending)]);
    assert_eq!(tasks.find("t-00000001").unwrap().id, id(1));
    assert_eq!(tasks.find(id(33).as_str()).unwrap().id, id(33));
    let several = tasks.find("t-0000").unwrap_err();
    assert!(matches!(several, TaskNotFound::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert_eq!(tasks.find("t-z"), Err(TaskNotFound::None("t-z".into())));
    assert_eq!(tasks.find(""), Err(TaskNotFound::None(String::new())));
}

#[test]
fn a_new_event_sorts_after_the_last_one() {
    let event = at(60, "a", added("x", &[]));
    let task = Task::fold(&id(1), [&event]).unwrap();
    let behind = Timestamp::from_second(1).unwrap();
    assert!(task.next_timestamp(behind).unwrap() > event.time);
    let ahead = Timestamp::from_second(2_000_000_000).unwrap();
    assert_eq!(task.next_timestamp(ahead), Some(ahead));
    let last = Envelope { time: Timestamp::MAX, ..event };
    let task = Task::fold(&id(1), [&last]).unwrap();
    assert_eq!(task.next_timestamp(ahead), None, "nothing comes after the end of time");
}

fn captured(list: &str, number: u8, status: TaskStatus) -> CapturedTask {
    let (client, task) = ("claude-code".to_owned(), number.to_string());
    let key = ClientTaskKey { client, list: list.to_owned(), task };
    let own = [(CLIENT, "claude-code"), (SESSION, list), (CLIENT_TASK, &key.task)];
    let metadata = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let (subject, description) = (format!("task {number}"), None);
    CapturedTask { key, subject, description, status, depends_on: BTreeSet::new(), metadata }
}

#[test]
fn a_repeated_session_report_does_not_undo_a_user_change() {
    use TaskStatus::{Done, InProgress, Pending};
    let begun = TaskEvent::Captured(captured("s", 1, InProgress));
    let events = [at(1, "a", begun.clone()), at(5, "b", status(Done))];
    let task = Task::fold(&id(1), &events).unwrap();
    assert_eq!((task.subject.as_str(), task.status), ("task 1", Done));
    assert_eq!(task.capture(captured("s", 1, InProgress)), None, "it was told before");
    // Captured again with another owner, then restarted by the session.
    let mut owned = captured("s", 1, InProgress);
    owned.metadata.insert("owner".into(), "reviewer".into());
    let again = at(7, "c", TaskEvent::Captured(owned));
    let task = Task::fold(&id(1), events.iter().chain([&again])).unwrap();
    assert_eq!((task.status, task.metadata["owner"].as_str()), (Done, "reviewer"));
    let later = [at(8, "d", TaskEvent::Captured(captured("s", 1, Pending))), at(9, "e", begun)];
    let all = events.iter().chain([&again]).chain(&later);
    let task = Task::fold(&id(1), all).unwrap();
    assert_eq!((task.status, task.metadata.get("owner")), (InProgress, None));
}

#[test]
fn linked_tasks_are_folded_into_one() {
    use TaskStatus::{Done, Pending};
    let before = NewTask { subject: "Warm the cache".into(), ..NewTask::default() };
    let waits = NewTask { depends_on: [id(2)].into(), ..before.clone() };
    let again = NewTask { subject: "t-00000001 Warm the cache".into(), ..before.clone() };
    let events = [
        (id(1), at(1, "a", before.to_event())),
        (id(2), at(3, "b", again.to_event())),
        (id(2), at(4, "c", TaskEvent::Linked { task: id(1).as_str().to_owned() })),
        (id(2), at(5, "d", TaskEvent::Captured(captured("s", 1, Done)))),
        (id(3), at(2, "e", waits.to_event())),
    ];
    let fold = |events: &[(TaskId, Envelope)]| {
        Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)))
    };
    let tasks = fold(&events);
    assert_eq!(tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>(), [id(1), id(3)]);
    let one = tasks.get(&id(2)).unwrap();
    assert_eq!((&one.id, one.subject.as_str(), one.status), (&id(1), "Warm the cache", Done));
    assert!(tasks.is_ready(tasks.get(&id(3)).unwrap()), "what it waits for is the same task");
    // Without the other task, it stays a separate task.
    assert_eq!(fold(&events[1..]).get(&id(2)).unwrap().status, Done);
    // Linked in a cycle, they are still one task.
    let back = at(6, "f", TaskEvent::Linked { task: id(2).as_str().to_owned() });
    let round: Vec<_> = events.iter().cloned().chain([(id(1), back)]).collect();
    assert_eq!(fold(&round).get(&id(2)).unwrap().id, id(1));
    assert_eq!(fold(&round).iter().filter(|task| task.status != Pending).count(), 1);
}

#[test]
fn a_client_task_matches_an_existing_one_only_when_certain() {
    use TaskStatus::Pending;
    let own = [(CLIENT, "claude-code"), (SESSION, "s")];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mine = NewTask { subject: "task 1".into(), metadata: own.into(), ..NewTask::default() };
    let theirs = NewTask { subject: "task 2".into(), ..NewTask::default() };
    let events = [(id(1), at(1, "a", mine.to_event())), (id(2), at(1, "b", theirs.to_event()))];
    let tasks = Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)));
    let same = |new: &CapturedTask, briefed: &str| {
        tasks.find_same_task(new, &id(9), briefed).map(|task| task.id.clone())
    };
    assert_eq!(same(&captured("s", 1, Pending), ""), Some(id(1)), "the session added it itself");
    assert_eq!(same(&captured("other", 1, Pending), ""), None);
    assert_eq!(same(&captured("s", 2, Pending), ""), None, "the same words are not enough");
    assert_eq!(same(&captured("s", 2, Pending), "Ready task (t-00000002)"), Some(id(2)));
    assert_eq!(same(&captured("s", 2, Pending), "in progress: \"task 2\""), Some(id(2)));
    assert_eq!(same(&captured("s", 2, Pending), "do task 2 next"), None);
    let called = |subject: &str| {
        let named = CapturedTask { subject: subject.into(), ..captured("s", 7, Pending) };
        same(&named, "")
    };
    for subject in ["t-00000002", "t-00000002 task 2", "t-00000002: Task 2", "[t-00000002] task 2"]
    {
        assert_eq!(called(subject), Some(id(2)), "{subject}");
    }
    for subject in ["t-00000002 and more", "t-00000002: undo it", "t-000000021", "see t-00000002"] {
        assert_eq!(called(subject), None, "{subject}");
    }
}

#[test]
fn a_task_listed_in_the_briefing_is_not_duplicated() {
    use TaskStatus::Pending;
    let reported = TaskEvent::Captured(captured("earlier", 4, Pending));
    let events = [(id(1), at(1, "a", reported))];
    let tasks = Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)));
    let new = CapturedTask { subject: "Task 4".into(), ..captured("s", 1, Pending) };
    let same = |page: &str| tasks.find_same_task(&new, &id(9), page).map(|task| task.id.clone());
    assert_eq!(same("Blocked task (tasks):\n> T-004 task 4 — no access\n"), Some(id(1)));
    assert_eq!(same("> T-004 something else\n"), None);
}

#[test]
fn a_client_number_names_a_task_only_while_unique() {
    use TaskStatus::{Done, Pending};
    let reported = |list: &str, number, status| TaskEvent::Captured(captured(list, number, status));
    let mut events = vec![
        (id(1), at(1, "a", reported("s", 4, Pending))),
        (id(2), at(1, "b", reported("r", 4, Done))),
    ];
    let fold = |events: &[(TaskId, Envelope)]| {
        Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)))
    };
    let tasks = fold(&events);
    assert_eq!(tasks.display_name(tasks.get(&id(1)).unwrap()), "T-004");
    assert_eq!(tasks.find("T-004").unwrap().id, id(1));
    assert_eq!(tasks.display_name_of(&id(2)), "t-00000002");
    events.push((id(3), at(1, "c", reported("q", 4, Pending))));
    let tasks = fold(&events);
    assert_eq!(tasks.display_name(tasks.get(&id(1)).unwrap()), "t-00000001");
    assert!(matches!(tasks.find("T-004"), Err(TaskNotFound::Ambiguous { .. })));
}

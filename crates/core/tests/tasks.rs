//! Tests of the fold of tasks: the result does not depend on the order in which events arrive.

use jiff::Timestamp;
use midstride_core::format::document::Document;
use midstride_core::text::id::{TaskId, Uid};
use midstride_core::text::yaml::YamlData;
use midstride_core::work::event::{
    CapturedTask, ClientTaskKey, Envelope, Event, TaskChange, TaskEvent, TaskStatus,
};
use midstride_core::work::task::{HandoffTask, NewTask, TaskPatch, TaskRefusal, Tasks};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

fn id(number: u8) -> TaskId {
    TaskId::parse(&format!("0198c0f2-4c00-7000-8000-0000000000{number:02x}")).unwrap()
}

fn words() -> impl Strategy<Value = String> {
    select(vec!["a", "b: c", "Größe", "- x", "#", "yes", "1", "two\nlines", "'"])
        .prop_map(str::to_owned)
}

fn status() -> impl Strategy<Value = TaskStatus> {
    select(TaskStatus::ALL.to_vec())
}

fn before() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set((0..5_u8).prop_map(|n| id(n).as_str().to_owned()), 0..3)
}

fn metadata() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map(
        select(vec!["agent_id".to_owned(), "mode".to_owned()]),
        words(),
        0..2,
    )
}

fn event() -> impl Strategy<Value = TaskEvent> {
    let added = (words(), prop::option::of(words()), before(), metadata()).prop_map(
        |(subject, description, depends_on, metadata)| TaskEvent::Added {
            subject,
            description,
            depends_on,
            metadata,
        },
    );
    let carried = (words(), status(), before(), metadata()).prop_map(
        |(subject, status, depends_on, metadata)| TaskEvent::Carried {
            subject,
            description: None,
            status,
            reason: Some("because".into()),
            depends_on,
            metadata,
            handoff: Some(Uid::new("uid")),
        },
    );
    let changes = prop::collection::btree_map(
        (0..5_u8).prop_map(|n| id(n).as_str().to_owned()),
        any::<bool>(),
        0..3,
    );
    let changed = (prop::option::of(words()), prop::option::of(status()), changes).prop_map(
        |(subject, status, depends_on)| {
            let reason = status.map(|_| "because".to_owned());
            TaskEvent::Changed(TaskChange {
                subject,
                status,
                reason,
                depends_on,
                ..TaskChange::default()
            })
        },
    );
    let noted = words().prop_map(|text| TaskEvent::Noted { text });
    let captured = (0..3_u8, words(), status(), before(), metadata()).prop_map(
        |(number, subject, status, depends_on, metadata)| {
            let (client, list) = ("claude-code".to_owned(), "s".to_owned());
            let key = ClientTaskKey { client, list, task: number.to_string() };
            TaskEvent::Captured(CapturedTask {
                key,
                subject,
                description: None,
                status,
                depends_on,
                metadata,
            })
        },
    );
    let linked = (0..5_u8).prop_map(|n| TaskEvent::Linked { task: id(n).as_str().to_owned() });
    prop_oneof![1 => added, 1 => carried, 4 => changed, 2 => noted, 3 => captured, 1 => linked]
}

/// Events of a few tasks. There are few different times, so that many events coincide.
fn events() -> impl Strategy<Value = Vec<(TaskId, Envelope)>> {
    let one = (0..5_u8, 0..4_i64, event());
    prop::collection::vec(one, 0..30).prop_map(|list| {
        let made = list.into_iter().enumerate().map(|(number, (task, second, event))| {
            let time = Timestamp::from_second(1_774_000_000 + second).unwrap();
            let source = "tester".to_owned();
            let id_of_event = format!("{:04x}", number.wrapping_mul(40_503) & 0xffff);
            (
                id(task),
                Envelope {
                    id: id_of_event,
                    time,
                    source,
                    received_from: None,
                    event: Event::Task(event),
                },
            )
        });
        made.collect()
    })
}

fn fold<'e>(events: impl IntoIterator<Item = &'e (TaskId, Envelope)>) -> Tasks {
    Tasks::fold(events.into_iter().map(|(id, envelope)| (id.clone(), envelope)))
}

proptest! {
    /// Events appended in any order, merged from partial clones, or duplicated give the same state.
    #[test]
    fn tasks_do_not_depend_on_the_order_of_events(
        events in events(),
        shuffled in any::<prop::sample::Index>(),
        parts in prop::collection::vec(0..4_u8, 30),
    ) {
        let whole = fold(&events);
        let turned = events.len().checked_sub(1).map_or(0, |last| shuffled.index(last + 1));
        let other_order = events[turned..].iter().chain(&events[..turned]).rev();
        prop_assert_eq!(&fold(other_order), &whole);
        // Each clone has some of the events; 3 means both have it.
        let clone = |which: u8| events.iter().zip(&parts).filter(move |(_, p)| *p & which != 0);
        let rest = events.iter().zip(&parts).filter(|(_, part)| **part == 0);
        let united = clone(2).chain(clone(1)).chain(rest).map(|(event, _)| event);
        prop_assert_eq!(&fold(united), &whole);
    }

    /// Two clones together may create a dependency cycle, but never an endless loop.
    #[test]
    fn cycles_are_reported_and_block_no_task(events in events()) {
        let tasks = fold(&events);
        for circle in tasks.cycles() {
            for (task, before) in circle.iter().zip(circle.iter().cycle().skip(1)) {
                prop_assert!(tasks.get(task).unwrap().depends_on.contains(before));
            }
        }
        for task in tasks.iter() {
            for other in 0..5 {
                let wish = TaskPatch { depends_on: [id(other)].into(), ..TaskPatch::default() };
                let made = tasks.change(task, &wish);
                let is_itself = tasks.get(&id(other)).is_some_and(|other| other.id == task.id);
                if is_itself && !task.depends_on.contains(&task.id) {
                    prop_assert_eq!(made, Err(TaskRefusal::DependsOnItself));
                }
            }
        }
    }

    /// An accepted change takes effect and creates no cycle.
    #[test]
    fn accepted_changes_take_effect(events in events(), which in 0..5_u8, other in 0..5_u8, to in status()) {
        let tasks = fold(&events);
        let Some(task) = tasks.get(&id(which)) else { return Ok(()) };
        let granted = |wish: &TaskPatch| {
            let event = Event::Task(tasks.change(task, wish).ok()?);
            let time = task.next_timestamp(Timestamp::from_second(0).unwrap())?;
            let made = Envelope { id: "0".into(), time, source: "x".into(), received_from: None, event };
            let more: Vec<_> = events.iter().cloned().chain([(id(which), made)]).collect();
            Some(fold(&more))
        };
        let wish = TaskPatch { status: Some(to), ..TaskPatch::default() };
        if let Some(after) = granted(&wish) {
            prop_assert_eq!(after.get(&id(which)).unwrap().status, to);
        }
        let wish = TaskPatch { depends_on: [id(other)].into(), ..TaskPatch::default() };
        if let Some(after) = granted(&wish) {
            let other = tasks.get(&id(other)).map_or(id(other), |other| other.id.clone());
            prop_assert!(after.get(&id(which)).unwrap().depends_on.contains(&other));
            prop_assert_eq!(after.cycles().is_empty(), tasks.cycles().is_empty());
        }
    }

    /// A task in a header parses back to the same task.
    #[test]
    fn a_task_in_a_header_parses_back(events in events()) {
        let tasks = fold(&events);
        let carried: Vec<HandoffTask> = tasks.iter().map(|task| HandoffTask::from_task(task, &tasks)).collect();
        let list = YamlData::List(carried.iter().map(HandoffTask::data).collect());
        let state = YamlData::map([("tasks", list)]);
        let text = Document::compose(&[("state", state)], "").render();
        let document = Document::parse(text.as_bytes());
        let node = document.handoff_header().unwrap().fields().get("state").unwrap().get("tasks");
        let read: Vec<HandoffTask> =
            node.unwrap().items().into_iter().filter_map(HandoffTask::from_node).collect();
        let whole = |carried: &&HandoffTask| !carried.subject.trim().is_empty();
        let expected: Vec<HandoffTask> = carried.iter().filter(whole).map(|carried| {
            let subject = carried.subject.lines().next().unwrap().to_owned();
            HandoffTask { subject, ..carried.clone() }
        }).collect();
        prop_assert_eq!(read, expected);
    }
}

#[test]
fn handwritten_entries_are_parsed() {
    let text = "---\nhandoff:\n  id: a\n  state:\n    tasks:\n      - Fix the login\n      - id: T-004\n        \
                subject: Wire the cache\n        status: completed\n        depends_on: T-003\n        \
                metadata: {agent_id: abc123}\n      - status: pending\n      - [odd]\n---\n";
    let document = Document::parse(text.as_bytes());
    let state = document.handoff_header().unwrap().fields().get("state").unwrap();
    let read: Vec<HandoffTask> = state
        .get("tasks")
        .unwrap()
        .items()
        .into_iter()
        .filter_map(HandoffTask::from_node)
        .collect();
    let named: Vec<(&str, &str)> =
        read.iter().map(|carried| (carried.id.as_str(), carried.subject.as_str())).collect();
    assert_eq!(named, [("Fix the login", "Fix the login"), ("T-004", "Wire the cache")]);
    assert_eq!(read[1].status, TaskStatus::Done);
    assert_eq!(read[1].depends_on, BTreeSet::from(["T-003".to_owned()]));
    assert_eq!(read[1].metadata["agent_id"], "abc123");
    assert!(read.iter().all(|carried| carried.uid.is_none()));
    let new = NewTask { subject: "x".into(), ..NewTask::default() };
    assert!(matches!(new.to_event(), TaskEvent::Added { .. }));
}

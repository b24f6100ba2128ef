//! How many appends per second one thread and many threads of one process record in a new ledger in a
//! folder: the measure of `scripts/bench-ledger`.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]

use jiff::Timestamp;
use midstride::store::ledger::{ExpectedVersion, Ledger as _, SqliteLedger, StreamId, WaitPolicy};
use midstride::sys::files::Root;
use midstride_core::work::event::{Envelope, Event, TaskEvent};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long each measurement takes.
const DURATION: Duration = Duration::from_secs(3);

/// Appends to one stream per thread until the time is up; returns the appends per second.
fn measure(ledger: &SqliteLedger, threads: usize) -> f64 {
    let start = Instant::now();
    let append = |thread: usize| {
        let stream = StreamId::from_name(&format!("bench/{threads}-{thread}"));
        let (mut version, mut count) = (None, 0_u32);
        while start.elapsed() < DURATION {
            let event = Envelope {
                id: format!("{threads}-{thread}-{count}"),
                time: Timestamp::UNIX_EPOCH,
                source: "bench".to_owned(),
                received_from: None,
                event: Event::Task(TaskEvent::Noted { text: "a note of some length".to_owned() }),
            };
            let expected = ExpectedVersion::after(version);
            version = Some(ledger.append(&stream, expected, &[event]).expect("it is appended"));
            count += 1;
        }
        count
    };
    let counts: Vec<u32> = std::thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || append(thread))).collect();
        running.into_iter().map(|one| one.join().expect("it ends")).collect()
    });
    f64::from(counts.iter().sum::<u32>()) / start.elapsed().as_secs_f64()
}

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of the ledger");
    let folder = Root::open(Path::new(&folder)).expect("the folder exists");
    let ledger = SqliteLedger::open_in(folder, WaitPolicy::Command).expect("a ledger");
    let one = measure(&ledger, 1);
    for threads in [8, 32] {
        let many = measure(&ledger, threads);
        println!(
            "{threads} threads: {many:.0} appends/s; one thread: {one:.0}; ratio {:.1}",
            many / one
        );
    }
}

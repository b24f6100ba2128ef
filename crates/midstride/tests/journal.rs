//! Tests of the write path with kills between any two steps, and at any moment.
//!
//! `MIDSTRIDE_CRASHES` sets how often at each step; `scripts/soak` uses a thousand.

use crate::{because, open_on_disk};
use midstride::journal::RecordStep;
use midstride::store::ledger::{Ledger as _, StreamId};
use midstride_core::format::document::Document;
use midstride_core::text::id::Uid;
use midstride_core::work::event::{Event, HandoffEvent};
use midstride_testkit::Sandbox;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The variable that tells the child process what to do.
const CRASH: &str = "MIDSTRIDE_TEST_CRASH";
const FILE: &str = ".midstride/handoffs/a.md";
/// The history grows with each change; fresh sandboxes keep the thousandth kill as fast as the
/// first.
const KILLS_PER_SANDBOX: usize = 20;

/// How often a child is killed at each step.
fn crashes() -> usize {
    let told = std::env::var("MIDSTRIDE_CRASHES").ok();
    told.map_or(4, |told| told.parse().expect("MIDSTRIDE_CRASHES is a number"))
}

/// A text whose completeness can be checked.
fn body(number: usize) -> String {
    format!("word {number}\n\n").repeat(300)
}

/// The number of the document's latest change.
fn number(text: &str) -> usize {
    let last = text.trim_end().rsplit(' ').next().unwrap();
    last.parse().unwrap_or_else(|_| panic!("the document is not whole: {text}"))
}

/// Makes the next change and returns its number.
fn record(root: &Path, reached: &dyn Fn(RecordStep)) -> usize {
    let project = open_on_disk(root);
    let shelved = project.workspace().find("a").unwrap();
    let text = shelved.document.text();
    let next = number(text) + 1;
    let text = text.replace(&body(next - 1), &body(next));
    let change = because(&format!("change {next}"));
    project.record(&shelved, &Document::parse(text.as_bytes()), &change, reached).unwrap();
    next
}

fn project(sandbox: Sandbox) -> Sandbox {
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(FILE, format!("---\nhandoff:\n  id: a\n  uid: one # ours\n---\n\n{}", body(0)));
    record(sandbox.root(), &|_| ());
    sandbox
}

/// Runs only as a child process of the tests below, and is killed on the way.
#[test]
fn child_that_is_killed() {
    let Some(told) = std::env::var_os(CRASH) else { return };
    let told = told.into_string().unwrap();
    let (step, root) = told.split_once(':').unwrap();
    // The number of changes is limited, so that the child exits even if it is not killed.
    for _ in 0..100 {
        let number = record(Path::new(root), &|reached| {
            if format!("{reached:?}") == step {
                std::process::abort();
            }
        });
        let mut out = std::io::stdout();
        writeln!(out, "\nacknowledged {number}").and_then(|()| out.flush()).unwrap();
    }
}

fn child(sandbox: &Sandbox, told: &str) -> Command {
    let mut command = sandbox.command(std::env::current_exe().unwrap());
    command.args(["--exact", "journal::child_that_is_killed", "--nocapture"]);
    command.env(CRASH, format!("{told}:{}", sandbox.root().display()));
    command
}

/// Asserts the state after a kill: the document is complete, at the acknowledged change or the one
/// after it, its history matches what happened, and the next change succeeds.
fn assert_sound(sandbox: &Sandbox, acknowledged: usize, about: &str) {
    let project = open_on_disk(sandbox.root());
    let found: Vec<_> = project.workspace().read_all().into_iter().map(Result::unwrap).collect();
    assert_eq!(found.len(), 1, "{about}: no reader takes a draft for a document");
    let text = found[0].document.text();
    let reached = number(text);
    assert!((acknowledged..=acknowledged + 1).contains(&reached), "{about}: at {reached}");
    assert!(text.ends_with(&format!("---\n\n{}", body(reached))), "{about}: {text}");
    assert_history(sandbox, reached, 2, about);
    let_a_minute_pass(sandbox);
    let folder = sandbox.root().join(".midstride/handoffs");
    assert_eq!(record(sandbox.root(), &|_| ()), reached + 1, "{about}");
    assert_history(sandbox, reached + 1, 2, about);
    assert_told(sandbox, reached + 1, about);
    let left = std::fs::read_dir(folder).unwrap();
    assert_eq!(left.count(), 1, "{about}: the next change takes away what was left");
    for repository in [".git", ".git/midstride/texts.git"] {
        if sandbox.root().join(repository).exists() {
            let fsck = ["--git-dir", repository, "fsck", "--no-dangling"];
            let run = sandbox.finish(sandbox.command("git").args(fsck));
            assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{about}: {run}");
        }
    }
}

/// Ages the lock left by a killed git by a minute, so that it counts as abandoned.
fn let_a_minute_pass(sandbox: &Sandbox) {
    for folder in ["refs/midstride", "refs/midstride-private", "midstride/texts.git/refs/midstride"]
    {
        let lock = format!(".git/{folder}/handoffs/one.lock");
        if let Ok(file) = File::options().write(true).open(sandbox.root().join(lock)) {
            file.set_modified(SystemTime::now() - Duration::from_mins(1)).unwrap();
        }
    }
}

/// Asserts that the history has every change up to this one once and in order, and nothing else,
/// and that the latest texts can be read.
fn assert_history(sandbox: &Sandbox, reached: usize, looked_at: usize, about: &str) {
    let project = open_on_disk(sandbox.root());
    let shelved = project.workspace().find("a").unwrap();
    let told = shelved.handoff(project.workspace()).revisions();
    let told: Vec<&str> = told.iter().filter_map(|entry| Some(entry.reason?.value)).collect();
    let expected: Vec<String> = (1..=reached).map(|change| format!("change {change}")).collect();
    assert_eq!(told, expected, "{about}");
    for change in reached.saturating_sub(looked_at)..=reached {
        let text = project.revision_text(&shelved, change + 1).unwrap();
        assert!(text.ends_with(body(change).as_bytes()), "{about}: @{}", change + 1);
    }
}

/// Asserts that the ledger has every change once and in order.
fn assert_told(sandbox: &Sandbox, reached: usize, about: &str) {
    let store = open_on_disk(sandbox.root());
    let ledger = store.ledger().unwrap();
    let records = ledger.read(&StreamId::handoff(&Uid::new("one")), None).unwrap();
    let events = records.into_iter().flat_map(|record| record.events);
    let told: Vec<String> = events
        .filter_map(|envelope| match envelope.event {
            Event::Handoff(HandoffEvent::Revised { reason, .. }) => reason,
            Event::Handoff(HandoffEvent::Captured { .. })
            | Event::Proof(_)
            | Event::Task(_)
            | Event::Mission(_)
            | Event::Session(_)
            | Event::Text(_)
            | Event::Workflow(_)
            | Event::Instruction(_)
            | Event::Unknown(_)
            | _ => None,
        })
        .collect();
    let expected: Vec<String> = (1..=reached).map(|change| format!("change {change}")).collect();
    assert_eq!(told, expected, "{about}");
}

/// Kills this many times, with a fresh sandbox now and then.
fn kill_often(
    count: usize,
    fresh: &dyn Fn() -> Sandbox,
    kill: &dyn Fn(&Sandbox, usize, usize) -> usize,
) {
    for first in (0..count).step_by(KILLS_PER_SANDBOX) {
        let sandbox = project(fresh());
        let mut reached = 1;
        for index in first..count.min(first + KILLS_PER_SANDBOX) {
            let acknowledged = kill(&sandbox, index, reached);
            assert_sound(&sandbox, acknowledged, &format!("kill {index}"));
            reached = number(&sandbox.read(FILE));
        }
        if open_on_disk(sandbox.root()).workspace().repository().is_some() {
            // Unreferenced objects are deleted; referenced ones stay.
            sandbox.git(&["gc", "--prune=now", "--quiet"]);
        }
        assert_history(&sandbox, reached, reached, "all of it");
    }
}

fn killed_at_every_step(fresh: &dyn Fn() -> Sandbox) {
    for step in RecordStep::ALL {
        kill_often(crashes(), fresh, &|sandbox, _, reached| {
            let run = sandbox.finish(&mut child(sandbox, &format!("{step:?}")));
            assert_eq!(run.code, None, "the child is killed by a signal: {run}");
            let written = step != RecordStep::TextsStored;
            assert_eq!(number(&sandbox.read(FILE)), reached + usize::from(written), "{step:?}");
            reached + usize::from(written)
        });
    }
}

#[test]
fn killed_at_any_step_nothing_is_lost() {
    killed_at_every_step(&|| Sandbox::new("").repository());
}

#[test]
fn killed_at_any_step_without_git_nothing_is_lost() {
    killed_at_every_step(&|| Sandbox::new(""));
}

/// Lets a child make consecutive changes, kills it from outside, and returns the last change that
/// it acknowledged.
fn kill_in_a_row(sandbox: &Sandbox, index: usize, reached: usize) -> usize {
    let mut random = Random(index as u64 + 1);
    let mut command = child(sandbox, "none");
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut acknowledged = reached;
    let mut told = |line: String| {
        let number = line.strip_prefix("acknowledged ").and_then(|number| number.parse().ok());
        acknowledged = number.unwrap_or(acknowledged);
        number.is_some()
    };
    let wait_for = random.below(3);
    let mut seen = 0;
    while seen < wait_for {
        seen += usize::from(told(lines.next().expect("it goes on until it is killed")));
    }
    // About as long as one change takes.
    let moment = Duration::from_micros(random.below(40_000) as u64);
    let from = Instant::now();
    while from.elapsed() < moment {
        std::hint::spin_loop();
    }
    // Kill only the process, or everything it started too.
    kill(sandbox, &mut child, index.is_multiple_of(2));
    for line in lines {
        told(line);
    }
    acknowledged
}

fn kill(sandbox: &Sandbox, child: &mut Child, with_its_children: bool) {
    if with_its_children {
        let group = format!("kill -9 -{}", child.id());
        sandbox.finish(sandbox.command("sh").args(["-c", &group])).exits(0);
    } else {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the child is killed by a signal");
}

/// Pseudorandom numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // The constants of Knuth's MMIX; its high bits are the good ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost() {
    kill_often(3 * crashes(), &|| Sandbox::new("").repository(), &kill_in_a_row);
}

#[test]
fn killed_at_any_moment_without_git_nothing_is_lost() {
    kill_often(3 * crashes(), &|| Sandbox::new(""), &kill_in_a_row);
}

#[test]
fn the_second_of_two_conflicting_revisions_is_refused() {
    let sandbox = project(Sandbox::new("").repository());
    let project = open_on_disk(sandbox.root());
    let (mine, theirs) =
        (project.workspace().find("a").unwrap(), project.workspace().find("a").unwrap());
    let next = |words: &str| {
        let text = mine.document.text().replace("word 1\n", &format!("word {words} 1\n"));
        Document::parse(text.as_bytes())
    };
    project.record(&mine, &next("mine"), &because("mine"), &|_| ()).unwrap();
    let refused = project.record(&theirs, &next("theirs"), &because("theirs"), &|_| ());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("another process changed"), "{refused}");
    assert!(sandbox.read(FILE).contains("word mine 1"));
}

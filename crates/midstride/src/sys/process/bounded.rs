//! Running a command that may do anything, within bounds.

use super::capped_output::CappedOutput;
use super::group::ProcessGroup;
use crate::sys::clock::Stopwatch;
use midstride_core::handoff::proof::TrialEnd;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Whoever was asked to end has so long to do it.
const GRACE: Duration = Duration::from_secs(1);
/// Who watches is told so often that it still runs.
const TICK: Duration = Duration::from_millis(500);

/// How long a command may run, and how much of its output is kept.
#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// After this time it is stopped.
    pub time: Duration,
    /// What it writes beyond this is counted, not kept.
    pub output_bytes: usize,
}

/// A command that was run.
#[derive(Debug)]
pub struct ProcessReport {
    /// How it ended.
    pub ended: TrialEnd,
    /// What it wrote, to standard output and standard error alike where they are not kept apart.
    pub output: CappedOutput,
    /// What it wrote to standard error, where that is kept apart.
    pub errors: CappedOutput,
    /// How long it ran.
    pub time: Duration,
}

/// Runs a command in a process group of its own, without input, and waits for it. Whatever it
/// started in that group is gone afterwards, and when we are gone. `watch` is told now and then how
/// long it runs.
pub fn run_bounded(
    mut command: Command,
    bounds: ProcessLimits,
    watch: &mut dyn FnMut(Duration),
) -> io::Result<ProcessReport> {
    command.stdin(Stdio::null());
    // One pipe for both, so that lines stand in the order in which they were written.
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    run(command, vec![reader], bounds, watch)
}

/// The same with something on standard input, and what it answers apart from what it complains of.
pub fn communicate_bounded(
    mut command: Command,
    input: Vec<u8>,
    bounds: ProcessLimits,
) -> io::Result<ProcessReport> {
    let (reader, mut writer) = io::pipe()?;
    command.stdin(reader);
    // Whoever does not read all of it says why with its exit code.
    std::thread::spawn(move || writer.write_all(&input));
    let (output, to_output) = io::pipe()?;
    let (errors, to_errors) = io::pipe()?;
    command.stdout(to_output).stderr(to_errors);
    run(command, vec![output, errors], bounds, &mut |_| ())
}

/// Runs a command that writes into these pipes: its output, and perhaps its errors.
fn run(
    mut command: Command,
    pipes: Vec<PipeReader>,
    bounds: ProcessLimits,
    watch: &mut dyn FnMut(Duration),
) -> io::Result<ProcessReport> {
    let group = ProcessGroup::start()?;
    group.add(&mut command);
    let stopwatch = Stopwatch::start();
    let child = command.spawn()?;
    // It holds the pipes open.
    drop(command);
    let kept = |reader| {
        let kept = Arc::new(Mutex::new(CappedOutput::with_limit(bounds.output_bytes)));
        (collect_output(reader, Arc::clone(&kept)), kept)
    };
    let collected: Vec<_> = pipes.into_iter().map(kept).collect();
    let ending = wait(child);
    let status = wait_until(&ending, bounds.time, stopwatch, watch);
    let time = stopwatch.elapsed();
    if status.is_none() {
        group.terminate();
        let _ = ending.recv_timeout(GRACE);
    }
    drop(group);
    if status.is_none() {
        let _ = ending.recv_timeout(GRACE);
    }
    // The pipe closes with its last holder. One that left the group could hold it for ever.
    let mut kept = collected.iter().map(|(closed, kept)| {
        let _ = closed.recv_timeout(GRACE);
        kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    });
    let (output, errors) = (kept.next().unwrap_or_default(), kept.next().unwrap_or_default());
    Ok(ProcessReport { ended: ending_of(status), output, errors, time })
}

/// Reads what is written, until nobody can write any more.
fn collect_output(mut reader: PipeReader, output: Arc<Mutex<CappedOutput>>) -> Receiver<()> {
    const CHUNK: usize = 64 << 10;
    let (close, closed) = channel();
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => {
                    output.lock().unwrap_or_else(PoisonError::into_inner).add(&chunk[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // Whoever waited may have gone on without.
        let _ = close.send(());
    });
    closed
}

fn wait(mut child: Child) -> Receiver<io::Result<ExitStatus>> {
    let (end, ending) = channel();
    std::thread::spawn(move || end.send(child.wait()));
    ending
}

/// How the command ended; `None` where its time was over before.
fn wait_until(
    ending: &Receiver<io::Result<ExitStatus>>,
    time: Duration,
    stopwatch: Stopwatch,
    watch: &mut dyn FnMut(Duration),
) -> Option<ExitStatus> {
    loop {
        let left = time.saturating_sub(stopwatch.elapsed());
        if left.is_zero() {
            return None;
        }
        match ending.recv_timeout(left.min(TICK)) {
            Ok(status) => return status.ok(),
            Err(RecvTimeoutError::Timeout) => watch(stopwatch.elapsed()),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn ending_of(status: Option<ExitStatus>) -> TrialEnd {
    let Some(status) = status else { return TrialEnd::TimedOut };
    match (status.code(), status.signal()) {
        (Some(code), _) => TrialEnd::Exit(code),
        (None, signal) => TrialEnd::Signal(signal.unwrap_or_default()),
    }
}

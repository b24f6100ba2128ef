//! Runs untrusted commands with a time limit and an output limit.

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

/// Time to exit after a request to terminate.
const GRACE: Duration = Duration::from_secs(1);
/// How often the caller is notified that the command is still running.
const TICK: Duration = Duration::from_millis(500);

/// The time and output limits of a command.
#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// Maximum run time.
    pub time: Duration,
    /// Maximum bytes of output kept. The rest is only counted.
    pub output_bytes: usize,
}

/// The result of a command.
#[derive(Debug)]
pub struct ProcessReport {
    /// How it ended.
    pub ended: TrialEnd,
    /// Its output; both streams, unless standard error is captured separately.
    pub output: CappedOutput,
    /// Its standard error, if captured separately.
    pub errors: CappedOutput,
    /// How long it ran.
    pub time: Duration,
}

/// Runs a command in its own process group, without input, and waits for it. All processes in that
/// group are killed afterwards, even if midstride itself is killed. `watch` is called regularly
/// with the time elapsed.
pub fn run_bounded(
    mut command: Command,
    bounds: ProcessLimits,
    watch: &mut dyn FnMut(Duration),
) -> io::Result<ProcessReport> {
    command.stdin(Stdio::null());
    // Both streams share one pipe, so that their lines stay in order.
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    run(command, vec![reader], bounds, watch)
}

/// The same with input, and with standard error captured separately.
pub fn communicate_bounded(
    mut command: Command,
    input: Vec<u8>,
    bounds: ProcessLimits,
) -> io::Result<ProcessReport> {
    let (reader, mut writer) = io::pipe()?;
    command.stdin(reader);
    // If the command does not read all of it, its exit code says why.
    std::thread::spawn(move || writer.write_all(&input));
    let (output, to_output) = io::pipe()?;
    let (errors, to_errors) = io::pipe()?;
    command.stdout(to_output).stderr(to_errors);
    run(command, vec![output, errors], bounds, &mut |_| ())
}

/// Runs a command that writes into these pipes: its output and optionally its errors.
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
    // The command holds the write ends of the pipes open.
    drop(command);
    let collect = |reader| {
        let kept = Arc::new(Mutex::new(CappedOutput::with_limit(bounds.output_bytes)));
        (collect_output(reader, Arc::clone(&kept)), kept)
    };
    let collected: Vec<_> = pipes.into_iter().map(collect).collect();
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
    // A pipe closes when its last writer exits. A process that left the group could keep it open
    // forever, so the wait is limited.
    let mut kept = collected.iter().map(|(closed, kept)| {
        let _ = closed.recv_timeout(GRACE);
        kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    });
    let (output, errors) = (kept.next().unwrap_or_default(), kept.next().unwrap_or_default());
    Ok(ProcessReport { ended: ending_of(status), output, errors, time })
}

/// Reads a pipe until all writers have closed it.
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
        // The receiver may have timed out already.
        let _ = close.send(());
    });
    closed
}

fn wait(mut child: Child) -> Receiver<io::Result<ExitStatus>> {
    let (end, ending) = channel();
    std::thread::spawn(move || end.send(child.wait()));
    ending
}

/// The exit status of the command, or `None` if it timed out.
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

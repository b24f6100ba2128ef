//! A group of processes that does not outlive us, however we end.
//!
//! Its leader is a guard that waits for the end of a pipe whose other end we hold. When we are gone,
//! by a signal from the terminal or by one that nobody can catch, the pipe closes and the guard kills
//! the group. As long as the guard is not reaped, nobody else can get the number of the group.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// The guard stays when the group is asked to end; it goes with the signal that ends all of it.
const GUARD: &str = "trap '' HUP INT QUIT TERM; read -r _; kill -KILL 0";

/// A group of processes; all of it ends with this value.
pub(super) struct ProcessGroup {
    guard: Child,
}

impl ProcessGroup {
    /// Starts an empty group.
    pub(super) fn start() -> io::Result<Self> {
        let mut guard = Command::new("/bin/sh");
        guard.args(["-c", GUARD]).env_clear().process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { guard: guard.spawn()? })
    }

    /// Makes a command start in this group.
    pub(super) fn add(&self, command: &mut Command) {
        command.process_group(self.number());
    }

    fn number(&self) -> i32 {
        i32::try_from(self.guard.id()).expect("the number of a process is small")
    }

    /// Asks every process of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.number()) {
            // Nothing is left to be told where this fails.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Reaped last: until then the number is its own.
        let _ = self.guard.wait();
    }
}

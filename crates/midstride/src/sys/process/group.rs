//! A process group that never outlives midstride.
//!
//! Its leader is a guard process that reads from a pipe whose other end midstride holds. When
//! midstride exits, even by an uncatchable signal, the pipe closes and the guard kills the group.
//! Until the guard is reaped, no other process group can get its id.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// The guard ignores requests to terminate and exits with the signal that kills the whole group.
const GUARD: &str = "trap '' HUP INT QUIT TERM; read -r _; kill -KILL 0";

/// A process group that is killed on drop.
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

    /// Asks every process in the group to exit.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.number()) {
            // A failure means that no process is left to signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Reap the guard last: until then, its group id cannot be reused.
        let _ = self.guard.wait();
    }
}

//! The ancestors of a process, from `/proc`. On a system without it no ancestors are known, so only
//! the variables of the process itself and its terminal tell who started it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Added to the path of a program that was replaced while it runs, for example by its update.
const DELETED: &[u8] = b" (deleted)";

/// A process that started another one, directly or through others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// The process id.
    pub pid: u64,
}

/// The ancestors of this process, nearest first, up to the first process of the system.
pub fn ancestors() -> Vec<Ancestor> {
    chain(own_parent())
}

/// Whether the ancestors of this process are known. On Linux they are, unless `/proc` is hidden.
pub(crate) fn are_ancestors_known() -> bool {
    !cfg!(target_os = "linux") || parent(u64::from(std::process::id())) == own_parent()
}

/// The ancestors of a process, nearest first.
pub fn ancestors_of(pid: u64) -> Vec<Ancestor> {
    chain(parent(pid))
}

fn chain(nearest: Option<u64>) -> Vec<Ancestor> {
    // Process ids are reused, so a chain that changes meanwhile could run in a circle.
    let mut seen = HashSet::new();
    let above = std::iter::successors(nearest, |pid| parent(*pid));
    above.take_while(|pid| seen.insert(*pid)).map(|pid| Ancestor { pid }).collect()
}

/// The parent of this process, which the system says even without `/proc`.
fn own_parent() -> Option<u64> {
    rustix::process::getppid().and_then(|pid| u64::try_from(pid.as_raw_pid()).ok())
}

/// The parent of a process; `None` for the first one, and for one that has exited.
fn parent(pid: u64) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in parentheses and may contain parentheses itself.
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok();
    parent.filter(|parent| *parent > 0)
}

impl Ancestor {
    /// Whether the process was started with a variable that `is_wanted` accepts and that has a value.
    /// Not if its variables cannot be read, as those of another user's process.
    pub(crate) fn has_variable(self, is_wanted: impl Fn(&str) -> bool) -> bool {
        let all = std::fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        all.split(|byte| *byte == 0).any(|variable| {
            let mut parts = variable.splitn(2, |byte| *byte == b'=');
            let name = parts.next().and_then(|name| std::str::from_utf8(name).ok());
            let has_value = parts.next().is_some_and(|value| !value.trim_ascii().is_empty());
            has_value && name.is_some_and(&is_wanted)
        })
    }

    /// The value of a variable that the process was started with.
    pub(super) fn variable(self, name: &str) -> Option<String> {
        let all = std::fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let mut variables = all.split(|byte| *byte == 0);
        let value = variables.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        value.and_then(|value| String::from_utf8(value.to_vec()).ok())
    }

    /// The path of its program, if it can be read.
    pub(crate) fn executable(self) -> Option<PathBuf> {
        let path = std::fs::read_link(format!("/proc/{}/exe", self.pid)).ok()?;
        let bytes = path.as_os_str().as_bytes();
        Some(OsStr::from_bytes(bytes.strip_suffix(DELETED).unwrap_or(bytes)).into())
    }

    /// The words it was started with.
    pub(super) fn command_line(self) -> Vec<u8> {
        std::fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default()
    }
}

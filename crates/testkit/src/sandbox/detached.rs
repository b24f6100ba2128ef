//! Runs a command that is not a descendant of this process, so that an agent in whose shell the tests
//! run is not among its ancestors.

use midstride::clients;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Starts "$@" from a shell whose parent has exited, waits for it and exits as it does. The inner shell
/// goes on only when the system has given it another parent. Without `/proc` there are no ancestors to
/// get rid of.
const SCRIPT: &str = r#"
[ -r /proc/self/stat ] || exec "$@"
exec 3<&0 4>&1 5>&2
code=$(
    read -r self _ </proc/self/stat
    (
        while read -r _ _ _ parent _ </proc/self/stat && [ "$parent" = "$self" ]; do :; done
        (exec "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&-)
        echo $?
    ) 2>/dev/null &
)
[ "$code" -le 128 ] || kill -"$((code - 128))" $$
exit "$code"
"#;

/// A command that runs a program detached. Its input, output, arguments and exit code are those of the
/// program.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "sh"]).arg(program);
    command
}

/// Panics if a detached process has an agent among its ancestors, as where an agent is the first
/// process of a container. Looks once per process.
pub(super) fn assert_no_agent() {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let mut probe = command("/bin/sh");
        // It waits for its input to end, so its ancestors can be looked at meanwhile.
        probe.args(["-c", "echo $$; cat"]).env_clear().env("PATH", "/usr/bin:/bin");
        let probe = probe.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut probe = probe.expect("the shell starts");
        let mut line = String::new();
        let output = probe.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("the shell says its process id");
        let pid = line.trim().parse().expect("a process id is a number");
        let environment = clients::read_environment().expect("the current folder exists");
        let found = clients::find_automation_above(&environment, pid);
        drop(probe.stdin.take());
        probe.wait().expect("the shell runs");
        found.map(|found| found.to_string())
    });
    if let Some(agent) = found {
        panic!("a detached process still runs inside {agent}: the user cannot be played here");
    }
}

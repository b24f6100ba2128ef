//! Tests that midstride uses no network: no command, hook or tool opens a socket other than a Unix
//! one, except those that are listed here.

use super::excluded::worked_in;
use super::surfaces::{run_commands, run_hooks, run_tools};
use crate::sandbox;
use midstride_testkit::Sandbox;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The calls that may open a network socket, and why.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("midstride sync", "exchanges tasks and handoffs with the git remote of the repository"),
    ("midstride trust", "asks a remote that the user trusts whether it has the commits of a clone"),
];

/// A remote that nothing answers for.
const REMOTE: &str = "git://127.0.0.1:1/none.git";

/// A sandbox whose program, with everything that it starts, runs under a filter that logs sockets.
fn filtered() -> (Sandbox, PathBuf) {
    let sandbox = sandbox();
    let folder = sandbox.home().parent().unwrap();
    let (filter, log) = (folder.join("filter"), folder.join("sockets"));
    let program = sandbox.program().display();
    let script = format!(
        "#!/bin/sh\nexec strace -f -qq --seccomp-bpf -e trace=socket -o '{}' '{program}' \"$@\"\n",
        log.display()
    );
    std::fs::write(&filter, script).unwrap();
    std::fs::set_permissions(&filter, PermissionsExt::from_mode(0o755)).unwrap();
    (sandbox.with_main_program(filter), log)
}

/// The sockets in a log that are not Unix ones.
fn network_sockets(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("the filter ran");
    let calls = text.lines().filter(|line| line.contains("socket("));
    calls.filter(|line| !line.contains("socket(AF_UNIX,")).map(str::to_owned).collect()
}

#[test]
#[ignore = "needs strace to log sockets"]
fn only_listed_commands_pass_the_socket_filter() {
    let (sandbox, log) = filtered();
    let sandbox = worked_in(sandbox);
    sandbox.git(&["remote", "add", "origin", REMOTE]);
    let mut using = BTreeSet::new();
    let mut note = |surface: &str, output: &str| {
        let sockets = network_sockets(&log);
        std::fs::remove_file(&log).unwrap();
        let exception = EXCEPTIONS.iter().find(|(call, _)| surface.starts_with(call));
        match exception {
            Some((call, _)) if !sockets.is_empty() => _ = using.insert(*call),
            _ => assert!(sockets.is_empty(), "{surface} opened {sockets:?}: {output}"),
        }
    };
    run_tools(&sandbox, &mut note);
    run_hooks(&sandbox, &mut note);
    run_commands(&sandbox, &mut note);
    // The filter works: it saw the one that has to use the network.
    assert!(using.contains("midstride sync"), "{using:?}");
}

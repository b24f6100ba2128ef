//! Attempts of an agent to give the user's consent. Each is refused, or documented as not stopped.

use crate::sandbox;
use midstride_testkit::{Sandbox, repository_root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What the shell of an agent runs, by the name in `docs/security.md`. `$1` is the attempt, a shell
/// script; `$2` is a folder for files.
const ATTEMPTS: [(&str, &str); 11] = [
    ("midstride", r#"sh "$1""#),
    ("env -u CLAUDECODE", r#"env -u CLAUDECODE sh "$1""#),
    ("env -i", r#"env -i "PATH=$PATH" "HOME=$HOME" sh "$1""#),
    ("setsid", r#"env -u CLAUDECODE setsid sh "$1""#),
    ("nohup … &", r#"env -u CLAUDECODE nohup sh "$1" >"$2/nohup" 2>&1 & wait"#),
    ("script -qec", r#"env -u CLAUDECODE script -qec "sh $1" /dev/null"#),
    ("tmux new -d", r#"tmux -S "$2/agent" -f /dev/null new -d "sh $1""#),
    (
        "double fork",
        r#"
        read -r self _ </proc/self/stat
        (
            while read -r _ _ _ parent _ </proc/self/stat && [ "$parent" = "$self" ]; do :; done
            exec env -i "PATH=$PATH" "HOME=$HOME" script -qec "sh $1" /dev/null
        ) &
        "#,
    ),
    (
        "env -i tmux new -d",
        r#"env -i "PATH=$PATH" "HOME=$HOME" tmux -S "$2/agent" -f /dev/null new -d "sh $1""#,
    ),
    ("tmux new-window", r#"tmux -S "$2/user" new-window "sh $1""#),
    (
        HIDING,
        r#"
        env -i "PATH=$PATH" "HOME=$HOME" unshare --user --map-current-user --pid --fork --mount-proc \
            script -qec "sh $1" /dev/null
        "#,
    ),
];

/// Needs a system that lets users create namespaces.
const HIDING: &str = "unshare --pid";

/// The agent: a process with its variable, at a terminal, that runs its shell and stays until the
/// attempt has ended.
const AGENT: &str = r#"read -r _ <"$2/over" & sh -c "$3" sh "$1" "$2" </dev/null; wait"#;

/// Files of an attempt, and the tmux servers that it started.
struct Attempt<'s> {
    sandbox: &'s Sandbox,
    folder: PathBuf,
}

impl Attempt<'_> {
    /// Runs an attempt and returns what midstride said.
    fn run(&self, shell: &str) -> String {
        let path = |name: &str| self.folder.join(name);
        let program = env!("CARGO_BIN_EXE_midstride");
        let (said, over) = (path("said"), path("over"));
        let script = format!(
            "'{program}' -C '{}' trust --yes >'{}' 2>&1\necho over >'{}'\n",
            self.sandbox.root().display(),
            said.display(),
            over.display(),
        );
        std::fs::write(path("attempt"), script).unwrap();
        // The user has a tmux server, which is no ancestor of the agent.
        let mut server = self.sandbox.detached_command("tmux");
        server.arg("-S").arg(path("user")).args(["-f", "/dev/null", "new", "-d", "cat"]);
        self.sandbox.finish(&mut server).exits(0);
        self.sandbox.finish(self.sandbox.command("mkfifo").arg(&over)).exits(0);
        let mut agent = self.sandbox.detached_command("script");
        let words = [AGENT, "sh"].map(str::to_owned).into_iter().chain([
            path("attempt").display().to_string(),
            self.folder.display().to_string(),
            shell.to_owned(),
        ]);
        let words: Vec<String> =
            words.map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        // An attempt that never runs must not hold up the test.
        agent
            .arg("-qec")
            .arg(format!("timeout --foreground 60 sh -c {}", words.join(" ")))
            .arg("/dev/null");
        agent.env("CLAUDECODE", "1").stdin(Stdio::null());
        self.sandbox.finish(&mut agent).exits(0);
        std::fs::read_to_string(&said).unwrap()
    }

    /// Whether the project is trusted now. If it is, takes that back.
    fn was_granted(&self) -> bool {
        let run = self.sandbox.run(["brief"]).exits(0);
        self.sandbox.run(["trust", "--revoke"]).exits(0);
        !run.stderr.contains("1 document in this repository is not trusted and not included")
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        for server in ["agent", "user"].map(|name| self.folder.join(name)) {
            if server.exists() {
                let mut tmux = self.sandbox.command("tmux");
                let _ = tmux.arg("-S").arg(server).arg("kill-server").output();
            }
        }
    }
}

/// The names in the first column of the table below a heading of `docs/security.md`.
fn documented(heading: &str) -> BTreeSet<String> {
    let page = std::fs::read_to_string(repository_root().join("docs/security.md")).unwrap();
    let (_, below) = page.split_once(&format!("\n### {heading}\n")).unwrap();
    let section = below.split("\n#").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn attempts_of_an_agent_in_a_terminal_are_refused_or_documented() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let (mut refused, mut granted) = (BTreeSet::new(), BTreeSet::new());
    let mut unshare = sandbox.command("unshare");
    unshare.args(["--user", "--map-current-user", "--pid", "--fork", "--mount-proc", "true"]);
    let can_hide = unshare.output().is_ok_and(|output| output.status.success());
    let possible = ATTEMPTS.iter().filter(|(name, _)| *name != HIDING || can_hide);
    for (number, (name, shell)) in possible.enumerate() {
        let folder = sandbox.home().join(format!("attempt-{number}"));
        std::fs::create_dir(&folder).unwrap();
        let attempt = Attempt { sandbox: &sandbox, folder };
        let said = attempt.run(shell);
        if attempt.was_granted() {
            granted.insert((*name).to_owned());
        } else {
            assert!(said.contains("error: this command requires the user"), "{name}: {said}");
            refused.insert((*name).to_owned());
        }
    }
    let mut not_stopped = documented("Not stopped");
    not_stopped.retain(|name| name != HIDING || can_hide);
    assert_eq!(granted, not_stopped);
    assert_eq!(refused, documented("Refused"));
}

#[test]
fn consent_needs_visible_ancestors() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let program = env!("CARGO_BIN_EXE_midstride");
    let hidden = format!("mount -t tmpfs none /proc && '{program}' trust --yes");
    let mut script = sandbox.detached_command("script");
    let line = format!("unshare --user --map-root-user --mount sh -c \"{hidden}\"");
    let run = sandbox.finish(script.arg("-qec").arg(line).arg("/dev/null"));
    // Some systems do not let users create namespaces.
    if !run.stdout.contains("unshare: ") {
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stdout.contains("cannot check which process started this command"), "{run}");
    }
}

/// A process that the register of a client names is an agent, whatever its variables are.
#[test]
fn a_registered_session_cannot_give_consent() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let register = sandbox.home().join(".claude/sessions");
    std::fs::create_dir_all(&register).unwrap();
    let run = |procedure: &str| {
        let line = sandbox.home().join("line.sh");
        let program = env!("CARGO_BIN_EXE_midstride");
        std::fs::write(&line, format!("{procedure}\n'{program}' trust --yes\n")).unwrap();
        let mut script = sandbox.detached_command("script");
        script.arg("-qec").arg(format!("sh {}", line.display())).arg("/dev/null");
        sandbox.finish(&mut script)
    };
    let registers = |start: &str| {
        let file = register.display();
        format!(
            "set -- $(cat /proc/$$/stat)\nprintf '{{\"pid\":%s,\"sessionId\":\"s\",\"procStart\":\"%s\"}}' $$ {start} >{file}/$$.json"
        )
    };
    let refused = run(&registers("${22}")).exits(2);
    assert!(refused.stdout.contains("it is running inside Claude Code"), "{refused}");
    // Another process had this id before.
    run(&registers("1")).exits(0);
}

/// A program of a client above the command is an agent, whatever its variables are.
#[test]
fn the_program_of_a_client_cannot_give_consent() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let program = env!("CARGO_BIN_EXE_midstride");
    let run = |shell: &Path| {
        let line = format!("'{}' -c \"'{program}' trust --yes; exit \\$?\"", shell.display());
        let mut script = sandbox.detached_command("script");
        sandbox.finish(script.arg("-qec").arg(line).arg("/dev/null"))
    };
    // A shell under the name of the client.
    let client = sandbox.home().join("claude");
    std::fs::copy("/bin/sh", &client).unwrap();
    let refused = run(&client).exits(2);
    assert!(refused.stdout.contains("it is running inside Claude Code"), "{refused}");
    run(Path::new("/bin/sh")).exits(0);
}

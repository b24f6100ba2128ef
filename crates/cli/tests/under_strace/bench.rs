//! The project that commands run in, how it is restored, and what it has to keep.

use super::fault::{CALLS, Fault, InjectedRun, Target};
use super::scenario::{CAPTURED, ENDING, FORGOTTEN, SUBJECT, Scenario};
use super::tree;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox, fixtures, json_items};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");

/// Counts the calls of git. The chosen one runs under strace.
const GIT: &str = r#"#!/bin/sh
number=1
until mkdir "$FAULT_FOLDER/$number" 2>/dev/null; do number=$((number + 1)); done
[ "$number" = "$FAULT_GIT" ] || exec "$FAULT_REAL_GIT" "$@"
exec strace -f -y -qq --seccomp-bpf -o "$FAULT_LOG" $FAULT_OPTIONS "$FAULT_REAL_GIT" "$@"
"#;

/// What every command must keep, by the command that reads it.
const READ: [&[&str]; 6] = [
    &["show", "first@1"],
    &["show", "first@2"],
    &["show", "first@3"],
    &["show", "second@1"],
    &["show", "second@3"],
    &["session", "show", CAPTURED, "--json"],
];

/// Where the clients have their files, some of which the user wrote, and where midstride records what it
/// added to them.
const CLIENT_PLACES: [&str; 5] =
    [".claude.json", ".claude", ".codex", ".agents", ".local/state/midstride/clients"];

/// A prepared project and a copy of it.
pub(super) struct Bench {
    sandbox: Sandbox,
    /// The copy, the logs, and the wrapper of git.
    folder: PathBuf,
    kept: Vec<String>,
    tasks: Vec<Value>,
    events: BTreeSet<String>,
}

/// What a command can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The documents and client files, by path.
    files: BTreeMap<PathBuf, String>,
    /// The references of midstride in the other repository.
    shared: String,
}

impl State {
    /// Checks that every file is whole: as it was before, or as the command leaves it.
    pub(super) fn check_kept(&self, before: &Self, after: &Self) -> Result<(), String> {
        let paths: BTreeSet<&PathBuf> =
            [self, before, after].iter().flat_map(|it| it.files.keys()).collect();
        for path in paths {
            let [now, was, becomes] = [self, before, after].map(|state| state.files.get(path));
            if now != was && now != becomes {
                return Err(format!("`{}` is neither old nor new: {now:?}", path.display()));
            }
        }
        Ok(())
    }
}

impl Bench {
    pub(super) fn new() -> Self {
        let sandbox = prepared_project();
        let folder = sandbox.home().parent().unwrap().join("bench");
        for name in ["copy", "gits", "bin"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let wrapper = folder.join("bin/git");
        fs::write(&wrapper, GIT).unwrap();
        tree::make_executable(&wrapper);
        let mut bench =
            Self { sandbox, folder, kept: Vec::new(), tasks: Vec::new(), events: BTreeSet::new() };
        bench.kept = READ.map(|words| bench.sandbox.run(words).exits(0).stdout).into();
        bench.tasks = bench.tasks_now().unwrap();
        bench.events = bench.events_now().unwrap();
        for (place, name) in bench.places() {
            tree::mirror(&place, &bench.folder.join("copy").join(name));
        }
        bench
    }

    pub(super) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn places(&self) -> [(PathBuf, &'static str); 2] {
        [(self.sandbox.root().to_owned(), "root"), (self.sandbox.home().to_owned(), "home")]
    }

    /// Brings everything back to how it was prepared. Folders stay the same folders, because trust
    /// depends on that.
    pub(super) fn restore(&self) {
        for (place, name) in self.places() {
            tree::mirror(&self.folder.join("copy").join(name), &place);
        }
    }

    pub(super) fn transcript(&self, session: &str) -> PathBuf {
        transcript(&self.sandbox, session)
    }

    /// Runs a command, with a fault if there is one.
    pub(super) fn run(&self, scenario: Scenario, fault: Option<&Fault>) -> InjectedRun {
        let options = fault.map(Fault::options).unwrap_or_default();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let target = fault.map_or(Target::Git(0), |fault| fault.target);
        let (run, log) = self.run_traced(scenario, target, &options);
        let injected = log.lines().filter(|line| line.contains("(INJECTED)"));
        let injected: Vec<String> = injected.map(str::to_owned).collect();
        let program = log.split(' ').next().filter(|_| target == Target::Program);
        let is_own = |line: &&String| program.is_some_and(|id| line.starts_with(&format!("{id} ")));
        let own = injected.iter().filter(is_own).cloned().collect();
        let Run { code, stdout, stderr, .. } = run;
        InjectedRun { code, stdout, stderr, injected, own }
    }

    /// The calls of a target, as strace logs them.
    pub(super) fn trace(&self, scenario: Scenario, target: Target) -> String {
        self.restore();
        let options = format!("trace={}", CALLS.join(","));
        self.run_traced(scenario, target, &["-e", &options]).1
    }

    /// How often a command starts git.
    pub(super) fn count_gits(&self, scenario: Scenario) -> usize {
        self.restore();
        self.run_traced(scenario, Target::Git(0), &[]);
        fs::read_dir(self.folder.join("gits")).unwrap().count()
    }

    /// Runs a command whose target is under strace, and returns its log. This is the one place that
    /// knows how a command is started.
    fn run_traced(&self, scenario: Scenario, target: Target, options: &[&str]) -> (Run, String) {
        let log = self.folder.join("log");
        let _ = fs::remove_file(&log);
        let mut words: Vec<OsString> = Vec::new();
        // Generous, because strace is slow and the machine may be busy.
        let mut variables: Vec<(&str, OsString)> =
            vec![("MIDSTRIDE_HOOK_MILLISECONDS", "60000".into())];
        let program = match target {
            Target::Program => {
                words.extend(["-f", "-y", "-qq", "--seccomp-bpf", "-o"].map(OsString::from));
                words.push(log.clone().into());
                words.extend(options.iter().map(OsString::from));
                words.push(PROGRAM.into());
                Path::new("strace")
            }
            Target::Git(number) => {
                let gits = self.folder.join("gits");
                tree::remove_inside(&gits);
                let (path, real) = self.path_with_wrapper();
                variables.extend([
                    ("PATH", path),
                    ("FAULT_REAL_GIT", real.into()),
                    ("FAULT_FOLDER", gits.into()),
                    ("FAULT_GIT", number.to_string().into()),
                    ("FAULT_LOG", log.clone().into()),
                    ("FAULT_OPTIONS", options.join(" ").into()),
                ]);
                Path::new(PROGRAM)
            }
        };
        words.extend(scenario.arguments().iter().map(OsString::from));
        let run = if scenario.needs_consent() {
            let user = self.sandbox.as_user_of(program);
            variables.into_iter().fold(user, |user, (name, value)| user.env(name, value)).run(words)
        } else {
            let input = self.folder.join("input");
            fs::write(&input, scenario.input(self)).unwrap();
            let mut command = self.sandbox.command(program);
            command.args(words).envs(variables).stdin(File::open(input).unwrap());
            self.sandbox.finish(&mut command)
        };
        (run, fs::read_to_string(log).unwrap_or_default())
    }

    /// The search path with the wrapper in front, and the real git.
    fn path_with_wrapper(&self) -> (OsString, PathBuf) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let real = folders.iter().map(|folder| folder.join("git")).find(|git| git.is_file());
        let folders = std::iter::once(self.folder.join("bin")).chain(folders);
        (std::env::join_paths(folders).unwrap(), real.expect("git is installed"))
    }

    /// The documents and client files as they are.
    pub(super) fn state(&self) -> State {
        let mut files = BTreeMap::new();
        let root = self.sandbox.root();
        let documents = [".midstride", ".git/midstride/handoffs"].map(|folder| root.join(folder));
        let clients = CLIENT_PLACES.map(|folder| self.sandbox.home().join(folder));
        for path in documents.iter().chain(&clients).flat_map(|place| tree::files(place)) {
            if is_temporary(&path) || path.extension().is_some_and(|ending| ending == "lock") {
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            // The uid is random.
            let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("  uid: "));
            files.insert(path, lines.collect());
        }
        let hub = self.sandbox.home().join("hub.git");
        let mut git = self.sandbox.command("git");
        let git = git.arg("--git-dir").arg(hub).args(["for-each-ref", "refs/midstride"]);
        // Not through the sandbox, which replaces the names of objects.
        let shared = String::from_utf8(git.output().unwrap().stdout).unwrap();
        State { files, shared }
    }

    fn json(&self, words: &[&str]) -> Result<String, String> {
        let run = self.sandbox.run(words);
        if run.code == Some(0) { Ok(run.stdout) } else { Err(format!("{words:?}: {run}")) }
    }

    fn tasks_now(&self) -> Result<Vec<Value>, String> {
        let text = self.json(&["task", "list", "--all", "--json"])?;
        Ok(serde_json::from_value(json_items(&text)).unwrap())
    }

    fn events_now(&self) -> Result<BTreeSet<String>, String> {
        let text = self.json(&["events", "--json"])?;
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        Ok(events.map(|event| event["id"].as_str().unwrap().to_owned()).collect())
    }

    /// Checks that everything that was acknowledged before can be read.
    pub(super) fn check_readable(&self) -> Result<(), String> {
        for (words, kept) in READ.iter().zip(&self.kept) {
            let run = self.sandbox.run(*words);
            if run.code != Some(0) || run.stdout != *kept {
                return Err(format!("{words:?} is lost: {run}"));
            }
        }
        let (tasks, events) = (self.tasks_now()?, self.events_now()?);
        if let Some(lost) = self.tasks.iter().find(|task| !tasks.contains(task)) {
            let now = tasks.iter().find(|task| task["id"] == lost["id"]);
            return Err(format!("a task is lost: {lost}, now {now:?}"));
        }
        match self.events.difference(&events).next() {
            Some(lost) => Err(format!("an event is lost: {lost}")),
            None => Ok(()),
        }
    }

    /// Whether a command left everything behind that it has to.
    pub(super) fn is_complete(&self, scenario: Scenario, after: &State) -> bool {
        match scenario {
            Scenario::New
            | Scenario::Revise
            | Scenario::Save
            | Scenario::Resolve
            | Scenario::ClientAdd
            | Scenario::Sync => self.state() == *after,
            Scenario::TaskAdd => {
                let tasks = self.tasks_now().unwrap_or_default();
                tasks.iter().any(|task| task["subject"] == SUBJECT)
            }
            Scenario::Forget => !self.has_forgotten_word(),
            Scenario::Capture => {
                let list = self.json(&["session", "list", "--json"]).unwrap_or_default();
                let list: Value = serde_json::from_str(&list).unwrap_or_default();
                // The one that was captured before, and the one that ends.
                let list = list["items"].as_array().into_iter().flatten();
                list.filter(|session| session["captured"] == "whole").count() == 2
            }
        }
    }

    /// Whether any file or object has the word that is forgotten.
    fn has_forgotten_word(&self) -> bool {
        let has_word = |bytes: &[u8]| {
            bytes.windows(FORGOTTEN.len()).any(|window| window == FORGOTTEN.as_bytes())
        };
        let has_object = |repository: &PathBuf| {
            let mut git = self.sandbox.command("git");
            git.arg("--git-dir").arg(repository);
            git.args(["cat-file", "--batch-all-objects", "--batch"]);
            has_word(&git.output().unwrap().stdout)
        };
        let files = self.places().map(|(place, _)| tree::files(&place));
        self.repositories().iter().any(has_object)
            || files.iter().flatten().any(|path| has_word(&fs::read(path).unwrap()))
    }

    /// The repositories with texts: the project, midstride's own, and the remote.
    fn repositories(&self) -> Vec<PathBuf> {
        let git = self.sandbox.root().join(".git");
        let all = [git.join("midstride/texts.git"), git, self.sandbox.home().join("hub.git")];
        all.into_iter().filter(|repository| repository.exists()).collect()
    }

    /// Whether a hook reported what it could not do: in the log, or by spooling it.
    pub(super) fn is_reported(&self, scenario: Scenario) -> bool {
        let private = self.sandbox.root().join(".git/midstride");
        let user = self.sandbox.home().join(".local/state/midstride");
        let log = [&private, &user].map(|folder| fs::read_to_string(folder.join("hooks.log")));
        let log: String = log.into_iter().map(Result::unwrap_or_default).collect();
        let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let has_error = lines.any(|line| line["session"] == ENDING && !line["error"].is_null());
        let has_spool = !tree::files(&private.join("spool")).is_empty();
        scenario == Scenario::Capture && (has_error || has_spool)
    }

    /// Checks that the next commands work.
    pub(super) fn check_next_commands(&self) -> Result<(), String> {
        for words in [["task", "add", "later"], ["edit", "second", "--reason=later"]] {
            let input = if words[0] == "edit" { "Later.\n" } else { "" };
            let body: &[&str] = if words[0] == "edit" { &["--body", "-"] } else { &[] };
            let run = self.sandbox.run_with_input(&[&words, body].concat(), input);
            if run.code != Some(0) {
                return Err(format!("{words:?} fails afterwards: {run}"));
            }
        }
        Ok(())
    }

    /// Checks databases and repositories, and that no temporary file is left.
    pub(super) fn check_sound(&self) -> Result<(), String> {
        let private = self.sandbox.root().join(".git/midstride");
        for name in ["ledger.db", "index.db"] {
            let path = private.join(name);
            if path.exists() {
                let database = rusqlite::Connection::open(&path).unwrap();
                let result = database
                    .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
                    .map_err(|error| format!("{name}: {error}"))?;
                if result != "ok" {
                    return Err(format!("{name}: {result}"));
                }
            }
        }
        for repository in self.repositories() {
            let mut git = self.sandbox.command("git");
            git.arg("--git-dir").arg(repository).args(["fsck", "--no-dangling"]);
            let run = self.sandbox.finish(&mut git);
            if run.code != Some(0) || !run.stdout.is_empty() {
                return Err(format!("git fsck: {run}"));
            }
        }
        let files = self.places().map(|(place, _)| tree::files(&place));
        let mut left = files.iter().flatten().filter(|path| is_temporary(path));
        left.next().map_or(Ok(()), |path| Err(format!("`{}` is left", path.display())))
    }
}

/// Whether a file is a draft of midstride, or spooled. Git removes its own temporary files later.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.ends_with(".tmp") || path.parent().is_some_and(|parent| parent.ends_with("spool"))
}

fn transcript(sandbox: &Sandbox, session: &str) -> PathBuf {
    let path = sandbox.root().display().to_string();
    let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    sandbox.home().join(".claude/projects").join(slug).join(format!("{session}.jsonl"))
}

/// A project with handoffs and their earlier texts, tasks, a captured session and one that ends, a
/// remote, and clients with settings.
fn prepared_project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let hub = sandbox.home().join("hub.git").display().to_string();
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", &hub]);
    sandbox.git(&["remote", "add", "origin", &hub]);
    let word = format!("The word is {FORGOTTEN}.\n");
    for (id, texts) in [
        ("first", ["First of all.\n", "It moved.\n", "It moved again.\n"]),
        ("second", ["Nothing yet.\n", &word, "It is out.\n"]),
    ] {
        let new = ["new", id, "--id", id, "--body", "-"];
        sandbox.run_with_input(&new, texts[0]).exits(0);
        for text in &texts[1..] {
            let revise = ["edit", id, "--reason", "it moved", "--body", "-"];
            sandbox.run_with_input(&revise, text).exits(0);
        }
    }
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoffs"]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    for subject in ["warm the cache", "measure it"] {
        sandbox.run(["task", "add", subject]).exits(0);
    }
    let text = fs::read_to_string(fixtures("transcripts/claude-code/cache.jsonl")).unwrap();
    let text = text.replace("/home/dev/shop", &sandbox.root().display().to_string());
    let text = text.replace("2026-03-20", "2026-03-22");
    for session in [CAPTURED, ENDING] {
        let path = transcript(&sandbox, session);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("c0de-0001", session)).unwrap();
        if session == CAPTURED {
            sandbox.run(["session", "capture", "--session", session]).exits(0);
        }
    }
    for (path, text) in [
        (".claude/settings.json", "{\n  // mine\n  \"model\": \"opus\",\n}\n"),
        (".claude/settings.local.json", "{}\n"),
        (".codex/config.toml", "# mine\nmodel = \"o5\"\n"),
    ] {
        fs::create_dir_all(sandbox.home().join(path).parent().unwrap()).unwrap();
        fs::write(sandbox.home().join(path), text).unwrap();
    }
    sandbox
}

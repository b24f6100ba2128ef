//! Hooks: one call of a client on standard input, its answer on standard output.
//!
//! A client waits for its hook, and what a hook says with its exit code can stop a session. So this
//! never fails: whatever happens, the exit code is 0 within a deadline, and what went wrong stands in
//! the log. A thread does the work; the one that waits for it touches neither disk nor lock.

mod claude_code;
mod codex;
mod fields;
mod form;

use crate::ui::Ui;
use fields::Fields;
use jiff::Timestamp;
use midstride::clients::hook_log::{self, Line};
use midstride::store::index::Limit;
use midstride::sys::clock::{Deadline, Stopwatch};
use midstride::sys::{files, process};
use midstride::verbs::{self, Hooked, Which};
use midstride::workspace::project::Project;
use midstride::workspace::settings::{self, Environment};
use midstride_core::brief::hook::{HookEvent, HookInput, HookOutput};
use midstride_core::session::Client;
use midstride_core::session::checkpoint::CheckpointMode;
use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A client waits so long for us.
const TIME: Duration = Duration::from_millis(250);
/// At the end of a session nobody waits for an answer; Claude Code ends its hooks after 1.5 s.
const TIME_AT_END: Duration = Duration::from_millis(1_200);
/// So long it may take to say that there was no time.
const TIME_TO_GIVE_UP: Duration = Duration::from_millis(40);
/// A longer call is read to its end and not understood.
const INPUT_BYTES_MAX: u64 = 16 << 20;
/// Documents that are nested deeply are read here as well as in the main thread.
const STACK_BYTES: usize = 16 << 20;

/// What goes on alone: what a hook had no time for.
const CAPTURE: &str = "capture";
const RECOVER: &str = "recover";
const INDEX: &str = "index";
/// What a hook never does itself: asking git.
const OBSERVE: &str = "observe";

/// How long a hook has, by the moment as a client names it.
pub(crate) fn time_of(event: &str) -> Duration {
    if event == "SessionEnd" { TIME_AT_END } else { TIME }
}

/// Answers a hook, if that is what was typed. The whole command line of other commands is not looked
/// at here: a hook has no time for it.
pub(crate) fn typed(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let watch = Stopwatch::start();
    let words: Vec<OsString> = arguments.skip(1).take(4).collect();
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let client = |word: &OsStr| word.to_str().and_then(Client::from_name);
    let is_hook = words.first().is_some_and(|first| *first == "hook");
    if is_hook && !settings::is_started_over() {
        process::outlive_file_limit(settings::STARTED_OVER);
    }
    match words.split_first() {
        Some((first, rest)) if *first == "hook" => match rest {
            [word] if *word == RECOVER => recover(watch),
            [word] if *word == INDEX => index(watch),
            [word] if *word == OBSERVE => observe(watch),
            [word] => match client(word) {
                Some(client) => answer(client, watch),
                // An exit code of 2, which a mistake has elsewhere, would stop a session.
                None if !word.as_encoded_bytes().starts_with(b"-") => unknown(word),
                None => return None,
            },
            [word, of, path] if *word == CAPTURE => capture(client(of)?, Path::new(path), watch),
            _ => return None,
        },
        Some(_) | None => return None,
    }
    Some(ExitCode::SUCCESS)
}

fn unknown(client: &OsStr) {
    let known = Client::ALL.map(Client::name).join(" and ");
    let line = format!("there is no hook for `{}`, only for {known}\n", client.to_string_lossy());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Answers one call, within the deadline.
pub(crate) fn answer(client: Client, watch: Stopwatch) {
    // What a panic says is for the log, not for the user of a client.
    std::panic::set_hook(Box::new(|_| {}));
    let known = Arc::new(Mutex::new(Known::of(client)));
    let (send, receive) = channel();
    let theirs = Arc::clone(&known);
    let work = move || work(client, watch, &theirs, &send);
    if thread::Builder::new().stack_size(STACK_BYTES).spawn(work).is_err() {
        return;
    }
    let left = |time: Duration| time.saturating_sub(watch.elapsed());
    let time = settings::hook_time();
    let mut done = receive.recv_timeout(left(time.unwrap_or(TIME)));
    if done == Err(RecvTimeoutError::Timeout) && locked(&known).is_end {
        done = receive.recv_timeout(left(time.unwrap_or(TIME_AT_END)));
    }
    match done {
        Ok(text) => {
            // A client that does not listen any more needs no answer.
            drop(Ui::write_bytes(text.as_bytes()));
            // It ends when the log is written; a disk that stands still is not waited for.
            let _ = receive.recv_timeout(left(time.unwrap_or(TIME)).max(TIME_TO_GIVE_UP));
        }
        Err(RecvTimeoutError::Timeout) => give_up(&known, watch, "there was not enough time"),
        Err(RecvTimeoutError::Disconnected) => give_up(&known, watch, "it panicked"),
    }
}

/// What is known of a call, for the one who waits.
#[derive(Clone, Debug)]
struct Known {
    client: Client,
    call: Option<HookInput>,
    is_end: bool,
    /// Where the log lies.
    private: Option<PathBuf>,
}

impl Known {
    fn of(client: Client) -> Self {
        Self { client, call: None, is_end: false, private: None }
    }

    fn log(&self, at: Timestamp, watch: Stopwatch, done: &Hooked) {
        let Some(private) = &self.private else { return };
        let event = self.call.as_ref().map_or("", |call| &call.event);
        let session = self.call.as_ref().and_then(|call| call.session.as_deref());
        log(private, (self.client.name(), event, session), at, watch, done);
    }
}

/// Writes down what became of a call: of whom, at which moment, in which session.
fn log(
    private: &Path,
    (client, event, session): (&str, &str, Option<&str>),
    at: Timestamp,
    watch: Stopwatch,
    done: &Hooked,
) {
    let did = if done.did.is_empty() { "nothing".to_owned() } else { done.did.join(", ") };
    let error = (!done.errors.is_empty()).then(|| done.errors.join("; "));
    let milliseconds = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (tokens, did, error) = (done.tokens, did.as_str(), error.as_deref());
    // There is nowhere left to say that it failed.
    let _ = hook_log::add(
        private,
        &Line { at, client, event, session, milliseconds, tokens, did, error },
    );
}

fn locked(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what a call asks for, says what is answered, and then writes down what became of it: a log
/// that cannot be written must not cost the answer.
fn work(client: Client, watch: Stopwatch, known: &Mutex<Known>, answered: &Sender<String>) {
    let say = |text: String| drop(answered.send(text));
    let input = input();
    if settings::hooks_are_silent() {
        return say(String::new());
    }
    let Ok(environment) = Environment::of_process() else { return say(String::new()) };
    let now = environment.clock;
    let call = input.and_then(|input| Fields::read(&input)).map(|fields| read(client, &fields));
    if let Ok(call) = &call {
        let mut known = locked(known);
        known.is_end = matches!(call.kind, HookEvent::End { .. });
        known.call = Some(call.clone());
    }
    let folder = call.as_ref().ok().and_then(|call| call.folder.as_deref());
    let Some(project) = open(environment, folder) else { return say(String::new()) };
    locked(known).private = Some(project.private_path()).filter(|path| files::is_folder(path));
    let broken = project.broken_configuration().map(ToString::to_string);
    let mut done = match (&call, broken) {
        (Ok(call), None) => verbs::hook(&project, call, time_to_index(watch)),
        (Err(error), None) => Hooked { errors: vec![error.clone()], ..Hooked::default() },
        (_, Some(broken)) => Hooked { errors: vec![broken], ..Hooked::default() },
    };
    say(call.map(|call| written(&call, &done.answer)).unwrap_or_default());
    let known = locked(known).clone();
    let started = go_on_after(&known, &done, project.root().path());
    done.errors.extend(started.into_iter().filter_map(Result::err).map(|error| error.to_string()));
    clean(&project, &mut done);
    known.log(now.now(), watch, &done);
}

/// Starts the background processes for work that the hook left. Each of them asks git too.
fn go_on_after(known: &Known, done: &Hooked, folder: &Path) -> Vec<std::io::Result<()>> {
    let captured = if done.is_capture_left { go_on_with(known) } else { None };
    let next = match (done.is_left, &captured) {
        (true, _) => Some(RECOVER),
        (false, Some(_)) => None,
        (false, None) => {
            Some(OBSERVE).filter(|_| done.is_observation_due && settings::may_observe())
        }
    };
    let index = Some(INDEX).filter(|_| done.is_index_left);
    let others = next.into_iter().chain(index).map(|word| go_on(&["hook", word], folder));
    captured.into_iter().chain(others).collect()
}

/// How long the index may be built before the answer: what is left of the time is needed to write the
/// answer.
fn time_to_index(watch: Stopwatch) -> Limit {
    let time = settings::hook_time().unwrap_or(TIME) * 3 / 5;
    Limit::until(Deadline::after(time.saturating_sub(watch.elapsed())))
}

/// The log knows only the rules that ship; what the project adds holds here.
fn clean(project: &Project, done: &mut Hooked) {
    for error in &mut done.errors {
        *error = project.clean(error).0.as_str().to_owned();
    }
}

/// Starts what nobody waits for.
fn go_on(words: &[&str], folder: &Path) -> std::io::Result<()> {
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    process::go_on_alone(&words, folder, settings::variables_to_go_on(folder))
}

/// The project that a session works in, if midstride has a say there, also with a configuration that
/// cannot be used: the log says so.
fn open(mut environment: Environment, folder: Option<&str>) -> Option<Project> {
    if let Some(folder) = folder.map(Path::new).filter(|folder| files::is_folder(folder)) {
        environment.folder = files::real(folder);
    }
    let project = Project::discover_anyway(environment).ok()?;
    (!verbs::is_silent(&project)).then_some(project)
}

/// All of standard input: a client that still writes must not find nobody there.
fn input() -> Result<Vec<u8>, String> {
    let mut stdin = std::io::stdin().lock();
    let mut bytes = Vec::new();
    let read = stdin.by_ref().take(INPUT_BYTES_MAX).read_to_end(&mut bytes);
    let more = std::io::copy(&mut stdin, &mut std::io::sink());
    match (read, more) {
        (Ok(_), Ok(0)) => Ok(bytes),
        (Ok(_), Ok(_)) => Err(format!("the call has more than {INPUT_BYTES_MAX} bytes")),
        (Err(error), _) | (_, Err(error)) => Err(format!("the call cannot be read: {error}")),
    }
}

fn read(client: Client, fields: &Fields) -> HookInput {
    match client {
        Client::ClaudeCode => claude_code::read(fields),
        Client::Codex => codex::read(fields),
    }
}

fn written(call: &HookInput, answer: &HookOutput) -> String {
    match call.client {
        Client::ClaudeCode => claude_code::written(call, answer),
        Client::Codex => codex::written(call, answer),
    }
}

/// Says why nothing is answered; what there was no time to read is read when nobody waits.
fn give_up(known: &Mutex<Known>, watch: Stopwatch, why: &'static str) {
    let known = locked(known).clone();
    let (send, receive) = channel();
    let work = move || {
        let mut done = Hooked { errors: vec![why.to_owned()], ..Hooked::default() };
        match go_on_with(&known) {
            Some(Ok(())) => done.did.push("goes on alone".to_owned()),
            Some(Err(error)) => done.errors.push(error.to_string()),
            None => {}
        }
        if let Ok(environment) = Environment::of_process() {
            known.log(environment.clock.now(), watch, &done);
        }
        let _ = send.send(());
    };
    if thread::Builder::new().spawn(work).is_ok() {
        // A disk that stands still is not waited for.
        let _ = receive.recv_timeout(TIME_TO_GIVE_UP);
    }
}

/// Starts the capture of a session that would be lost, or read in vain at each call; and the index
/// that a start waited for.
fn go_on_with(known: &Known) -> Option<std::io::Result<()>> {
    known.private.as_ref()?;
    let call = known.call.as_ref()?;
    let folder = call.folder.as_deref().map_or(Path::new("."), Path::new);
    let captures = match call.kind {
        HookEvent::Prompt(_)
        | HookEvent::BeforeCompaction
        | HookEvent::AgentStop
        | HookEvent::Stop { .. }
        | HookEvent::Interrupt
        | HookEvent::End { .. } => true,
        HookEvent::Start(_) | HookEvent::AgentStart => {
            return Some(go_on(&["hook", INDEX], folder));
        }
        HookEvent::AfterCompaction(_)
        | HookEvent::TaskCreated(_)
        | HookEvent::TaskCompleted(_)
        | HookEvent::Other => false,
    };
    let path = call.transcript.as_deref().filter(|_| captures)?;
    Some(go_on(&["hook", CAPTURE, call.client.name(), path], folder))
}

/// Writes down what a session did, when nobody waits any more.
fn capture(client: Client, transcript: &Path, watch: Stopwatch) {
    alone(CAPTURE, watch, |project| {
        let which = Which::Transcript(transcript.to_owned());
        let done = verbs::checkpoint(project, &which, Some(client), CheckpointMode::Auto);
        done.map(|_| Some("captured")).map_err(|error| error.to_string())
    });
}

/// Brings in sessions that ended without a word, however long they are.
fn recover(watch: Stopwatch) {
    alone(RECOVER, watch, |project| {
        let done = verbs::recover(project, false);
        done.map(|_| Some("recovered")).map_err(|error| error.to_string())
    });
}

/// Builds the rest of the index.
fn index(watch: Stopwatch) {
    alone(INDEX, watch, |project| match verbs::finish_index(project) {
        Ok(true) => Ok(Some("indexed")),
        Ok(false) => Ok(Some("left it to another process")),
        Err(error) => Err(error.to_string()),
    });
}

/// Asks git what is uncommitted, for the next session.
fn observe(watch: Stopwatch) {
    alone(OBSERVE, watch, |_| Ok(None));
}

/// Asks git, then does something else, in a process of its own that the client does not end. What
/// leaves nothing to tell leaves no line in the log.
fn alone(
    event: &str,
    watch: Stopwatch,
    act: impl Fn(&Project) -> Result<Option<&'static str>, String>,
) {
    process::leave_session();
    let Ok(environment) = Environment::of_process() else { return };
    let clock = environment.clock;
    let Some(project) = open(environment, None).filter(Project::is_at_home) else { return };
    let mut done = Hooked::default();
    let broken = project.broken_configuration().map(ToString::to_string);
    // Before the capture, which takes it in.
    if settings::may_observe() {
        let observed = verbs::observe_alone(&project);
        done.errors.extend(observed.err().map(|error| error.to_string()));
    }
    match broken.map_or_else(|| act(&project), Err) {
        Ok(did) => done.did.extend(did.map(str::to_owned)),
        Err(error) => done.errors.push(error),
    }
    if done.did.is_empty() && done.errors.is_empty() {
        return;
    }
    clean(&project, &mut done);
    log(&project.private_path(), ("midstride", event, None), clock.now(), watch, &done);
}

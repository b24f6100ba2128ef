//! Answers hooks: reads one call from standard input and writes the answer to standard output.
//!
//! The client waits for its hook, and a hook's exit code can stop a session. So a hook never fails:
//! the exit code is 0 within a deadline, whatever happens, and errors go to the log. A worker
//! thread does everything; the thread that waits for it touches neither disk nor locks.

use crate::ui::Ui;
use jiff::Timestamp;
use midstride::clients::hook_call::HookFields;
use midstride::clients::hook_log::{self, HookLogLine};
use midstride::clients::{self, Client};
use midstride::store::Store;
use midstride::store::index::{IndexError, RefreshLimit};
use midstride::store::ledger::WaitPolicy;
use midstride::sys::clock::{Deadline, Stopwatch};
use midstride::sys::env::{self, Environment, SessionName};
use midstride::sys::{files, process};
use midstride::verbs::{
    self, CheckpointError, ForgetError, HookOutcome, RedactStoredError, SessionChoice,
};
use midstride::workspace::user_settings::Exclusion;
use midstride::workspace::{Workspace, WorkspaceError};
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::id::SessionId;
use midstride_surface::view;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a client waits.
const TIME_LIMIT: Duration = Duration::from_millis(250);
/// The limit at the end of a session, where no user waits. Claude Code kills its hooks after 1.5 s.
const TIME_LIMIT_AT_END: Duration = Duration::from_millis(1_200);
/// How long logging a timeout may take.
const GIVE_UP_TIME_LIMIT: Duration = Duration::from_millis(40);
/// The maximum size of a call. A longer one is read to its end and rejected.
const INPUT_BYTES_MAX: u64 = 16 << 20;
/// The worker's stack size, so that deeply nested documents parse as they do in the main thread.
const STACK_BYTES: usize = 16 << 20;

/// The background processes, for work a hook had no time for.
const CAPTURE: &str = "capture";
const RECOVER: &str = "recover";
/// Imports the past sessions of a repository after its first hook.
const IMPORT: &str = "import";
const INDEX: &str = "index";
/// A hook itself never asks git.
const OBSERVE: &str = "observe";
/// A command starts it, never a hook.
const REDACT: &str = "redact";
/// Deletes captured sessions that are older than the retention.
const RETAIN: &str = "retain";

/// The time limit of a hook, by the client's event name.
pub(crate) fn time_limit(event: &str) -> Duration {
    if event == "SessionEnd" { TIME_LIMIT_AT_END } else { TIME_LIMIT }
}

/// Answers a hook if the arguments name one. Bypasses clap, because parsing all commands takes too
/// long for a hook.
pub(crate) fn dispatch(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let watch = Stopwatch::start();
    let words: Vec<OsString> = arguments.skip(1).take(4).collect();
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let client = |word: &OsStr| word.to_str().and_then(clients::find);
    let is_hook = words.first().is_some_and(|first| *first == "hook");
    if is_hook && !env::is_restarted() {
        process::ignore_file_size_limit(env::RESTARTED);
    }
    match words.split_first() {
        Some((first, [])) if *first == "statusline" => print_status_line(watch),
        Some((first, rest)) if *first == "hook" => match rest {
            [word] if *word == RECOVER => recover(watch),
            [word] if *word == IMPORT => import(watch),
            [word] if *word == INDEX => index(watch),
            [word] if *word == OBSERVE => observe(watch),
            [word] if *word == REDACT => redact(watch),
            [word] if *word == RETAIN => retain(watch),
            [word] => match client(word) {
                Some(client) => answer(client, watch),
                // Exit code 2, which other usage errors have, would stop a session.
                None if !word.as_encoded_bytes().starts_with(b"-") => report_unknown_client(word),
                None => return None,
            },
            [word, of, path] if *word == CAPTURE => capture(client(of)?, Path::new(path), watch),
            _ => return None,
        },
        Some(_) | None => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Prints the status line of the client that calls, or an empty one. Like a hook, it never fails the
/// client.
pub(crate) fn print_status_line(watch: Stopwatch) {
    std::panic::set_hook(Box::new(|_| {}));
    let (send, receive) = channel();
    let work = move || drop(send.send(status_line(watch).unwrap_or_default()));
    if thread::Builder::new().stack_size(STACK_BYTES).spawn(work).is_err() {
        return;
    }
    let time = env::hook_time().unwrap_or(TIME_LIMIT);
    let line = receive.recv_timeout(time.saturating_sub(watch.elapsed())).unwrap_or_default();
    // If the client no longer reads, no line is needed.
    drop(Ui::write_bytes(format!("{line}\n").as_bytes()));
}

/// The status line; `None` where midstride is silent or may pass nothing on.
fn status_line(watch: Stopwatch) -> Option<String> {
    let input = read_input().ok()?;
    if env::are_hooks_silent() {
        return None;
    }
    let fields = HookFields::parse(&input).ok()?;
    let client = clients::ALL.into_iter().find(|client| client.profile().has_status_line)?;
    let session = fields.text("session_id");
    let session = session.and_then(|id| SessionName::parse(client.name(), &id));
    let folder = fields.text("cwd");
    let workspace = open_project(clients::read_environment().ok()?, folder.as_deref()).ok()??;
    if verbs::is_silent(&workspace) {
        return None;
    }
    let store = Store::new(workspace.accessible()?, WaitPolicy::Hook);
    let line = verbs::status_line(&store, session.as_ref(), index_limit(watch));
    Some(view::status_line::text(&line))
}

fn report_unknown_client(client: &OsStr) {
    let known = clients::ALL.map(Client::name).join(", ");
    let line = format!("there is no hook for `{}`, only for {known}\n", client.to_string_lossy());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Answers one call within the deadline.
pub(crate) fn answer(client: &'static dyn Client, watch: Stopwatch) {
    // A panic message belongs in the log, not on the client's screen.
    std::panic::set_hook(Box::new(|_| {}));
    let known = Arc::new(Mutex::new(HookCallState::new(client)));
    let (send, receive) = channel();
    let theirs = Arc::clone(&known);
    let work = move || handle_call(client, watch, &theirs, &send);
    if thread::Builder::new().stack_size(STACK_BYTES).spawn(work).is_err() {
        return;
    }
    let left = |time: Duration| time.saturating_sub(watch.elapsed());
    let time = env::hook_time();
    let mut done = receive.recv_timeout(left(time.unwrap_or(TIME_LIMIT)));
    if done == Err(RecvTimeoutError::Timeout) && lock_state(&known).is_end {
        done = receive.recv_timeout(left(time.unwrap_or(TIME_LIMIT_AT_END)));
    }
    match done {
        Ok(text) => {
            // If the client no longer reads, no answer is needed.
            drop(Ui::write_bytes(text.as_bytes()));
            // Wait until the log is written, but not for a disk that hangs.
            let _ = receive.recv_timeout(left(time.unwrap_or(TIME_LIMIT)).max(GIVE_UP_TIME_LIMIT));
        }
        Err(RecvTimeoutError::Timeout) => give_up(&known, watch, "ran out of time"),
        Err(RecvTimeoutError::Disconnected) => give_up(&known, watch, "it panicked"),
    }
}

/// What is known about a call, for the waiting thread.
#[derive(Clone, Debug)]
struct HookCallState {
    client: &'static dyn Client,
    call: Option<HookInput>,
    is_end: bool,
    log_folders: LogFolders,
}

/// Where calls are logged.
#[derive(Clone, Debug, Default)]
struct LogFolders {
    /// The private folder of the project, once it is known.
    project: Option<PathBuf>,
    /// The user's folder, for errors that keep a hook from its project.
    user: Option<PathBuf>,
}

impl LogFolders {
    fn choose(&self, done: &HookOutcome) -> Option<&Path> {
        let user = self.user.as_ref().filter(|_| !done.errors.is_empty());
        self.project.as_ref().or(user).map(PathBuf::as_path)
    }
}

impl HookCallState {
    fn new(client: &'static dyn Client) -> Self {
        Self { client, call: None, is_end: false, log_folders: LogFolders::default() }
    }

    fn log(&self, at: Timestamp, watch: Stopwatch, done: &HookOutcome) {
        let Some(folder) = self.log_folders.choose(done) else { return };
        let event = self.call.as_ref().map_or("", |call| &call.event);
        let session = self.call.as_ref().and_then(|call| call.session.as_ref());
        log(folder, (self.client.name(), event, session), at, watch, done);
    }
}

/// Logs the result of a call, with its client, event and session.
fn log(
    folder: &Path,
    (client, event, session): (&str, &str, Option<&SessionId>),
    at: Timestamp,
    watch: Stopwatch,
    done: &HookOutcome,
) {
    let did = if done.actions.is_empty() { "nothing".to_owned() } else { done.actions.join(", ") };
    let error = (!done.errors.is_empty()).then(|| done.errors.join("; "));
    let milliseconds = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (tokens, did, error) = (done.tokens, did.as_str(), error.as_deref());
    // There is no place left to report this failure.
    let _ = hook_log::add(
        folder,
        &HookLogLine { at, client, event, session, milliseconds, tokens, did, error },
    );
}

fn lock_state(known: &Mutex<HookCallState>) -> MutexGuard<'_, HookCallState> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Handles a call, sends the answer, and then logs the result: a log that cannot be written must
/// not cost the answer.
fn handle_call(
    client: &'static dyn Client,
    watch: Stopwatch,
    known: &Mutex<HookCallState>,
    answered: &Sender<String>,
) {
    let say = |text: String| drop(answered.send(text));
    let input = read_input();
    if env::are_hooks_silent() {
        return say(String::new());
    }
    let Ok(environment) = clients::read_environment() else { return say(String::new()) };
    let now = environment.clock;
    lock_state(known).log_folders.user = hook_log::user_folder(&environment);
    let call = input
        .and_then(|input| HookFields::parse(&input).map_err(HookCallError::Json))
        .map(|fields| client.parse_hook_call(&fields));
    if let Ok(call) = &call {
        let mut known = lock_state(known);
        known.is_end = matches!(call.kind, HookEvent::End { .. });
        known.call = Some(call.clone());
    }
    let folder = call.as_ref().ok().and_then(|call| call.folder.as_deref());
    let workspace = match open_project(environment, folder) {
        Ok(Some(workspace)) => workspace,
        Ok(None) => return say(String::new()),
        Err(error) => {
            say(String::new());
            let done = HookOutcome { errors: vec![error], ..HookOutcome::default() };
            let known = lock_state(known).clone();
            return known.log(now.now(), watch, &done);
        }
    };
    let store = Store::new(workspace, WaitPolicy::Hook);
    let workspace = store.workspace();
    lock_state(known).log_folders.project = workspace.private_folder_in_use();
    let broken = broken_configuration(workspace);
    let mut done = match (&call, broken) {
        (Ok(call), None) => verbs::hook(&store, call, index_limit(watch)),
        (Err(error), None) => {
            HookOutcome { errors: vec![error.to_string()], ..HookOutcome::default() }
        }
        (_, Some(broken)) => HookOutcome { errors: vec![broken], ..HookOutcome::default() },
    };
    say(call.map(|call| client.format_hook_answer(&call, &done.answer)).unwrap_or_default());
    let known = lock_state(known).clone();
    let started = spawn_remaining_work(&known, &done, workspace.root().path());
    done.errors.extend(started.into_iter().filter_map(Result::err).map(|error| error.to_string()));
    redact_errors(workspace, &mut done);
    known.log(now.now(), watch, &done);
}

/// Why the configuration cannot be used. One that came with the repository must not switch hooks off.
fn broken_configuration(workspace: &Workspace) -> Option<String> {
    let broken = workspace.broken_configuration().filter(|_| workspace.is_trusted());
    broken.map(ToString::to_string)
}

/// Starts background processes for the remaining work. Each of them also asks git.
fn spawn_remaining_work(
    known: &HookCallState,
    done: &HookOutcome,
    folder: &Path,
) -> Vec<std::io::Result<()>> {
    let captured = if done.is_capture_due { spawn_capture_or_index(known) } else { None };
    let next = match (done.is_recovery_incomplete, &captured) {
        // An import captures what a recovery does, and more.
        _ if done.is_import_due && env::may_observe() => Some(IMPORT),
        (true, _) => Some(RECOVER),
        (false, Some(_)) => None,
        (false, None) => Some(OBSERVE).filter(|_| done.is_observation_due && env::may_observe()),
    };
    let index = Some(INDEX).filter(|_| done.is_index_incomplete);
    let others =
        next.into_iter().chain(index).map(|word| spawn_background(&["hook", word], folder));
    captured.into_iter().chain(others).collect()
}

/// How long the index may be built before the answer. The rest of the time is for the answer
/// itself.
fn index_limit(watch: Stopwatch) -> RefreshLimit {
    let time = env::hook_time().unwrap_or(TIME_LIMIT) * 3 / 5;
    RefreshLimit::until(Deadline::after(time.saturating_sub(watch.elapsed())))
}

/// Redacts errors with the project's rules. The log applies only the built-in ones.
fn redact_errors(workspace: &Workspace, done: &mut HookOutcome) {
    for error in &mut done.errors {
        *error = workspace.clean(error).0.as_str().to_owned();
    }
}

/// Starts a background process.
fn spawn_background(words: &[&str], folder: &Path) -> std::io::Result<()> {
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    process::spawn_detached(&words, folder, clients::detached_process_variables(folder))
}

/// The project of a session, unless hooks are silent there. A broken configuration is ignored here
/// and logged later, but not if it may exclude the project.
fn open_project(
    mut environment: Environment,
    folder: Option<&str>,
) -> Result<Option<Workspace>, String> {
    if let Some(folder) = folder.map(Path::new).filter(|folder| files::is_folder(folder)) {
        environment.folder = files::canonical(folder);
    }
    environment.user = environment.user.without_git();
    let workspace = match Workspace::discover_ignoring_settings(environment) {
        Err(WorkspaceError::Bare(_)) => return Ok(None),
        opened => opened.map_err(|error| error.to_string())?,
    };
    if let Some(Exclusion::Unreadable(why)) = workspace.exclusion() {
        return Err(why.clone());
    }
    let has_answer = !verbs::is_silent(&workspace) || verbs::has_unread_store(&workspace);
    Ok(has_answer.then_some(workspace))
}

/// Why a call could not be read.
#[derive(Debug)]
enum HookCallError {
    /// It has more than this number of bytes.
    TooLong(u64),
    /// Standard input failed.
    Input(io::Error),
    /// It is not a JSON object, or has too many fields.
    Json(serde_json::Error),
}

impl fmt::Display for HookCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes_max) => write!(f, "the call has more than {bytes_max} bytes"),
            Self::Input(error) => write!(f, "the call cannot be read: {error}"),
            Self::Json(error) => write!(f, "cannot parse the call: {error}"),
        }
    }
}

impl std::error::Error for HookCallError {}

/// Reads all of standard input, so that a client that is still writing does not get a broken pipe.
fn read_input() -> Result<Vec<u8>, HookCallError> {
    let mut stdin = std::io::stdin().lock();
    let mut bytes = Vec::new();
    let read = stdin.by_ref().take(INPUT_BYTES_MAX).read_to_end(&mut bytes);
    let more = std::io::copy(&mut stdin, &mut std::io::sink());
    match (read, more) {
        (Ok(_), Ok(0)) => Ok(bytes),
        (Ok(_), Ok(_)) => Err(HookCallError::TooLong(INPUT_BYTES_MAX)),
        (Err(error), _) | (_, Err(error)) => Err(HookCallError::Input(error)),
    }
}

/// Logs why there is no answer, and starts a background process for what was not read.
fn give_up(known: &Mutex<HookCallState>, watch: Stopwatch, why: &'static str) {
    let known = lock_state(known).clone();
    let (send, receive) = channel();
    let work = move || {
        let mut done = HookOutcome { errors: vec![why.to_owned()], ..HookOutcome::default() };
        match spawn_capture_or_index(&known) {
            Some(Ok(())) => done.actions.push("continues in the background".to_owned()),
            Some(Err(error)) => done.errors.push(error.to_string()),
            None => {}
        }
        if let Ok(environment) = clients::read_environment() {
            known.log(environment.clock.now(), watch, &done);
        }
        let _ = send.send(());
    };
    if thread::Builder::new().spawn(work).is_ok() {
        // Do not wait for a disk that hangs.
        let _ = receive.recv_timeout(GIVE_UP_TIME_LIMIT);
    }
}

/// Starts a background process for a capture that would be lost, or repeated at every call, or for
/// the index that a start waited for.
fn spawn_capture_or_index(known: &HookCallState) -> Option<std::io::Result<()>> {
    known.log_folders.project.as_ref()?;
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
            return Some(spawn_background(&["hook", INDEX], folder));
        }
        HookEvent::AfterCompaction(_)
        | HookEvent::TaskCreated(_)
        | HookEvent::TaskCompleted(_)
        | HookEvent::Other => false,
    };
    let path = call.transcript.as_deref().filter(|_| captures)?;
    Some(spawn_background(&["hook", CAPTURE, call.client.as_str(), path], folder))
}

/// Captures a session in the background.
fn capture(client: &'static dyn Client, transcript: &Path, watch: Stopwatch) {
    act_in_background(CAPTURE, watch, |store| {
        let which = SessionChoice::Transcript(transcript.to_owned());
        let done = verbs::checkpoint(store, &which, Some(client), CheckpointMode::Auto);
        done.map(|_| Some("captured"))
    });
}

/// Captures killed sessions in the background, whatever their size.
fn recover(watch: Stopwatch) {
    act_in_background(RECOVER, watch, |store| {
        verbs::recover(store, false, &mut |_, _| ()).map(|_| Some("recovered"))
    });
}

/// Imports the past sessions of a repository in the background.
fn import(watch: Stopwatch) {
    act_in_background(IMPORT, watch, |store| {
        let imported = verbs::import_sessions(store, verbs::IMPORTED_MAX, &mut |_, _| ())?;
        let is_any = imported.checkpoints.iter().any(|one| one.is_new);
        Ok::<_, CheckpointError>(is_any.then_some("imported past sessions"))
    });
}

/// Finishes the index in the background.
fn index(watch: Stopwatch) {
    act_in_background(INDEX, watch, |store| {
        let finished = verbs::finish_index(store.workspace())?;
        Ok::<_, IndexError>(Some(match finished {
            true => "indexed",
            false => "left it to another process",
        }))
    });
}

/// Starts the background process that deletes old sessions, if that was not done today.
pub(crate) fn spawn_due_retention(workspace: &Workspace) {
    if env::may_observe() && verbs::is_retention_due(workspace) {
        drop(spawn_background(&["hook", RETAIN], workspace.root().path()));
    }
}

fn retain(watch: Stopwatch) {
    act_in_background(RETAIN, watch, apply_due_retention);
}

fn apply_due_retention(store: &Store) -> Result<Option<&'static str>, ForgetError> {
    let is_due = verbs::is_retention_due(store.workspace());
    let deleted = if is_due { verbs::apply_retention(store)? } else { None };
    Ok(deleted.filter(|deleted| *deleted > 0).map(|_| "deleted old sessions"))
}

/// Starts the background process that redacts what is stored, if the rules changed since. Without it
/// the next command tries again.
pub(crate) fn spawn_due_redaction(workspace: &Workspace) {
    if env::may_observe() && verbs::is_redaction_due(workspace) {
        drop(spawn_background(&["hook", REDACT], workspace.root().path()));
    }
}

/// Redacts what is stored with the current rules.
fn redact(watch: Stopwatch) {
    act_in_background(REDACT, watch, |store| {
        let redacted = verbs::redact_stored(store, &|_| ())?;
        let is_changed = redacted.is_some_and(|state| state.has_changes());
        Ok::<_, RedactStoredError>(is_changed.then_some("redacted stored data"))
    });
}

/// Asks git what is uncommitted, for the next session. Old sessions are deleted here too, for users who
/// run no commands.
fn observe(watch: Stopwatch) {
    act_in_background(OBSERVE, watch, apply_due_retention);
}

/// Asks git, then runs `act`, in a new process session that the client does not kill. If there is
/// nothing to report, nothing is logged.
fn act_in_background<E: std::error::Error>(
    event: &str,
    watch: Stopwatch,
    act: impl Fn(&Store) -> Result<Option<&'static str>, E>,
) {
    process::start_new_session();
    let Ok(environment) = clients::read_environment() else { return };
    let clock = environment.clock;
    let mut folders =
        LogFolders { user: hook_log::user_folder(&environment), ..LogFolders::default() };
    let workspace = match open_project(environment, None) {
        Ok(workspace) => workspace,
        Err(error) => {
            let done = HookOutcome { errors: vec![error], ..HookOutcome::default() };
            return log_background(&folders, event, clock.now(), watch, &done);
        }
    };
    let Some(workspace) = workspace.and_then(Workspace::accessible) else { return };
    let store = Store::new(workspace, WaitPolicy::Command);
    let workspace = store.workspace();
    let mut done = HookOutcome::default();
    let broken = broken_configuration(workspace);
    // Observe before the capture, which uses the result.
    if env::may_observe() {
        let observed = verbs::observe_in_background(workspace);
        done.errors.extend(observed.err().map(|error| error.to_string()));
    }
    match broken {
        Some(broken) => done.errors.push(broken),
        None => match act(&store) {
            Ok(did) => done.actions.extend(did.map(str::to_owned)),
            Err(error) => done.errors.push(error.to_string()),
        },
    }
    if done.actions.is_empty() && done.errors.is_empty() {
        return;
    }
    redact_errors(workspace, &mut done);
    folders.project = workspace.private_folder_in_use();
    log_background(&folders, event, clock.now(), watch, &done);
}

fn log_background(
    folders: &LogFolders,
    event: &str,
    at: Timestamp,
    watch: Stopwatch,
    done: &HookOutcome,
) {
    if let Some(folder) = folders.choose(done) {
        log(folder, ("midstride", event, None), at, watch, done);
    }
}

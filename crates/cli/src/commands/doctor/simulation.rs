//! Simulates a session of each client with this very program, in a temporary folder: it starts, is
//! compacted and ends, and another one starts. Each hook is called the way the client calls it, and
//! the answer is compared with what is expected.

use crate::hooks;
use jiff::Timestamp;
use midstride::clients::{Client, hook_log};
use midstride::sys::env::{self, Environment, simulation_variables};
use midstride::sys::files::{self, ScratchFolder};
use midstride::sys::process::{self, ProcessLimits, ProcessReport};
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride::workspace::consent::UserConsent;
use midstride_core::handoff::proof::TrialEnd;
use midstride_core::text::id::SessionId;
use midstride_core::text::tokens;
use midstride_surface::view::doctor::{SimulationError, SimulationStep};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The limits for one call.
const BOUNDS: ProcessLimits =
    ProcessLimits { time: Duration::from_secs(10), output_bytes: 256 << 10 };
/// Hooks get more time here than in a session. The simulation checks whether they work. How long
/// they take on a busy machine is reported separately.
const HOOK_MILLISECONDS: &str = "5000";

const HANDOFF: &str = include_str!("samples/handoff.md");
/// A sentence in that handoff.
const HANDOFF_TEXT: &str = "The planted landmine is in the briefing";
const REQUEST: &str = "Count the simulated steps";
const CORRECTION: &str = "No, do not touch the steps that were counted";
const SESSION: &str = "00000000-0000-4000-8000-000000000001";
const NEXT_SESSION: &str = "00000000-0000-4000-8000-000000000002";

/// The answer of a step, or what is wrong.
type StepResult = Result<String, SimulationError>;

/// Simulates a session of each client, and asks the MCP server once.
pub(super) fn simulate(clients: &[&'static dyn Client], now: Timestamp) -> Vec<SimulationStep> {
    let mut steps = Vec::new();
    for client in clients {
        match ClientSimulation::new(*client, now) {
            Ok(mut play) => {
                play.simulate_session();
                if Some(client) == clients.last() {
                    play.simulate_server();
                }
                steps.append(&mut play.into_steps());
            }
            Err(why) => steps.push(SimulationStep::failed(Some(*client), "folder", why)),
        }
    }
    steps
}

/// A project and a home folder in a temporary folder, and the steps run there.
struct ClientSimulation {
    scratch: ScratchFolder,
    project: PathBuf,
    home: PathBuf,
    program: PathBuf,
    client: &'static dyn Client,
    now: Timestamp,
    steps: Vec<SimulationStep>,
}

impl ClientSimulation {
    fn new(client: &'static dyn Client, now: Timestamp) -> Result<Self, SimulationError> {
        let program = std::env::current_exe().map_err(SimulationError::from_error)?;
        let scratch =
            ScratchFolder::new("midstride-doctor").map_err(SimulationError::from_error)?;
        let base = files::canonical(scratch.path());
        let (project, home) = (base.join("project"), base.join("home"));
        Ok(Self { scratch, project, home, program, client, now, steps: Vec::new() })
    }

    fn into_steps(mut self) -> Vec<SimulationStep> {
        if let Err(error) = self.scratch.remove() {
            self.steps.push(SimulationStep::failed(
                Some(self.client),
                "clean up",
                SimulationError::from_error(error),
            ));
        }
        self.steps
    }

    /// Runs the steps of a session up to the first that fails, because later ones depend on it.
    fn simulate_session(&mut self) {
        let starts_first = self.client.profile().compaction.starts_first;
        let after_compaction: [fn(&mut Self) -> bool; 2] = match starts_first {
            true => [Self::start_after_compaction, Self::after_compaction],
            false => [Self::after_compaction, Self::start_after_compaction],
        };
        let [first, second] = after_compaction;
        let _ = self.set_up()
            && self.start_session()
            && self.before_compaction()
            && first(self)
            && second(self)
            && self.end_session()
            && self.start_next_session();
    }

    /// Creates the parts of a repository that midstride needs, as `git init` would. Does not need
    /// git.
    fn set_up(&mut self) -> bool {
        let write = |path: &str, text: &str| {
            self.scratch.write(path, text.as_bytes()).map(drop).map_err(SimulationError::from_error)
        };
        let written = write("project/.git/HEAD", "ref: refs/heads/main\n")
            .and_then(|()| write("project/.git/objects/info/packs", ""))
            .and_then(|()| write("project/.git/refs/heads/.keep", ""))
            .and_then(|()| write("home/.keep", ""));
        let outcome = written.and_then(|()| {
            require_success(&self.run(&["init"], b"")?)?;
            self.trust()?;
            write("project/.midstride/handoffs/simulated.md", HANDOFF)
        });
        // Success is not reported as a step. The steps of the session show it.
        match outcome {
            Ok(()) => true,
            Err(why) => self.push_step("set up", None, Duration::ZERO, Err(why)),
        }
    }

    /// Trusts the simulated project, which this process made. Nothing outside the temporary folder is
    /// trusted with it.
    fn trust(&self) -> Result<(), SimulationError> {
        let places = ["project", "home", "home/.local/state"];
        let environment = Environment::in_scratch(&self.scratch, places);
        let consent =
            UserConsent::by_presence(&environment).map_err(SimulationError::from_error)?;
        let workspace = Workspace::discover(environment).map_err(SimulationError::from_error)?;
        verbs::trust(&workspace, &consent).map(drop).map_err(SimulationError::from_error)
    }

    fn start_session(&mut self) -> bool {
        let call = self.call_json("SessionStart", SESSION, &json!({ "source": "startup" }));
        self.call_hook("start", "SessionStart", &call, |_, answer| {
            let context = additional_context(answer)?;
            require_text(&context, HANDOFF_TEXT, "the planted handoff")?;
            Ok(format!("{}, with the planted handoff", describe_cost(&context)))
        })
    }

    /// A client writes its transcript only after the start.
    fn before_compaction(&mut self) -> bool {
        if let Err(why) = self.write_transcript() {
            return self.push_step("before compaction", None, Duration::ZERO, Err(why));
        }
        let more = json!({ "trigger": "auto", "custom_instructions": "" });
        let call = self.call_json("PreCompact", SESSION, &more);
        self.call_hook("before compaction", "PreCompact", &call, |play, answer| {
            play.require_capture("PreCompact")?;
            match play.client.profile().compaction.takes_instructions {
                true => {
                    require_text(answer, CORRECTION, "the user's correction")?;
                    Ok("captured; asks for a summary that keeps the user's correction".to_owned())
                }
                false => require_no_output(answer).map(|()| "captured".to_owned()),
            }
        })
    }

    fn start_after_compaction(&mut self) -> bool {
        let call = self.call_json("SessionStart", SESSION, &json!({ "source": "compact" }));
        self.call_hook("start over", "SessionStart", &call, |_, answer| {
            let context = additional_context(answer)?;
            require_text(&context, HANDOFF_TEXT, "the planted handoff")?;
            require_text(&context, CORRECTION, "the user's correction")?;
            Ok(format!("{}, with the handoff and the correction", describe_cost(&context)))
        })
    }

    fn after_compaction(&mut self) -> bool {
        let mut more = json!({ "trigger": "auto" });
        if self.client.profile().compaction.passes_summary {
            more["compact_summary"] = json!("<summary>Steps were counted.</summary>");
        }
        let call = self.call_json("PostCompact", SESSION, &more);
        self.call_hook("after compaction", "PostCompact", &call, |play, answer| {
            require_no_output(answer)?;
            Ok(match play.client.profile().compaction.passes_summary {
                true => play.logged_action("PostCompact")?,
                false => "recorded".to_owned(),
            })
        })
    }

    fn end_session(&mut self) -> bool {
        let call = self.call_json("SessionEnd", SESSION, &json!({ "reason": "other" }));
        self.call_hook("end", "SessionEnd", &call, |play, answer| {
            require_no_output(answer)?;
            play.require_capture("SessionEnd")?;
            let run = play.run(&["session", "list", "--json"], b"")?;
            require_success(&run)?;
            let list: Value = serde_json::from_str(&run.output.text()).unwrap_or_default();
            let captured = |one: &Value| one["session"] == SESSION && one["captured"] == "whole";
            match list["items"].as_array().is_some_and(|list| list.iter().any(captured)) {
                true => Ok("the whole session was captured".to_owned()),
                false => {
                    Err(SimulationError::new("`midstride session list` does not list the session"))
                }
            }
        })
    }

    fn start_next_session(&mut self) -> bool {
        let call = self.call_json("SessionStart", NEXT_SESSION, &json!({ "source": "startup" }));
        self.call_hook("next session", "SessionStart", &call, |_, answer| {
            let context = additional_context(answer)?;
            require_text(&context, CORRECTION, "the previous session's briefing")?;
            Ok(format!("{}, with the previous session's briefing", describe_cost(&context)))
        })
    }

    /// The server is the same for all clients.
    fn simulate_server(&mut self) {
        let about = json!({ "name": "midstride-doctor", "version": env!("CARGO_PKG_VERSION") });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        let lines = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }),
        ];
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut time = Duration::ZERO;
        let outcome = self.run(&["mcp"], input.as_bytes()).and_then(|run| {
            time = run.time;
            require_success(&run)?;
            let text = run.output.text();
            let answers = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let list = answers.into_iter().find(|answer| answer["id"] == 2).unwrap_or_default();
            let tools = list["result"]["tools"].as_array().map_or(0, Vec::len);
            match tools {
                0 => fail(format!("the server offers no tools; it printed {}", quote(&text))),
                some => Ok(format!("offers {some} tools")),
            }
        });
        self.push_step("MCP server", None, time, outcome);
        if let Some(step) = self.steps.last_mut() {
            step.client = None;
        }
    }

    /// Calls a hook and checks its answer.
    fn call_hook(
        &mut self,
        name: &'static str,
        event: &'static str,
        call: &Value,
        check: impl Fn(&Self, &str) -> StepResult,
    ) -> bool {
        let mut time = Duration::ZERO;
        let arguments = ["hook", self.client.name()];
        let outcome = self.run(&arguments, call.to_string().as_bytes()).and_then(|run| {
            time = run.time;
            require_success(&run)?;
            // An error in the log is closer to the cause than what the answer lacks.
            let error = self.logged_call(event)?.error;
            match error {
                Some(error) => Err(SimulationError::new(error)),
                None => check(self, run.output.text().trim()),
            }
        });
        self.push_step(name, Some(event), time, outcome)
    }

    fn push_step(
        &mut self,
        name: &'static str,
        event: Option<&'static str>,
        time: Duration,
        outcome: StepResult,
    ) -> bool {
        let is_well = outcome.is_ok();
        let (client, time_max) = (Some(self.client), event.map(hooks::time_limit));
        self.steps.push(SimulationStep { client, name, event, time, time_max, outcome });
        is_well
    }

    /// Runs this program as a client would, without the user's environment.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<ProcessReport, SimulationError> {
        let mut command = process::command(&self.program);
        command.args(arguments).current_dir(&self.project).env_clear();
        command.envs(simulation_variables()).env("HOME", &self.home);
        // A background process would outlive the temporary folder.
        command.env(env::OBSERVE, "off");
        if env::hook_time().is_none() {
            command.env("MIDSTRIDE_HOOK_MILLISECONDS", HOOK_MILLISECONDS);
        }
        process::communicate_bounded(command, input.to_vec(), BOUNDS).map_err(|error| {
            let program = self.program.display();
            SimulationError::new(format!("cannot run `{program}`: {error}"))
        })
    }

    /// The JSON of a call, with these fields in addition to the common ones.
    fn call_json(&self, event: &str, session: &str, more: &Value) -> Value {
        let mut call = json!({
            "session_id": session,
            "transcript_path": self.transcript_path(session),
            "cwd": self.project,
            "hook_event_name": event,
        });
        for (name, value) in self.client.profile().sample_hook_fields {
            call[name] = json!(value);
        }
        for (name, value) in more.as_object().into_iter().flatten() {
            call[name] = value.clone();
        }
        call
    }

    /// The path where the client writes the transcript of a session.
    fn transcript_path(&self, session: &str) -> PathBuf {
        let home = self.home.join(self.client.profile().home_folder);
        self.client.transcript_path(&home, &self.project, &SessionId::new(session), self.now)
    }

    fn write_transcript(&self) -> Result<(), SimulationError> {
        let sample = self.client.profile().sample_transcript;
        let folder = Value::from(self.project.to_string_lossy()).to_string();
        let text = sample
            .replace("{folder}", folder.trim_matches('"'))
            .replace("{session}", SESSION)
            .replace("{time}", &self.now.to_string())
            .replace("{request}", REQUEST)
            .replace("{correction}", CORRECTION);
        let written = self.scratch.write(self.transcript_path(SESSION), text.as_bytes());
        written.map(drop).map_err(SimulationError::from_error)
    }

    /// The last call in the log.
    fn logged_call(&self, event: &str) -> Result<hook_log::HookStats, SimulationError> {
        let private = self.project.join(Path::new(".git/midstride"));
        let report = hook_log::read_report(&private).map_err(SimulationError::from_error)?;
        let fired = report.hooks.into_iter().find(|fired| fired.event == event);
        fired.ok_or_else(|| SimulationError::new("the hook did not write to its log"))
    }

    fn logged_action(&self, event: &str) -> StepResult {
        self.logged_call(event).map(|fired| fired.did)
    }

    /// Fails unless this call or an earlier one captured the session.
    fn require_capture(&self, event: &str) -> Result<(), SimulationError> {
        match self.logged_action(event)?.as_str() {
            "captured" | "nothing new" => Ok(()),
            other => fail(format!("the session was not captured; the log says {}", quote(other))),
        }
    }
}

fn fail<T>(message: String) -> Result<T, SimulationError> {
    Err(SimulationError::new(message))
}

fn require_success(run: &ProcessReport) -> Result<(), SimulationError> {
    let output = || quote(&format!("{}{}", run.errors.text(), run.output.text()));
    match run.ended {
        TrialEnd::Exit(0) => Ok(()),
        TrialEnd::Exit(code) => {
            fail(format!("it exited with code {code} and printed {}", output()))
        }
        TrialEnd::Signal(signal) => fail(format!("it was killed by signal {signal}")),
        TrialEnd::TimedOut => fail(format!("it did not exit within {} s", BOUNDS.time.as_secs())),
    }
}

/// The context the answer gives to the model.
fn additional_context(answer: &str) -> Result<String, SimulationError> {
    let value: Value = serde_json::from_str(answer).unwrap_or_default();
    let context = value["hookSpecificOutput"]["additionalContext"].as_str();
    match context {
        Some(context) => Ok(context.to_owned()),
        None => fail(format!("no briefing; it printed {}", quote(answer))),
    }
}

fn require_text(text: &str, wanted: &str, what: &str) -> Result<(), SimulationError> {
    match text.contains(wanted) {
        true => Ok(()),
        false => fail(format!("{what} is missing from {}", quote(text))),
    }
}

fn require_no_output(answer: &str) -> Result<(), SimulationError> {
    match answer.is_empty() {
        true => Ok(()),
        false => fail(format!("expected no output, but it printed {}", quote(answer))),
    }
}

fn describe_cost(text: &str) -> String {
    format!("briefed {} tokens", tokens::estimate(text))
}

/// The first characters of a program's output.
fn quote(text: &str) -> String {
    const WIDTH: usize = 120;
    match midstride_surface::view::one_line(text, WIDTH) {
        line if line.is_empty() => "nothing".to_owned(),
        line => format!("`{line}`"),
    }
}

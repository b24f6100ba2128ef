//! A session of each client, played to this very program in a folder that goes away: it starts, is
//! compacted, ends, and another one starts. Each step is called as the client calls it, and what
//! comes back is compared with what has to.

use crate::hooks;
use crate::view::doctor::SimulationStep;
use jiff::Timestamp;
use midstride::clients::claude_code_transcript_folder;
use midstride::clients::hook_log;
use midstride::sys::files::{self, ScratchFolder};
use midstride::sys::process::{self, ProcessLimits, ProcessReport};
use midstride::workspace::settings::{self, simulation_variables};
use midstride_core::handoff::proof::TrialEnd;
use midstride_core::session::Client;
use midstride_core::text::tokens;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A call that takes longer is stopped.
const BOUNDS: ProcessLimits =
    ProcessLimits { time: Duration::from_secs(10), output_bytes: 256 << 10 };
/// A hook has more time here than in a session: whether it works is one thing, how long it takes on
/// a machine that is busy right now is another, and is told beside it.
const HOOK_MILLISECONDS: &str = "5000";

const HANDOFF: &str = include_str!("samples/handoff.md");
/// What stands in that handoff.
const HANDOFF_TEXT: &str = "The planted landmine is told at the start";
const REQUEST: &str = "Count the simulated steps";
const CORRECTION: &str = "No, do not touch the steps that were counted";
const SESSION: &str = "00000000-0000-4000-8000-000000000001";
const NEXT_SESSION: &str = "00000000-0000-4000-8000-000000000002";

/// What came back of a step, or what is wrong.
type StepResult = Result<String, String>;

/// Plays a session of each client, and asks the MCP server once.
pub(super) fn simulate(clients: &[Client], now: Timestamp) -> Vec<SimulationStep> {
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

/// A project and a home in a temporary folder, and what was played there.
struct ClientSimulation {
    scratch: ScratchFolder,
    project: PathBuf,
    home: PathBuf,
    program: PathBuf,
    client: Client,
    now: Timestamp,
    steps: Vec<SimulationStep>,
}

impl ClientSimulation {
    fn new(client: Client, now: Timestamp) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let scratch = ScratchFolder::new("midstride-doctor").map_err(|error| error.to_string())?;
        let base = files::canonical(scratch.path());
        let (project, home) = (base.join("project"), base.join("home"));
        Ok(Self { scratch, project, home, program, client, now, steps: Vec::new() })
    }

    fn into_steps(mut self) -> Vec<SimulationStep> {
        if let Err(error) = self.scratch.remove() {
            self.steps.push(SimulationStep::failed(
                Some(self.client),
                "clean up",
                error.to_string(),
            ));
        }
        self.steps
    }

    /// The steps of a session, up to the first that fails: the others build on it.
    fn simulate_session(&mut self) {
        let after_compaction: [fn(&mut Self) -> bool; 2] = match self.client {
            Client::ClaudeCode => [Self::start_after_compaction, Self::after_compaction],
            Client::Codex => [Self::after_compaction, Self::start_after_compaction],
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

    /// A repository as `git init` makes it, as far as midstride looks; no git is needed.
    fn set_up(&mut self) -> bool {
        let write = |path: &str, text: &str| {
            self.scratch.write(path, text.as_bytes()).map(drop).map_err(|error| error.to_string())
        };
        let written = write("project/.git/HEAD", "ref: refs/heads/main\n")
            .and_then(|()| write("project/.git/objects/info/packs", ""))
            .and_then(|()| write("project/.git/refs/heads/.keep", ""))
            .and_then(|()| write("home/.keep", ""));
        let outcome = written.and_then(|()| {
            require_success(&self.run(&["init"], b"")?)?;
            write("project/.midstride/handoffs/simulated.md", HANDOFF)
        });
        // That it went well is nothing to tell: the steps of the session do.
        match outcome {
            Ok(()) => true,
            Err(why) => self.push_step("set up", None, Duration::ZERO, Err(why)),
        }
    }

    fn start_session(&mut self) -> bool {
        let call = self.call_json("SessionStart", SESSION, &json!({ "source": "startup" }));
        self.call_hook("start", "SessionStart", &call, |_, answer| {
            let told = additional_context(answer)?;
            require_text(&told, HANDOFF_TEXT, "the handoff that was planted")?;
            Ok(format!("{}, with the handoff that was planted", describe_cost(&told)))
        })
    }

    /// Only now a client has written a transcript.
    fn before_compaction(&mut self) -> bool {
        if let Err(why) = self.write_transcript() {
            return self.push_step("before compaction", None, Duration::ZERO, Err(why));
        }
        let more = json!({ "trigger": "auto", "custom_instructions": "" });
        let call = self.call_json("PreCompact", SESSION, &more);
        self.call_hook("before compaction", "PreCompact", &call, |play, answer| {
            play.require_capture("PreCompact")?;
            match play.client {
                Client::ClaudeCode => {
                    require_text(answer, CORRECTION, "what the user corrected")?;
                    Ok("captured; asks the summary to keep what the user corrected".to_owned())
                }
                // It takes no words for its summary.
                Client::Codex => require_no_output(answer).map(|()| "captured".to_owned()),
            }
        })
    }

    fn start_after_compaction(&mut self) -> bool {
        let call = self.call_json("SessionStart", SESSION, &json!({ "source": "compact" }));
        self.call_hook("start over", "SessionStart", &call, |_, answer| {
            let told = additional_context(answer)?;
            require_text(&told, HANDOFF_TEXT, "the handoff that was planted")?;
            require_text(&told, CORRECTION, "what the user corrected")?;
            Ok(format!("{}, with the handoff and the correction", describe_cost(&told)))
        })
    }

    fn after_compaction(&mut self) -> bool {
        let mut more = json!({ "trigger": "auto" });
        if self.client == Client::ClaudeCode {
            more["compact_summary"] = json!("<summary>Steps were counted.</summary>");
        }
        let call = self.call_json("PostCompact", SESSION, &more);
        self.call_hook("after compaction", "PostCompact", &call, |play, answer| {
            require_no_output(answer)?;
            Ok(match play.client {
                Client::ClaudeCode => play.logged_action("PostCompact")?,
                Client::Codex => "taken note of".to_owned(),
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
            match list.as_array().is_some_and(|list| list.iter().any(captured)) {
                true => Ok("the whole session is captured".to_owned()),
                false => Err("`midstride session list` does not tell of the session".to_owned()),
            }
        })
    }

    fn start_next_session(&mut self) -> bool {
        let call = self.call_json("SessionStart", NEXT_SESSION, &json!({ "source": "startup" }));
        self.call_hook("next session", "SessionStart", &call, |_, answer| {
            let told = additional_context(answer)?;
            require_text(&told, CORRECTION, "what the session before was told")?;
            Ok(format!("{}, with what the session before was told", describe_cost(&told)))
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
                0 => Err(format!("it offers no tool; it said {}", quote(&text))),
                some => Ok(format!("offers {some} tools")),
            }
        });
        self.push_step("MCP server", None, time, outcome);
        if let Some(step) = self.steps.last_mut() {
            step.client = None;
        }
    }

    /// Calls a hook and judges what comes back.
    fn call_hook(
        &mut self,
        name: &'static str,
        event: &'static str,
        call: &Value,
        judge: impl Fn(&Self, &str) -> StepResult,
    ) -> bool {
        let mut time = Duration::ZERO;
        let arguments = ["hook", self.client.name()];
        let outcome = self.run(&arguments, call.to_string().as_bytes()).and_then(|run| {
            time = run.time;
            require_success(&run)?;
            // What the log tells is nearer to the cause than what is missing in the answer.
            let error = self.logged_call(event)?.error;
            error.map_or_else(|| judge(self, run.output.text().trim()), Err)
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

    /// Runs this program as a client would, with nothing of the user's.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<ProcessReport, String> {
        let mut command = process::command(&self.program);
        command.args(arguments).current_dir(&self.project).env_clear();
        command.envs(simulation_variables()).env("HOME", &self.home);
        // What goes on alone would outlive the temporary directory.
        command.env(settings::OBSERVE, "off");
        if settings::hook_time().is_none() {
            command.env("MIDSTRIDE_HOOK_MILLISECONDS", HOOK_MILLISECONDS);
        }
        process::communicate_bounded(command, input.to_vec(), BOUNDS)
            .map_err(|error| format!("`{}` cannot be run: {error}", self.program.display()))
    }

    /// A call with these fields besides those that all have.
    fn call_json(&self, event: &str, session: &str, more: &Value) -> Value {
        let mut call = json!({
            "session_id": session,
            "transcript_path": self.transcript_path(session),
            "cwd": self.project,
            "hook_event_name": event,
        });
        if self.client == Client::Codex {
            call["model"] = json!("simulated");
            call["turn_id"] = json!(NEXT_SESSION);
        }
        for (name, value) in more.as_object().into_iter().flatten() {
            call[name] = value.clone();
        }
        call
    }

    /// Where the client writes down what a session does.
    fn transcript_path(&self, session: &str) -> PathBuf {
        match self.client {
            Client::ClaudeCode => {
                claude_code_transcript_folder(&self.home.join(".claude"), &self.project)
                    .join(format!("{session}.jsonl"))
            }
            Client::Codex => {
                let (day, time) =
                    (self.now.strftime("%Y/%m/%d"), self.now.strftime("%Y-%m-%dT%H-%M-%S"));
                self.home.join(format!(".codex/sessions/{day}/rollout-{time}-{session}.jsonl"))
            }
        }
    }

    fn write_transcript(&self) -> Result<(), String> {
        let sample = match self.client {
            Client::ClaudeCode => include_str!("samples/claude-code.jsonl"),
            Client::Codex => include_str!("samples/codex.jsonl"),
        };
        let folder = Value::from(self.project.to_string_lossy()).to_string();
        let text = sample
            .replace("{folder}", folder.trim_matches('"'))
            .replace("{session}", SESSION)
            .replace("{time}", &self.now.to_string())
            .replace("{request}", REQUEST)
            .replace("{correction}", CORRECTION);
        let written = self.scratch.write(self.transcript_path(SESSION), text.as_bytes());
        written.map(drop).map_err(|error| error.to_string())
    }

    /// What the log tells of the last call.
    fn logged_call(&self, event: &str) -> Result<hook_log::HookStats, String> {
        let private = self.project.join(Path::new(".git/midstride"));
        let told = hook_log::read_report(&private).map_err(|error| error.to_string())?;
        let fired = told.hooks.into_iter().find(|fired| fired.event == event);
        fired.ok_or_else(|| "the hook wrote no line into its log".to_owned())
    }

    fn logged_action(&self, event: &str) -> StepResult {
        self.logged_call(event).map(|fired| fired.did)
    }

    /// Whether the session was written down, by this call or by one before it.
    fn require_capture(&self, event: &str) -> Result<(), String> {
        match self.logged_action(event)?.as_str() {
            "captured" | "nothing new" => Ok(()),
            other => Err(format!("the session was not captured; the log says {}", quote(other))),
        }
    }
}

fn require_success(run: &ProcessReport) -> Result<(), String> {
    let said = || quote(&format!("{}{}", run.errors.text(), run.output.text()));
    match run.ended {
        TrialEnd::Exit(0) => Ok(()),
        TrialEnd::Exit(code) => Err(format!("it ended with exit code {code} and said {}", said())),
        TrialEnd::Signal(signal) => Err(format!("it was killed by signal {signal}")),
        TrialEnd::TimedOut => Err(format!("it did not end within {} s", BOUNDS.time.as_secs())),
    }
}

/// What the model is told.
fn additional_context(answer: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(answer).unwrap_or_default();
    let told = value["hookSpecificOutput"]["additionalContext"].as_str();
    told.map(str::to_owned).ok_or_else(|| format!("nothing is told; it said {}", quote(answer)))
}

fn require_text(told: &str, wanted: &str, what: &str) -> Result<(), String> {
    match told.contains(wanted) {
        true => Ok(()),
        false => Err(format!("{what} is missing in {}", quote(told))),
    }
}

fn require_no_output(answer: &str) -> Result<(), String> {
    match answer.is_empty() {
        true => Ok(()),
        false => Err(format!("nothing had to come back, but {}", quote(answer))),
    }
}

fn describe_cost(told: &str) -> String {
    format!("told {} tokens", tokens::estimate(told))
}

/// The beginning of what a program said.
fn quote(text: &str) -> String {
    const WIDTH: usize = 120;
    match crate::view::one_line(text, WIDTH) {
        line if line.is_empty() => "nothing".to_owned(),
        line => format!("`{line}`"),
    }
}

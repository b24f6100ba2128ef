//! Renders the simulated session of `midstride doctor`, step by step.

use super::super::heading;
use super::super::indent;
use super::super::table::{Column, line_width, table};
use super::ProblemText;
use midstride::clients::Client;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A step of the simulation.
pub struct SimulationStep {
    /// The client that was simulated; `None` if the step is the same for all clients.
    pub client: Option<&'static dyn Client>,
    /// The name of the step.
    pub name: &'static str,
    /// The hook event, if the step calls a hook.
    pub event: Option<&'static str>,
    /// How long the client would have waited.
    pub time: Duration,
    /// The longest a client waits; `None` if no client waits for this step.
    pub time_max: Option<Duration>,
    /// The output, or what went wrong.
    pub outcome: Result<String, SimulationError>,
}

/// Why a step of the simulation failed.
#[derive(Debug)]
pub struct SimulationError {
    message: String,
}

impl SimulationError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// Wraps the error of a step.
    pub fn from_error(error: impl std::error::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SimulationError {}

impl SimulationStep {
    /// A step that failed before it could be timed.
    pub fn failed(
        client: Option<&'static dyn Client>,
        name: &'static str,
        why: SimulationError,
    ) -> Self {
        Self { client, name, event: None, time: Duration::ZERO, time_max: None, outcome: Err(why) }
    }

    fn client_name(&self) -> &'static str {
        self.client.map_or("all", |client| client.title())
    }
}

pub(super) fn text(steps: &[SimulationStep], terminal: Option<usize>) -> String {
    let title = "Simulation: this program, called as a client calls it, in a temporary folder";
    format!(
        "{}{}",
        heading(title),
        indent(&steps_table(steps, line_width(terminal).saturating_sub(2)))
    )
}

fn steps_table(steps: &[SimulationStep], width: usize) -> String {
    let names = [("", None), ("CLIENT", None), ("STEP", None), ("TIME", Some(0)), ("RESULT", None)];
    let columns = names.map(|(name, spared)| Column { name, drop_order: spared });
    let row = |step: &SimulationStep| -> Vec<String> {
        let (word, what) = match &step.outcome {
            Ok(what) => ("ok", what.clone()),
            Err(why) => ("FAILED", why.to_string()),
        };
        let is_slow = step.time_max.is_some_and(|most| step.time > most);
        let slow = if is_slow { " (too slow for a session)" } else { "" };
        let time = format!("{} ms{slow}", step.time.as_millis());
        vec![word.to_owned(), step.client_name().to_owned(), step.name.to_owned(), time, what]
    };
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    table(&columns, &rows, width).text
}

/// The steps that failed. User settings cannot be the cause, because the simulation uses none.
pub(super) fn problems(steps: &[SimulationStep]) -> Vec<ProblemText> {
    let failed = steps.iter().filter_map(|step| {
        let why = step.outcome.as_ref().err()?;
        let message = format!("the simulation failed at `{}` for {}: {why}", step.name, step.client_name());
        let hint = "check that the temporary folder (TMPDIR) is writable and has free space; if so, this is a bug in midstride: report it with the output of `midstride doctor --json`";
        Some((message, hint.to_owned()))
    });
    failed.collect()
}

#[derive(Serialize)]
pub(super) struct SimulationStepJson {
    client: Option<&'static str>,
    step: &'static str,
    event: Option<&'static str>,
    ok: bool,
    milliseconds: u64,
    came_back: Option<String>,
    problem: Option<String>,
}

pub(super) fn json(step: &SimulationStep) -> SimulationStepJson {
    SimulationStepJson {
        client: step.client.map(Client::name),
        step: step.name,
        event: step.event,
        ok: step.outcome.is_ok(),
        milliseconds: u64::try_from(step.time.as_millis()).unwrap_or(u64::MAX),
        came_back: step.outcome.as_ref().ok().cloned(),
        problem: step.outcome.as_ref().err().map(ToString::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulation_table_fits_a_narrow_terminal_and_marks_slow_hooks() {
        let step = |name, time, time_max| SimulationStep {
            client: midstride::clients::find("claude-code"),
            name,
            event: Some("SessionEnd"),
            time: Duration::from_millis(time),
            time_max: Some(Duration::from_millis(time_max)),
            outcome: Ok("told 244 tokens, with the handoff and the correction".to_owned()),
        };
        let steps = [step("before compaction", 300, 250), step("end", 300, 1200)];
        let narrow = steps_table(&steps, 60);
        assert!(narrow.lines().skip(1).all(|row| row.chars().count() <= 60), "{narrow}");
        let wide = steps_table(&steps, 120);
        assert!(wide.contains("compaction  300 ms (too slow for a session)  told"), "{wide}");
        assert!(!wide.lines().last().unwrap_or_default().contains("too slow"), "{wide}");
    }
}

//! Proofs in runnable form: what each command must do, and whether a run passes.
//!
//! This module runs nothing. The caller runs the command and passes in how it ended and its output.

mod escapes;
mod expectation;
mod number;

pub use escapes::strip_escapes;
pub use expectation::{Expectation, ExpectationError, ExpectationMismatch, ExpectedExit};
pub use number::Number;

use crate::format::header::{Proof, RecordedOutcome};
use crate::handoff::Handoff;
use serde_json::{Value, json};
use std::path::{Component, Path};

/// The longest timeout a proof may set: one day.
const TIMEOUT_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A parsed proof: everything that determines how it runs and how it is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofSpec {
    /// The shell command.
    pub command: String,
    /// The folder it runs in, relative to the project root; empty for the root.
    pub directory: String,
    /// The timeout in seconds, if the proof sets one.
    pub timeout: Option<u64>,
    /// What the run must satisfy.
    pub expectation: Expectation,
    /// The name of the measurement that its number belongs to.
    pub measures: Option<String>,
}

/// Why a proof cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofSpecError {
    /// It has no command.
    #[error("it has no command")]
    NoCommand,
    /// The command contains a NUL byte, so no shell accepts it.
    #[error("its command contains a NUL byte")]
    Nul,
    /// The folder is outside the project.
    #[error("`{0}` is outside the project")]
    Directory(String),
    /// The timeout is not a number of seconds, or it is too large.
    #[error("`{0}` is not a number of seconds from 1 to {TIMEOUT_SECONDS_MAX}")]
    Timeout(String),
    /// The expectation is invalid.
    #[error(transparent)]
    Expectation(#[from] ExpectationError),
}

/// A proof with its number.
#[derive(Clone, Debug)]
pub struct NumberedProof<'d> {
    /// The number, counted from one in document order.
    pub number: usize,
    /// The proof as written.
    pub proof: Proof<'d>,
    /// The parsed proof, or why it cannot be run.
    pub spec: Result<ProofSpec, ProofSpecError>,
}

/// The proofs of a handoff.
pub fn numbered_proofs<'d>(handoff: &Handoff<'d>) -> Vec<NumberedProof<'d>> {
    let numbered = handoff.proofs().into_iter().map(|(number, proof)| {
        let spec = ProofSpec::from_proof(&proof);
        NumberedProof { number, proof, spec }
    });
    numbered.collect()
}

impl ProofSpec {
    /// Parses a proof.
    fn from_proof(proof: &Proof<'_>) -> Result<Self, ProofSpecError> {
        let command = proof.run.ok_or(ProofSpecError::NoCommand)?.value.trim();
        if command.contains('\0') {
            return Err(ProofSpecError::Nul);
        }
        Ok(Self {
            command: command.to_owned(),
            directory: proof.directory.map_or(Ok(String::new()), |at| parse_directory(at.value))?,
            timeout: proof.timeout.map(|at| parse_timeout(at.value)).transpose()?,
            expectation: Expectation::from_node(proof.expect)?,
            measures: proof.measures.map(|name| name.value.trim().to_owned()),
        })
    }

    /// Everything as JSON. An approval covers exactly this data.
    pub fn data(&self) -> Value {
        json!({
            "command": self.command,
            "directory": self.directory,
            "timeout": self.timeout,
            "expect": self.expectation.data(),
            "measures": self.measures,
        })
    }

    /// Evaluates a run. Escape sequences in its output are ignored.
    pub fn evaluate(&self, run: &Trial<'_>) -> TrialResult {
        let output = strip_escapes(run.output);
        let run = &Trial { output: &output, ..*run };
        if run.end == TrialEnd::TimedOut {
            return TrialResult { outcome: TrialOutcome::TimedOut, number: None };
        }
        if let Err(why) = self.expectation.check_output(run) {
            return TrialResult { outcome: TrialOutcome::Broken(why), number: None };
        }
        let number = self.expectation.number_in(run.output);
        let needs_number = self.measures.is_some() || self.expectation.is_bounded();
        let outcome = match &number {
            None if needs_number => TrialOutcome::Broken(ExpectationMismatch::NoNumber),
            Some(number) if needs_number => match self.expectation.check_number(number) {
                Ok(()) => TrialOutcome::Holds,
                Err(why) => TrialOutcome::Broken(why),
            },
            Some(_) | None => TrialOutcome::Holds,
        };
        TrialResult { outcome, number: number.filter(|_| needs_number) }
    }
}

/// The folder in normalized form: relative and without `..`.
fn parse_directory(written: &str) -> Result<String, ProofSpecError> {
    let mut parts = Vec::new();
    for part in Path::new(written.trim()).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(ProofSpecError::Directory(written.to_owned()));
            }
        }
    }
    Ok(parts.join("/"))
}

fn parse_timeout(written: &str) -> Result<u64, ProofSpecError> {
    let seconds = written.trim().parse().ok();
    let seconds = seconds.filter(|seconds| (1..=TIMEOUT_SECONDS_MAX).contains(seconds));
    seconds.ok_or_else(|| ProofSpecError::Timeout(written.to_owned()))
}

/// One run of a proof's command.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'o> {
    /// How it ended.
    pub end: TrialEnd,
    /// Its output, as far as it was kept.
    pub output: &'o str,
    /// The number of bytes dropped from the middle of the output.
    pub dropped_bytes: u64,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialEnd {
    /// It exited with this code.
    Exit(i32),
    /// A signal killed it.
    Signal(i32),
    /// It was stopped after the timeout.
    TimedOut,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    /// The outcome.
    pub outcome: TrialOutcome,
    /// The number in its output, if the proof needs one and the command did what was expected.
    pub number: Option<Number>,
}

/// The outcome of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// The claim holds.
    Holds,
    /// The claim does not hold, for this reason.
    Broken(ExpectationMismatch),
    /// The command did not finish in time.
    TimedOut,
}

impl TrialOutcome {
    /// The outcome as it is recorded in the header.
    pub fn recorded_outcome(&self) -> RecordedOutcome {
        match self {
            Self::Holds => RecordedOutcome::Holds,
            Self::Broken(_) => RecordedOutcome::Broken,
            Self::TimedOut => RecordedOutcome::TimedOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    fn test(fields: &str) -> Result<ProofSpec, ProofSpecError> {
        let lines: String = fields.lines().map(|line| format!("      {line}\n")).collect();
        let text = format!("---\nhandoff:\n  id: a\n  proofs:\n    - claim: c\n{lines}---\n");
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let mut proofs = numbered_proofs(&Handoff::new(&document, &location, &stages));
        proofs.swap_remove(0).spec
    }

    fn judged(expect: &str, code: i32, output: &str) -> String {
        let test = test(&format!("run: x\n{expect}")).unwrap();
        let TrialResult { outcome, number } =
            test.evaluate(&Trial { end: TrialEnd::Exit(code), output, dropped_bytes: 0 });
        let number = number.map_or_else(String::new, |number| format!(" [{number}]"));
        match outcome {
            TrialOutcome::Holds => format!("holds{number}"),
            TrialOutcome::Broken(why) => format!("{why}{number}"),
            TrialOutcome::TimedOut => "timed out".to_owned(),
        }
    }

    #[test]
    fn the_exit_code_is_checked() {
        assert_eq!(judged("", 0, ""), "holds");
        assert_eq!(judged("", 1, ""), "it exited with 1, not 0");
        assert_eq!(judged("expect: 3", 3, ""), "holds");
        assert_eq!(judged("expect: {exit: any}", 9, ""), "holds");
        assert_eq!(judged("expect: {exit: 1, contains: a}", 1, "a"), "holds");
    }

    #[test]
    fn expected_text_also_requires_success() {
        assert_eq!(judged("expect: 'missing: 0'", 0, "x\nmissing: 0\n"), "holds");
        assert_eq!(judged("expect: \"0\"", 0, "1"), "its output does not contain `0`");
        assert_eq!(judged("expect: all good", 2, "all good"), "it exited with 2, not 0");
        let both = "expect: {contains: [a, b], matches: '^c+$'}";
        assert_eq!(judged(both, 0, "a b\nccc\n"), "holds");
        assert_eq!(judged(both, 0, "a b\ncxc\n"), "nothing in its output matches `^c+$`");
    }

    #[test]
    fn a_number_is_checked_against_its_bounds() {
        let bounds = "expect: {min: 100, max: 110.5}";
        assert_eq!(judged(bounds, 0, "took 12 s\nmedian 108 ms"), "holds [108]");
        assert_eq!(judged(bounds, 0, "median 14,290"), "14290 is greater than 110.5 [14290]");
        assert_eq!(judged(bounds, 0, "-3"), "-3 is less than 100 [-3]");
        assert_eq!(judged(bounds, 0, "none"), "its output contains no number");
        assert_eq!(judged(bounds, 1, "108"), "it exited with 1, not 0");
        let group = "expect: {matches: 'p50=([0-9.]+)', max: 200}";
        assert_eq!(judged(group, 0, "p50=108.50 p99=999"), "holds [108.5]");
        assert_eq!(judged("measures: n", 0, "7 of 9"), "holds [9]");
        assert_eq!(judged("", 0, "7 of 9"), "holds");
        assert_eq!(judged("measures: n", 0, "\u{1b}[32m12 ms\u{1b}[0m\n"), "holds [12]");
        let colored = "\u{1b}[1mall\u{1b}[22m good";
        assert_eq!(judged("expect: all good", 0, colored), "holds");
        assert_eq!(judged("expect: \"31\"", 0, "\u{1b}[31mx"), "its output does not contain `31`");
    }

    #[test]
    fn dropped_output_is_mentioned() {
        let test = test("run: x\nexpect: needle").unwrap();
        let run = Trial { end: TrialEnd::Exit(0), output: "hay", dropped_bytes: 5 };
        let why = "its output does not contain `needle` (5 bytes in the middle were not kept)";
        let mismatch =
            ExpectationMismatch::MissingText { text: "needle".to_owned(), dropped_bytes: 5 };
        assert_eq!(mismatch.to_string(), why);
        assert_eq!(test.evaluate(&run).outcome, TrialOutcome::Broken(mismatch));
    }

    #[test]
    fn a_signal_or_timeout_is_not_an_exit_code() {
        let test = test("run: x\nexpect: {exit: any}").unwrap();
        let ended =
            |ended| test.evaluate(&Trial { end: ended, output: "", dropped_bytes: 0 }).outcome;
        assert_eq!(
            ended(TrialEnd::Signal(9)),
            TrialOutcome::Broken(ExpectationMismatch::Signal(9))
        );
        assert_eq!(ExpectationMismatch::Signal(9).to_string(), "it was killed by signal 9");
        assert_eq!(ended(TrialEnd::TimedOut), TrialOutcome::TimedOut);
    }

    #[test]
    fn an_invalid_proof_is_rejected() {
        for (fields, why) in [
            ("expect: 0", "it has no command"),
            ("run: x\ndirectory: ../x", "`../x` is outside the project"),
            ("run: x\ndirectory: /etc", "`/etc` is outside the project"),
            ("run: x\ntimeout: 0", "`0` is not a number of seconds from 1 to 86400"),
            ("run: x\ntimeout: soon", "`soon` is not a number of seconds from 1 to 86400"),
            ("run: x\nexpect: 256", "an exit code must be a number from 0 to 255, not `256`"),
            ("run: x\nexpect: [a]", "`expect` must be an exit code, a string or a mapping"),
            ("run: x\nexpect: {exit: -1}", "an exit code must be a number from 0 to 255, not `-1`"),
            ("run: x\nexpect: {contain: a}", "unknown key `contain`; did you mean `contains`?"),
            ("run: x\nexpect: {approve: a}", "unknown key `approve`"),
            (
                "run: x\nexpect: {contains: {a: b}}",
                "`contains` must be a string or a list of strings",
            ),
            ("run: x\nexpect: {min: x}", "`min` must be a number, not `x`"),
            ("run: x\nexpect: {min: 2, max: 1}", "`min` 2 is greater than `max` 1"),
            ("run: x\nexpect: {matches: '('}", "`(` is not a regular expression"),
        ] {
            let message = test(fields).unwrap_err().to_string();
            assert_eq!(message, why, "{fields}");
        }
    }

    #[test]
    fn everything_that_affects_the_run_is_in_the_data() {
        let all = ["run: x", "run: y", "run: x\ndirectory: a", "run: x\ntimeout: 5"];
        let more = ["run: x\nexpect: 1", "run: x\nexpect: a", "run: x\nmeasures: a"];
        let bounds = ["run: x\nexpect: {min: 1}", "run: x\nexpect: {max: 1}"];
        let data: std::collections::BTreeSet<String> = all
            .into_iter()
            .chain(more)
            .chain(bounds)
            .map(|fields| test(fields).unwrap().data().to_string())
            .collect();
        assert_eq!(data.len(), all.len() + more.len() + bounds.len());
        assert_eq!(test("run: x\ndirectory: ./a/").unwrap().directory, "a");
    }
}

//! Classifies the options of checks: which ones narrow a check, which ones widen it, and which ones
//! only change its output.

/// What an option does to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionClass {
    /// It does not affect what is checked.
    Neutral,
    /// It checks less.
    Narrowing,
    /// It checks more, or something else.
    Widening,
    /// Not known.
    Unknown,
}

/// The options of one runner.
pub(super) struct Options {
    runner: String,
}

/// Options that take a value and narrow a check.
const NARROWING_VALUED: [&str; 37] = [
    "-run",
    "-k",
    "-t",
    "--testNamePattern",
    "--test-name-pattern",
    "--testPathPattern",
    "--testPathPatterns",
    "-p",
    "--package",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-E",
    "--filter",
    "--filter-expr",
    "--grep",
    "-g",
    "--project",
    "--tests",
    "-pl",
    "-w",
    "--workspace",
    "--deselect",
    "--ignore",
    "--only",
    "--skip",
    "-e",
    "--scope",
    "--spec",
    "-R",
    "-L",
    "--shard",
    "-skip",
    "-m",
    "--exclude",
    "-only-testing",
];

/// Options without a value that narrow a check.
const NARROWING: [&str; 14] = [
    "--lib",
    "--doc",
    "--bins",
    "--lf",
    "--last-failed",
    "--ff",
    "--onlyChanged",
    "--changed",
    "--related",
    "-short",
    "--changedSince",
    "--only-changed",
    "--failed",
    "--stale",
];

/// Options that widen a check, or change what it checks.
const WIDENING: [&str; 13] = [
    "--workspace",
    "--all",
    "--all-features",
    "--all-targets",
    "--tests",
    "--release",
    "-race",
    "--include-ignored",
    "--ignored",
    "--no-default-features",
    "-r",
    "--strict",
    "--benches",
];

const WIDENING_VALUED: [&str; 6] = ["--features", "-F", "-tags", "--tags", "--target", "--profile"];

/// Options without a value that only change the output or the speed.
const NEUTRAL: [&str; 73] = [
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-qq",
    "-s",
    "-x",
    "-i",
    "-l",
    "-rA",
    "-ra",
    "-rs",
    "-rf",
    "--verbose",
    "--quiet",
    "--silent",
    "--color",
    "--colors",
    "--no-color",
    "--colour",
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--exact",
    "-count",
    "-cover",
    "--coverage",
    "--no-cov",
    "--no-coverage",
    "--cov",
    "--tb",
    "--no-header",
    "--runInBand",
    "--ci",
    "--passWithNoTests",
    "--no-fail-fast",
    "--fail-fast",
    "--bail",
    "-failfast",
    "--exitfirst",
    "--locked",
    "--offline",
    "--frozen",
    "--fix",
    "--write",
    "--cache",
    "--no-cache",
    "--pretty",
    "--noEmit",
    "--noemit",
    "--if-present",
    "--json",
    "-json",
    "--no-daemon",
    "--stacktrace",
    "-B",
    "-ntp",
    "--batch-mode",
    "--no-restore",
    "--nologo",
    "--run",
    "--watch",
    "--watchAll",
    "--forceExit",
    "--detectOpenHandles",
    "--no-progress",
    "--no-summary",
    "--check",
    "--no-watch",
    "-nocolor",
    "--incremental",
    "--keep-going",
    "--show-error-codes",
];

/// Such options that take a value.
const NEUTRAL_VALUED: [&str; 26] = [
    "--timeout",
    "-timeout",
    "-j",
    "--jobs",
    "-n",
    "-parallel",
    "--maxWorkers",
    "--test-threads",
    "--reporter",
    "--reporters",
    "--message-format",
    "--format",
    "--output-format",
    "--out-format",
    "-o",
    "--durations",
    "--maxfail",
    "--loglevel",
    "--log-level",
    "--console",
    "-coverprofile",
    "--cov-report",
    "--retries",
    "--workers",
    "--testTimeout",
    "-C",
];

impl Options {
    pub(super) fn for_runner(runner: &str) -> Self {
        Self { runner: runner.to_owned() }
    }

    /// Returns the class of an option, and whether the next word is its value.
    pub(super) fn class(&self, name: &str) -> (OptionClass, bool) {
        match (self.runner.as_str(), name) {
            ("cargo", "--workspace" | "--tests" | "--all" | "-r") => {
                return (OptionClass::Widening, false);
            }
            ("pytest", "-p" | "-c" | "-W" | "-o" | "--rootdir") => {
                return (OptionClass::Neutral, true);
            }
            ("pytest", "-s" | "-l")
            | ("cargo" | "go", "-q" | "-v" | "-x")
            | ("jest" | "vitest", "-w" | "-i")
            | ("make", "-s" | "-k" | "-B") => return (OptionClass::Neutral, false),
            ("tsc" | "vue-tsc", "-p" | "--project" | "-b" | "--build")
            | ("eslint", "--ext" | "--max-warnings" | "-c" | "--config") => {
                return (OptionClass::Unknown, true);
            }
            ("nox", "-s") | ("gradle", "--tests") => return (OptionClass::Narrowing, true),
            _ => {}
        }
        if name.starts_with("-Dtest") {
            return (OptionClass::Narrowing, false);
        }
        let tables: [(&[&str], OptionClass, bool); 6] = [
            (&NEUTRAL, OptionClass::Neutral, false),
            (&NEUTRAL_VALUED, OptionClass::Neutral, true),
            (&NARROWING_VALUED, OptionClass::Narrowing, true),
            (&NARROWING, OptionClass::Narrowing, false),
            (&WIDENING, OptionClass::Widening, false),
            (&WIDENING_VALUED, OptionClass::Widening, true),
        ];
        let known = tables.iter().find(|(names, _, _)| names.contains(&name));
        if let Some((_, class, is_valued)) = known {
            return (*class, *is_valued);
        }
        // `-j8`, `--cov=src`, `--cov-fail-under=80`.
        let is_neutral = name.starts_with("--cov")
            || name.starts_with("--coverage")
            || name.starts_with("--color")
            || name.strip_prefix("-j").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if is_neutral { (OptionClass::Neutral, false) } else { (OptionClass::Unknown, false) }
    }
}

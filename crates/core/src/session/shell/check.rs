//! Recognizes checks (tests, linters, type checkers, and builds), and compares what two runs of
//! them cover.

use super::kinds::CheckKind;
use super::line::SimpleCommand;
use super::options::{OptionClass, Options};

/// A check, in the form used to compare two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The kind of check.
    pub kind: CheckKind,
    /// The program, or the task runner.
    runner: String,
    /// The subcommand or the task.
    mode: String,
    is_task: bool,
    /// Files, packages, or names it is limited to.
    targets: Vec<String>,
    /// Options that narrow it.
    narrowing: Vec<(String, String)>,
    /// Options that widen it.
    widening: Vec<String>,
    /// Options that are not known.
    others: Vec<String>,
}

/// How a later run relates to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It checks the same or more.
    Covers,
    /// It checks a part of the earlier one.
    Narrower,
    /// It may have checked the same.
    Unclear,
    /// It checks something else.
    Different,
}

impl Check {
    /// Returns the check that a command runs, if any.
    pub(crate) fn from_command(command: &SimpleCommand) -> Option<Self> {
        // Compare the full word: a project script with a folder in its path may have such a name
        // too.
        let word = command.words.first().map_or("", String::as_str);
        if never_checks(word) || is_question(command) {
            return None;
        }
        let found = direct(command).or_else(|| task(command)).or_else(|| script(command))?;
        Some(found.with_arguments(command))
    }

    /// Returns the checks that a command runs: `make lint test` runs two.
    pub(crate) fn all_from_command(command: &SimpleCommand) -> Vec<Self> {
        if !matches!(command.program(), "make" | "gmake") || is_question(command) {
            return Self::from_command(command).into_iter().collect();
        }
        let one = |name: &&str| {
            let mut alone = command.clone();
            let goals = make_goals(command);
            alone.words.retain(|word| word == name || !goals.contains(&word.as_str()));
            Self::from_command(&alone)
        };
        let goals = make_goals(command);
        if goals.is_empty() {
            return vec![Self::new(CheckKind::Build, "make", "").with_arguments(command)];
        }
        goals.iter().filter_map(one).collect()
    }

    /// Returns the checks that a command line runs.
    pub(crate) fn parse_line(line: &str) -> Vec<Self> {
        super::ShellLine::parse(line).commands.iter().flat_map(Self::all_from_command).collect()
    }

    /// Whether it checks everything.
    pub fn is_whole(&self) -> bool {
        let everything = |target: &String| matches!(target.as_str(), "." | "..." | "src" | "tests");
        self.narrowing.is_empty() && self.targets.iter().all(everything)
    }

    /// Returns the name of the task; empty if it is not a task.
    pub(super) fn task(&self) -> &str {
        if self.is_task { &self.mode } else { "" }
    }

    /// Whether it prints something only if it finds a problem.
    pub(super) fn is_silent(&self) -> bool {
        matches!(
            (self.runner.as_str(), self.mode.as_str()),
            ("tsc" | "vue-tsc" | "eslint" | "flake8" | "shellcheck" | "rustfmt", "")
                | ("go", "build" | "vet")
                | ("mix", "compile" | "format")
        )
    }

    /// Returns how this run, which came later, relates to an earlier one.
    pub(crate) fn relation_to(&self, earlier: &Self) -> Relation {
        if self.runner != earlier.runner || self.is_task != earlier.is_task {
            return self.relation_to_other_program(earlier);
        }
        if self.mode != earlier.mode {
            return match self.is_task {
                true => self.relation_to_other_task(earlier),
                false if self.compiles_for(earlier) && self.covers_targets_of(earlier) => {
                    Relation::Covers
                }
                false => self.relation_to_other_program(earlier),
            };
        }
        let is_like = self.others == earlier.others
            && earlier.widening.iter().all(|option| self.widening.contains(option));
        match (self.covers_targets_of(earlier), earlier.covers_targets_of(self)) {
            (true, _) if is_like => Relation::Covers,
            (false, true) => Relation::Narrower,
            (false, false) if is_like => Relation::Different,
            _ => Relation::Unclear,
        }
    }

    /// Splits the check into parts that can be run one by one.
    pub fn parts(&self) -> Vec<Self> {
        if self.targets.len() < 2 {
            return vec![self.clone()];
        }
        let one = |target: &String| Self { targets: vec![target.clone()], ..self.clone() };
        self.targets.iter().map(one).collect()
    }

    /// Relates runs of different programs: one that checks everything may have checked this too.
    fn relation_to_other_program(&self, earlier: &Self) -> Relation {
        use CheckKind::{Build, Lint, Script, Test, Types};
        let may_include = match earlier.kind {
            Types | Build => matches!(self.kind, Types | Build | Test),
            Test => self.kind == Test,
            Lint => self.kind == Lint,
            Script => false,
        };
        match may_include && self.is_whole() {
            true => Relation::Unclear,
            false => Relation::Different,
        }
    }

    /// Relates tasks of the same tool: `test:ci` is all of `test`, `test:unit` is a part of it.
    fn relation_to_other_task(&self, earlier: &Self) -> Relation {
        let extends = |long: &str, short: &str| {
            let rest = long.strip_prefix(short)?.strip_prefix([':', '-', '_', '.'])?;
            Some(rest.to_owned())
        };
        if let Some(rest) = extends(&self.mode, &earlier.mode) {
            let is_all = matches!(rest.as_str(), "ci" | "all" | "full" | "everything");
            return match is_all && self.is_whole() {
                true => Relation::Covers,
                false => Relation::Narrower,
            };
        }
        self.relation_to_other_program(earlier)
    }

    /// Whether this run also compiles what the earlier one only compiles.
    fn compiles_for(&self, earlier: &Self) -> bool {
        let only_compiles = match self.runner.as_str() {
            "cargo" => ["check", "build"].as_slice(),
            "go" => &["build", "vet"],
            "dotnet" | "swift" | "bazel" | "mvn" | "mix" => &["build", "compile"],
            _ => &[],
        };
        only_compiles.contains(&earlier.mode.as_str())
            && self.mode != "fmt"
            && earlier.widening.iter().all(|option| self.widening.contains(option))
            && earlier.others.is_empty()
    }

    /// Whether this run covers every target of the other one.
    fn covers_targets_of(&self, other: &Self) -> bool {
        let selects = |(name, value): &(String, String)| {
            other
                .narrowing
                .iter()
                .any(|(theirs, limit)| theirs == name && limit_within(limit, value))
        };
        if !self.narrowing.iter().all(selects) {
            return false;
        }
        let is_reached = |target: &String| self.targets.iter().any(|ours| within(target, ours));
        self.targets.is_empty()
            || (!other.targets.is_empty() && other.targets.iter().all(is_reached))
    }

    fn with_arguments(mut self, command: &SimpleCommand) -> Self {
        let options = Options::for_runner(&self.runner);
        let skip = self.take_mode(command);
        let mut args = command.args().iter().skip(skip).map(String::as_str).peekable();
        while let Some(arg) = args.next() {
            if arg == "--" || (arg == "run" && self.runner == "vitest") {
                continue;
            }
            let is_option = arg.len() > 1 && arg.starts_with('-');
            if !is_option {
                match is_variable(arg) {
                    true => self.others.push(arg.to_owned()),
                    false => self.targets.push(path(arg)),
                }
                continue;
            }
            let (name, given) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg, None),
            };
            let (class, is_valued) = options.class(name);
            let value =
                given.or_else(|| if is_valued { args.next().map(str::to_owned) } else { None });
            let value = value.unwrap_or_default();
            match class {
                OptionClass::Neutral => {}
                OptionClass::Narrowing => self.narrowing.push((name.to_owned(), value)),
                OptionClass::Widening => self.widening.push(format!("{name}={value}")),
                OptionClass::Unknown => self.others.push(format!("{name}={value}")),
            }
        }
        if self.runner == "go" && self.targets.is_empty() {
            // Without a package, Go uses the one in the current folder.
            self.targets.push("(here)".to_owned());
        }
        self.others.sort();
        self
    }

    /// Counts the arguments up to and including the subcommand.
    fn take_mode(&self, command: &SimpleCommand) -> usize {
        if self.mode.is_empty() {
            return 0;
        }
        let last = self.mode.rsplit(' ').next().unwrap_or_default();
        command.args().iter().position(|arg| arg == last).map_or(0, |at| at + 1)
    }

    fn new(kind: CheckKind, runner: &str, mode: &str) -> Self {
        Self {
            kind,
            runner: runner.to_owned(),
            mode: mode.to_owned(),
            is_task: false,
            targets: Vec::new(),
            narrowing: Vec::new(),
            widening: Vec::new(),
            others: Vec::new(),
        }
    }
}

/// Whether a program is one of the common ones that are never checks, which skips the lookup.
fn never_checks(program: &str) -> bool {
    matches!(
        program,
        "" | "git"
            | "gh"
            | "cd"
            | "echo"
            | "cat"
            | "ls"
            | "grep"
            | "rg"
            | "tail"
            | "head"
            | "sed"
            | "jq"
            | "sleep"
            | "rm"
            | "mv"
            | "cp"
            | "mkdir"
            | "export"
            | "find"
            | "wc"
            | "sort"
            | "awk"
            | "tee"
            | "test"
            | "true"
            | "set"
    )
}

/// Whether a command only asks for help, a version, or a list, which checks nothing.
fn is_question(command: &SimpleCommand) -> bool {
    ["--help", "-h", "--version", "-V", "--list", "--collect-only", "--dry-run", "--listTests"]
        .iter()
        .any(|question| command.has(question))
}

fn is_variable(arg: &str) -> bool {
    arg.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Normalizes a path or package for comparison.
fn path(arg: &str) -> String {
    let bare = arg.trim_start_matches("./").trim_end_matches('/');
    if bare.is_empty() { ".".to_owned() } else { bare.to_owned() }
}

/// Whether a target is within another one.
fn within(target: &str, whole: &str) -> bool {
    if whole == target || whole == "." || whole == "..." {
        return target != "(here)" || whole != ".";
    }
    if let Some(folder) = whole.strip_suffix("/...") {
        let target = target.strip_suffix("/...").unwrap_or(target);
        return below(target, folder);
    }
    if target.ends_with("...") {
        return false;
    }
    below(target, whole)
}

fn below(target: &str, folder: &str) -> bool {
    let rest = |target: &str, folder: &str| {
        target
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
    };
    // An absolute path can name the same file as a path relative to the project root.
    let ends = |whole: &str, part: &str| {
        whole.strip_suffix(part).is_some_and(|before| before.ends_with('/'))
    };
    rest(target, folder) || ends(target, folder) || ends(folder, target)
}

/// Whether a name filter selects no more than another one. Filters match parts of names.
fn limit_within(limit: &str, wider: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let selects = |name: &str| wider.split('|').any(|one| is_name(one) && name.contains(one));
    limit == wider || limit.split('|').all(selects)
}

/// Programs that are checks by themselves.
const PROGRAMS: [(&str, CheckKind); 74] = {
    use CheckKind::{Build, Lint, Test, Types};
    [
        ("pytest", Test),
        ("py.test", Test),
        ("unittest", Test),
        ("nose2", Test),
        ("behave", Test),
        ("tox", Test),
        ("nox", Test),
        ("jest", Test),
        ("vitest", Test),
        ("mocha", Test),
        ("ava", Test),
        ("tap", Test),
        ("jasmine", Test),
        ("karma", Test),
        ("wtr", Test),
        ("rspec", Test),
        ("cucumber", Test),
        ("phpunit", Test),
        ("pest", Test),
        ("paratest", Test),
        ("codecept", Test),
        ("ctest", Test),
        ("bats", Test),
        ("ginkgo", Test),
        ("gotestsum", Test),
        ("busted", Test),
        ("cargo-nextest", Test),
        ("eslint", Lint),
        ("oxlint", Lint),
        ("stylelint", Lint),
        ("standard", Lint),
        ("xo", Lint),
        ("tslint", Lint),
        ("flake8", Lint),
        ("pylint", Lint),
        ("pycodestyle", Lint),
        ("pydocstyle", Lint),
        ("bandit", Lint),
        ("rubocop", Lint),
        ("standardrb", Lint),
        ("shellcheck", Lint),
        ("hadolint", Lint),
        ("yamllint", Lint),
        ("markdownlint", Lint),
        ("markdownlint-cli2", Lint),
        ("ktlint", Lint),
        ("detekt", Lint),
        ("clang-tidy", Lint),
        ("cppcheck", Lint),
        ("cpplint", Lint),
        ("swiftlint", Lint),
        ("staticcheck", Lint),
        ("revive", Lint),
        ("tflint", Lint),
        ("actionlint", Lint),
        ("ansible-lint", Lint),
        ("phpcs", Lint),
        ("typos", Lint),
        ("cspell", Lint),
        ("knip", Lint),
        ("lint-staged", Lint),
        ("selene", Lint),
        ("luacheck", Lint),
        ("tsc", Types),
        ("vue-tsc", Types),
        ("tsgo", Types),
        ("svelte-check", Types),
        ("mypy", Types),
        ("dmypy", Types),
        ("pyright", Types),
        ("basedpyright", Types),
        ("psalm", Types),
        ("ninja", Build),
        ("tsup", Build),
    ]
};

/// Programs that are checks with one of these subcommands.
const VERBS: [(&str, &str, CheckKind); 92] = {
    use CheckKind::{Build, Lint, Test, Types};
    [
        ("cargo", "test", Test),
        ("cargo", "t", Test),
        ("cargo", "nextest", Test),
        ("cargo", "llvm-cov", Test),
        ("cargo", "insta", Test),
        ("cargo", "check", Build),
        ("cargo", "c", Build),
        ("cargo", "build", Build),
        ("cargo", "b", Build),
        ("cargo", "doc", Build),
        ("cargo", "clippy", Lint),
        ("cargo", "deny", Lint),
        ("cargo", "machete", Lint),
        ("go", "test", Test),
        ("go", "build", Build),
        ("go", "vet", Lint),
        ("golangci-lint", "run", Lint),
        ("biome", "check", Lint),
        ("biome", "lint", Lint),
        ("biome", "ci", Lint),
        ("ruff", "check", Lint),
        ("sqlfluff", "lint", Lint),
        ("buf", "lint", Lint),
        ("helm", "lint", Lint),
        ("terraform", "validate", Lint),
        ("tofu", "validate", Lint),
        ("pre-commit", "run", Lint),
        ("prek", "run", Lint),
        ("lefthook", "run", Lint),
        ("phpstan", "analyse", Types),
        ("phpstan", "analyze", Types),
        ("flow", "check", Types),
        ("srb", "tc", Types),
        ("ty", "check", Types),
        ("pyre", "check", Types),
        ("playwright", "test", Test),
        ("cypress", "run", Test),
        ("bun", "test", Test),
        ("deno", "test", Test),
        ("deno", "lint", Lint),
        ("deno", "check", Types),
        ("dotnet", "test", Test),
        ("dotnet", "build", Build),
        ("swift", "test", Test),
        ("swift", "build", Build),
        ("mix", "test", Test),
        ("mix", "compile", Build),
        ("mix", "credo", Lint),
        ("mix", "dialyzer", Types),
        ("bazel", "test", Test),
        ("bazel", "build", Build),
        ("bazelisk", "test", Test),
        ("bazelisk", "build", Build),
        ("buck2", "test", Test),
        ("buck2", "build", Build),
        ("pants", "test", Test),
        ("pants", "lint", Lint),
        ("zig", "test", Test),
        ("zig", "build", Build),
        ("flutter", "test", Test),
        ("flutter", "analyze", Lint),
        ("flutter", "build", Build),
        ("dart", "test", Test),
        ("dart", "analyze", Lint),
        ("sbt", "test", Test),
        ("sbt", "compile", Build),
        ("lein", "test", Test),
        ("stack", "test", Test),
        ("stack", "build", Build),
        ("cabal", "test", Test),
        ("cabal", "build", Build),
        ("dune", "test", Test),
        ("dune", "runtest", Test),
        ("dune", "build", Build),
        ("gleam", "test", Test),
        ("gleam", "build", Build),
        ("forge", "test", Test),
        ("forge", "build", Build),
        ("hardhat", "test", Test),
        ("hardhat", "compile", Build),
        ("anchor", "test", Test),
        ("meson", "test", Test),
        ("ng", "test", Test),
        ("ng", "lint", Lint),
        ("ng", "build", Build),
        ("next", "build", Build),
        ("next", "lint", Lint),
        ("vite", "build", Build),
        ("astro", "check", Types),
        ("astro", "build", Build),
        ("nuxt", "build", Build),
        ("webpack", "build", Build),
    ]
};

/// Formatters, each with the options that make it only check.
const LOOKING: [(&str, &[&str]); 14] = [
    ("prettier", &["--check", "-c", "--list-different", "-l"]),
    ("black", &["--check"]),
    ("isort", &["--check", "--check-only", "-c"]),
    ("rustfmt", &["--check"]),
    ("clang-format", &["--dry-run", "-n", "--Werror"]),
    ("dprint", &["check"]),
    ("stylua", &["--check"]),
    ("shfmt", &["-d", "-l"]),
    ("taplo", &["--check", "check", "lint"]),
    ("php-cs-fixer", &["--dry-run"]),
    ("autopep8", &["--exit-code"]),
    ("ormolu", &["check"]),
    ("swiftformat", &["--lint"]),
    ("gersemi", &["--check"]),
];

fn direct(command: &SimpleCommand) -> Option<Check> {
    use CheckKind::{Build, Lint, Test, Types};
    let program = command.program();
    let verb = subcommand(command);
    if let Some((_, kind)) = PROGRAMS.iter().find(|(name, _)| *name == program) {
        return Some(Check::new(*kind, alias(program), ""));
    }
    let known = VERBS.iter().find(|(name, sub, _)| *name == program && Some(*sub) == verb);
    if let Some((_, sub, kind)) = known {
        return Some(Check::new(*kind, alias(program), alias(sub)));
    }
    if let Some((_, looking)) = LOOKING.iter().find(|(name, _)| *name == program) {
        let looks = looking.iter().any(|option| command.has(option));
        return looks.then(|| Check::new(Lint, program, ""));
    }
    let looks = || ["--check", "--check-formatted", "--diff"].iter().any(|o| command.has(o));
    match (program, verb) {
        ("cargo" | "ruff" | "mix" | "deno" | "terraform" | "tofu" | "biome", Some(sub))
            if matches!(sub, "fmt" | "format") =>
        {
            looks().then(|| Check::new(Lint, program, sub))
        }
        ("golangci-lint" | "ruff", None) => Some(Check::new(Lint, program, "")),
        ("node", _) if command.has("--test") => Some(Check::new(Test, program, "")),
        ("cmake", _) if command.has("--build") => Some(Check::new(Build, program, "")),
        ("webpack" | "rollup" | "esbuild", _) => Some(Check::new(Build, program, "")),
        ("xcodebuild", _) => {
            let kind = if command.has("test") { Test } else { Build };
            Some(Check::new(kind, program, if kind == Test { "test" } else { "" }))
        }
        ("gradle" | "gradlew" | "mvn" | "mvnw", _) => jvm(command, program),
        ("python" | "python3", _) => {
            let is_manage = command.operand(0).is_some_and(|file| file.ends_with("manage.py"));
            (is_manage && command.operand(1) == Some("test"))
                .then(|| Check::new(Test, "manage.py", "test"))
        }
        ("rails" | "artisan", Some(sub)) if sub.starts_with("test") => {
            Some(Check::new(Test, program, sub))
        }
        ("php", _) => {
            let is_artisan = command.operand(0) == Some("artisan");
            (is_artisan && command.operand(1) == Some("test"))
                .then(|| Check::new(Test, "artisan", "test"))
        }
        ("nix" | "docker", Some("build")) => Some(Check::new(Build, program, "build")),
        ("nx" | "turbo" | "lerna" | "moon", _) => {
            let mut names = command.args().iter().map(String::as_str);
            let name = names.find(|name| kind_from_name(name).is_some())?;
            let kind = kind_from_name(name.rsplit(':').next().unwrap_or(name))
                .or_else(|| kind_from_name(name))
                .unwrap_or(Types);
            Some(Check { is_task: true, ..Check::new(kind, program, name) })
        }
        _ => None,
    }
}

/// Recognizes Gradle tasks and Maven phases; the last one sets the kind.
fn jvm(command: &SimpleCommand, program: &str) -> Option<Check> {
    let runner = if program.starts_with("gradle") { "gradle" } else { "mvn" };
    let mut best: Option<(CheckKind, &str)> = None;
    for word in command.operands() {
        let name = word.rsplit(':').next().unwrap_or(word);
        let lower = name.to_ascii_lowercase();
        let kind = match lower.as_str() {
            "check" | "verify" | "install" | "package" | "integration-test" => CheckKind::Test,
            name if name.contains("test") => CheckKind::Test,
            name if name.contains("lint")
                || name.contains("spotless")
                || name.contains("detekt") =>
            {
                CheckKind::Lint
            }
            name if name.starts_with("compile") || name.starts_with("assemble") => CheckKind::Build,
            "build" | "bootjar" | "jar" | "classes" => CheckKind::Build,
            _ => continue,
        };
        best = Some((kind, word));
    }
    best.map(|(kind, word)| Check::new(kind, runner, word))
}

/// Returns the subcommand: the first operand, after any options before it.
fn subcommand(command: &SimpleCommand) -> Option<&str> {
    const VALUED: [&str; 7] =
        ["-C", "--manifest-path", "--filter", "-F", "--prefix", "--cwd", "--config"];
    let mut args = command.args().iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            valued if VALUED.contains(&valued) => {
                args.next();
            }
            option if option.starts_with(['-', '+']) => {}
            verb => return Some(verb),
        }
    }
    None
}

/// Returns one name for equivalent programs and subcommands.
fn alias(name: &str) -> &str {
    match name {
        "py.test" => "pytest",
        "bazelisk" => "bazel",
        "t" => "test",
        "c" => "check",
        "b" => "build",
        "tsgo" => "tsc",
        "markdownlint-cli2" => "markdownlint",
        name => name,
    }
}

/// Returns the goals given to `make`.
fn make_goals(command: &SimpleCommand) -> Vec<&str> {
    let mut goals = Vec::new();
    let mut args = command.args().iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-C" | "-f" | "-I" | "-o" | "--directory" | "--file" => {
                args.next();
            }
            other if other.starts_with('-') || is_variable(other) => {}
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => {}
            goal => goals.push(goal),
        }
    }
    goals
}

/// Recognizes tools that run project tasks by name.
fn task(command: &SimpleCommand) -> Option<Check> {
    let program = command.program();
    let (runner, name) = match program {
        "npm" | "pnpm" | "yarn" | "bun" => (program, package_script(command)?),
        "make" | "gmake" => ("make", *make_goals(command).first()?),
        "just" | "task" | "rake" | "poe" | "invoke" | "inv" | "mage" | "cargo-make" => {
            (program, subcommand(command)?)
        }
        "mise" | "devbox" | "pixi" | "moon" => match subcommand(command)? {
            "run" | "r" => (program, command.operand(1)?),
            name if program == "mise" => (program, name),
            _ => return None,
        },
        "composer" | "deno" | "hatch" => match (subcommand(command)?, command.operand(1)) {
            ("run" | "run-script" | "task", Some(name)) => (program, name),
            (name, _) if program == "composer" => (program, name),
            _ => return None,
        },
        "cargo" => match subcommand(command)? {
            "make" | "xtask" => ("cargo", command.operand(1)?),
            _ => return None,
        },
        _ => return None,
    };
    // Package managers do more than run tasks, so only a task by name counts.
    let kind = match kind_from_name(name) {
        Some(kind) => kind,
        None if is_other_task(program, command, name) => CheckKind::Script,
        None => return None,
    };
    Some(Check { is_task: true, ..Check::new(kind, runner, name) })
}

/// Whether a task is not a check, but its failure still matters.
fn is_other_task(program: &str, command: &SimpleCommand, name: &str) -> bool {
    const PASSING_BY: [&str; 19] = [
        "dev", "start", "serve", "watch", "preview", "clean", "fmt", "format", "fix", "help",
        "install", "shell", "console", "run", "logs", "up", "down", "stop", "default",
    ];
    let is_task = match program {
        "npm" | "pnpm" | "yarn" | "bun" => command.has("run") || command.has("run-script"),
        "mise" | "composer" => subcommand(command) == Some("run"),
        _ => true,
    };
    is_task && !PASSING_BY.contains(&name) && !name.starts_with("dev:")
}

/// Returns the script that a package manager is asked to run.
fn package_script(command: &SimpleCommand) -> Option<&str> {
    let mut words = Vec::new();
    let mut args = command.args().iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--prefix" | "--filter" | "-F" | "-C" | "-w" | "--workspace" | "--dir" | "--cwd" => {
                args.next();
            }
            "--" => break,
            option if option.starts_with('-') => {}
            word => words.push(word),
        }
    }
    let words = match words.as_slice() {
        ["workspace", _, rest @ ..] | ["workspaces", "foreach", rest @ ..] | rest => rest,
    };
    match words {
        ["run" | "run-script" | "rum", name, ..] => Some(name),
        ["test" | "t" | "tst", ..] => Some("test"),
        [name, ..] if command.program() != "npm" => kind_from_name(name).map(|_| *name),
        _ => None,
    }
}

/// Returns the kind of a task or script according to its name.
pub(super) fn kind_from_name(name: &str) -> Option<CheckKind> {
    const TESTS: [&str; 15] = [
        "test",
        "tests",
        "testing",
        "spec",
        "specs",
        "e2e",
        "unit",
        "integration",
        "pytest",
        "jest",
        "vitest",
        "nextest",
        "coverage",
        "regression",
        "smoke",
    ];
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    if has(&["watch", "dev", "serve", "debug", "ui", "update", "setup", "deploy", "release"]) {
        return None;
    }
    let checks = has(&["check", "verify", "validate"]);
    if has(&["typecheck", "types", "tsc", "mypy", "pyright", "typescript"])
        || (has(&["type"]) && checks)
    {
        return Some(CheckKind::Types);
    }
    if has(&["lint", "linters", "eslint", "clippy", "ruff", "stylelint", "linting", "rubocop"])
        || (has(&["fmt", "format", "formatting", "style", "prettier"]) && checks)
    {
        return Some(CheckKind::Lint);
    }
    if has(&TESTS)
        || lower.ends_with("test")
        || lower.ends_with("tests")
        || lower.starts_with("test")
    {
        return Some(CheckKind::Test);
    }
    if has(&["build", "compile", "bundle"]) {
        return Some(CheckKind::Build);
    }
    (checks || has(&["ci", "presubmit", "precommit", "all-checks"])).then_some(CheckKind::Test)
}

/// Recognizes project scripts: `./scripts/test`, `bash run_tests.sh`, `python tools/check.py`.
fn script(command: &SimpleCommand) -> Option<Check> {
    const SHELLS: [&str; 9] =
        ["bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "source"];
    let program = command.program();
    let (file, is_shell) = match SHELLS.contains(&program) {
        true => (command.operand(0)?, true),
        false => (command.words.first()?.as_str(), false),
    };
    let is_path = file.contains('/') || (is_shell && file.contains('.'));
    let is_of_project = is_path
        && !file.starts_with("/tmp")
        && !file.starts_with("/var")
        && !file.starts_with("/usr")
        && !file.starts_with("/opt")
        && !file.starts_with("/bin")
        && !file.contains(".venv/")
        && !file.contains("node_modules/")
        && !file.starts_with(['~', '$']);
    if !is_of_project || command.has("-c") || command.has("-e") {
        return None;
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let in_scripts =
        file.split('/').any(|part| matches!(part, "scripts" | "script" | "tools" | "bin"));
    let kind = match kind_from_name(stem) {
        Some(kind) => kind,
        None if in_scripts && !file.starts_with('/') => CheckKind::Script,
        None => return None,
    };
    let file = path(file);
    let mut check = Check { is_task: true, ..Check::new(kind, "script", &file) };
    if !is_shell {
        check.mode = path(&command.words[0]);
    }
    Some(check)
}

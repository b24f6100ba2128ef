//! The demo: runs the real program in a real repository in a temporary folder, step by step.

mod draft;
mod follow_up;
mod here;
mod recovery;
mod resolution;
mod reviews;
mod short;
mod story;

use crate::ui::{CliOutcome, Ui};
use midstride::clients::{self, Client};
use midstride::sys::clock::Clock;
use midstride::sys::env::{Environment, UserName};
use midstride::sys::files::{self, ScratchFolder};
use midstride::sys::git::demo_command;
use midstride::sys::process;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride::workspace::consent::UserConsent;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{heading, permission};
use std::path::PathBuf;
use std::process::Command;

/// See a killed session resumed
///
/// Creates a repository and a recorded session in a temporary directory. The session was killed while
/// editing a file. Shows what the next session knows, and what midstride check finds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride demo
  midstride demo --here
  midstride demo --full")]
pub(crate) struct DemoArgs {
    /// Show the life of a handoff, from draft to fix
    #[arg(long)]
    full: bool,

    /// Preview this repository's briefing; changes nothing
    #[arg(long, conflicts_with_all = ["full", "keep"])]
    here: bool,

    /// Print the preview as JSON
    #[arg(long, requires = "here")]
    json: bool,

    /// Keep the temporary directory
    #[arg(long)]
    keep: bool,
}

impl DemoArgs {
    /// Whether the long story is shown.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }
}

/// The project, the home and the state folder of the long story. The home folder is the project, so
/// the state goes where git does not list it.
const STORY_PLACES: [&str; 3] = ["", "", ".git/demo-state"];

/// The state of the demo.
struct Demo {
    scratch: ScratchFolder,
    /// The project, the home and the state folder, below the temporary folder.
    places: [&'static str; 3],
    step: usize,
    /// The current time of the story, so that the output is always the same.
    now: &'static str,
    /// The current user of the story.
    user: &'static str,
}

pub(crate) fn demo(
    ui: &mut Ui,
    environment: &Environment,
    args: &DemoArgs,
) -> Result<CliOutcome, Diagnostic> {
    if args.here {
        return here::preview(ui, environment, args.json);
    }
    let (places, now) = match args.full {
        true => (STORY_PLACES, story::FIRST_DAY),
        false => (short::PLACES, short::DAY_BEFORE),
    };
    let scratch = ScratchFolder::new("midstride-demo")?;
    let mut play = Demo { scratch, places, step: 0, now, user: "nightcheck" };
    let result = match args.full {
        true => story::present(ui, &mut play),
        false => short::present(ui, &mut play),
    };
    if args.keep {
        ui.say(&format!("Kept {}", play.scratch.path().display()))?;
    } else {
        play.scratch.remove()?;
    }
    result.map(|()| CliOutcome::Clean)
}

/// The client with this name.
fn find_client(name: &str) -> Result<&'static dyn Client, Diagnostic> {
    clients::find(name).ok_or_else(|| Diagnostic::new(format!("`{name}` is not a client")))
}

impl Demo {
    /// A folder of the demo: the project, the home or the state.
    fn folder(&self, place: usize) -> PathBuf {
        let base = files::canonical(self.scratch.path());
        match self.places[place] {
            // Joining nothing would add a slash.
            "" => base,
            inside => base.join(inside),
        }
    }

    fn project(&self) -> PathBuf {
        self.folder(0)
    }

    fn home(&self) -> PathBuf {
        self.folder(1)
    }

    /// Prints the heading of the next chapter.
    fn begin_chapter(&mut self, ui: &mut Ui, title: &str, text: &str) -> Result<(), Diagnostic> {
        self.step += 1;
        ui.print(&format!("\n{}{text}\n", heading(&format!("{}. {title}", self.step))))?;
        Ok(())
    }

    /// Runs midstride as a user would, and shows its output and exit code.
    fn run(&self, ui: &mut Ui, arguments: &[&str], expected: i32) -> Result<(), Diagnostic> {
        let mut command = process::command(std::env::current_exe()?);
        command.args(arguments);
        command.env("MIDSTRIDE_NOW", self.now).env("MIDSTRIDE_USER", self.user);
        // Permissions and sessions of the story stay in the demo's own home folder.
        let homes = clients::ALL.map(|client| client.profile().home_variable);
        for variable in homes.into_iter().chain(clients::agent_variables()) {
            command.env_remove(variable);
        }
        command.env("XDG_STATE_HOME", self.folder(2));
        let code = self.show(ui, "midstride", arguments, &mut command)?;
        ui.print(&format!("  (exit code {code})\n"))?;
        if code == expected {
            return Ok(());
        }
        Err(Diagnostic::new(format!("the demo expected exit code {expected}, not {code}")))
    }

    /// The project as the user of the story sees it. The demo plays the user, also where no terminal is:
    /// what it allows counts in its own folder only.
    fn workspace(&self) -> Result<Workspace, Diagnostic> {
        let mut environment = Environment::in_scratch(&self.scratch, self.places);
        environment.user = UserName::given(self.user);
        environment.clock = self.now.parse().map_or(Clock::System, Clock::Fixed);
        Ok(Workspace::discover(environment)?)
    }

    /// Trusts the project, as `init` does for a user at a terminal.
    fn trust(&self) -> Result<(), Diagnostic> {
        let workspace = self.workspace()?;
        verbs::trust(&workspace, &UserConsent::by_presence(workspace.environment())?)?;
        Ok(())
    }

    /// Allows a proof, and shows what a user at a terminal sees.
    fn allow(&self, ui: &mut Ui, handoff: &str, number: usize) -> Result<(), Diagnostic> {
        let arguments = ["trust", handoff, &number.to_string()];
        ui.print(&format!("\n  $ {}\n", format_command("midstride", &arguments)))?;
        let workspace = self.workspace()?;
        let stored = workspace.find(handoff)?;
        for proof in verbs::allowable_proofs(&workspace, &stored, Some(number))? {
            let Ok(test) = &proof.test else { continue };
            for line in permission::proof_text(&proof).trim_end().lines() {
                ui.print(&format!("  {line}\n"))?;
            }
            let consent = UserConsent::by_presence(workspace.environment())?;
            verbs::allow(&workspace, &stored, test, &consent)?;
            ui.print(&format!(
                "  Allow proof {number} exactly as shown? [y/N] y\n  Proof {number} is allowed.\n"
            ))?;
        }
        Ok(())
    }

    /// Runs git and shows its output.
    fn show_git(&self, ui: &mut Ui, arguments: &[&str]) -> Result<(), Diagnostic> {
        self.show(ui, "git", arguments, &mut self.git_command(arguments)).map(|_| ())
    }

    /// Shows a command and its output, indented. Returns its exit code.
    fn show(
        &self,
        ui: &mut Ui,
        program: &str,
        arguments: &[&str],
        command: &mut Command,
    ) -> Result<i32, Diagnostic> {
        ui.print(&format!("\n  $ {}\n", format_command(program, arguments)))?;
        command.current_dir(self.project()).env("HOME", self.home());
        let output = process::communicate(command, b"")?;
        for part in [&output.stdout, &output.stderr] {
            for line in String::from_utf8_lossy(part).trim_end().lines() {
                ui.print(&format!("{}\n", format!("  {line}").trim_end()))?;
            }
        }
        Ok(output.status.code().unwrap_or(-1))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Diagnostic> {
        self.scratch.write(path, text.as_bytes())?;
        Ok(())
    }

    /// Runs git without showing it.
    fn git(&self, arguments: &[&str]) -> Result<(), Diagnostic> {
        self.git_output(arguments).map(drop)
    }

    /// Runs git and returns its output.
    fn git_output(&self, arguments: &[&str]) -> Result<String, Diagnostic> {
        let output = process::communicate(&mut self.git_command(arguments), b"")?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Diagnostic::new(format!("git {}: {}", arguments.join(" "), message.trim())))
    }

    /// Git with a fixed identity, independent of the user's configuration.
    fn git_command(&self, arguments: &[&str]) -> Command {
        let settings = [
            "user.name=demo",
            "user.email=demo@example.org",
            "commit.gpgsign=false",
            "init.defaultBranch=main",
        ];
        let mut command = demo_command(&self.project());
        command.args(settings.iter().flat_map(|setting| ["-c", *setting])).args(arguments);
        command
            .env("HOME", self.home())
            .env("GIT_AUTHOR_DATE", self.now)
            .env("GIT_COMMITTER_DATE", self.now)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
    }
}

/// A command line as a user types it. A long one is wrapped.
fn format_command(program: &str, arguments: &[&str]) -> String {
    const WIDTH_MAX: usize = 96;
    // Keep an option and its value together.
    let mut parts = vec![program.to_owned()];
    for word in arguments {
        let written = if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() };
        match parts.last_mut() {
            Some(part) if !word.starts_with("--") => *part = format!("{part} {written}"),
            _ => parts.push(written),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + part.len() < WIDTH_MAX => *line = format!("{line} {part}"),
            _ => lines.push(part),
        }
    }
    lines.join(" \\\n      ")
}

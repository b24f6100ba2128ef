//! The demonstration: a real repository in a temporary folder, the real program, step by step.

mod story;

use crate::diagnostic::Diagnostic;
use crate::ui::{Outcome, Ui};
use crate::view::heading;
use midstride::files;
use midstride::process;
use std::path::PathBuf;

/// See what midstride does, in a temporary folder that goes away
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep the folder, to look around in it
    #[arg(long)]
    keep: bool,
}

/// The folder the story plays in.
struct Stage {
    folder: PathBuf,
    step: usize,
}

pub(crate) fn demo(ui: &mut Ui, args: &DemoArgs) -> Result<Outcome, Diagnostic> {
    let folder = files::scratch_folder("midstride-demo")?;
    let mut stage = Stage { folder: folder.clone(), step: 0 };
    let told = story::tell(ui, &mut stage);
    if args.keep {
        ui.say(&format!("The folder is kept: {}", folder.display()))?;
    } else {
        files::remove_scratch(&folder)?;
    }
    told.map(|()| Outcome::Clean)
}

impl Stage {
    /// Says what comes now.
    fn chapter(&mut self, ui: &mut Ui, title: &str, text: &str) -> Result<(), Diagnostic> {
        self.step += 1;
        ui.print(&format!("\n{}{text}\n", heading(&format!("{}. {title}", self.step))))?;
        Ok(())
    }

    /// Runs midstride as a person would, and shows what it prints.
    fn run(&self, ui: &mut Ui, arguments: &[&str], expected: i32) -> Result<String, Diagnostic> {
        let quoted: Vec<String> = arguments
            .iter()
            .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() })
            .collect();
        ui.print(&format!("\n  $ midstride {}\n", quoted.join(" ")))?;
        let program = std::env::current_exe()?;
        let mut command = process::command(program);
        command.current_dir(&self.folder).args(arguments);
        command
            .env("MIDSTRIDE_NOW", story::NOW)
            .env("HOME", &self.folder)
            .env("MIDSTRIDE_USER", "nightcheck");
        let output = process::exchange(&mut command, b"")?;
        let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
        shown.push_str(&String::from_utf8_lossy(&output.stderr));
        for line in shown.trim_end().lines() {
            ui.print(format!("  {line}").trim_end())?;
            ui.print("\n")?;
        }
        match output.status.code() {
            Some(code) if code == expected => Ok(shown),
            code => Err(Diagnostic::new(format!(
                "the demonstration expected exit code {expected} and got {code:?}"
            ))),
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Diagnostic> {
        Ok(files::write_scratch(&self.folder.join(path), text.as_bytes())?)
    }

    /// Git, with an identity of its own so that the user's configuration does not matter.
    fn git(&self, arguments: &[&str]) -> Result<(), Diagnostic> {
        let mut command = process::command("git");
        command.current_dir(&self.folder).args([
            "-c",
            "user.name=demo",
            "-c",
            "user.email=demo@example.org",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ]);
        command
            .args(arguments)
            .env("HOME", &self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
        let output = process::exchange(&mut command, b"")?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Diagnostic::new(format!("git {}: {}", arguments.join(" "), message.trim())))
    }
}

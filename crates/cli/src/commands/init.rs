use super::CliOutcome;
use crate::ui::Ui;
use midstride::sys::process;
use midstride::verbs::{self, MergeDriverChange};
use midstride::workspace::consent::{ConsentError, UserConsent};
use midstride::workspace::user_settings::Exclusion;
use midstride::workspace::{Access, Workspace};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use midstride_surface::view::{count, display_path};

/// Set up this project for a team
///
/// Creates a committed folder and a configuration file, and changes no existing file. You need this
/// only to share handoffs; `midstride setup` is enough for your own use. At a terminal, also trusts
/// the project, but asks first if it contains documents that you have not trusted. Finds handoffs
/// you already have: `HANDOFF.md`, `docs/handoffs`, `.claude/handoffs`, `.agents`,
/// `thoughts/**/handoffs` and others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride init
  midstride init --private --json
  midstride init --merge-driver")]
pub(crate) struct InitArgs {
    /// Keep everything in the git directory and commit nothing
    #[arg(long)]
    private: bool,

    /// Let git merge handoffs with midstride; edits `.gitattributes` and `.git/config`
    #[arg(long, conflicts_with_all = ["private", "no_merge_driver"])]
    merge_driver: bool,

    /// Remove the merge driver
    #[arg(long)]
    no_merge_driver: bool,

    /// Answer yes; still requires a terminal
    #[arg(long)]
    yes: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn init(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &InitArgs,
) -> Result<CliOutcome, Diagnostic> {
    // Setting up is how the user asks for midstride in their home folder.
    let exclusion = workspace.exclusion().filter(|exclusion| **exclusion != Exclusion::HomeFolder);
    if let Some(exclusion) = exclusion {
        return Err(exclusion.into());
    }
    let consent = ask_for_trust(ui, workspace, args)?;
    let done = verbs::init(workspace, args.private, consent.as_ref())?;
    let configuration = display_path(workspace, &done.configuration);
    let handoffs = display_path(workspace, &done.handoffs);
    let driver = update_driver(workspace, args)?;
    if args.json {
        ui.print_json(&view::command_result::init_json(workspace, &done, driver.as_ref()))?;
        return Ok(CliOutcome::Clean);
    }
    if !done.was_set_up {
        ui.say(&format!("Configuration  {configuration}"))?;
        ui.say(&format!("Handoffs       {handoffs}"))?;
    } else if driver.is_none() {
        ui.say(&format!("This project is already set up: {configuration}"))?;
    }
    if let Some(driver) = &driver {
        report_driver(ui, driver)?;
    }
    if !done.is_trusted {
        ui.say("Not trusted yet: to brief sessions from this project's handoffs, run `midstride trust` in a terminal")?;
    }
    if !done.was_set_up {
        ui.say("Next: midstride new \"what you found out\"")?;
    }
    Ok(CliOutcome::Clean)
}

/// Asks whether to trust the documents that are already there. A project without documents needs no
/// question, and without a terminal nothing is trusted.
fn ask_for_trust(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &InitArgs,
) -> Result<Option<UserConsent>, Diagnostic> {
    let environment = workspace.environment();
    let access = workspace.access();
    if access == Access::Granted {
        return Ok(UserConsent::by_presence(environment).ok());
    }
    match UserConsent::check(environment) {
        Err(ConsentError::NoTerminal) => Ok(None),
        Err(_) => Ui::consent_by_presence(environment).map(Some),
        Ok(()) => {
            let documents = count(access.withheld(), "document");
            ui.say(&format!("This project has {documents} that you have not trusted"))?;
            let question = format!("Brief sessions from {documents}?");
            Ui::ask_consent(environment, &question, args.yes)
        }
    }
}

fn update_driver(
    workspace: &Workspace,
    args: &InitArgs,
) -> Result<Option<MergeDriverChange>, Diagnostic> {
    if args.merge_driver {
        return Ok(Some(verbs::install_driver(workspace, &program_for_git()?)?));
    }
    let removed = args.no_merge_driver.then(|| verbs::remove_driver(workspace)).transpose()?;
    Ok(removed)
}

/// How git's shell finds this program: by name if that works, otherwise by path.
fn program_for_git() -> Result<String, Diagnostic> {
    let named = process::communicate(process::command("midstride").arg("--version"), b"");
    if named.is_ok_and(|output| output.stdout.starts_with(b"midstride ")) {
        return Ok("midstride".to_owned());
    }
    let place = std::env::current_exe()?.display().to_string();
    Ok(format!("'{}'", place.replace('\'', "'\\''")))
}

fn report_driver(ui: &mut Ui, driver: &MergeDriverChange) -> Result<(), Diagnostic> {
    let attributes = driver.attributes.display();
    let sign = if driver.command.is_some() { '+' } else { '-' };
    for line in &driver.lines {
        ui.say(&format!("{attributes}  {sign} {line}"))?;
    }
    if let Some(command) = &driver.command {
        ui.say(&format!(".git/config  merge.midstride.driver = {command}"))?;
        ui.say(&format!("Commit {attributes}, and run this command once in every other clone"))?;
    } else {
        ui.say("git now merges handoffs like any other text file")?;
    }
    Ok(())
}

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view::shown_path;
use midstride::project::Project;
use midstride::verbs;
use serde::Serialize;

/// Set this project up: a folder and a configuration
///
/// Nothing that is there is changed. Handoffs that lie around already (`HANDOFF.md`,
/// `docs/handoffs`, `.claude/pipeline`, Claude Code's memory) are read where they are.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Keep everything in the git directory and commit nothing
    #[arg(long)]
    private: bool,

    /// Print what was set up as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct InitJson {
    configuration: String,
    handoffs: String,
    already: bool,
}

pub(crate) fn init(ui: &mut Ui, project: &Project, args: &InitArgs) -> Result<Outcome, Diagnostic> {
    let done = verbs::init(project, args.private)?;
    let configuration = shown_path(project, &done.configuration);
    let handoffs = shown_path(project, &done.handoffs);
    if args.json {
        ui.json(&InitJson { configuration, handoffs, already: done.already })?;
        return Ok(Outcome::Clean);
    }
    if done.already {
        ui.say(&format!("This project is set up already: {configuration}"))?;
    } else {
        ui.say(&format!("Configuration  {configuration}"))?;
        ui.say(&format!("Handoffs       {handoffs}"))?;
        ui.say("Next: midstride new \"what you found out\"")?;
    }
    Ok(Outcome::Clean)
}

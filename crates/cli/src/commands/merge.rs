use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, DriverFiles, MergeOutcome};
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view;
use std::path::PathBuf;

/// Merge a handoff that has git conflicts
///
/// Merges headers by meaning and text by paragraph. Puts conflict markers only around conflicting
/// changes. Reads both sides from git's index; stage the result yourself. `midstride init
/// --merge-driver` makes git do this automatically.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride merge .midstride/handoffs/market-page-perf.md")]
pub(crate) struct MergeArgs {
    /// The conflicted file
    #[arg(required_unless_present = "driver")]
    path: Option<PathBuf>,

    /// Run as git's merge driver: base, ours, theirs and path
    #[arg(long, num_args = 4, value_names = ["BASE", "OURS", "THEIRS", "PATH"], conflicts_with = "path")]
    driver: Option<Vec<PathBuf>>,

    /// Print the result as JSON
    #[arg(long, conflicts_with = "driver")]
    json: bool,
}

pub(crate) fn merge(
    ui: &mut Ui,
    store: &Store,
    args: &MergeArgs,
) -> Result<CliOutcome, Diagnostic> {
    let driven = args.driver.as_deref().unwrap_or_default();
    let (path, joined) = match (driven, &args.path) {
        ([base, ours, theirs, path], _) => {
            let [base, ours, theirs, path] = [base, ours, theirs, path].map(Clone::clone);
            let driven = DriverFiles { base, ours, theirs, path };
            (driven.path.clone(), verbs::merge_as_driver(store, &driven)?)
        }
        (_, Some(path)) => (path.clone(), verbs::repair(store, path)?),
        (_, None) => {
            return Err(Diagnostic::with_code(ErrorCode::Usage, "name the file to merge"));
        }
    };
    super::report_redacted(ui, &joined.redacted)?;
    let outcome =
        if joined.conflicts.is_empty() { CliOutcome::Clean } else { CliOutcome::Findings };
    if args.json {
        ui.print_json(&view::command_result::merge_json(&path, &joined))?;
        return Ok(outcome);
    }
    let path = path.display().to_string();
    let MergeOutcome { conflicts, redacted: _, replaced, shared_id } = joined;
    if let Some(id) = shared_id {
        ui.say(&format!(
            "{path}: two different handoffs have the id `{id}`; midstride does not merge them"
        ))?;
        ui.say(&format!("Next: run git checkout --ours {path} to keep ours under this name"))?;
        ui.say(&format!(
            "Next: run git show :3:./{path} to print the other one, and give it a new `id`"
        ))?;
        ui.say("Next: save each in a file named after its id, then git add both")?;
        return Ok(outcome);
    }
    for place in &conflicts {
        ui.say(&format!("{path}: both sides changed {place}"))?;
    }
    if let Some(id) = replaced {
        ui.say(&format!("Its previous text is kept; to see it: git show {id}"))?;
    }
    match outcome {
        CliOutcome::Clean if args.driver.is_none() => {
            ui.say(&format!("Merged {path}"))?;
            ui.say(&format!("Next: git add {}", view::shell_word(&path)))?;
        }
        CliOutcome::Findings if args.driver.is_none() => {
            ui.say("Next: resolve the conflicts between the markers, then git add the file")?;
        }
        CliOutcome::Clean | CliOutcome::Findings | CliOutcome::Incomplete => {}
    }
    Ok(outcome)
}

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::journal::Change;
use midstride::project::Project;
use midstride::verbs::{self, Revised};
use std::path::PathBuf;

/// Give a handoff its next text, and say why
///
/// The text that is replaced is kept: `midstride show ID@1` shows it, `midstride diff` what changed.
/// Without `--body` the document opens in your editor. A text without a header replaces the body.
#[derive(Debug, clap::Args)]
pub(crate) struct ReviseArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Why it is changed; becomes part of its history
    #[arg(long)]
    reason: String,

    /// Who changes it
    #[arg(long, value_name = "WHO")]
    by: Option<String>,

    /// Take the text from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn revise(
    ui: &mut Ui,
    project: &Project,
    args: &ReviseArgs,
) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    if args.reason.trim().is_empty() {
        return Err(
            Diagnostic::new("a revision needs a reason").hint("--reason \"wrong code path\"")
        );
    }
    let text = match &args.body {
        Some(path) => super::read_text(project, path)?,
        None => verbs::edited_text(project, &shelved)?,
    };
    let change = Change { reason: args.reason.trim().to_owned(), by: args.by.clone() };
    let recorded = match verbs::revise(project, &shelved, &text, &change)? {
        Revised::Recorded(recorded) => recorded,
        Revised::Unchanged => {
            ui.say("Nothing changed.")?;
            return Ok(Outcome::Clean);
        }
    };
    super::tell_recorded(ui, project, &shelved, &recorded, &change.reason, args.json)?;
    if !args.json {
        let key = shelved.handoff(project).key();
        ui.say(&format!("Next: midstride diff {key} shows what changed"))?;
    }
    Ok(Outcome::Clean)
}

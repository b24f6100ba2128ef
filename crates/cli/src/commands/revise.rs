use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::journal::{Change, Recorded};
use midstride::project::{Project, Shelved};
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
    match verbs::revise(project, &shelved, &text, &change)? {
        Revised::Unchanged => ui.say("Nothing changed.")?,
        Revised::Recorded(recorded) => tell(ui, project, &shelved, &recorded)?,
    }
    Ok(Outcome::Clean)
}

fn tell(
    ui: &mut Ui,
    project: &Project,
    shelved: &Shelved,
    recorded: &Recorded,
) -> Result<(), Diagnostic> {
    let key = shelved.handoff(project).key();
    let path = view::shown_path(project, &shelved.path);
    let Recorded { revision, redacted, outside } = recorded;
    ui.say(&format!("Wrote {key}@{revision}: {path}"))?;
    if *outside {
        ui.say("An edit made outside midstride was found and kept as a revision of its own.")?;
    }
    for secret in redacted {
        Diagnostic::new(format!("a secret was not written: {}", secret.kind)).warn(ui)?;
    }
    ui.say(&format!("Next: midstride diff {key} shows what changed"))?;
    Ok(())
}

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::verbs::{self, Formatted};
use midstride::workspace::project::{Project, Selection};
use std::path::Path;

/// Write handoffs in the strict form
///
/// Loose values are tightened; comments, order and everything else stay. Notes without a handoff
/// header are left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Handoffs or paths; all of them where none is given
    handoffs: Vec<String>,

    /// Only say what would change; exit code 1 if anything would
    #[arg(long)]
    check: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default)]
struct Done {
    looked_at: usize,
    changed: Vec<String>,
    refused: Vec<Diagnostic>,
}

impl Done {
    fn json(&self, ui: &Ui) -> view::done::FmtJson {
        let refused = self.refused.iter().map(|refused| view::done::RefusedJson {
            message: ui.clean(refused.message()),
            hints: refused.hints().map(|hint| ui.clean(hint)).collect(),
        });
        view::done::FmtJson {
            looked_at: self.looked_at,
            changed: self.changed.clone(),
            refused: refused.collect(),
        }
    }
}

pub(crate) fn fmt(ui: &mut Ui, project: &Project, args: &FmtArgs) -> Result<Outcome, Diagnostic> {
    let Selection { documents, unread } = project.select(&args.handoffs)?;
    let mut done = Done { looked_at: documents.len(), ..Done::default() };
    for shelved in &documents {
        match verbs::fmt(project, shelved, !args.check) {
            Ok(Formatted::AsItWas) => {}
            Ok(Formatted::Changed(redacted)) => {
                super::tell_redacted(ui, &redacted)?;
                done.changed.push(shelved.path.display().to_string());
            }
            Err(error) => done.refused.push(error.into()),
        }
    }
    done.refused.extend(unread.into_iter().map(Diagnostic::from));
    if args.json {
        let json = done.json(ui);
        ui.json(&json)?;
    } else {
        tell(ui, project, args, &done)?;
    }
    Ok(match (args.check && !done.changed.is_empty(), done.refused.is_empty()) {
        (_, false) => Outcome::Incomplete,
        (true, true) => Outcome::Findings,
        (false, true) => Outcome::Clean,
    })
}

fn tell(ui: &mut Ui, project: &Project, args: &FmtArgs, done: &Done) -> Result<(), Diagnostic> {
    for path in &done.changed {
        ui.print(&format!("{}\n", view::shown_path(project, Path::new(path))))?;
    }
    for refused in &done.refused {
        refused.warn(ui)?;
    }
    let verb = if args.check { "would change" } else { "changed" };
    let looked_at = view::count(done.looked_at, "document");
    ui.say(&format!("{} of {looked_at} {verb}", done.changed.len()))?;
    Ok(())
}

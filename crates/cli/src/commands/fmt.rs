use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::files;
use midstride::project::{FindError, Project, Shelved};
use midstride::verbs::{self, Formatted};
use serde::Serialize;
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

#[derive(Default, Serialize)]
struct FmtJson {
    looked_at: usize,
    changed: Vec<String>,
    refused: Vec<String>,
}

pub(crate) fn fmt(ui: &mut Ui, project: &Project, args: &FmtArgs) -> Result<Outcome, Diagnostic> {
    let documents = if args.handoffs.is_empty() {
        let mut documents = Vec::new();
        for result in project.read_all()? {
            documents.push(result?);
        }
        documents
    } else {
        let mut documents = Vec::new();
        for name in &args.handoffs {
            documents.extend(find_or_list(project, name)?);
        }
        documents
    };
    let mut done = FmtJson { looked_at: documents.len(), ..FmtJson::default() };
    for shelved in &documents {
        match verbs::fmt(project, shelved, !args.check) {
            Ok(Formatted::AsItWas) => {}
            Ok(Formatted::Changed) => done.changed.push(shelved.path.display().to_string()),
            Err(error @ verbs::FmtError::Refused { .. }) => done.refused.push(error.to_string()),
            Err(error @ verbs::FmtError::File(_)) => return Err(error.into()),
        }
    }
    if args.json {
        ui.json(&done)?;
    } else {
        tell(ui, project, args, &done)?;
    }
    Ok(match (args.check && !done.changed.is_empty(), done.refused.is_empty()) {
        (true, _) => Outcome::Findings,
        (false, false) => Outcome::Incomplete,
        (false, true) => Outcome::Clean,
    })
}

fn tell(ui: &mut Ui, project: &Project, args: &FmtArgs, done: &FmtJson) -> Result<(), Diagnostic> {
    for path in &done.changed {
        ui.print(&format!("{}\n", view::shown_path(project, Path::new(path))))?;
    }
    for refused in &done.refused {
        Diagnostic::new(refused).warn(ui)?;
    }
    let verb = if args.check { "would change" } else { "changed" };
    let looked_at = view::count(done.looked_at, "document");
    ui.say(&format!("{} of {looked_at} {verb}", done.changed.len()))?;
    Ok(())
}

/// The handoff of a name, or all documents of a folder.
pub(super) fn find_or_list(project: &Project, name: &str) -> Result<Vec<Shelved>, Diagnostic> {
    let folder = project.environment().folder.join(name);
    if !files::is_folder(&folder) {
        return Ok(vec![project.find(name)?]);
    }
    let outside = || FindError::Outside(name.to_owned());
    let inside = project.spot_of_path(Path::new(name)).ok_or_else(outside)?;
    let mut documents = Vec::new();
    for spot in project.spots_below(&inside)? {
        documents.push(project.read(&spot)?);
    }
    Ok(documents)
}

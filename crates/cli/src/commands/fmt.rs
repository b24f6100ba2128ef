use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::files;
use midstride::project::{Project, Shelved};
use midstride::verbs::{self, Mended};
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
    let mut changed = 0;
    let mut refused = 0;
    for shelved in &documents {
        match verbs::mend(project, shelved, !args.check) {
            Ok(Mended::AsItWas) => {}
            Ok(Mended::Changed) => {
                changed += 1;
                ui.print(&format!("{}\n", shelved.path.display()))?;
            }
            Err(error @ verbs::MendError::Refused { .. }) => {
                refused += 1;
                ui.say(&format!("warning: {error}"))?;
            }
            Err(error @ verbs::MendError::File(_)) => return Err(error.into()),
        }
    }
    let verb = if args.check { "would change" } else { "changed" };
    ui.say(&format!("{changed} of {} {verb}", crate::view::count(documents.len(), "document")))?;
    Ok(match (args.check && changed > 0, refused > 0) {
        (true, _) => Outcome::Findings,
        (false, true) => Outcome::Incomplete,
        (false, false) => Outcome::Clean,
    })
}

/// The handoff of a name, or all documents of a folder.
pub(super) fn find_or_list(project: &Project, name: &str) -> Result<Vec<Shelved>, Diagnostic> {
    let folder = project.environment().folder.join(name);
    if !files::is_folder(&folder) {
        return Ok(vec![project.find(name)?]);
    }
    let inside = project.spot_of_path(Path::new(name)).ok_or_else(|| {
        Diagnostic::new(format!("`{name}` lies outside the project"))
            .hint("midstride stays inside the project: start it there, or use `-C`")
    })?;
    let mut documents = Vec::new();
    for spot in project.spots_below(&inside)? {
        documents.push(project.read(&spot)?);
    }
    Ok(documents)
}

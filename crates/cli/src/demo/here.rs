//! Previews the briefing of the user's own repository, without changing anything.

use super::short::width;
use crate::ui::{CliOutcome, Ui};
use midstride::clients::{self, Client};
use midstride::sys::env::Environment;
use midstride::sys::files::ScratchFolder;
use midstride::verbs::{self, BriefingPreview};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::{Diagnostic, withheld_documents};
use midstride_surface::view::demo as view;

pub(super) fn preview(
    ui: &mut Ui,
    environment: &Environment,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = Workspace::discover(environment.clone())?;
    ui.redactor().set_project(&workspace);
    if let Some(exclusion) = workspace.exclusion() {
        return Err(exclusion.into());
    }
    if workspace.repository().is_none() {
        return Err(Diagnostic::new("this folder is not in a git repository")
            .hint("change to a repository where you have worked with an agent"));
    }
    if workspace.private_folder_in_use().is_some() {
        return Err(Diagnostic::new("midstride is already in use in this repository")
            .hint("run `midstride brief` for the briefing of the next session"));
    }
    let scratch = ScratchFolder::new("midstride-preview")?;
    let previewed = verbs::preview_briefing(&workspace, &scratch, &mut |done, all| {
        ui.show_progress("reading sessions", done, all);
    });
    scratch.remove()?;
    let preview = previewed?;
    if json {
        ui.print_json(&view::preview_json(&preview))?;
        return Ok(CliOutcome::Clean);
    }
    show(ui, &preview)?;
    Ok(CliOutcome::Clean)
}

fn show(ui: &mut Ui, preview: &BriefingPreview) -> Result<(), Diagnostic> {
    if preview.briefing.text.is_empty() {
        let titles = clients::one_of(clients::ALL.map(Client::title));
        ui.say(&format!("No past {titles} sessions in this repository."))?;
        ui.say("hint: work with an agent here, then run midstride demo --here again")?;
    } else {
        ui.print(&view::preview(preview, width()))?;
    }
    if preview.withheld > 0 {
        ui.warn(&withheld_documents(preview.withheld))?;
    }
    ui.say("Nothing was changed. Next: midstride setup")?;
    Ok(())
}

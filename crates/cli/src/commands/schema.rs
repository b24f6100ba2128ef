use super::CliOutcome;
use crate::ui::Ui;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;

/// Print the JSON Schema of the header
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride schema > handoff.schema.json")]
pub(crate) struct SchemaArgs {}

pub(crate) fn schema(ui: &mut Ui, workspace: &Workspace) -> Result<CliOutcome, Diagnostic> {
    ui.print_foreign_json(&midstride_core::format::schema::schema(&workspace.settings().stages))?;
    Ok(CliOutcome::Clean)
}

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, FormatOutcome};
use midstride::workspace::{DocumentSelection, Workspace};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::path::Path;

/// Rewrite handoffs in strict form
///
/// Normalizes loose values and keeps comments, order and everything else. Does not change notes,
/// which have no handoff header.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride fmt --check
  midstride fmt market")]
pub(crate) struct FmtArgs {
    /// Handoffs or paths [default: all]
    handoffs: Vec<String>,

    /// Only list what would change; exit with 1 if anything would
    #[arg(long)]
    check: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default)]
struct FmtReport {
    document_count: usize,
    changed: Vec<String>,
    refused: Vec<Diagnostic>,
}

impl FmtReport {
    fn json(&self, ui: &Ui) -> view::command_result::FmtJson {
        let refused = self.refused.iter().map(|refused| {
            let hints = refused.hints().map(|hint| ui.clean(hint)).collect();
            (ui.clean(refused.message()), hints)
        });
        view::command_result::fmt_json(self.document_count, self.changed.clone(), refused)
    }
}

pub(crate) fn fmt(ui: &mut Ui, store: &Store, args: &FmtArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let DocumentSelection { documents, unread } = workspace.select(&args.handoffs)?;
    let mut done = FmtReport { document_count: documents.len(), ..FmtReport::default() };
    for stored in &documents {
        match verbs::fmt(store, stored, !args.check) {
            Ok(FormatOutcome::Unchanged) => {}
            Ok(FormatOutcome::Changed(redacted)) => {
                super::report_redacted(ui, &redacted)?;
                done.changed.push(stored.path.display().to_string());
            }
            Err(error) => done.refused.push(error.into()),
        }
    }
    done.refused.extend(unread.into_iter().map(Diagnostic::from));
    if args.json {
        let json = done.json(ui);
        ui.print_json(&json)?;
    } else {
        report(ui, workspace, args, &done)?;
    }
    Ok(match (args.check && !done.changed.is_empty(), done.refused.is_empty()) {
        (_, false) => CliOutcome::Incomplete,
        (true, true) => CliOutcome::Findings,
        (false, true) => CliOutcome::Clean,
    })
}

fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &FmtArgs,
    done: &FmtReport,
) -> Result<(), Diagnostic> {
    for path in &done.changed {
        ui.print(&format!("{}\n", view::display_path(workspace, Path::new(path))))?;
    }
    for refused in &done.refused {
        ui.warn(refused)?;
    }
    let verb = if args.check { "would change" } else { "changed" };
    let looked_at = view::count(done.document_count, "document");
    ui.say(&format!("{} of {looked_at} {verb}", done.changed.len()))?;
    Ok(())
}

use super::{ArgumentError, CliOutcome};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, ResolveOutcome, ResolveRequest, TypedEnding};
use midstride_core::handoff::lifecycle::MeasuredValue;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Close a handoff as resolved, superseded or abandoned
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride resolve market --commit HEAD --outcome 'pages take 108 ms'
  midstride resolve feat-042/request --abandon 'no budget'")]
pub(crate) struct ResolveArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// The commit that implemented it
    #[arg(long, conflicts_with_all = ["by", "abandon"], value_parser = super::parse_text)]
    commit: Option<String>,

    /// The outcome
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["by", "abandon"], value_parser = super::parse_text)]
    outcome: Option<String>,

    /// The handoff that replaces it
    #[arg(long, value_name = "ID", conflicts_with = "abandon", value_parser = super::parse_text)]
    by: Option<String>,

    /// Why it was abandoned
    #[arg(long, value_name = "REASON", value_parser = super::parse_text)]
    abandon: Option<String>,

    /// A measurement taken after the work, such as `Austin, cold=14290:108 ms`; may be repeated
    ///
    /// Fills in `after` for the measurement with that name, or adds a measurement. BEFORE and UNIT
    /// are optional.
    #[arg(long, value_name = "NAME=[BEFORE:]AFTER [UNIT]", value_parser = measured)]
    measured: Vec<MeasuredValue>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn measured(typed: &str) -> Result<MeasuredValue, ArgumentError> {
    let wrong = || {
        ArgumentError::new(
            "write it as `NAME=[BEFORE:]AFTER [UNIT]`, such as `Austin=14290:108 ms` or `Austin=108`",
        )
    };
    MeasuredValue::parse(typed).ok_or_else(wrong)
}

pub(crate) fn resolve(
    ui: &mut Ui,
    store: &Store,
    args: &ResolveArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let successor = args.by.as_deref().map(|by| workspace.find(by)).transpose()?;
    let successor = successor.map(|by| by.handoff(workspace).key());
    let typed = TypedEnding {
        commit: args.commit.as_deref(),
        outcome: args.outcome.as_deref(),
        superseded_by: successor.as_ref(),
        abandoned: args.abandon.as_deref(),
    };
    let request = ResolveRequest {
        measured: args.measured.clone(),
        ..ResolveRequest::parse(workspace, typed, None)?
    };
    let ResolveOutcome { recorded, reason, blocking } = verbs::resolve(store, &stored, &request)?;
    if args.json {
        let json = view::recorded_change::json(workspace, &stored, &recorded, &ui.clean(&reason));
        ui.print_json(&json.with_blocking(&blocking))?;
        return Ok(CliOutcome::Clean);
    }
    super::report_recorded(ui, workspace, &stored, &recorded, &reason, false)?;
    super::report_blocking(ui, &blocking)?;
    Ok(CliOutcome::Clean)
}

use super::{ArgumentError, CliOutcome};
use crate::ui::Ui;
use midstride::journal::RevisionInfo;
use midstride::store::Store;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, CloseReason, MeasuredValue};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// End a handoff: carried out, superseded or given up
#[derive(Debug, clap::Args)]
pub(crate) struct ResolveArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// The commit that carried it out
    #[arg(long, conflicts_with_all = ["by", "abandon"], value_parser = super::parse_text)]
    commit: Option<String>,

    /// What came of it
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["by", "abandon"], value_parser = super::parse_text)]
    outcome: Option<String>,

    /// The handoff that took its place
    #[arg(long, value_name = "ID", conflicts_with = "abandon", value_parser = super::parse_text)]
    by: Option<String>,

    /// Why it was given up
    #[arg(long, value_name = "REASON", value_parser = super::parse_text)]
    abandon: Option<String>,

    /// A number after the work, such as `Austin, cold=14290:108 ms`; repeatable
    ///
    /// Fills `after` of the measurement with that name, or adds one. BEFORE and UNIT can be omitted.
    #[arg(long, value_name = "NAME=[BEFORE:]AFTER [UNIT]", value_parser = measured)]
    measured: Vec<MeasuredValue>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

fn measured(typed: &str) -> Result<MeasuredValue, ArgumentError> {
    let wrong = || {
        ArgumentError::new(
            "write it as `NAME=[BEFORE:]AFTER [UNIT]`, such as `Austin=14290:108 ms` or `Austin=108`",
        )
    };
    let (name, numbers) = typed.rsplit_once('=').ok_or_else(wrong)?;
    let (before, rest) = match numbers.split_once(':') {
        Some((before, rest)) => (Some(before.trim()), rest.trim()),
        None => (None, numbers.trim()),
    };
    let (after, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    if name.trim().is_empty() || !before.is_none_or(is_number) || !is_number(after) {
        return Err(wrong());
    }
    Ok(MeasuredValue {
        name: name.trim().to_owned(),
        before: before.map(str::to_owned),
        after: after.to_owned(),
        unit: Some(unit.trim().to_owned()).filter(|unit| !unit.is_empty()),
    })
}

pub(crate) fn resolve(
    ui: &mut Ui,
    store: &Store,
    args: &ResolveArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let ended = ResolveInput {
        commit: args.commit.as_deref(),
        outcome: args.outcome.as_deref(),
        by: args.by.as_deref(),
        abandon: args.abandon.as_deref(),
    };
    let (ending, reason) = ended.ending(workspace)?;
    let now = workspace.environment().clock.now();
    let decide = |handoff: &Handoff<'_>| lifecycle::resolve(handoff, &ending, &args.measured, now);
    let change = RevisionInfo::by_verb(RevisionVerb::Resolve, reason, None);
    // Open questions only matter if the work was done.
    let blocking = match &ending {
        CloseReason::Resolved { .. } => verbs::blocking_questions(workspace, &stored),
        CloseReason::Superseded(_) | CloseReason::Abandoned(_) => Vec::new(),
    };
    let recorded = verbs::apply(store, &stored, &decide, &change)?;
    if args.json {
        let json =
            view::recorded_change::json(workspace, &stored, &recorded, &ui.clean(&change.reason));
        ui.print_json(&json.with_blocking(&blocking))?;
        return Ok(CliOutcome::Clean);
    }
    super::report_recorded(ui, workspace, &stored, &recorded, &change.reason, false)?;
    super::report_blocking(ui, &blocking)?;
    Ok(CliOutcome::Clean)
}

/// How a handoff was closed.
#[derive(Clone, Copy)]
pub(crate) struct ResolveInput<'a> {
    /// The commit that implements it.
    pub(crate) commit: Option<&'a str>,
    /// The outcome.
    pub(crate) outcome: Option<&'a str>,
    /// The handoff that supersedes it.
    pub(crate) by: Option<&'a str>,
    /// Why it was abandoned.
    pub(crate) abandon: Option<&'a str>,
}

impl ResolveInput<'_> {
    /// The parsed reason for closing, and the text for the history.
    pub(crate) fn ending(self, workspace: &Workspace) -> Result<(CloseReason, String), Diagnostic> {
        match (self.by, self.abandon) {
            (Some(by), _) => {
                let successor = workspace.find(by)?.handoff(workspace).key().to_string();
                Ok((
                    CloseReason::Superseded(successor.clone()),
                    format!("superseded by {successor}"),
                ))
            }
            (None, Some(reason)) => {
                Ok((CloseReason::Abandoned(reason.to_owned()), format!("abandoned: {reason}")))
            }
            (None, None) => {
                let commit = self.commit.map(|c| verbs::commit_id(workspace, c)).transpose()?;
                let outcome = self.outcome.map(str::to_owned);
                if commit.is_none() && outcome.is_none() {
                    return Err(Diagnostic::new("how did it end?")
                        .hint("--commit COMMIT, --outcome TEXT, --by ID or --abandon REASON"));
                }
                Ok((CloseReason::Resolved { commit, outcome }, "resolved".to_owned()))
            }
        }
    }
}

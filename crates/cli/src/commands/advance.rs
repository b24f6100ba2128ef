use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, AdvanceOutcome, AdvanceRequest, StageTransition};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::findings::HintDisplay;
use midstride_surface::view::{self, Surface};

/// Draft the next stage of a handoff
///
/// Checks five rules first: required fields are set, no blocking question is open, doubtful
/// assumptions are validated, upstream stages are complete, and a decision is recorded for each
/// capability. If a rule fails, lists the blockers, exits with 1 and changes nothing. Otherwise
/// drafts the next stage's document and resolves this one. `midstride undo` reverts the change to
/// this handoff but keeps the draft.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride advance feat-042 --to discovery
  midstride advance feat-042 --to discovery --force --reason 'the answer is due on Monday'")]
pub(crate) struct AdvanceArgs {
    /// Id (`--to` implies its stage), `id/stage`, or path
    handoff: String,

    /// The next stage, such as `spec`
    #[arg(long, value_name = "STAGE")]
    to: String,

    /// Advance despite blockers; the handoff stays open
    #[arg(long, requires = "reason")]
    force: bool,

    /// Reason for forcing it; recorded in the history
    #[arg(long, value_name = "WHY", requires = "force", value_parser = super::parse_text)]
    reason: Option<String>,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print the blockers, or what was written, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn advance(
    ui: &mut Ui,
    store: &Store,
    args: AdvanceArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let forward = AdvanceRequest { to: args.to, force: args.reason, by: args.by };
    match verbs::advance(store, &args.handoff, &forward)? {
        AdvanceOutcome::Blocked(checked) => {
            if args.json {
                ui.print_json(&view::advance::blocked_json(&checked, &forward.to))?;
            } else {
                let checked = [*checked];
                ui.print(&view::findings::human(
                    workspace,
                    &checked,
                    Surface::Terminal,
                    Ui::width(),
                    HintDisplay::Listed,
                ))?;
                ui.say(&view::advance::blocked_text(&checked[0], &forward.to))?;
            }
            Ok(CliOutcome::Findings)
        }
        AdvanceOutcome::Advanced(transition) => {
            if args.json {
                ui.print_json(&view::advance::stage_transition_json(
                    workspace,
                    &transition,
                    &forward.to,
                ))?;
            } else {
                report(ui, workspace, &transition, &forward)?;
            }
            Ok(CliOutcome::Clean)
        }
    }
}

/// Reports what was written, and what the draft inherits.
fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    transition: &StageTransition,
    forward: &AdvanceRequest,
) -> Result<(), Diagnostic> {
    let StageTransition { from, key, created, recorded, reason, overridden: over, .. } = transition;
    let path = view::display_path(workspace, &transition.path);
    if forward.force.is_some() && over.is_empty() {
        ui.say("There are no blockers, so --force was not needed and is not recorded")?;
    }
    match created {
        Some(created) => {
            ui.say(&format!("Wrote {key}: {path}"))?;
            super::report_redacted(ui, &created.redacted)?;
            for upstream in &created.upstream {
                ui.say(&view::handoff::inherited_text(workspace, upstream))?;
            }
        }
        None => ui.say(&format!("{key} already exists: {path}"))?,
    }
    let handoff = from.handoff(workspace);
    match recorded {
        Some(recorded) => {
            super::report_recorded(ui, workspace, from, recorded, reason, false)?;
        }
        None => ui.say(&format!("{} already records this; no new revision", handoff.key()))?,
    }
    if !over.is_empty() {
        ui.say(&format!("{} stays {}: it is still blocked", handoff.key(), handoff.status()))?;
    }
    for open in &transition.open_siblings {
        let key = view::shell_word(&open.to_string());
        let to = view::shell_word(&forward.to);
        ui.say(&format!(
            "{open} is still open. To advance it too: midstride advance {key} --to {to}"
        ))?;
    }
    let fill_in = if created.is_some() { "fill it in, then " } else { "" };
    let key = view::shell_word(&key.to_string());
    Ok(ui.say(&format!("Next: {fill_in}midstride check {key}"))?)
}

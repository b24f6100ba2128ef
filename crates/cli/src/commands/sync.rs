use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use crate::view::count;
use midstride::project::Project;
use midstride::verbs;

/// Share the earlier texts of committed handoffs with another repository
///
/// Revisions are kept as git objects that `git push` does not take along. This fetches the texts
/// that others shared and pushes yours, below `refs/midstride`; texts of private handoffs stay here.
/// It happens only when you ask for it.
#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// The remote; `origin`, or the only one, where none is given
    remote: Option<String>,

    /// Print what went where as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn sync(ui: &mut Ui, project: &Project, args: &SyncArgs) -> Result<Outcome, Diagnostic> {
    let synced = verbs::sync(project, args.remote.as_deref())?;
    let verbs::Synced { remote, exchanged } = synced;
    let (handoffs, received, sent) = (exchanged.handoffs, exchanged.received, exchanged.sent);
    if args.json {
        ui.json(&view::done::SyncJson { remote, handoffs, received, sent })?;
        return Ok(Outcome::Clean);
    }
    for name in &exchanged.odd {
        Diagnostic::new(format!("`{name}` in {remote} keeps no texts; it was left alone"))
            .warn(ui)?;
    }
    if handoffs == 0 {
        ui.say(&format!("Nothing to share: neither here nor in {remote} was a handoff revised"))?;
        return Ok(Outcome::Clean);
    }
    let (came, went) = (count(received, "text"), count(sent, "text"));
    ui.say(&format!("{came} came from {remote}, {went} went there"))?;
    ui.say(&format!("Both sides have every text of {} now", count(handoffs, "handoff")))?;
    Ok(Outcome::Clean)
}

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, TaskSyncOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::command_result::sync_json;
use midstride_surface::view::{count, forget};

/// Exchange revisions and tasks through a remote
///
/// Exchanges tasks and revisions of committed handoffs, which a plain `git push` does not copy:
/// fetches what others shared and pushes yours, under `refs/midstride`. Revisions of uncommitted
/// handoffs stay on this machine. Revisions that another clone forgot stay until you run `midstride
/// forget --review`. git uses the ssh settings and credential helpers from your own configuration,
/// not from the repository's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride sync
  midstride sync origin")]
pub(crate) struct SyncArgs {
    /// The remote [default: `origin`, or the only one]
    remote: Option<String>,

    /// Print what was exchanged as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn sync(ui: &mut Ui, store: &Store, args: &SyncArgs) -> Result<CliOutcome, Diagnostic> {
    Ui::show_status("syncing with the remote");
    let synced = verbs::sync(store, args.remote.as_deref());
    Ui::show_status("");
    let synced = synced?;
    if args.json {
        ui.print_json(&sync_json(&synced))?;
        return Ok(CliOutcome::Clean);
    }
    let verbs::SyncOutcome { remote, exchanged, tasks, proposals, tombstones_sent } = synced;
    let (handoffs, received, sent) = (exchanged.handoffs, exchanged.received, exchanged.sent);
    let kept_back = exchanged.held_back;
    for name in &exchanged.unrecognized {
        ui.warn(&Diagnostic::new(format!(
            "left `{name}` in {remote} unchanged: it contains no handoff revisions"
        )))?;
    }
    for proposal in &proposals {
        ui.say(&format!(
            "Forgotten in another clone, still here: {}",
            forget::tombstone_line(proposal)
        ))?;
    }
    if !proposals.is_empty() {
        ui.say("Next: run midstride forget --review to remove it here too")?;
    }
    if tombstones_sent > 0 {
        let sent_texts = count(tombstones_sent, "forgotten item");
        ui.say(&format!("Sent tombstones for {sent_texts} to {remote}; other clones ask before they delete anything"))?;
    }
    if kept_back > 0 {
        let stay = count(kept_back, "handoff");
        ui.say(&format!(
            "Revisions of {stay} stay here, because uncommitted handoffs are not sent"
        ))?;
    }
    if handoffs == 0 && tasks == TaskSyncOutcome::default() {
        if kept_back == 0 {
            let nothing = "Nothing to share: no handoff was revised here or in";
            ui.say(&format!("{nothing} {remote}"))?;
        }
        return Ok(CliOutcome::Clean);
    }
    if handoffs > 0 {
        let (came, went) = (count(received, "revision"), count(sent, "revision"));
        ui.say(&format!("{came} received from {remote}, {went} sent"))?;
        ui.say(&format!("Both sides now have every revision of {}", count(handoffs, "handoff")))?;
    }
    report_tasks(ui, &remote, &tasks)
}

/// Reports the result for the tasks, if there are any.
fn report_tasks(
    ui: &mut Ui,
    remote: &str,
    tasks: &TaskSyncOutcome,
) -> Result<CliOutcome, Diagnostic> {
    if tasks.skipped > 0 {
        let files = count(tasks.skipped, "file");
        ui.warn(&Diagnostic::new(format!("skipped {files} among the tasks in {remote}")).hint(
            "they are not events, or they add a task that is already here; nothing was changed",
        ))?;
    }
    if tasks.newer > 0 {
        let (events, need) =
            (count(tasks.newer, "event"), if tasks.newer == 1 { "needs" } else { "need" });
        ui.warn(
            &Diagnostic::new(format!("{events} in {remote} {need} a newer midstride"))
                .hint("midstride leaves them there until a newer version syncs"),
        )?;
    }
    if tasks.early > 0 {
        let events = count(tasks.early, "event");
        ui.warn(
            &Diagnostic::new(format!("the tasks in {remote} include {events} dated in the future"))
                .hint("they are skipped until then; a clock may be wrong"),
        )?;
    }
    if tasks.here == 0 {
        return Ok(CliOutcome::Clean);
    }
    if tasks.is_withheld {
        let came = count(tasks.received, "task");
        let stays = "this project shares nothing, so its tasks stay here";
        ui.say(&format!("{came} received from {remote}; {stays}"))?;
        return Ok(CliOutcome::Clean);
    }
    let (came, went) = (count(tasks.received, "task"), count(tasks.sent, "task"));
    ui.say(&format!("{came} received from {remote}, {went} sent"))?;
    ui.say(&format!("Both sides now have {}", count(tasks.here, "task")))?;
    Ok(CliOutcome::Clean)
}

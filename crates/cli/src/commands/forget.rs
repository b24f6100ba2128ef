use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::sys::env::Environment;
use midstride::sys::git::RemovalOutcome;
use midstride::verbs::{self, CapturedSession, ForgetOutcome, KeptText, SessionSelection};
use midstride::workspace::Workspace;
use midstride::workspace::consent::UserConsent;
use midstride_core::text::id::split_revision;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::json::JsonList;
use midstride_surface::view::{count, forget};

/// Permanently remove an earlier revision or checkpoint
///
/// Use this for a secret that redaction missed, and rotate the secret too. Asks you at the
/// terminal, then removes the text from this machine. A tombstone remains so that the same text is
/// not stored again, and `midstride sync` proposes the removal to other clones; `--review` asks you
/// about each proposal. Forgetting a checkpoint also removes its session's tasks and standing
/// instructions. The current document, transcripts and your commits are not changed; midstride
/// lists where the text remains. Agents cannot forget anything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride forget --session 5e55 --yes
  midstride forget market@1 --reason 'it quoted a password' --yes
  midstride forget --before 2026-01-01 --yes")]
pub(crate) struct ForgetArgs {
    /// `ID@2` for a handoff's second revision, or a prefix of an id from `midstride events --json`
    /// (`was`, `blob`)
    #[arg(required_unless_present_any = ["review", "session", "before", "all"], value_name = "TEXT")]
    texts: Vec<String>,

    /// Delete the captured session with this id, in every repository
    #[arg(long, value_name = "ID", conflicts_with_all = ["texts", "review"])]
    session: Option<String>,

    /// Delete captured sessions that ended before this date, in every repository
    #[arg(long, value_name = "DATE", conflicts_with_all = ["texts", "review", "session"])]
    before: Option<jiff::civil::Date>,

    /// Delete all captured sessions, in every repository
    #[arg(long, conflicts_with_all = ["texts", "review", "session", "before"])]
    all: bool,

    /// Review removals that other clones propose
    #[arg(long, conflicts_with = "texts")]
    review: bool,

    /// Reason to store with the tombstone; do not include the secret
    #[arg(long, value_name = "WHY", value_parser = super::parse_text)]
    reason: Option<String>,

    /// Answer yes; still requires a terminal
    #[arg(long)]
    yes: bool,

    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn forget(
    ui: &mut Ui,
    store: &Store,
    args: &ForgetArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    if let Some(selection) = args.selection() {
        return forget_sessions(ui, workspace.environment(), selection, args);
    }
    if args.review {
        return review(ui, store, args);
    }
    // Report what cannot be found before anything is removed.
    let texts: Vec<KeptText> =
        args.texts.iter().map(|name| find_text(store, name)).collect::<Result<_, _>>()?;
    let (mut all, mut outcome) = (Vec::new(), CliOutcome::Clean);
    for text in &texts {
        let Some(consent) = confirm(ui, workspace, text, args)? else {
            ui.say("Nothing was changed.")?;
            outcome = CliOutcome::Findings;
            continue;
        };
        let done = verbs::forget(store, text, args.reason.as_deref(), &consent, &|_| ())?;
        if done.removal != RemovalOutcome::Removed {
            outcome = CliOutcome::Findings;
        }
        if args.json {
            all.push(forget::forget_json(text, &done));
        } else {
            report(ui, workspace, text, &done)?;
        }
    }
    if args.json {
        ui.print_json(&JsonList::from_iter(all))?;
    }
    Ok(outcome)
}

impl ForgetArgs {
    /// The captured sessions to delete, if any are named.
    fn selection(&self) -> Option<SessionSelection<'_>> {
        let midnight = |date: jiff::civil::Date| {
            date.to_zoned(jiff::tz::TimeZone::system()).ok().map(|time| time.timestamp())
        };
        match (&self.session, self.before, self.all) {
            (Some(id), _, _) => Some(SessionSelection::Id(id)),
            (None, Some(date), _) => midnight(date).map(SessionSelection::EndedBefore),
            (None, None, true) => Some(SessionSelection::All),
            (None, None, false) => None,
        }
    }
}

/// Deletes captured sessions in every repository on record, with one question.
fn forget_sessions(
    ui: &mut Ui,
    environment: &Environment,
    selection: SessionSelection<'_>,
    args: &ForgetArgs,
) -> Result<CliOutcome, Diagnostic> {
    let mut selected: Vec<(Store, Vec<CapturedSession>)> = Vec::new();
    let mut outcome = CliOutcome::Clean;
    for (folder, store) in verbs::recorded_stores(environment) {
        let found = store.and_then(|store| {
            let sessions = verbs::captured_sessions(&store, selection);
            sessions.map(|sessions| (store, sessions)).map_err(|error| error.to_string())
        });
        match found {
            Ok((_, sessions)) if sessions.is_empty() => {}
            Ok(found) => selected.push(found),
            Err(why) => {
                outcome = CliOutcome::Findings;
                let folder = folder.display();
                ui.warn(&Diagnostic::new(format!("cannot reach `{folder}`: {why}")))?;
            }
        }
    }
    let all: usize = selected.iter().map(|(_, sessions)| sessions.len()).sum();
    if all == 0 {
        ui.say("No captured session matches.")?;
        if args.json {
            ui.print_json(&forget::sessions_json(std::iter::empty()))?;
        }
        return Ok(CliOutcome::Findings);
    }
    for (store, sessions) in &selected {
        ui.say(forget::sessions_text(store.workspace(), sessions, Ui::width()).trim_end())?;
    }
    let question = format!("Permanently delete {}?", count(all, "captured session"));
    let Some(consent) = Ui::ask_consent(environment, &question, args.yes)? else {
        ui.say("Nothing was changed.")?;
        return Ok(CliOutcome::Findings);
    };
    let mut before = 0;
    for (store, sessions) in &selected {
        verbs::forget_sessions(store, sessions, args.reason.as_deref(), &consent, &mut |done| {
            ui.show_progress("deleting", before + done, all);
        })?;
        before += sessions.len();
    }
    let sessions = selected.iter().flat_map(|(_, sessions)| sessions);
    if args.json {
        ui.print_json(&forget::sessions_json(sessions))?;
        return Ok(outcome);
    }
    ui.say(&format!("Deleted {}.", count(all, "captured session")))?;
    for line in forget::unreachable(sessions) {
        ui.say(&line)?;
    }
    Ok(outcome)
}

/// Asks about each text that other clones forgot, and forgets those that the user confirms.
fn review(ui: &mut Ui, store: &Store, args: &ForgetArgs) -> Result<CliOutcome, Diagnostic> {
    let proposed = verbs::proposed_texts(store)?;
    if args.json && !args.yes {
        let all = proposed.iter().map(|(text, proposal)| forget::proposal_json(text, proposal));
        ui.print_json(&all.collect::<JsonList<_>>())?;
        return Ok(if proposed.is_empty() { CliOutcome::Clean } else { CliOutcome::Findings });
    }
    if proposed.is_empty() {
        ui.say("Everything forgotten in other clones is also deleted here.")?;
    }
    let (mut all, mut outcome) = (Vec::new(), CliOutcome::Clean);
    for (text, proposal) in &proposed {
        ui.say(&format!("Forgotten in another clone: {}", forget::tombstone_line(proposal)))?;
        let Some(consent) = confirm(ui, store.workspace(), text, args)? else {
            ui.say("Kept here.")?;
            outcome = CliOutcome::Findings;
            continue;
        };
        let reason = args.reason.as_deref().or(proposal.reason.as_deref());
        let done = verbs::forget(store, text, reason, &consent, &|_| ())?;
        if args.json {
            all.push(forget::forget_json(text, &done));
        } else {
            report(ui, store.workspace(), text, &done)?;
        }
    }
    if args.json {
        ui.print_json(&JsonList::from_iter(all))?;
    }
    Ok(outcome)
}

fn find_text(store: &Store, name: &str) -> Result<KeptText, Diagnostic> {
    let workspace = store.workspace();
    match split_revision(name) {
        (handoff, Some(number)) => {
            Ok(verbs::kept_revision(store, &workspace.find(handoff)?, number)?)
        }
        (id, None) => Ok(verbs::kept_text(store, id)?),
    }
}

/// Asks the user to confirm. A text that was already forgotten needs no question.
fn confirm(
    ui: &mut Ui,
    workspace: &Workspace,
    text: &KeptText,
    args: &ForgetArgs,
) -> Result<Option<UserConsent>, Diagnostic> {
    let environment = workspace.environment();
    if text.tombstone.is_some() {
        return Ui::consent_by_presence(environment).map(Some);
    }
    ui.say(forget::stored_text(text).trim_end())?;
    if !args.yes {
        ui.say(&forget::plan(text))?;
    }
    let question = format!("Permanently delete {}?", text.describe());
    Ui::ask_consent(environment, &question, args.yes)
}

fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    text: &KeptText,
    done: &ForgetOutcome,
) -> Result<(), Diagnostic> {
    let what = forget::tombstone_line(&done.tombstone);
    let forgotten = if done.is_new { "Forgotten" } else { "Already forgotten" };
    ui.say(&format!("{forgotten}: {what}"))?;
    if done.session_texts > 0 {
        let texts = count(done.session_texts, "event");
        ui.say(&format!(
            "Also emptied {texts} for that session's tasks and standing instructions"
        ))?;
    }
    if done.may_tasks_remain_elsewhere {
        ui.say("Tasks already sent by `midstride sync` are still in the remote repository")?;
    }
    for (message, hints) in forget::remaining_copies(workspace, text, done) {
        ui.warn(&hints.into_iter().fold(Diagnostic::new(message), Diagnostic::hint))?;
    }
    if let Some(others) = forget::related_texts(text) {
        ui.say(&others)?;
    }
    if done.may_remain_elsewhere {
        ui.say(
            "Next: run midstride sync to remove all references to it from the remote repository",
        )?;
        ui.say("Its data remains there until `git gc --prune=now` runs in that repository")?;
    }
    Ok(())
}

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view::{count, forgotten};
use midstride::sys::git::Left;
use midstride::verbs::{self, Forgotten, KeptText};
use midstride::workspace::project::Project;

/// Remove an earlier text, or a checkpoint, for good
///
/// For what slipped through the rules that take secrets out. The text is removed from this machine; a
/// tombstone stays, so that the same text is not kept again, and `midstride sync` has it removed
/// elsewhere. Forgetting a checkpoint also removes the tasks and the standing instructions of its
/// session. The document as it is, transcripts and your commits are not touched: what still has the text
/// is named. A secret that was written down is best changed where it is used.
#[derive(Debug, clap::Args)]
pub(crate) struct ForgetArgs {
    /// The texts: `ID@2` for the second text of a handoff, or the start of an id, as
    /// `midstride events --json` tells them (`was`, `blob`)
    #[arg(required = true, value_name = "TEXT")]
    texts: Vec<String>,

    /// Why; it stays with the tombstone, so it does not say what the secret is
    #[arg(long, value_name = "WHY", value_parser = super::said)]
    reason: Option<String>,

    /// Do not ask
    #[arg(long)]
    yes: bool,

    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn forget(
    ui: &mut Ui,
    project: &Project,
    args: &ForgetArgs,
) -> Result<Outcome, Diagnostic> {
    // What cannot be found is told before anything is gone.
    let texts: Vec<KeptText> =
        args.texts.iter().map(|name| find(project, name)).collect::<Result<_, _>>()?;
    let (mut all, mut outcome) = (Vec::new(), Outcome::Clean);
    for text in &texts {
        if !is_wanted(ui, text, args)? {
            ui.say("Nothing was changed.")?;
            outcome = Outcome::Findings;
            continue;
        }
        let done = verbs::forget(project, text, args.reason.as_deref(), &|_| ())?;
        if done.left != Left::Nothing {
            outcome = Outcome::Findings;
        }
        if args.json {
            all.push(forgotten::forgotten_json(text, &done));
        } else {
            tell(ui, project, text, &done)?;
        }
    }
    if args.json {
        ui.json(&all)?;
    }
    Ok(outcome)
}

fn find(project: &Project, name: &str) -> Result<KeptText, Diagnostic> {
    match super::revision_of(name) {
        (handoff, Some(number)) => {
            Ok(verbs::kept_revision(project, &project.find(handoff)?, number)?)
        }
        (id, None) => Ok(verbs::kept_text(project, id)?),
    }
}

/// Whether the person says yes to what is shown. What is gone already needs no answer.
fn is_wanted(ui: &mut Ui, text: &KeptText, args: &ForgetArgs) -> Result<bool, Diagnostic> {
    if text.tombstone.is_some() {
        return Ok(true);
    }
    ui.say(forgotten::kept(text).trim_end())?;
    if args.yes {
        return Ok(true);
    }
    ui.say(&forgotten::plan(text))?;
    if !Ui::is_watched() {
        return Err(Diagnostic::new("nobody is there to be asked")
            .hint("start it in a terminal, or say `--yes`"));
    }
    Ok(ui.ask("Forget it?")?)
}

fn tell(
    ui: &mut Ui,
    project: &Project,
    text: &KeptText,
    done: &Forgotten,
) -> Result<(), Diagnostic> {
    let what = forgotten::tombstone(&done.tombstone);
    let already = if done.is_new { "" } else { " already" };
    ui.say(&format!("Forgotten{already}: {what}"))?;
    if done.session_texts > 0 {
        let texts = count(done.session_texts, "event");
        ui.say(&format!(
            "Also emptied: {texts} of tasks and standing instructions of that session"
        ))?;
    }
    if done.are_tasks_elsewhere {
        ui.say("Tasks that `midstride sync` sent before are still in the other repository")?;
    }
    for (message, hints) in forgotten::still(project, text, done) {
        hints.into_iter().fold(Diagnostic::new(message), Diagnostic::hint).warn(ui)?;
    }
    if let Some(others) = forgotten::others(text) {
        ui.say(&others)?;
    }
    if done.is_elsewhere {
        ui.say("Next: midstride sync, which lets nothing lead to it in the other repository")?;
        ui.say(
            "Its bytes lie there until whoever keeps that repository runs `git gc --prune=now`",
        )?;
    }
    Ok(())
}

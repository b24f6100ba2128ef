use super::CliOutcome;
use super::entries::EntryArgs;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, AnswerInputError, AnswerOutcome, AnswerRequest};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Answer a question or validate an assumption
///
/// Questions are numbered q1, q2 … and assumptions a1, a2 …, in document order. If you are a
/// question's `suggested_owner`, only you can answer it, and only at a terminal. Flags such as
/// `--question` record what follows from the answer in the same revision.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride answer market q1 'Yes, for the list page'
  midstride answer market a1 --holds
  midstride answer market q1 'Redis' --decision 'Cache in Redis because it is shared'")]
pub(crate) struct AnswerArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// `q1` for the first question, `a1` for the first assumption
    which: String,

    /// The answer to a question
    #[arg(value_parser = super::parse_sentence, allow_hyphen_values = true)]
    text: Option<String>,

    /// The assumption holds
    #[arg(long, conflicts_with_all = ["fails", "text"])]
    holds: bool,

    /// The assumption is disproved
    #[arg(long, conflicts_with = "text")]
    fails: bool,

    /// Author of the answer
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    entries: EntryArgs,
}

impl AnswerArgs {
    /// The arguments for answering a question, for other commands.
    pub(super) fn for_question(
        handoff: String,
        which: String,
        text: Option<String>,
        by: Option<String>,
        json: bool,
    ) -> Self {
        let entries = EntryArgs::default();
        Self { handoff, which, text, holds: false, fails: false, by, json, entries }
    }
}

pub(crate) fn answer(
    ui: &mut Ui,
    store: &Store,
    args: &AnswerArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let holds = (args.holds || args.fails).then_some(args.holds);
    let request = AnswerRequest::parse(&args.which, args.text.as_deref(), holds, args.by.clone())
        .map_err(|error| explain_input(args, &error))?
        .with_entries(args.entries.author_notes());
    let is_for_user = verbs::is_for_user(workspace, &stored, &request);
    let consent = is_for_user.then(|| Ui::consent_by_presence(workspace.environment()));
    let AnswerOutcome { recorded, reason, previous, closed } =
        verbs::answer(store, &stored, &request, consent.transpose()?.as_ref())?;
    let outcome = super::report_recorded(ui, workspace, &stored, &recorded, &reason, args.json)?;
    let before = previous.as_ref().map(view::recorded_change::previous_answer);
    let closed = closed.map(|status| {
        view::recorded_change::closed_notice(&stored.handoff(workspace).key(), status)
    });
    for line in before.into_iter().chain(closed).filter(|_| !args.json) {
        ui.say(&line)?;
    }
    Ok(outcome)
}

/// Explains what is missing, with the command to type.
fn explain_input(args: &AnswerArgs, error: &AnswerInputError) -> Diagnostic {
    let typed = || format!("midstride answer {} {}", view::shell_word(&args.handoff), args.which);
    Diagnostic::from_error(error).hint(match error {
        AnswerInputError::NoText(_) => format!("{} \"the answer\"", typed()),
        AnswerInputError::NoVerdict(_) => format!("{} --holds (or --fails)", typed()),
        AnswerInputError::UnknownName(_) | _ => view::recorded_change::ANSWER_NAMES_HINT.to_owned(),
    })
}

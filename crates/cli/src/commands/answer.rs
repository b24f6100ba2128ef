use super::CliOutcome;
use crate::ui::Ui;
use midstride::journal::RevisionInfo;
use midstride::store::Store;
use midstride_core::format::header::{RevisionVerb, Validation};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, LifecycleRefusal};
use midstride_core::text::edit::Edit;
use midstride_core::text::yaml::YamlNode;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::cell::RefCell;

/// Answer a question, or say whether an assumption holds
///
/// Questions are q1, q2 …, assumptions a1, a2 …, in the order of the document.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
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

    /// Who answers
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
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
        Self { handoff, which, text, holds: false, fails: false, by, json }
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
    let (input, reason) = AnswerInput::parse(&args.which, args.text.as_deref(), holds, || {
        let typed = format!("midstride answer {} {}", view::shell_word(&args.handoff), args.which);
        (format!("{typed} \"the answer\""), format!("{typed} --holds, or --fails"))
    })?;
    let change = RevisionInfo::by_verb(RevisionVerb::Answer, reason, args.by.clone());
    let before = RefCell::new(None);
    let decide = |handoff: &Handoff<'_>| {
        before.replace(input.describe_previous(handoff));
        input.decide(handoff)
    };
    let outcome = super::apply_and_report(ui, store, &stored, &decide, &change, args.json)?;
    let ended = view::recorded_change::closed_notice(&stored.handoff(workspace));
    for line in before.take().into_iter().chain(ended).filter(|_| !args.json) {
        ui.say(&line)?;
    }
    Ok(outcome)
}

/// The answer to a question, or the validation of an assumption.
pub(crate) enum AnswerInput<'a> {
    Answer(usize, &'a str),
    Validation(usize, bool),
}

impl<'a> AnswerInput<'a> {
    /// Parses the input. Also returns the reason for the history. `ways` returns the hints for
    /// answering a question and for validating an assumption.
    pub(crate) fn parse(
        which: &str,
        text: Option<&'a str>,
        holds: Option<bool>,
        ways: impl Fn() -> (String, String),
    ) -> Result<(Self, String), Diagnostic> {
        let number = |prefix: char| which.strip_prefix(prefix).and_then(|n| n.parse().ok());
        match (number('q'), number('a'), text, holds) {
            (Some(question), _, Some(text), None) => {
                Ok((Self::Answer(question, text), format!("answered {which}")))
            }
            (_, Some(assumption), None, Some(holds)) => {
                let verdict = if holds { "holds" } else { "is disproved" };
                Ok((Self::Validation(assumption, holds), format!("{which} {verdict}")))
            }
            (Some(_), ..) => {
                let diagnostic = Diagnostic::new(format!("what is the answer to {which}?"));
                Err(diagnostic.hint(ways().0))
            }
            (_, Some(_), ..) => Err(Diagnostic::new(format!("does {which} hold?")).hint(ways().1)),
            (None, None, ..) => {
                let wrong = format!("`{which}` is neither a question nor an assumption");
                Err(Diagnostic::new(wrong)
                    .hint("q1 is the first question, a1 the first assumption"))
            }
        }
    }

    /// Describes the previous answer if it differs. It stays in the history.
    pub(crate) fn describe_previous(&self, handoff: &Handoff<'_>) -> Option<String> {
        let (list, number, field) = match self {
            Self::Answer(number, _) => ("open_questions", *number, "answer"),
            Self::Validation(number, _) => ("assumptions", *number, "validated"),
        };
        let items = handoff.node(list)?.items();
        let item = items.get(number.checked_sub(1)?)?;
        let before = item.get(field).and_then(YamlNode::text)?.value.trim();
        let previous = match self {
            Self::Answer(_, text) => (before != *text && !before.is_empty())
                .then(|| format!("the answer was “{}”", view::one_line(before, 200))),
            Self::Validation(_, true) => {
                (before == Validation::Disproved.word()).then(|| "it was disproved".to_owned())
            }
            Self::Validation(_, false) => {
                (before == Validation::Holds.word()).then(|| "it did hold".to_owned())
            }
        };
        let (key, text) = (handoff.key(), handoff.replaced_texts().len() + 1);
        previous.map(|previous| format!("Before, {previous}: `{key}@{text}` has that"))
    }

    /// The edits it makes.
    pub(crate) fn decide(&self, handoff: &Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal> {
        match self {
            Self::Answer(question, text) => lifecycle::answer(handoff, *question, text),
            Self::Validation(assumption, holds) => {
                lifecycle::validate(handoff, *assumption, *holds)
            }
        }
    }
}

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::journal::Change;
use midstride::project::Project;
use midstride_core::handoff::Handoff;
use midstride_core::header::Verb;
use midstride_core::life;

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
    #[arg(value_parser = super::sentence, allow_hyphen_values = true)]
    text: Option<String>,

    /// The assumption holds
    #[arg(long, conflicts_with_all = ["fails", "text"])]
    holds: bool,

    /// The assumption does not hold
    #[arg(long, conflicts_with = "text")]
    fails: bool,

    /// Who answers
    #[arg(long, value_name = "WHO", value_parser = super::said)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

impl AnswerArgs {
    /// The answer to a question, from wherever it is given.
    pub(super) fn to_question(
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
    project: &Project,
    args: &AnswerArgs,
) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    let number = |prefix: char| args.which.strip_prefix(prefix).and_then(|n| n.parse().ok());
    let which = &args.which;
    let typed = || view::shell_word(&args.handoff);
    let (said, reason) = match (number('q'), number('a'), args.text.as_deref()) {
        (Some(question), _, Some(text)) => {
            (Said::Answer(question, text), format!("answered {which}"))
        }
        (_, Some(assumption), None) if args.holds || args.fails => {
            let verdict = if args.holds { "holds" } else { "does not hold" };
            (Said::Validation(assumption, args.holds), format!("{which} {verdict}"))
        }
        (Some(_), _, None) => {
            return Err(Diagnostic::new(format!("what is the answer to {which}?"))
                .hint(format!("midstride answer {} {which} \"the answer\"", typed())));
        }
        (_, Some(_), _) => {
            return Err(Diagnostic::new(format!("does {which} hold?"))
                .hint(format!("midstride answer {} {which} --holds, or --fails", typed())));
        }
        (None, None, _) => {
            return Err(Diagnostic::new(format!(
                "`{which}` is neither a question nor an assumption"
            ))
            .hint("q1 is the first question, a1 the first assumption"));
        }
    };
    let change = Change::by_verb(Verb::Answer, reason, args.by.clone());
    let decide = |handoff: &Handoff<'_>| match said {
        Said::Answer(question, text) => life::answer(handoff, question, text),
        Said::Validation(assumption, holds) => life::validate(handoff, assumption, holds),
    };
    super::live(ui, project, &shelved, &decide, &change, args.json)
}

/// What was said about a question or an assumption.
enum Said<'a> {
    Answer(usize, &'a str),
    Validation(usize, bool),
}

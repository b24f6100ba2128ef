//! The flags that add entries to the header of a handoff, for every command that has them.

use midstride_core::session::author_notes::AuthorNotes;

/// Entries to add to the header.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Your notes")]
pub(crate) struct EntryArgs {
    /// A decision, as `X because Y`; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    decision: Vec<String>,

    /// A wrong turn, as `X because Y; instead Z`; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    wrong_turn: Vec<String>,

    /// A trap for the next session; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    landmine: Vec<String>,

    /// An open question; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    question: Vec<String>,

    /// A question that blocks the work; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    blocking_question: Vec<String>,

    /// An assumption; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    assumption: Vec<String>,

    /// A claim and the command that proves it, as two arguments; may be repeated
    // Both may have colons and any other separator, so the shell separates them.
    #[arg(long, num_args = 2, value_names = ["CLAIM", "COMMAND"], value_parser = super::parse_text)]
    proof: Vec<String>,
}

impl EntryArgs {
    /// Adds the entries to the notes.
    pub(super) fn add_to(&self, notes: AuthorNotes) -> AuthorNotes {
        let fold = |notes, texts: &[String], add: fn(AuthorNotes, &str) -> AuthorNotes| {
            texts.iter().fold(notes, |notes, text| add(notes, text))
        };
        let notes = fold(notes, &self.decision, AuthorNotes::with_decision);
        let notes = fold(notes, &self.wrong_turn, AuthorNotes::with_wrong_turn);
        let notes = fold(notes, &self.landmine, AuthorNotes::with_landmine);
        let notes = fold(notes, &self.question, |notes, text| notes.with_question(text, false));
        let notes =
            fold(notes, &self.blocking_question, |notes, text| notes.with_question(text, true));
        let notes = fold(notes, &self.assumption, AuthorNotes::with_assumption);
        let proofs = self.proof.chunks_exact(2);
        proofs.fold(notes, |notes, proof| notes.with_proof(&proof[0], &proof[1]))
    }

    /// Notes with only these entries.
    pub(super) fn author_notes(&self) -> AuthorNotes {
        self.add_to(AuthorNotes::default())
    }
}

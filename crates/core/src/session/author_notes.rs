//! Notes that an author writes about a session, and how they merge with the recorded facts.
//!
//! Each save rewrites the facts and keeps the author's notes. Saving the same notes twice changes
//! nothing. Merging never removes notes; `edit` and `revise` do.

mod body;
mod json;
mod merge;
mod sentence;

pub use json::NotesJsonError;
pub use merge::SessionFacts;

use crate::format::document::Document;
use crate::format::header::{HANDOFF, StartupKind};
use crate::format::shape::FieldKind;
use crate::format::stage::Stages;
use crate::handoff::note;
use crate::handoff::{Handoff, Location};
use crate::text::yaml::{YamlData, YamlNode};

/// Header fields that midstride writes, not the author.
const OWN_FIELDS: [&str; 14] = [
    "format",
    "id",
    "uid",
    "kind",
    "stage",
    "status",
    "created",
    "updated",
    "at_commit",
    "reviews",
    "revisions",
    "superseded_by",
    "resolution",
    "boot",
];

/// The notes of an author about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorNotes {
    /// The handoff that the notes belong to.
    pub id: Option<String>,
    /// The title, in one line.
    pub title: Option<String>,
    /// The summary, in one to three sentences.
    pub summary: Option<String>,
    /// Entries of list fields in the header, each with the name of its field.
    pub entries: Vec<(String, YamlData)>,
    /// Other fields of the header.
    pub fields: Vec<(String, YamlData)>,
    /// Startup steps for the next session.
    pub boot: Vec<(StartupKind, String)>,
    /// Next steps, in order.
    pub next: Vec<String>,
    /// The role that the session works in.
    pub role: Option<String>,
    /// How the session works: alone, with agents, in a pipeline.
    pub pattern: Option<String>,
    /// What the session waits for.
    pub waiting_for: Option<String>,
    /// Other parts of the state.
    pub state: Option<YamlData>,
    /// The text, in Markdown.
    pub body: Option<String>,
    /// Answers to the reflection questions.
    pub reflection: Reflection,
}

/// The author's answers when asked to review the handoff as an outsider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reflection {
    /// Would I inherit this confidently with zero context?
    pub inherit: Option<ReflectionAnswer>,
    /// Would the resuming agent find and read the plan documents before working?
    pub finds_plans: Option<ReflectionAnswer>,
}

impl Reflection {
    /// These answers, with earlier ones where a question has no new answer.
    #[must_use]
    pub fn or_earlier(self, earlier: Self) -> Self {
        Self {
            inherit: self.inherit.or(earlier.inherit),
            finds_plans: self.finds_plans.or(earlier.finds_plans),
        }
    }
}

/// A yes or no, with a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflectionAnswer {
    /// Whether the answer is yes.
    pub yes: bool,
    /// The reason.
    pub why: Option<String>,
}

impl ReflectionAnswer {
    /// Parses `yes`, `no: the plan is elsewhere`, `yes, because …`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        let yes = match text[..end].to_lowercase().as_str() {
            "yes" | "y" | "true" => true,
            "no" | "n" | "false" => false,
            _ => return None,
        };
        let why = text[end..].trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`').trim();
        Some(Self { yes, why: (!why.is_empty()).then(|| why.to_owned()) })
    }
}

/// Why a text cannot be parsed as author notes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorNotesError {
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// It starts like JSON, but is not valid JSON.
    #[error("it starts like JSON but is not valid JSON: {0}")]
    Syntax(String),
    /// It has an unknown key or a value of the wrong kind.
    #[error(transparent)]
    Json(#[from] NotesJsonError),
    /// The header cannot be parsed.
    #[error("cannot parse the header: {0}")]
    Header(String),
}

impl AuthorNotes {
    /// Parses an author's notes: JSON if the text starts with a brace, otherwise Markdown with or
    /// without a header.
    pub fn parse(text: &str) -> Result<Self, AuthorNotesError> {
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        if trimmed.is_empty() {
            return Err(AuthorNotesError::Empty);
        }
        if trimmed.starts_with('{') { json::parse(trimmed) } else { parse_markdown(text) }
    }

    /// Whether there are no notes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a decision from a sentence: `X because Y`.
    #[must_use]
    pub fn with_decision(self, sentence: &str) -> Self {
        self.with_entry("decisions_made", sentence::parse_decision(sentence))
    }

    /// Adds a wrong turn from a sentence: `X because Y; instead Z`.
    #[must_use]
    pub fn with_wrong_turn(self, sentence: &str) -> Self {
        self.with_entry("wrong_turns", sentence::parse_wrong_turn(sentence))
    }

    /// Adds an open question, and whether it blocks the work.
    #[must_use]
    pub fn with_question(self, question: &str, blocking: bool) -> Self {
        let entry =
            [("question", YamlData::text(question)), ("blocking", YamlData::flag(blocking))];
        let entry = YamlData::map(entry);
        self.with_entry("open_questions", entry)
    }

    /// Adds a landmine.
    #[must_use]
    pub fn with_landmine(self, landmine: &str) -> Self {
        self.with_entry("landmines", YamlData::text(landmine))
    }

    /// Adds an assumption.
    #[must_use]
    pub fn with_assumption(self, assumption: &str) -> Self {
        self.with_entry("assumptions", sentence::assumption(assumption))
    }

    /// Adds a proof: a claim, and the command that verifies it.
    #[must_use]
    pub fn with_proof(self, claim: &str, command: &str) -> Self {
        let entry = [("claim", YamlData::text(claim)), ("run", YamlData::text(command))];
        self.with_entry("proofs", YamlData::map(entry))
    }

    /// The header fields that the entries belong to, each once, in the order of the header.
    pub fn entry_fields(&self) -> Vec<&'static str> {
        let has = |name: &&str| self.entries.iter().any(|(field, _)| field == name);
        HANDOFF.fields.iter().map(|field| field.name).filter(has).collect()
    }

    fn with_entry(mut self, field: &str, entry: YamlData) -> Self {
        self.entries.push((field.to_owned(), entry));
        self
    }

    /// Merges two sets of notes. Where both set a field, `other` wins.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self.fields.extend(other.fields);
        self.boot.extend(other.boot);
        Self {
            id: other.id.or(self.id),
            title: other.title.or(self.title),
            summary: other.summary.or(self.summary),
            entries: self.entries,
            fields: self.fields,
            boot: self.boot,
            next: if other.next.is_empty() { self.next } else { other.next },
            role: other.role.or(self.role),
            pattern: other.pattern.or(self.pattern),
            waiting_for: other.waiting_for.or(self.waiting_for),
            state: other.state.or(self.state),
            body: other.body.or(self.body),
            reflection: other.reflection.or_earlier(self.reflection),
        }
    }

    /// The first startup step that is not valid, with the reason.
    pub fn refused_startup_step(&self) -> Option<(StartupKind, &str, &'static str)> {
        self.boot
            .iter()
            .find_map(|(kind, text)| Some((*kind, text.as_str(), kind.rejection_reason(text)?)))
    }
}

/// Parses Markdown. A midstride header is split into fields; the text below it stays text.
fn parse_markdown(text: &str) -> Result<AuthorNotes, AuthorNotesError> {
    let document = Document::parse(text.as_bytes());
    let mut notes = AuthorNotes::default();
    let body = document.body().slice(document.text()).trim();
    notes.body = (!body.is_empty()).then(|| body.to_owned());
    let (location, stages) = (Location::default(), Stages::shipped());
    let handoff = Handoff::new(&document, &location, &stages);
    let Some(header) = document.handoff_header() else {
        let fields = note::extract_fields(&handoff);
        notes.title = fields.text("title").map(str::to_owned);
        notes.summary = fields.text("context_summary").map(str::to_owned);
        // Another tool's header is not part of the text, and its title and summary are kept.
        let whole = document.text().trim_start_matches('\u{feff}').trim();
        notes.body = Some(if document.header().is_some() { body } else { whole }.to_owned());
        return Ok(notes);
    };
    if let Some(problem) =
        document.findings().iter().find(|finding| finding.code.rule().code == "H004")
    {
        return Err(AuthorNotesError::Header(problem.message.clone()));
    }
    notes.id = header.text("id").map(|id| id.value.trim().to_owned());
    for entry in header.fields().entries().iter().filter(|entry| !entry.node.is_blank()) {
        notes.take_field(entry.key.value.as_str(), &entry.node);
    }
    Ok(notes)
}

impl AuthorNotes {
    /// Adds a header field to the notes.
    fn take_field(&mut self, name: &str, node: &YamlNode) {
        let text = || node.text().map(|text| text.value.trim().to_owned());
        match (name, HANDOFF.field(name).map(|field| &field.kind)) {
            ("title", _) => self.title = text(),
            ("context_summary", _) => self.summary = text(),
            ("state", _) => self.state = Some(node.data()),
            ("boot", _) => {
                for kind in StartupKind::ALL {
                    let items = node.get(kind.key()).map(YamlNode::items).unwrap_or_default();
                    let texts = items.into_iter().filter_map(YamlNode::text);
                    self.boot.extend(texts.map(|text| (kind, text.value.trim().to_owned())));
                }
            }
            (own, _) if OWN_FIELDS.contains(&own) => {}
            (_, Some(FieldKind::List(_))) => {
                let items = node.items().into_iter().filter(|item| !item.is_blank());
                self.entries.extend(items.map(|item| (name.to_owned(), item.data())));
            }
            _ => self.fields.push((name.to_owned(), node.data())),
        }
    }
}

#[cfg(test)]
mod tests;

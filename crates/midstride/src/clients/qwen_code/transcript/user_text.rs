//! Classifies the text of a user record, because the client writes some texts in the user's name.

use super::QwenRecord;
use midstride_core::session::ToolOutcome;
use std::borrow::Cow;

/// The kind of a text in the user's name.
pub(super) enum QwenText<'a> {
    /// A prompt that the user wrote.
    Asked(Cow<'a, str>),
    /// A skill that the user started by its name.
    Skill { name: Cow<'a, str>, arguments: Cow<'a, str> },
    /// A notice that a background task ended.
    Notice { id: Cow<'a, str>, outcome: ToolOutcome<'a>, report: Option<Cow<'a, str>> },
    /// Text from the client to the agent.
    Meta,
}

impl QwenText<'_> {
    pub(super) fn is_prompt(&self) -> bool {
        matches!(self, Self::Asked(_) | Self::Skill { .. })
    }

    /// The kind of its record.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Asked(_) | Self::Skill { .. } => "user",
            Self::Notice { .. } => "notification",
            Self::Meta => "meta",
        }
    }
}

/// What the client adds to a prompt, as separate parts.
const ADDED: [&str; 2] = ["<qwen:user-prompt-submit-context>", "<system-reminder>"];

/// Classifies the text of a record.
pub(super) fn classify<'r>(line: &'r QwenRecord<'_>) -> QwenText<'r> {
    let message = line.message.all().first();
    let parts = message.map(|message| message.parts.all()).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part.text.text());
    let own = |text: &&str| !ADDED.iter().any(|added| text.trim_start().starts_with(added));
    let texts: Vec<&str> = texts.filter(own).filter(|text| !text.trim().is_empty()).collect();
    let Some(first) = texts.first() else { return QwenText::Meta };
    // The prompt of an agent has no provenance; the agent is read elsewhere.
    if line.provenance.text().is_some_and(|from| from != "real_user") {
        return parse_notice(first).unwrap_or(QwenText::Meta);
    }
    if line.is_sidechain.is_true() {
        return QwenText::Meta;
    }
    if let Some(skill) = parse_skill(first) {
        return skill;
    }
    // A prompt may name files, whose content the client adds.
    let typed = line.system_payload.all().first().and_then(|payload| payload.display_text.text());
    QwenText::Asked(typed.map_or_else(|| texts.join("\n\n").into(), Cow::from))
}

/// Parses the text of a skill that the user started; the client adds the arguments below it.
fn parse_skill(text: &str) -> Option<QwenText<'_>> {
    let folder = text.strip_prefix("Base directory for this skill: ")?.lines().next()?;
    let name = folder.trim_end().rsplit(['/', '\\']).next()?;
    let arguments = between(text, "<skill-args>", "</skill-args>").unwrap_or_default();
    Some(QwenText::Skill { name: name.into(), arguments: arguments.trim().into() })
}

/// Parses a notice that a background task ended.
fn parse_notice(text: &str) -> Option<QwenText<'_>> {
    let notice = text.trim_start().strip_prefix("<task-notification>")?;
    let id = between(notice, "<task-id>", "</task-id>")?.into();
    let report = notice.split_once("<result>").map(|(_, rest)| rest);
    let report = report.map(|rest| rest.rsplit_once("</result>").map_or(rest, |(text, _)| text));
    Some(QwenText::Notice { id, outcome: outcome(notice), report: report.map(Cow::from) })
}

fn outcome(notice: &str) -> ToolOutcome<'_> {
    match between(notice, "<status>", "</status>") {
        Some("completed") => ToolOutcome::Succeeded,
        Some("running") => ToolOutcome::Running,
        Some("cancelled") => ToolOutcome::Interrupted,
        Some(_) | None => {
            let text = between(notice, "<summary>", "</summary>").unwrap_or_default().into();
            ToolOutcome::Failed { code: None, text }
        }
    }
}

/// Returns the text between two markers.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside)
}

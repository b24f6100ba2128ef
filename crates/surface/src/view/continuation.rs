//! Renders the command that continues work in a client.

use super::shell_word;
use crate::json::JsonAnswer;
use midstride::clients::Client;
use midstride::verbs::BriefSubject;
use midstride_core::text::tokens;
use serde::Serialize;

/// The command as typed. The shell puts the briefing in, so that the command stays short.
pub fn command(client: &dyn Client, subject: &BriefSubject) -> String {
    const PROMPT: &str = "";
    let briefing = format!("midstride brief {} --as prompt", shell_word(&subject.name()));
    let quoted = |word: &String| match word.as_str() {
        PROMPT => format!("\"$({briefing})\""),
        word => shell_word(word),
    };
    let words = client.prompt_command(PROMPT);
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The result of `midstride continue --json`.
#[derive(Serialize)]
pub struct ContinuationJson<'p> {
    client: &'static str,
    session: Option<String>,
    handoff: Option<&'p str>,
    command: String,
    prompt: &'p str,
    tokens: u64,
}

impl JsonAnswer for ContinuationJson<'_> {
    const SCHEMA: &'static str = "continue/1";
}

/// The JSON for the command, with the prompt that it passes.
pub fn json<'p>(
    client: &dyn Client,
    subject: &'p BriefSubject,
    prompt: &'p str,
) -> ContinuationJson<'p> {
    let (session, handoff) = match subject {
        BriefSubject::Session { summary, .. } => (Some(summary.session.to_string()), None),
        BriefSubject::Handoff { key, .. } => (None, Some(key.as_str())),
    };
    ContinuationJson {
        client: client.name(),
        session,
        handoff,
        command: command(client, subject),
        prompt,
        tokens: tokens::estimate(prompt),
    }
}

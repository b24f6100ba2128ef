//! What Codex tells its hooks, and how it wants to be answered. It takes no words for its summary;
//! after a compaction a session starts once more, and is told everything then.

use super::fields::Fields;
use super::form::{call, object, prompt, source};
use midstride_core::brief::hook::{Answer, Call, Moment};
use midstride_core::session::Client;

/// What a call tells.
pub(super) fn read(fields: &Fields) -> Call {
    let event = fields.text("hook_event_name").unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start(source(fields)),
        "UserPromptSubmit" => prompt(fields),
        "PreCompact" => Moment::BeforeCompaction,
        "PostCompact" => Moment::AfterCompaction(None),
        "Stop" => Moment::Stop { again: fields.flag("stop_hook_active") },
        "Interrupt" => Moment::Interrupt,
        "SessionEnd" => Moment::End { is_clear: false },
        _ => Moment::Other,
    };
    call(Client::Codex, event, moment, fields)
}

/// An answer in the form of the client; nothing where there is nothing to say.
pub(super) fn written(call: &Call, answer: &Answer) -> String {
    object(call, answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use midstride_core::brief::Occasion;

    const BASE: &str = r#""session_id": "01a1e0a5-ab9c-7e20-b92b-930a003d5e08", "turn_id": "01a1e0a5-abf1-7181-927b-db766516b7c9", "transcript_path": "/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T19-18-36-01a1e0a5-ab9c-7e20-b92b-930a003d5e08.jsonl", "cwd": "/home/dev/shop", "model": "fake-model""#;

    fn moment(rest: &str) -> Moment {
        let text = format!("{{{BASE}, {rest}}}");
        let call = read(&Fields::read(text.as_bytes()).unwrap());
        assert_eq!(call.session.as_deref(), Some("01a1e0a5-ab9c-7e20-b92b-930a003d5e08"));
        call.moment
    }

    #[test]
    fn calls_are_read_as_the_client_writes_them() {
        let start = |source: &str| {
            moment(&format!(
                r#""hook_event_name": "SessionStart", "permission_mode": "bypassPermissions", "source": "{source}""#
            ))
        };
        assert_eq!(start("startup"), Moment::Start(Occasion::Startup));
        assert_eq!(start("compact"), Moment::Start(Occasion::Compact));
        assert_eq!(start("fork"), Moment::Start(Occasion::Resume));
        let prompt = r#""hook_event_name": "UserPromptSubmit", "prompt": "go on""#;
        assert_eq!(moment(prompt), Moment::Prompt("go on".to_owned()));
        let before = r#""hook_event_name": "PreCompact", "trigger": "auto""#;
        assert_eq!(moment(before), Moment::BeforeCompaction);
        let after = r#""hook_event_name": "PostCompact", "trigger": "auto""#;
        assert_eq!(moment(after), Moment::AfterCompaction(None));
        let stop = r#""hook_event_name": "Stop", "stop_hook_active": true, "last_assistant_message": "final""#;
        assert_eq!(moment(stop), Moment::Stop { again: true });
        assert_eq!(moment(r#""hook_event_name": "Interrupt""#), Moment::Interrupt);
        assert_eq!(
            moment(r#""hook_event_name": "SessionEnd", "reason": "other""#),
            Moment::End { is_clear: false }
        );
        assert_eq!(moment(r#""hook_event_name": "PreModelRequest""#), Moment::Other);
    }

    #[test]
    fn nobody_reads_words_for_the_summary() {
        let text = format!("{{{BASE}, \"hook_event_name\": \"PreCompact\"}}");
        let call = read(&Fields::read(text.as_bytes()).unwrap());
        let answer = Answer { instructions: Some("keep it".to_owned()), ..Answer::default() };
        assert_eq!(written(&call, &answer), "");
    }
}

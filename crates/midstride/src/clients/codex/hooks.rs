//! Parses the hook calls of Codex. Its answers need nothing special. Codex takes no instructions for
//! its summary. After a compaction it reports a session start, and gets the full briefing then.

use crate::clients::hook_call::{HookFields, build_call, parse_prompt, parse_source};
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::text::id::ClientName;

/// Parses a call.
pub(super) fn parse_call(fields: &HookFields) -> HookInput {
    let event = fields.text("hook_event_name").unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => HookEvent::Start(parse_source(fields)),
        "UserPromptSubmit" => parse_prompt(fields),
        "PreCompact" => HookEvent::BeforeCompaction,
        "PostCompact" => HookEvent::AfterCompaction(None),
        "Stop" => HookEvent::Stop { again: fields.flag("stop_hook_active") },
        "Interrupt" => HookEvent::Interrupt,
        "SessionEnd" => HookEvent::End { is_clear: false },
        _ => HookEvent::Other,
    };
    // `codex exec` reports that it asks for no permission, but still refuses tools that write, so a
    // call is never unrestricted.
    build_call(ClientName::new(super::NAME), event, moment, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::client::Client as _;
    use crate::clients::codex::Codex;
    use midstride_core::brief::BriefOccasion;
    use midstride_core::brief::hook::HookOutput;
    use midstride_core::text::id::SessionId;

    const BASE: &str = r#""session_id": "01a1e0a5-ab9c-7e20-b92b-930a003d5e08", "turn_id": "01a1e0a5-abf1-7181-927b-db766516b7c9", "transcript_path": "/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T19-18-36-01a1e0a5-ab9c-7e20-b92b-930a003d5e08.jsonl", "cwd": "/home/dev/shop", "model": "fake-model""#;

    fn moment(rest: &str) -> HookEvent {
        let text = format!("{{{BASE}, {rest}}}");
        let call = parse_call(&HookFields::parse(text.as_bytes()).unwrap());
        assert_eq!(
            call.session.as_ref().map(SessionId::as_str),
            Some("01a1e0a5-ab9c-7e20-b92b-930a003d5e08")
        );
        call.kind
    }

    #[test]
    fn calls_are_parsed() {
        let start = |source: &str| {
            moment(&format!(
                r#""hook_event_name": "SessionStart", "permission_mode": "bypassPermissions", "source": "{source}""#
            ))
        };
        assert_eq!(start("startup"), HookEvent::Start(BriefOccasion::Startup));
        assert_eq!(start("compact"), HookEvent::Start(BriefOccasion::Compact));
        assert_eq!(start("fork"), HookEvent::Start(BriefOccasion::Resume));
        let prompt = r#""hook_event_name": "UserPromptSubmit", "prompt": "go on""#;
        assert_eq!(moment(prompt), HookEvent::Prompt("go on".to_owned()));
        let before = r#""hook_event_name": "PreCompact", "trigger": "auto""#;
        assert_eq!(moment(before), HookEvent::BeforeCompaction);
        let after = r#""hook_event_name": "PostCompact", "trigger": "auto""#;
        assert_eq!(moment(after), HookEvent::AfterCompaction(None));
        let stop = r#""hook_event_name": "Stop", "stop_hook_active": true, "last_assistant_message": "final""#;
        assert_eq!(moment(stop), HookEvent::Stop { again: true });
        assert_eq!(moment(r#""hook_event_name": "Interrupt""#), HookEvent::Interrupt);
        assert_eq!(
            moment(r#""hook_event_name": "SessionEnd", "reason": "other""#),
            HookEvent::End { is_clear: false }
        );
        assert_eq!(moment(r#""hook_event_name": "PreModelRequest""#), HookEvent::Other);
    }

    #[test]
    fn there_are_no_compaction_instructions() {
        let text = format!("{{{BASE}, \"hook_event_name\": \"PreCompact\"}}");
        let call = parse_call(&HookFields::parse(text.as_bytes()).unwrap());
        let answer =
            HookOutput { instructions: Some("keep it".to_owned()), ..HookOutput::default() };
        assert_eq!(Codex.format_hook_answer(&call, &answer), "");
    }
}

//! Parses the hook calls of Qwen Code. Its answers need nothing special. After a compaction it reports a
//! session start, and gets the full briefing then.

use crate::clients::hook_call::{HookFields, build_call, parse_prompt, parse_source};
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::text::id::ClientName;

/// Parses a call.
pub(super) fn parse_call(fields: &HookFields) -> HookInput {
    let event = fields.text("hook_event_name").unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => HookEvent::Start(parse_source(fields)),
        // The client calls the hook again after each tool result, with an empty prompt. Such a call
        // is no prompt, so it gets no answer.
        "UserPromptSubmit" => parse_prompt(fields),
        "PreCompact" => HookEvent::BeforeCompaction,
        "PostCompact" => HookEvent::AfterCompaction(None),
        "SubagentStart" => HookEvent::AgentStart,
        "SubagentStop" => HookEvent::AgentStop,
        "Stop" => HookEvent::Stop { again: fields.flag("stop_hook_active") },
        "SessionEnd" => {
            HookEvent::End { is_clear: fields.text("reason").as_deref() == Some("clear") }
        }
        _ => HookEvent::Other,
    };
    let is_unrestricted = fields.text("permission_mode").as_deref() == Some("yolo");
    let call = build_call(ClientName::new(super::NAME), event, moment, fields);
    HookInput { is_unrestricted, ..call }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::client::Client as _;
    use crate::clients::qwen_code::QwenCode;
    use midstride_core::brief::BriefOccasion;
    use midstride_core::brief::hook::HookOutput;
    use midstride_core::text::id::SessionId;

    const BASE: &str = r#""session_id": "192786fc-68f7-4b7c-9a0e-1d2b6c3f4a5e", "transcript_path": "/home/dev/.qwen/projects/-home-dev-shop/chats/192786fc-68f7-4b7c-9a0e-1d2b6c3f4a5e.jsonl", "cwd": "/home/dev/shop", "timestamp": "2026-11-16T15:14:39.980Z""#;

    fn call(rest: &str) -> HookInput {
        let text = format!("{{{BASE}, {rest}}}");
        parse_call(&HookFields::parse(text.as_bytes()).unwrap())
    }

    fn moment(rest: &str) -> HookEvent {
        let call = call(rest);
        assert_eq!(
            call.session.as_ref().map(SessionId::as_str),
            Some("192786fc-68f7-4b7c-9a0e-1d2b6c3f4a5e")
        );
        assert_eq!(call.folder.as_deref(), Some("/home/dev/shop"));
        assert!(call.transcript.unwrap().ends_with("4a5e.jsonl"));
        call.kind
    }

    #[test]
    fn calls_are_parsed() {
        let start = |source: &str| {
            moment(&format!(
                r#""hook_event_name": "SessionStart", "permission_mode": "default", "source": "{source}", "model": "fake-model""#
            ))
        };
        assert_eq!(start("startup"), HookEvent::Start(BriefOccasion::Startup));
        assert_eq!(start("resume"), HookEvent::Start(BriefOccasion::Resume));
        assert_eq!(start("compact"), HookEvent::Start(BriefOccasion::Compact));
        let prompt = r#""hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt_id": "192786fc########0", "prompt": "go on", "submitted_prompt": "go on""#;
        assert_eq!(moment(prompt), HookEvent::Prompt("go on".to_owned()));
        let before = r#""hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "keep the parser""#;
        assert_eq!(moment(before), HookEvent::BeforeCompaction);
        let after = r#""hook_event_name": "PostCompact", "trigger": "manual", "compact_summary": "<state_snapshot>S</state_snapshot>""#;
        assert_eq!(moment(after), HookEvent::AfterCompaction(None));
        let agent = r#""agent_id": "general-purpose-call_1_0", "agent_type": "general-purpose""#;
        let agent = |event: &str| moment(&format!(r#""hook_event_name": "{event}", {agent}"#));
        assert_eq!(agent("SubagentStart"), HookEvent::AgentStart);
        assert_eq!(agent("SubagentStop"), HookEvent::AgentStop);
        let stop = r#""hook_event_name": "Stop", "stop_hook_active": true, "last_assistant_message": "final", "background_tasks": [], "crons": [], "context_usage": 0.005, "context_limit": 200000, "input_tokens": 1000"#;
        assert_eq!(moment(stop), HookEvent::Stop { again: true });
        let end = |reason: &str| {
            moment(&format!(r#""hook_event_name": "SessionEnd", "reason": "{reason}""#))
        };
        assert_eq!(end("prompt_input_exit"), HookEvent::End { is_clear: false });
        assert_eq!(end("clear"), HookEvent::End { is_clear: true });
        let other = r#""hook_event_name": "Notification", "notification_type": "auth_success""#;
        assert_eq!(moment(other), HookEvent::Other);
    }

    #[test]
    fn a_prompt_hook_after_a_tool_result_is_not_a_prompt() {
        let again = r#""hook_event_name": "UserPromptSubmit", "permission_mode": "yolo", "prompt_id": "192786fc########0", "prompt": """#;
        assert_eq!(moment(again), HookEvent::Other);
    }

    #[test]
    fn only_the_yolo_mode_is_unrestricted() {
        let is_unrestricted = |mode: &str| {
            call(&format!(r#""hook_event_name": "Stop", "permission_mode": "{mode}""#))
                .is_unrestricted
        };
        assert!(is_unrestricted("yolo"));
        assert!(!is_unrestricted("auto-edit") && !is_unrestricted("default"));
    }

    #[test]
    fn there_are_no_compaction_instructions() {
        let call = call(r#""hook_event_name": "PreCompact""#);
        let answer =
            HookOutput { instructions: Some("keep it".to_owned()), ..HookOutput::default() };
        assert_eq!(QwenCode.format_hook_answer(&call, &answer), "");
    }
}

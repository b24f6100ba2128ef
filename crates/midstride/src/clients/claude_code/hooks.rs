//! Parses the hook calls of Claude Code, and formats the answers for it.

use crate::clients::hook_call::{
    HookFields, build_call, format_object, parse_prompt, parse_source,
};
use midstride_core::brief::hook::{ClientTask, HookEvent, HookInput, HookOutput};
use midstride_core::text::id::ClientName;

/// Parses a call.
pub(super) fn parse_call(fields: &HookFields) -> HookInput {
    let event = fields.text("hook_event_name").unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => HookEvent::Start(parse_source(fields)),
        "UserPromptSubmit" => parse_prompt(fields),
        "PreCompact" => HookEvent::BeforeCompaction,
        "PostCompact" => HookEvent::AfterCompaction(fields.text("compact_summary")),
        "SubagentStart" => HookEvent::AgentStart,
        // A subagent without a type wrote the summary of a compaction, and has no transcript.
        "SubagentStop" if fields.text("agent_type").is_some() => HookEvent::AgentStop,
        "TaskCreated" => HookEvent::TaskCreated(parse_task(fields)),
        "TaskCompleted" => HookEvent::TaskCompleted(parse_task(fields)),
        "Stop" => HookEvent::Stop { again: fields.flag("stop_hook_active") },
        "SessionEnd" => {
            HookEvent::End { is_clear: fields.text("reason").as_deref() == Some("clear") }
        }
        _ => HookEvent::Other,
    };
    let is_unrestricted = fields.text("permission_mode").as_deref() == Some("bypassPermissions");
    let call = build_call(ClientName::new(super::NAME), event, moment, fields);
    HookInput { is_unrestricted, ..call }
}

fn parse_task(fields: &HookFields) -> ClientTask {
    ClientTask {
        id: fields.text("task_id").unwrap_or_default(),
        subject: fields.text("task_subject").unwrap_or_default(),
        description: fields.text("task_description"),
    }
}

/// Formats the answer. Empty if there is nothing to say.
pub(super) fn format_answer(call: &HookInput, answer: &HookOutput) -> String {
    match (&call.kind, &answer.instructions) {
        // For a compaction, the summarizer reads standard output as plain text.
        (HookEvent::BeforeCompaction, Some(instructions)) => format!("{instructions}\n"),
        _ => format_object(call, answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midstride_core::brief::BriefOccasion;
    use midstride_core::text::id::SessionId;

    const BASE: &str = r#""session_id": "11111111-1111-4111-8111-111111111111", "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/11111111-1111-4111-8111-111111111111.jsonl", "cwd": "/home/dev/shop""#;

    fn moment(rest: &str) -> HookEvent {
        let text = format!("{{{BASE}, {rest}}}");
        let call = parse_call(&HookFields::parse(text.as_bytes()).unwrap());
        assert_eq!(
            call.session.as_ref().map(SessionId::as_str),
            Some("11111111-1111-4111-8111-111111111111")
        );
        assert_eq!(call.folder.as_deref(), Some("/home/dev/shop"));
        assert!(call.transcript.unwrap().ends_with("-111111111111.jsonl"));
        call.kind
    }

    #[test]
    fn calls_are_parsed() {
        let start = r#""hook_event_name": "SessionStart", "source": "startup""#;
        assert_eq!(moment(start), HookEvent::Start(BriefOccasion::Startup));
        let prompt = r#""prompt_id": "69cccc1b-8f5d-41fa-873e-a1e882d05403", "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "RUN-TOOLS please""#;
        assert_eq!(moment(prompt), HookEvent::Prompt("RUN-TOOLS please".to_owned()));
        let before = r#""hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "focus on the parser""#;
        assert_eq!(moment(before), HookEvent::BeforeCompaction);
        let after = r#""hook_event_name": "PostCompact", "trigger": "manual", "compact_summary": "<analysis>a</analysis>\n<summary>S</summary>""#;
        let summary = "<analysis>a</analysis>\n<summary>S</summary>".to_owned();
        assert_eq!(moment(after), HookEvent::AfterCompaction(Some(summary)));
        let task = |event: &str| {
            moment(&format!(
                r#""hook_event_name": "{event}", "task_id": "1", "task_subject": "Write parser", "task_description": "Write the transcript parser""#
            ))
        };
        let parser = ClientTask {
            id: "1".to_owned(),
            subject: "Write parser".to_owned(),
            description: Some("Write the transcript parser".to_owned()),
        };
        assert_eq!(task("TaskCreated"), HookEvent::TaskCreated(parser.clone()));
        assert_eq!(task("TaskCompleted"), HookEvent::TaskCompleted(parser));
        let stop = r#""effort": {"level": "high"}, "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "All done.", "background_tasks": [], "session_crons": []"#;
        assert_eq!(moment(stop), HookEvent::Stop { again: false });
        let end = r#""hook_event_name": "SessionEnd", "reason": "other""#;
        assert_eq!(moment(end), HookEvent::End { is_clear: false });
        let clear = r#""hook_event_name": "SessionEnd", "reason": "clear""#;
        assert_eq!(moment(clear), HookEvent::End { is_clear: true });
    }

    #[test]
    fn a_subagent_without_a_type_is_ignored() {
        let agent = |event: &str, of: &str| {
            moment(&format!(
                r#""agent_id": "a87dc945e57ad4b16", "agent_type": "{of}", "hook_event_name": "{event}""#
            ))
        };
        assert_eq!(agent("SubagentStart", "general-purpose"), HookEvent::AgentStart);
        assert_eq!(agent("SubagentStop", "general-purpose"), HookEvent::AgentStop);
        assert_eq!(agent("SubagentStop", ""), HookEvent::Other);
        assert_eq!(moment(r#""hook_event_name": "FileChanged""#), HookEvent::Other);
        assert_eq!(moment(r#""hook_event_name": 7"#), HookEvent::Other);
    }

    #[test]
    fn an_answer_has_only_the_fields_that_are_set() {
        let text = format!("{{{BASE}, \"hook_event_name\": \"SessionStart\"}}");
        let call = parse_call(&HookFields::parse(text.as_bytes()).unwrap());
        assert_eq!(format_answer(&call, &HookOutput::default()), "");
        let answer = HookOutput {
            context: Some("told".to_owned()),
            user_line: Some("one line".to_owned()),
            ..HookOutput::default()
        };
        assert_eq!(
            format_answer(&call, &answer).trim_end(),
            r#"{"systemMessage":"one line","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"told"}}"#
        );
        let answer = HookOutput { block: Some("why".to_owned()), ..HookOutput::default() };
        assert_eq!(
            format_answer(&call, &answer).trim_end(),
            r#"{"decision":"block","reason":"why"}"#
        );
    }

    #[test]
    fn compaction_instructions_are_plain_text() {
        let text = format!("{{{BASE}, \"hook_event_name\": \"PreCompact\"}}");
        let call = parse_call(&HookFields::parse(text.as_bytes()).unwrap());
        let answer =
            HookOutput { instructions: Some("keep it".to_owned()), ..HookOutput::default() };
        assert_eq!(format_answer(&call, &answer), "keep it\n");
    }
}

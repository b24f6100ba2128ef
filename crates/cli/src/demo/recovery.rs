//! Demo chapters: the session that does the work is killed. Its facts are recovered, explained, and
//! briefed to the next one.

use super::{Demo, find_client};
use crate::ui::Ui;
use jiff::Timestamp;
use midstride_core::text::id::SessionId;
use midstride_surface::diagnostic::Diagnostic;

/// The client whose transcript format the demo uses.
pub(super) const CLIENT: &str = "claude-code";
const CODE_FIXED: &str = include_str!("story/market-fixed.py");
/// A transcript as Claude Code writes it: one record per line, the last one truncated.
const TRANSCRIPT: &str = include_str!("story/session.jsonl");
const SESSION: &str = "6d61726b-6574-4000-8000-000000000001";
const NEXT_SESSION: &str = "6d61726b-6574-4000-8000-000000000002";

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.write("app/market.py", CODE_FIXED)?;
    write_transcript(demo, TRANSCRIPT, SESSION)?;
    demo.now = "2026-03-25T05:40:00Z";
    show_recovery(ui, demo)?;
    show_save(ui, demo)?;
    show_coverage(ui, demo)?;
    show_briefing(ui, demo)
}

/// Writes a transcript, with the demo's folder and a fake key.
pub(super) fn write_transcript(
    demo: &Demo,
    transcript: &str,
    session: &str,
) -> Result<(), Diagnostic> {
    let folder = demo.project();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let path = serde_json::Value::from(folder.to_string_lossy()).to_string();
    let text = transcript
        .replace("{folder}", &path[1..path.len() - 1])
        .replace("{session}", session)
        .replace("{key}", &key);
    let client = find_client(CLIENT)?;
    let home = demo.home().join(client.profile().home_folder);
    let session = SessionId::new(session);
    let place = client.transcript_path(&home, &folder, &session, Timestamp::UNIX_EPOCH);
    demo.scratch.write(place, text.as_bytes())?;
    Ok(())
}

fn show_recovery(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "An agent is killed while working",
        "An agent started to implement the plan and was killed before it saved anything. Its transcript\n\
         remains; the demo supplies one in Claude Code's format that ends in the middle of a record.\n\
         midstride reads everything before that, including the call that was running, and redacts the token\n\
         in one of the commands.",
    )?;
    demo.run(ui, &["session", "recover"], 0)?;
    demo.run(ui, &["session", "show", &SESSION[..4]], 0)
}

fn show_save(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "Facts are not enough",
        "The user turns the session into a handoff: midstride adds the facts, and the user adds the reasons.\n\
         This text is too short. It is saved anyway, but save exits with 1 and lists what is missing.",
    )?;
    let arguments = [
        "--title",
        "Working on market-page-perf",
        "--summary",
        "app/market.py now paginates in its query; nothing is measured or committed yet.",
        "--next",
        "Measure the six pages again.",
    ];
    demo.run(ui, &[&["save", "--id", "carry-out"], &arguments[..]].concat(), 1)?;
    demo.begin_chapter(
        ui,
        "Add what was missing",
        "The user adds the reasons. The earlier text is kept, and the next action is replaced.",
    )?;
    let arguments = [
        "--decision",
        "No page cache because the coin balance in its header belongs to one visitor, and a shared \
         copy leaks it to others.",
        "--wrong-turn",
        "PAGE_CACHE_SECONDS = 600 in app/settings.py because it looked like the quickest fix; \
         instead app/market.py paginates in its query",
        "--landmine",
        "python3 measure.py Austin failed because every run calls the real weather server, and \
         production shares its hourly quota.",
        "--next",
        "Measure the six pages again, because the new query has not been measured yet; then commit.",
        "--next",
        "Wait for agent a4c1, which is looking for callers of weather.current.",
        "--inherit",
        "yes",
        "--finds-plans",
        "yes: market-page-perf has the plan",
    ];
    demo.run(ui, &[&["save", "--id", "carry-out"], &arguments[..]].concat(), 0)
}

fn show_coverage(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "How much of the session does the handoff cover?",
        "check compares the handoff with the session. Facts that midstride added do not count. An item is\n\
         explained only if the author gave its cause or consequence. Here, every item is explained\n\
         except the agent, whose purpose is missing.",
    )?;
    demo.run(ui, &["check", "carry-out"], 0)
}

fn show_briefing(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.now = "2026-03-25T05:45:00Z";
    demo.begin_chapter(
        ui,
        "What the next session gets",
        "The next session does not get everything. Constraints, status and next actions come first, and\n\
         items that do not fit are counted. Text from others is quoted as information. A client requests\n\
         this briefing when a session starts, with a limit of 500 tokens.",
    )?;
    let to = ["--source", "startup", "--client", CLIENT, "--session", NEXT_SESSION];
    demo.run(ui, &[&["brief"], &to[..]].concat(), 0)
}

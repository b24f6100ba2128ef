//! Renders the status line of a client.

use super::count;
use crate::text::sanitize;
use midstride::verbs::{ClientStatusLine, LastCheck};

/// How much of a command is shown.
const COMMAND_LENGTH: usize = 40;

/// One short line; empty if there is nothing to show.
pub fn text(line: &ClientStatusLine) -> String {
    let ClientStatusLine { open_handoffs, last_check, briefing_tokens } = line;
    let handoffs = open_handoffs.filter(|open| *open > 0).map(|open| count(open, "open handoff"));
    let tokens = briefing_tokens.map(|tokens| format!("briefed with {tokens} tokens"));
    let parts = [handoffs, last_check.as_ref().map(check_text), tokens];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("midstride: {}", parts.join(" · ")) }
}

fn check_text(check: &LastCheck) -> String {
    let command = sanitize(check.command.lines().next().unwrap_or_default());
    let short = match command.char_indices().nth(COMMAND_LENGTH) {
        Some((end, _)) => format!("{}…", command[..end].trim_end()),
        None => command,
    };
    format!("{short} {}", if check.has_passed { "passed" } else { "failed" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_only_what_is_known() {
        assert_eq!(text(&ClientStatusLine::default()), "");
        let mut line = ClientStatusLine {
            open_handoffs: Some(1),
            last_check: Some(LastCheck { command: "cargo test\nls".to_owned(), has_passed: false }),
            briefing_tokens: Some(1_486),
        };
        let whole = "midstride: 1 open handoff · cargo test failed · briefed with 1486 tokens";
        assert_eq!(text(&line), whole);
        let command = "x".repeat(50);
        line = ClientStatusLine {
            open_handoffs: Some(0),
            last_check: Some(LastCheck { command, has_passed: true }),
            briefing_tokens: None,
        };
        assert_eq!(text(&line), format!("midstride: {}… passed", "x".repeat(40)));
    }
}

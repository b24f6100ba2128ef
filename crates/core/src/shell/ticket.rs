//! Issues that a command line looks up: what the work is about stands there.

use super::line::{Line, Simple};
use serde_json::Value;

/// The ids of the issues that a line shows: `gh issue view 12`, `bd show shop-7`.
pub fn tickets(line: &Line) -> Vec<String> {
    line.commands.iter().filter_map(ticket).map(str::to_owned).collect()
}

fn ticket(command: &Simple) -> Option<&str> {
    let words: Vec<&str> = command.operands().take(4).collect();
    let (("bd" | "br" | "tk", ["show", id, ..])
    | ("gh" | "glab" | "jira" | "linear", ["issue", "view" | "show", id, ..])
    | ("acli", ["jira", "workitem", "view", id])) = (command.program(), words.as_slice())
    else {
        return None;
    };
    // A number in an address is the issue.
    let id = id.rsplit('/').next().unwrap_or(id);
    (!id.is_empty() && !id.contains(['$', '`'])).then_some(id)
}

/// What an issue is about: its title and its text, without the fields that trackers print around them.
pub fn ticket_text(output: &str) -> Option<String> {
    if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(output.trim()) {
        let texts =
            ["title", "body", "description"].iter().filter_map(|name| fields.get(*name)?.as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        return Some(text).filter(|text| !text.trim().is_empty());
    }
    // `gh` and `glab` print a field per line, then `--`, then the text.
    let text = match output.split_once("\n--\n") {
        Some((fields, text)) if fields.starts_with("title:\t") => {
            let title = fields.lines().next().unwrap_or_default();
            format!("{}\n{text}", title.trim_start_matches("title:\t"))
        }
        _ => output.to_owned(),
    };
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_that_a_line_shows_are_known_by_their_ids() {
        for (line, expected) in [
            ("bd show shop-7", vec!["shop-7"]),
            ("bd show shop-7 2>/dev/null; echo ===; bd show shop-8", vec!["shop-7", "shop-8"]),
            ("gh issue view 12 --comments", vec!["12"]),
            ("gh issue view https://github.com/a/b/issues/12", vec!["12"]),
            ("jira issue view SHOP-7 | head -40", vec!["SHOP-7"]),
            ("gh pr view 12", vec![]),
            ("git show 1a2b3c4", vec![]),
            ("bd show $ID", vec![]),
            ("bd list", vec![]),
        ] {
            assert_eq!(tickets(&Line::read(line)), expected, "{line}");
        }
    }

    #[test]
    fn an_issue_is_its_title_and_its_text() {
        let check = |output: &str, expected: Option<&str>| {
            assert_eq!(ticket_text(output).as_deref(), expected, "{output}");
        };
        check(
            "title:\tDrain the queue\nstate:\tOPEN\nauthor:\ta\n--\nIt stalls.\n\nSometimes.\n",
            Some("Drain the queue\nIt stalls.\nSometimes."),
        );
        check(
            "○ shop-7 · Drain the queue\n\nDESCRIPTION\nIt stalls.",
            Some("○ shop-7 · Drain the queue\nDESCRIPTION\nIt stalls."),
        );
        check(
            r#"{"title": "Drain", "number": 7, "body": "It stalls."}"#,
            Some("Drain\nIt stalls."),
        );
        check(r#"{"number": 7}"#, None);
        check("\n", None);
    }
}

//! Boot actions as points, in the words of the client that is to do them.

use super::material::{Boot, BootAction, Point, Rank};
use super::visible::Visible;
use crate::session::Client;

/// What a boot action asks for, as points.
pub(super) fn points(boot: &Boot, client: Option<Client>) -> Vec<Point> {
    let point = |(rank, what, text, remark): (Rank, &'static str, &str, Option<&str>)| Point {
        rank,
        what,
        text: text.to_owned(),
        remark: remark.map(str::to_owned),
        source: boot.source.clone(),
        place: None,
        show: boot.show.clone(),
    };
    let asked = match &boot.action {
        BootAction::Skill(name) if is_skill(name) => {
            vec![(Rank::Read, skill_words(client), name.as_str(), None)]
        }
        BootAction::Read(path) if is_path(path) => {
            vec![(Rank::Read, read_words(client), path.as_str(), None)]
        }
        BootAction::Skill(text) => vec![refused("Not the name of a skill", text)],
        BootAction::Read(text) => vec![refused("Not a path in this project", text)],
        BootAction::Tasks(tasks) => {
            let words = task_words(client);
            tasks.iter().map(|task| (Rank::Task, words, task.as_str(), None)).collect()
        }
        BootAction::Constraint(text) => {
            vec![(Rank::Constraint, "Constraint", text.as_str(), None)]
        }
    };
    asked.into_iter().map(point).collect()
}

type Asked<'text> = (Rank, &'static str, &'text str, Option<&'static str>);

fn refused<'text>(what: &'static str, text: &'text str) -> Asked<'text> {
    (Rank::Rest, what, text, Some("so it is no boot action"))
}

fn skill_words(client: Option<Client>) -> &'static str {
    match client {
        Some(Client::ClaudeCode) => "Load first with the Skill tool",
        Some(Client::Codex) | None => "Load this skill first",
    }
}

fn read_words(client: Option<Client>) -> &'static str {
    match client {
        Some(Client::ClaudeCode) => "Read first with the Read tool",
        Some(Client::Codex) | None => "Read first",
    }
}

fn task_words(client: Option<Client>) -> &'static str {
    match client {
        Some(Client::ClaudeCode) => "Task to restore with the TaskCreate tool",
        Some(Client::Codex) => "Task to restore with the update_plan tool",
        None => "Task to restore",
    }
}

fn is_skill(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
    is_short(name) && name.chars().all(plain) && name.starts_with(|c: char| c.is_alphanumeric())
}

/// Whether a text is a path beneath the root and nothing else.
fn is_path(path: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._/@+=,-".contains(c);
    let inside = path.split('/').all(|part| !part.is_empty() && part != "..");
    let visible = Visible::line(path, usize::MAX).text == path;
    is_short(path) && inside && visible && path.chars().all(plain) && !path.starts_with('-')
}

fn is_short(text: &str) -> bool {
    const LENGTH_MAX: usize = 160;
    !text.is_empty() && text.len() <= LENGTH_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_plain_or_no_boot_action() {
        for name in ["tdd", "superpowers:test-driven-development", "midstride-continue"] {
            assert!(is_skill(name), "{name}");
        }
        for name in ["", "tdd; rm -rf /", "-x", "$(id)", "tdd now", "tdd\n", "../tdd", "tdd”"] {
            assert!(!is_skill(name), "{name}");
        }
        for path in ["docs/plan.md", "PLAN.md", "docs/décisions/1.md", "src/@a/b+c.ts"] {
            assert!(is_path(path), "{path}");
        }
        let paths = [
            "",
            "/etc/passwd",
            "~/.ssh/id",
            "a/../b",
            "a b",
            "--x",
            "a;b",
            "http://a",
            "a\u{202e}",
            "a\u{3164}b",
        ];
        for path in paths {
            assert!(!is_path(path), "{path}");
        }
        assert!(!is_path(&"a".repeat(1_000)));
    }
}

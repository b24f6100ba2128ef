//! The nouns used to count briefing items, by heading.

/// Headings whose items are counted under a different noun.
const NOUNS: &[(&str, &str)] = &[
    ("Last session", "session"),
    ("Last session on this branch", "session"),
    ("Last session in this folder", "session"),
    ("Last session in this working tree", "session"),
    ("Newest session", "newer session"),
    ("Status", "status line"),
    ("Goal", "goal"),
    ("Next", "next step"),
    ("The user's instruction", "instruction"),
    ("The user corrected", "correction"),
    ("Reports", "report"),
    ("The agent's findings", "finding"),
    ("Decisions", "decision"),
    ("Left open", "open item"),
    ("Tried and abandoned", "dead end"),
    ("Reverted change", "reverted file"),
    ("The user decided", "user answer"),
    ("Queued prompt, not processed", "queued prompt"),
    ("The user rewound past this", "withdrawn request"),
    ("Not listed here", "count of unlisted items"),
    ("Next mission step", "next mission step"),
    ("Assumption, disproved", "disproved assumption"),
    ("Assumption, not validated", "assumption"),
    ("State", "status line"),
    ("Open tasks", "open task"),
    ("Workflow states", "workflow state"),
    ("Agents in flight", "agent in flight"),
    ("Report", "report"),
    ("Report from an earlier session", "report from earlier sessions"),
    ("Report from a newer session", "report from newer sessions"),
    ("Done outside the repository by earlier sessions", "effect of earlier sessions"),
    ("Done outside the repository by newer sessions", "effect of newer sessions"),
    ("From the summary", "summary statement"),
    ("Subagent report", "subagent report"),
    ("The agent said", "remark"),
    ("The agent also said", "remark"),
    ("Plan document", "plan document"),
    ("Unchecked", "unchecked item"),
    ("MCP calls", "line of MCP calls"),
    ("Files", "file"),
    ("Changed files", "file"),
    ("Answered requests", "answered request"),
    ("Fixed along the way", "fixed failure"),
    ("Failing", "failure"),
    ("Read first", "document"),
    ("Read first with the Read tool", "document"),
    ("Load this skill first", "skill"),
    ("Load first with the Skill tool", "skill"),
    ("Task to restore", "task"),
    ("Task to restore with the TaskCreate tool", "task"),
    ("Task to restore with the update_plan tool", "task"),
    ("Not a skill name", "unusable startup step"),
    ("Not a path in this project", "unusable startup step"),
    ("Not a task", "unusable startup step"),
    ("Not a constraint", "unusable startup step"),
    ("Builds on", "document"),
    ("Also open, not included here", "open handoff"),
    ("Earlier sessions", "earlier session"),
    ("Newer sessions", "newer session"),
    ("Open from earlier sessions", "item from earlier sessions"),
    ("Open from newer sessions", "item from newer sessions"),
];

/// The noun that counts the items of a heading.
pub(super) fn for_heading(what: &'static str) -> &'static str {
    NOUNS.iter().find(|(heading, _)| *heading == what).map_or(what, |(_, noun)| noun)
}

/// A count with its noun: `1 file`, `3 files`.
pub(super) fn pluralize(noun: &str, count: usize) -> String {
    let mut letters = noun.chars();
    let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    let noun = format!("{first}{}", letters.as_str());
    // In `effect of earlier sessions` and `item from earlier sessions`, the first word gets the
    // plural.
    let at = [" of ", " from ", " in "].iter().filter_map(|word| noun.find(word)).min();
    let (one, rest) = noun.split_at(at.unwrap_or(noun.len()));
    match count {
        1 => format!("1 {noun}"),
        _ if one.ends_with('s') => format!("{count} {noun}"),
        count => format!("{count} {one}s{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_counted_by_their_noun() {
        assert_eq!(pluralize(for_heading("Files"), 3), "3 files");
        assert_eq!(pluralize(for_heading("Wrong turn"), 1), "1 wrong turn");
        assert_eq!(pluralize(for_heading("Open questions"), 2), "2 open questions");
    }
}

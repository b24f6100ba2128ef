//! Parses reflogs, the logs of what moved `HEAD` or a branch.

use crate::text::id::CommitId;
use jiff::Timestamp;
use std::collections::HashMap;

/// What moved `HEAD` or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflogAction {
    /// A new commit on top of the old one.
    Commit,
    /// A new commit that replaces the old one.
    Amend,
    /// A merge commit.
    Merge,
    /// A merge or pull that only fast-forwarded.
    FastForward,
    /// One step of a rebase.
    Rebase(RebaseStep),
    /// A reset to another commit.
    Reset,
    /// Another branch or commit was checked out.
    Checkout,
    /// A copy of another commit.
    CherryPick,
    /// A commit that undoes another one.
    Revert,
    /// A pull that made a merge commit.
    Pull,
    /// A branch was renamed.
    Rename,
    /// Anything else, such as a clone.
    Other,
}

/// A step of a rebase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebaseStep {
    /// It checks out the commit to rebase onto.
    Start,
    /// A copy of a commit, on top of the old one.
    Pick,
    /// A commit that replaces the old one: squash, fixup, reword.
    Rewrite,
    /// The user continued after a conflict or an edit: the commit is on top of the old one, or
    /// replaces it.
    Continue,
    /// A commit that needed no copy.
    FastForward,
    /// The branch now points to the copies.
    Finish,
    /// The branch is as it was before.
    Abort,
}

/// One line of a reflog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflogEntry {
    /// The commit before; all zeros if there was none.
    pub old: CommitId,
    /// The commit after.
    pub new: CommitId,
    /// When it happened.
    pub at: Timestamp,
    /// What moved it.
    pub action: ReflogAction,
    /// The text after the action: the subject of a commit, or git's own text.
    pub subject: String,
    /// The ref that a merge names.
    pub merged: Option<String>,
    /// The branch that was checked out, if known.
    pub branch: Option<String>,
}

impl ReflogEntry {
    /// Parses a line; `None` if git did not write it.
    pub fn parse(line: &str) -> Option<Self> {
        let (head, message) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = head.splitn(3, ' ');
        let (old, new, who) = (words.next()?, words.next()?, words.next()?);
        if !is_commit_id(old) || !is_commit_id(new) {
            return None;
        }
        // `Name <mail> seconds zone`; a name can contain anything but a newline.
        let mut words = who.trim_end().rsplitn(3, ' ');
        let (_zone, seconds) = (words.next()?, words.next()?);
        let at = Timestamp::from_second(seconds.parse().ok()?).ok()?;
        let (action, subject) = read_message(message.trim_end());
        let names_branch = matches!(
            action,
            ReflogAction::Merge | ReflogAction::FastForward | ReflogAction::Commit
        );
        let merged = names_branch.then(|| merged_ref(message)).flatten();
        let (old, new) = (CommitId::new(old), CommitId::new(new));
        let subject = subject.to_owned();
        Some(Self { old, new, at, action, subject, merged, branch: None })
    }
}

/// Whether a text is a full commit id.
pub fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the action and the rest of a message. Git writes `action: rest`; in the action, words
/// after the first are arguments, except a step in parentheses at the end.
fn read_message(message: &str) -> (ReflogAction, &str) {
    let (head, rest) = message.split_once(':').unwrap_or((message, ""));
    let rest = rest.trim_start();
    let step = head.strip_suffix(')').and_then(|head| head.rsplit_once('('));
    let step = step.map_or("", |(_, step)| step);
    let verb = head.split(' ').next().unwrap_or_default();
    let is_forward = rest.eq_ignore_ascii_case("fast-forward");
    let action = match verb {
        "commit" if step == "amend" => ReflogAction::Amend,
        "commit" | "am" => ReflogAction::Commit,
        "merge" | "pull" if is_forward => ReflogAction::FastForward,
        "rebase" => ReflogAction::Rebase(rebase_step(head, step, rest)),
        "pull" if !step.is_empty() => ReflogAction::Rebase(rebase_step(head, step, rest)),
        "merge" => ReflogAction::Merge,
        "pull" => ReflogAction::Pull,
        "reset" => ReflogAction::Reset,
        "checkout" => ReflogAction::Checkout,
        "cherry-pick" => ReflogAction::CherryPick,
        "revert" => ReflogAction::Revert,
        "Branch" => ReflogAction::Rename,
        _ => ReflogAction::Other,
    };
    (action, rest)
}

fn rebase_step(head: &str, step: &str, rest: &str) -> RebaseStep {
    match step {
        "start" => RebaseStep::Start,
        "squash" | "fixup" | "reword" | "amend" => RebaseStep::Rewrite,
        "continue" => RebaseStep::Continue,
        "finish" => RebaseStep::Finish,
        "abort" => RebaseStep::Abort,
        "pick" | "edit" | "merge" => RebaseStep::Pick,
        // Older versions: `rebase finished: returning to`, `rebase: checkout`, `rebase: subject`.
        _ if head.ends_with("finished") => RebaseStep::Finish,
        _ if head.contains("aborting") || rest == "aborting" => RebaseStep::Abort,
        _ if rest == "fast-forward" => RebaseStep::FastForward,
        _ if rest.starts_with("checkout ") => RebaseStep::Start,
        _ => RebaseStep::Continue,
    }
}

/// Returns the ref that a message says was merged.
fn merged_ref(message: &str) -> Option<String> {
    let named = match message.strip_prefix("merge ") {
        Some(rest) => rest.split(':').next(),
        // The subject git proposes for a merge that stopped on conflicts.
        None => {
            let (_, subject) = message.split_once(": Merge branch '")?;
            subject.split('\'').next()
        }
    };
    named.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Sets the branch of each entry of `HEAD`'s log, oldest first, working back from the branch that
/// is checked out now. Branches get their current names.
pub fn name_branches(entries: &mut [ReflogEntry], now: Option<&str>) {
    let mut branch = now.map(str::to_owned);
    let mut renamed: HashMap<String, String> = HashMap::new();
    for entry in entries.iter_mut().rev() {
        entry.branch.clone_from(&branch);
        match entry.action {
            ReflogAction::Checkout => {
                let from = entry.subject.strip_prefix("moving from ");
                let from = from.and_then(|rest| rest.rsplit_once(" to ")).map(|(from, _)| from);
                // A checkout from a detached `HEAD` names its commit id.
                let from = from.filter(|name| !is_commit_id(name));
                branch = from.map(|name| current_name(&renamed, name));
            }
            ReflogAction::Rename => {
                let names = entry.subject.strip_prefix("renamed refs/heads/");
                if let Some((old, new)) = names.and_then(|rest| rest.split_once(" to refs/heads/"))
                {
                    let new = current_name(&renamed, new);
                    renamed.insert(old.to_owned(), new);
                }
            }
            ReflogAction::Commit
            | ReflogAction::Amend
            | ReflogAction::Merge
            | ReflogAction::FastForward
            | ReflogAction::Rebase(_)
            | ReflogAction::Reset
            | ReflogAction::CherryPick
            | ReflogAction::Revert
            | ReflogAction::Pull
            | ReflogAction::Other => {}
        }
    }
}

fn current_name(renamed: &HashMap<String, String>, name: &str) -> String {
    renamed.get(name).map_or(name, String::as_str).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> String {
        let (old, new) = ("a".repeat(40), "b".repeat(40));
        format!("{old} {new} Ada L. <ada@example.org> 1774113840 +0200\t{message}")
    }

    #[test]
    fn actions_are_parsed_from_messages() {
        use RebaseStep::{Abort, Continue, FastForward, Finish, Pick, Rewrite, Start};
        let check = |message: &str, action: ReflogAction, subject: &str| {
            let entry = ReflogEntry::parse(&line(message)).unwrap();
            assert_eq!((entry.action, entry.subject.as_str()), (action, subject), "{message}");
            assert_eq!(entry.at.to_string(), "2026-03-21T17:24:00Z");
        };
        check("commit: Fix the clock", ReflogAction::Commit, "Fix the clock");
        check("commit (initial): Start", ReflogAction::Commit, "Start");
        check("commit (merge): Merge branch 'x'", ReflogAction::Commit, "Merge branch 'x'");
        check("commit (cherry-pick): Copy", ReflogAction::Commit, "Copy");
        check("commit (amend): cli: say: more", ReflogAction::Amend, "cli: say: more");
        check("commit:", ReflogAction::Commit, "");
        check("am: Applied", ReflogAction::Commit, "Applied");
        check("merge feat: Fast-forward", ReflogAction::FastForward, "Fast-forward");
        check("merge feat: Merge made by the 'ort' strategy.", ReflogAction::Merge, {
            "Merge made by the 'ort' strategy."
        });
        check("pull: Fast-forward", ReflogAction::FastForward, "Fast-forward");
        check("pull origin main: Fast-forward", ReflogAction::FastForward, "Fast-forward");
        check("pull: Merge made by the 'ort' strategy.", ReflogAction::Pull, {
            "Merge made by the 'ort' strategy."
        });
        check("pull --rebase (pick): Mine", ReflogAction::Rebase(Pick), "Mine");
        check("rebase (start): checkout main", ReflogAction::Rebase(Start), "checkout main");
        check("rebase -i (pick): One", ReflogAction::Rebase(Pick), "One");
        check("rebase (squash): One", ReflogAction::Rebase(Rewrite), "One");
        check("rebase (reword): One", ReflogAction::Rebase(Rewrite), "One");
        check("rebase (continue): One", ReflogAction::Rebase(Continue), "One");
        check("rebase: fast-forward", ReflogAction::Rebase(FastForward), "fast-forward");
        check("rebase: checkout main", ReflogAction::Rebase(Start), "checkout main");
        check("rebase (abort): returning to refs/heads/x", ReflogAction::Rebase(Abort), {
            "returning to refs/heads/x"
        });
        check("rebase (finish): returning to refs/heads/x", ReflogAction::Rebase(Finish), {
            "returning to refs/heads/x"
        });
        check("rebase finished: returning to refs/heads/x", ReflogAction::Rebase(Finish), {
            "returning to refs/heads/x"
        });
        check("reset: moving to HEAD~1", ReflogAction::Reset, "moving to HEAD~1");
        check("checkout: moving from a to b", ReflogAction::Checkout, "moving from a to b");
        check("cherry-pick: One", ReflogAction::CherryPick, "One");
        check("revert: Revert \"One\"", ReflogAction::Revert, "Revert \"One\"");
        check("clone: from https://example.org", ReflogAction::Other, "from https://example.org");
        check("", ReflogAction::Other, "");
    }

    #[test]
    fn lines_that_git_did_not_write_are_skipped() {
        let zeros = "0".repeat(40);
        for odd in [
            String::new(),
            "nonsense".to_owned(),
            format!("{zeros} {zeros}"),
            format!("{zeros} {zeros} Ada"),
            format!("{zeros} {zeros} Ada <a> soon +0000\tcommit: x"),
            format!("{zeros} {zeros} Ada <a> 99999999999999999 +0000\tcommit: x"),
            format!("abc {zeros} Ada <a> 1774113840 +0000\tcommit: x"),
            "\u{fffd}\t\t\t".to_owned(),
        ] {
            assert_eq!(ReflogEntry::parse(&odd), None, "{odd}");
        }
        assert!(ReflogEntry::parse(&format!("{zeros} {zeros}  <> 1774113840 +0000")).is_some());
    }

    #[test]
    fn a_merge_names_the_merged_branch() {
        let merged = |message: &str| ReflogEntry::parse(&line(message)).unwrap().merged;
        assert_eq!(merged("merge feat/x: Fast-forward").as_deref(), Some("feat/x"));
        assert_eq!(merged("commit (merge): Merge branch 'y' into z").as_deref(), Some("y"));
        assert_eq!(merged("commit: Merge of two lists"), None);
        assert_eq!(merged("reset: moving to x"), None);
    }

    #[test]
    fn entries_get_the_branch_that_was_checked_out() {
        let id = "c".repeat(40);
        let messages = [
            "commit: on one".to_owned(),
            "checkout: moving from one to two".to_owned(),
            "commit: on two".to_owned(),
            "Branch: renamed refs/heads/two to refs/heads/three".to_owned(),
            "checkout: moving from three to HEAD".to_owned(),
            "commit: detached".to_owned(),
            format!("checkout: moving from {id} to four"),
            "commit: on four".to_owned(),
        ];
        let mut entries: Vec<ReflogEntry> =
            messages.iter().map(|one| ReflogEntry::parse(&line(one)).unwrap()).collect();
        name_branches(&mut entries, Some("four"));
        let named = entries.iter().filter(|entry| entry.action == ReflogAction::Commit);
        let named: Vec<_> = named.map(|entry| entry.branch.as_deref()).collect();
        assert_eq!(named, [Some("one"), Some("three"), None, Some("four")]);
    }
}

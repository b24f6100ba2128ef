//! Builds briefing items from the repository: uncommitted files and commits since a session.

use super::ItemSource;
use crate::brief::noun::pluralize;
use crate::brief::{BriefItem, ItemForm, ItemRank, quote};
use crate::session::checkpoint::{HighlightKind, NO_EDITS, PUSHED, SessionSummary};
use crate::session::repository::{
    FileStatus, GitOperation, LaterCommits, Observation, WorkTreeState,
};
use crate::session::short_id;
use crate::text::id::CommitId;
use jiff::Timestamp;

/// Maximum number of files listed. More are counted.
const FILES_MAX: usize = 8;
/// Maximum number of earlier sessions' commits listed. `git log` has the rest.
const EARLIER_COMMITS_MAX: usize = 4;

/// The state of the working tree and when git reported it. An outdated state yields no items,
/// except for an operation in progress.
pub fn work_tree_items(state: &WorkTreeState) -> Vec<BriefItem> {
    let origin = ItemSource::new("working tree".to_owned(), &["git", "status"]);
    let mut items = Vec::new();
    let at = state.at.strftime("%H:%M");
    if let Some(operation) = state.operation {
        let text = format!("git is in the middle of a {}", operation_word(operation));
        items.push(status_item(&origin, "Working tree", text));
    }
    if state.moved {
        return items;
    }
    let total = state.uncommitted.len() + state.more;
    let names = state.uncommitted.iter().take(FILES_MAX).map(|file| {
        let status = match file.status {
            FileStatus::Modified => "",
            FileStatus::Added | FileStatus::Untracked => " (new)",
            FileStatus::Deleted => " (deleted)",
            FileStatus::Renamed => " (renamed)",
            FileStatus::Conflicted => " (conflict)",
        };
        format!("{}{status}", quote::code(&file.path, 120))
    });
    let names: Vec<String> = names.collect();
    let more = match total.saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = match total {
        0 => format!("clean at {at}"),
        1 => format!("1 uncommitted file at {at}: {}", names.join(", ")),
        total => format!("{total} uncommitted files at {at}: {}{more}", names.join(", ")),
    };
    items.push(status_item(&origin, "Working tree", text));
    items
}

/// Replaces the session's own "no edits" note with git's report of a clean tree. Returns whether it
/// did.
pub fn mark_clean(items: &mut [BriefItem], state: &WorkTreeState) -> bool {
    let is_clean = state.uncommitted.is_empty() && state.more == 0;
    if !is_clean || state.moved || state.operation.is_some() {
        return false;
    }
    let is_status =
        |item: &&mut BriefItem| item.heading == "Status" && item.text.contains(NO_EDITS);
    let Some(status) = items.iter_mut().find(is_status) else { return false };
    let clean = format!("working tree clean at {}", state.at.strftime("%H:%M"));
    status.text = status.text.replacen(NO_EDITS, &clean, 1);
    true
}

/// How long ago a session ended, and the commits on this branch since that it did not make, with
/// those of its files that they changed. Without an observation, nothing is known about commits.
pub fn since_then_item(
    observation: Option<&Observation>,
    summary: &SessionSummary,
    now: Timestamp,
) -> Option<BriefItem> {
    let age = age_of(summary.ended?, now);
    let is_old = age.is_some();
    let commits = observation.and_then(|observation| later_commits(observation, summary, is_old));
    let parts: Vec<String> = age.into_iter().chain(commits).collect();
    let origin = ItemSource::new("working tree".to_owned(), &["git", "log"]);
    (!parts.is_empty()).then(|| status_item(&origin, "Since then", parts.join("; ")))
}

/// How long ago something was, if that is long. It is rounded down, so that the text rarely changes.
fn age_of(time: Timestamp, now: Timestamp) -> Option<String> {
    const DAYS_MIN: usize = 14;
    const MONTHS_FROM_DAYS: usize = 60;
    let days = usize::try_from(now.duration_since(time).as_hours() / 24).unwrap_or_default();
    match days {
        ..DAYS_MIN => None,
        DAYS_MIN..MONTHS_FROM_DAYS => Some(pluralize("week", days / 7)),
        MONTHS_FROM_DAYS.. => Some(pluralize("month", days * 12 / 365)),
    }
}

fn later_commits(
    observation: &Observation,
    summary: &SessionSummary,
    is_old: bool,
) -> Option<String> {
    let ours: Vec<CommitId> = summary
        .of_kind(HighlightKind::Commit)
        .filter_map(|one| one.detail.as_deref().map(CommitId::new))
        .collect();
    let files: Vec<String> =
        summary.of_kind(HighlightKind::Changed).map(|one| one.text.clone()).collect();
    let since = observation.commits_since(summary.commit.as_ref(), summary.ended?, &ours, &files);
    let LaterCommits { count, has_more, newest, changed_files: touched } = since;
    if count == 0 {
        let is_all = is_old && !has_more;
        return is_all.then(|| "no other commits on this branch".to_owned());
    }
    let commits = match count {
        1 => "1 other commit".to_owned(),
        count if has_more => format!("more than {count} other commits"),
        count => format!("{count} other commits"),
    };
    let newest = newest.filter(|subject| !subject.is_empty());
    let newest = newest.map(|subject| format!(", newest {}", quote::inline(&subject, 80)));
    let touched: Vec<String> =
        touched.iter().take(FILES_MAX).map(|path| quote::code(path, 120)).collect();
    let touched = match touched.is_empty() {
        true => String::new(),
        false => format!("; changed since: {}", touched.join(", ")),
    };
    Some(format!("{commits} on this branch{}{touched}", newest.unwrap_or_default()))
}

/// Commits of earlier sessions that are on this branch but on no remote, each with the session that
/// made it.
pub fn earlier_commit_items<'g>(
    observation: &Observation,
    sessions: impl IntoIterator<Item = &'g SessionSummary>,
) -> Vec<BriefItem> {
    let origin = ItemSource::new("working tree".to_owned(), &["git", "log"]);
    let line = |text: String| BriefItem {
        form: ItemForm::Line,
        is_page_subject: true,
        ..origin.item(ItemRank::Task, "Committed by earlier sessions", text)
    };
    let is_here = |id: &str| observation.recent.iter().any(|one| one.id.starts_with(id));
    let made = sessions.into_iter().flat_map(|summary| {
        let commits = summary.of_kind(HighlightKind::Commit);
        let local = commits.filter(|one| one.state.as_deref() != Some(PUSHED));
        let session = short_id(summary.session.as_str());
        local.filter_map(move |one| Some((one, one.detail.as_deref()?, session)))
    });
    let mut texts: Vec<String> = made
        .filter(|(_, id, _)| is_here(id))
        .map(|(commit, id, session)| {
            format!("{} {} ({session})", quote::label(id), quote::inline(&commit.text, 80))
        })
        .collect();
    let more = texts.len().saturating_sub(EARLIER_COMMITS_MAX);
    texts.truncate(EARLIER_COMMITS_MAX);
    let mut items: Vec<BriefItem> = texts.into_iter().map(line).collect();
    if more > 0 {
        items.push(BriefItem { count: more, unbriefed: more, ..line(format!("{more} more")) });
    }
    items
}

fn status_item(origin: &ItemSource, heading: &'static str, text: String) -> BriefItem {
    let item = origin.item(ItemRank::Status, heading, text);
    BriefItem { form: ItemForm::Line, is_page_subject: true, ..item }
}

fn operation_word(operation: GitOperation) -> &'static str {
    match operation {
        GitOperation::Merge => "merge",
        GitOperation::Rebase => "rebase",
        GitOperation::CherryPick => "cherry-pick",
        GitOperation::Revert => "revert",
        GitOperation::Bisect => "bisect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::checkpoint::Highlight;
    use crate::session::repository::LoggedCommit;

    fn summary_with(commits: &[(&str, &str)]) -> SessionSummary {
        let item = |(id, state): &(&str, &str)| Highlight {
            kind: HighlightKind::Commit,
            text: format!("Subject of {id}"),
            detail: Some((*id).to_owned()),
            state: Some((*state).to_owned()),
            seen: None,
            remark: None,
            weight: 0,
        };
        SessionSummary {
            items: commits.iter().map(item).collect(),
            ..SessionSummary::sample("5e550009-0000")
        }
    }

    #[test]
    fn an_old_session_has_its_age_and_the_commits_since() {
        let ended: Timestamp = "2026-02-10T09:00:00Z".parse().unwrap();
        let summary = SessionSummary { ended: Some(ended), ..summary_with(&[]) };
        let line = |observation: Option<&Observation>, now: &str| {
            let item = since_then_item(observation, &summary, now.parse().unwrap());
            item.map(|item| item.text)
        };
        let days_later = |observation, days: i64| {
            let now = ended + jiff::SignedDuration::from_hours(24 * days);
            line(observation, &now.to_string())
        };
        assert_eq!(days_later(None, 13), None);
        assert_eq!(days_later(None, 14).as_deref(), Some("2 weeks"));
        assert_eq!(days_later(None, 59).as_deref(), Some("8 weeks"));
        assert_eq!(days_later(None, 60).as_deref(), Some("1 month"));
        assert_eq!(days_later(None, 280).as_deref(), Some("9 months"));
        let none = Observation::default();
        assert_eq!(days_later(Some(&none), 13), None);
        let text = "2 weeks; no other commits on this branch";
        assert_eq!(days_later(Some(&none), 14).as_deref(), Some(text));
    }

    #[test]
    fn a_clean_tree_is_part_of_the_status_line() {
        let text = format!("no open request; {NO_EDITS}, all commits pushed");
        let origin = ItemSource::new("session s".to_owned(), &[]);
        let marked = |state: &WorkTreeState| {
            let mut items = [status_item(&origin, "Status", text.clone())];
            mark_clean(&mut items, state).then(|| items[0].text.clone())
        };
        let clean = Observation::default().work_tree;
        let expected = "no open request; working tree clean at 00:00, all commits pushed";
        assert_eq!(marked(&clean).as_deref(), Some(expected));
        assert_eq!(marked(&WorkTreeState { more: 1, ..clean.clone() }), None);
        assert_eq!(marked(&WorkTreeState { moved: true, ..clean.clone() }), None);
        let operation = Some(GitOperation::Merge);
        assert_eq!(marked(&WorkTreeState { operation, ..clean.clone() }), None);
        assert!(!mark_clean(
            &mut [status_item(&origin, "Status", "2 files edited".to_owned())],
            &clean
        ));
    }

    #[test]
    fn commits_of_earlier_sessions_are_listed_while_on_the_branch() {
        let logged = |id: &str| LoggedCommit {
            id: CommitId::new(format!("{id}00")),
            at: jiff::Timestamp::UNIX_EPOCH,
            subject: String::new(),
            parents: Vec::new(),
            files: Vec::new(),
            more_files: 0,
        };
        let recent = ["aaa1", "ccc3", "ddd4"].map(logged).to_vec();
        let observation = Observation { recent, ..Observation::default() };
        let made =
            summary_with(&[("aaa1", "not pushed"), ("bbb2", "not pushed"), ("ccc3", "pushed")]);
        let texts = |made: &SessionSummary| -> Vec<String> {
            earlier_commit_items(&observation, [made]).into_iter().map(|one| one.text).collect()
        };
        // `bbb2` was amended or reset away; a remote has `ccc3`.
        assert_eq!(texts(&made), [r#"aaa1 "Subject of aaa1" (5e550009)"#]);
        let many = summary_with(&[("ddd4", "not pushed"); 9]);
        assert_eq!(texts(&many).len(), EARLIER_COMMITS_MAX + 1);
        assert_eq!(texts(&many).last().unwrap(), "5 more");
    }
}

//! What is worth telling of the repository: what is uncommitted, and what came since a session.

use super::ItemSource;
use crate::brief::{BriefItem, ItemForm, ItemRank, quote};
use crate::session::checkpoint::{HighlightKind, NO_EDITS, PUSHED, SessionSummary};
use crate::session::repository::{
    FileStatus, GitOperation, LaterCommits, Observation, WorkTreeState,
};
use crate::session::short_id;

/// Files that are named; more are counted.
const FILES_MAX: usize = 8;
/// Commits of earlier sessions that are named; `git log` has the rest.
const EARLIER_COMMITS_MAX: usize = 4;

/// What git said about the working tree, and when. A state that is outdated says nothing.
pub fn work_tree_items(state: &WorkTreeState) -> Vec<BriefItem> {
    let origin = ItemSource::new("working tree".to_owned(), &["git", "status"]);
    let mut points = Vec::new();
    let at = state.at.strftime("%H:%M");
    if let Some(operation) = state.operation {
        let text = format!("git is in the middle of a {}", operation_word(operation));
        points.push(status_item(&origin, "Working tree", text));
    }
    if state.moved {
        return points;
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
    points.push(status_item(&origin, "Working tree", text));
    points
}

/// Puts what git says about a clean tree in the place of what the records of a session show. Whether it
/// is there now.
pub fn mark_clean(points: &mut [BriefItem], state: &WorkTreeState) -> bool {
    let is_clean = state.uncommitted.is_empty() && state.more == 0;
    if !is_clean || state.moved || state.operation.is_some() {
        return false;
    }
    let is_status =
        |point: &&mut BriefItem| point.heading == "Status" && point.text.contains(NO_EDITS);
    let Some(status) = points.iter_mut().find(is_status) else { return false };
    let clean = format!("working tree clean at {}", state.at.strftime("%H:%M"));
    status.text = status.text.replacen(NO_EDITS, &clean, 1);
    true
}

/// Commits on this branch that a session did not make, and which of its files they changed.
pub fn later_commits_item(observation: &Observation, gist: &SessionSummary) -> Option<BriefItem> {
    let ours: Vec<String> =
        gist.of_kind(HighlightKind::Commit).filter_map(|one| one.detail.clone()).collect();
    let files: Vec<String> =
        gist.of_kind(HighlightKind::Changed).map(|one| one.text.clone()).collect();
    let since = observation.commits_since(gist.commit.as_deref(), gist.ended?, &ours, &files);
    let LaterCommits { count, has_more: is_more, newest, changed_files: touched } = since;
    if count == 0 {
        return None;
    }
    let commits = match count {
        1 => "1 other commit".to_owned(),
        count if is_more => format!("more than {count} other commits"),
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
    let origin = ItemSource::new("working tree".to_owned(), &["git", "log"]);
    let text = format!("{commits} on this branch{}{touched}", newest.unwrap_or_default());
    Some(status_item(&origin, "Since then", text))
}

/// Commits of earlier sessions that this branch has and no remote: the page is about a later session, and
/// names them with the session that made them.
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
    let made = sessions.into_iter().flat_map(|gist| {
        let commits = gist.of_kind(HighlightKind::Commit);
        let local = commits.filter(|one| one.state.as_deref() != Some(PUSHED));
        let session = short_id(&gist.session);
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
    let mut points: Vec<BriefItem> = texts.into_iter().map(line).collect();
    if more > 0 {
        points.push(BriefItem { count: more, unbriefed: more, ..line(format!("{more} more")) });
    }
    points
}

fn status_item(origin: &ItemSource, what: &'static str, text: String) -> BriefItem {
    let point = origin.item(ItemRank::Status, what, text);
    BriefItem { form: ItemForm::Line, is_page_subject: true, ..point }
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

    fn gist(commits: &[(&str, &str)]) -> SessionSummary {
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
    fn a_clean_tree_is_said_with_the_status() {
        let text = format!("no open request; {NO_EDITS}, all commits pushed");
        let origin = ItemSource::new("session s".to_owned(), &[]);
        let marked = |state: &WorkTreeState| {
            let mut points = [status_item(&origin, "Status", text.clone())];
            mark_clean(&mut points, state).then(|| points[0].text.clone())
        };
        let clean = Observation::default().work_tree;
        let said = "no open request; working tree clean at 00:00, all commits pushed";
        assert_eq!(marked(&clean).as_deref(), Some(said));
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
    fn commits_of_earlier_sessions_are_named_while_the_branch_has_them() {
        let logged = |id: &str| LoggedCommit {
            id: format!("{id}00"),
            at: jiff::Timestamp::UNIX_EPOCH,
            subject: String::new(),
            parents: Vec::new(),
            files: Vec::new(),
            more_files: 0,
        };
        let recent = ["aaa1", "ccc3", "ddd4"].map(logged).to_vec();
        let observation = Observation { recent, ..Observation::default() };
        let made = gist(&[("aaa1", "not pushed"), ("bbb2", "not pushed"), ("ccc3", "pushed")]);
        let texts = |made: &SessionSummary| -> Vec<String> {
            earlier_commit_items(&observation, [made]).into_iter().map(|one| one.text).collect()
        };
        // `bbb2` was amended or reset away; a remote has `ccc3`.
        assert_eq!(texts(&made), [r#"aaa1 "Subject of aaa1" (5e550009)"#]);
        let many = gist(&[("ddd4", "not pushed"); 9]);
        assert_eq!(texts(&many).len(), EARLIER_COMMITS_MAX + 1);
        assert_eq!(texts(&many).last().unwrap(), "5 more");
    }
}

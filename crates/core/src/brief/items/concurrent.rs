//! Builds briefing items for other sessions that are still running.

use super::ItemSource;
use crate::brief::{BriefItem, ItemForm, ItemRank, quote};
use crate::session::short_id;
use crate::text::id::SessionId;
use jiff::Timestamp;

/// Maximum number of sessions listed. More are counted.
const SESSIONS_MAX: usize = 3;
/// Maximum number of files listed. More are counted.
const FILES_MAX: usize = 5;

/// A running session, as observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcurrentSession {
    /// The product name of the client that runs it.
    pub client_title: &'static str,
    /// The session id.
    pub session: SessionId,
    /// The root of its working tree, if it is not this one.
    pub other_work_tree: Option<String>,
    /// The branch checked out there.
    pub branch: Option<String>,
    /// When it was last active.
    pub last_active: Timestamp,
    /// Whether the page is about this session.
    pub is_page_subject: bool,
    /// Files that it changed and that the page's session also changed and left uncommitted.
    pub shared_files: Vec<String>,
}

/// One line per running session: its working tree, its branch, and the files that both sessions
/// changed.
pub fn concurrent_session_items(sessions: &[ConcurrentSession]) -> Vec<BriefItem> {
    let mut items: Vec<BriefItem> = sessions.iter().take(SESSIONS_MAX).map(session_item).collect();
    let more = sessions.len().saturating_sub(SESSIONS_MAX);
    if more > 0 {
        let origin = ItemSource::new("this project".to_owned(), &["midstride", "session", "list"]);
        let text = format!("{more} more sessions");
        items.push(BriefItem { count: more, ..status_item(&origin, "Also running", text) });
    }
    items
}

fn session_item(one: &ConcurrentSession) -> BriefItem {
    let short = short_id(one.session.as_str());
    let origin =
        ItemSource::new(format!("session {short}"), &["midstride", "session", "show", short]);
    let place = match &one.other_work_tree {
        Some(top) => format!("in {}", quote::code(top, 120)),
        None => "in this working tree".to_owned(),
    };
    let branch = one.branch.as_deref().map(|name| format!(", branch {}", quote::label(name)));
    let text = format!(
        "{} session {short} {place}{}; last active {}, not ended{}",
        one.client_title,
        branch.unwrap_or_default(),
        one.last_active.strftime("%H:%M"),
        shared_files_text(&one.shared_files)
    );
    status_item(&origin, if one.is_page_subject { "Still running" } else { "Also running" }, text)
}

fn shared_files_text(files: &[String]) -> String {
    let names: Vec<String> =
        files.iter().take(FILES_MAX).map(|path| quote::code(path, 120)).collect();
    let more = match files.len().saturating_sub(FILES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names.is_empty() {
        true => String::new(),
        false => format!("; both sessions changed {}{more}", names.join(", ")),
    }
}

fn status_item(origin: &ItemSource, heading: &'static str, text: String) -> BriefItem {
    let item = origin.item(ItemRank::Status, heading, text);
    BriefItem { form: ItemForm::Line, is_page_subject: true, ..item }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(session: &str) -> ConcurrentSession {
        ConcurrentSession {
            client_title: "Codex",
            session: SessionId::new(session),
            other_work_tree: None,
            branch: Some("main".to_owned()),
            last_active: "2026-03-22T14:05:00Z".parse().unwrap(),
            is_page_subject: false,
            shared_files: Vec::new(),
        }
    }

    fn texts(sessions: &[ConcurrentSession]) -> Vec<String> {
        let line = |item: BriefItem| format!("{}: {}", item.heading, item.text);
        concurrent_session_items(sessions).into_iter().map(line).collect()
    }

    #[test]
    fn a_running_session_is_described_in_one_line() {
        let here = one("5e550001-aaaa");
        assert_eq!(
            texts(&[here]),
            ["Also running: Codex session 5e550001 in this working tree, branch main; last \
              active 14:05, not ended"]
        );
        let there = ConcurrentSession {
            client_title: "Claude Code",
            other_work_tree: Some("/home/dev/shop-fix".to_owned()),
            branch: None,
            is_page_subject: true,
            shared_files: (1..=7).map(|number| format!("src/{number}.rs")).collect(),
            ..one("5e550002-aaaa")
        };
        assert_eq!(
            texts(&[there]),
            [
                "Still running: Claude Code session 5e550002 in `/home/dev/shop-fix`; last active 14:05, \
              not ended; both sessions changed `src/1.rs`, `src/2.rs`, `src/3.rs`, `src/4.rs`, \
              `src/5.rs` and 2 more"
            ]
        );
    }

    #[test]
    fn sessions_over_the_limit_are_counted() {
        let many: Vec<ConcurrentSession> =
            (0..5).map(|number| one(&format!("5e55000{number}-a"))).collect();
        assert_eq!(texts(&many).len(), SESSIONS_MAX + 1);
        assert_eq!(texts(&many).last().unwrap(), "Also running: 2 more sessions");
    }
}

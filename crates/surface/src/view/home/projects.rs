//! Renders the projects with unfinished work, one line each.

use super::HomeContext;
use crate::view::table::{Column, table};
use crate::view::{count, one_line};
use midstride::verbs::{HomeScreen, WaitingSource};
use midstride_core::session::checkpoint::SessionEnding;

const COLUMNS: [Column; 4] = [
    Column { name: "REPOSITORY", drop_order: None },
    Column { name: "CHANGED", drop_order: Some(1) },
    Column { name: "BRANCH", drop_order: Some(0) },
    Column { name: "UNFINISHED", drop_order: None },
];

/// A table of all projects with unfinished work, one line each.
pub fn all_text(projects: &[HomeScreen], context: &HomeContext) -> String {
    let row = |home: &HomeScreen| {
        vec![
            context.path(&home.root, context.width() / 2),
            home.changed().map(|changed| context.age(changed)).unwrap_or_default(),
            home.branch.as_deref().map(|name| one_line(name, 20)).unwrap_or_default(),
            unfinished(home),
        ]
    };
    let rows: Vec<Vec<String>> = projects.iter().map(row).collect();
    table(&COLUMNS, &rows, context.width()).text
}

/// What is unfinished, in one line.
fn unfinished(home: &HomeScreen) -> String {
    let session = home.last_session.as_ref().and_then(|last| {
        let ending = last.summary.as_ref()?.ending;
        match ending {
            SessionEnding::Asked => Some("a question for you"),
            SessionEnding::MidTurn => Some("stopped mid-turn"),
            SessionEnding::Interrupted => Some("interrupted"),
            SessionEnding::Failed => Some("stopped by an API error"),
            SessionEnding::Completed | SessionEnding::Unknown | SessionEnding::Nothing => None,
        }
    });
    let handoffs = home.handoffs.iter().filter(|one| !one.is_note).count();
    let tree = home.work_tree.as_ref();
    let questions =
        home.waiting.iter().filter(|item| !matches!(item.source, WaitingSource::Session(_)));
    let counted = [
        (home.failing.len(), "failing check"),
        (questions.count(), "waiting item"),
        (handoffs, "open handoff"),
        (home.tasks.len(), "task"),
        (tree.map_or(0, |tree| tree.uncommitted.len() + tree.more), "uncommitted file"),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let counted = counted.map(|(number, noun)| count(number, noun));
    session.map(str::to_owned).into_iter().chain(counted).collect::<Vec<_>>().join(", ")
}

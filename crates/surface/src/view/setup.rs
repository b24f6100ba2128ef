//! Renders `midstride setup`: what it will change and record, and what it did.

use super::session_cost::{FoundClient, SessionCost};
use super::trust_listing::{authors_text, document_names};
use super::{client, count, wrap};
use crate::json::JsonAnswer;
use midstride::clients::install::{ClientProgram, FileChange, InstallPlan};
use midstride::verbs::{SettingsUndo, SetupClient, TrustListing};
use midstride::workspace::user_settings::Retention;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use unicode_width::UnicodeWidthStr as _;

/// The width of the first column.
const LABEL: usize = 9;

/// What the screen is about.
pub struct SetupScreen<'s> {
    /// The clients that were found.
    pub clients: &'s [SetupClient],
    /// The user's home folder.
    pub home: Option<&'s Path>,
    /// The documents in this repository that need trust.
    pub documents: Option<&'s TrustListing>,
    /// Whether the command runs in a repository.
    pub has_repository: bool,
    /// How long captured sessions are kept.
    pub retention: Retention,
    /// The tokens that midstride adds to a session.
    pub cost: SessionCost,
    /// Whether midstride's status line is part of the changes.
    pub adds_status_line: bool,
}

/// The screen that is shown before anything changes.
pub fn screen(setup: &SetupScreen<'_>, width: usize) -> String {
    let mut rows = vec![("Found", names(setup.clients)), ("Changes", changes(setup))];
    if let Some(listing) = setup.documents {
        let (names, authors) = (document_names(listing), authors_text(listing));
        rows.push(("Trusts", format!("{names} in this repository: {authors}   (t: do not trust)")));
    }
    rows.push((
        "Records",
        "your requests, commands and their results, changed files and the agent's reports; secrets are removed"
            .to_owned(),
    ));
    let kept = match setup.retention {
        Retention::Forever => "kept until you delete it".to_owned(),
        days @ Retention::Days(_) => format!("deleted after {days}"),
    };
    rows.push((
        "Stored",
        format!(
            "in each repository's .git/midstride, readable only by you, {kept}; never committed"
        ),
    ));
    rows.push((
        "Network",
        "none, except that `midstride sync` uses your git remote when you run it".to_owned(),
    ));
    let found: Vec<_> = setup
        .clients
        .iter()
        .map(|one| FoundClient::new(one.client, one.program.as_ref()))
        .collect();
    let (briefing, names) = (SessionCost::briefing_text(), setup.cost.names_text());
    let list = setup.cost.list_text(&found);
    rows.push(("Cost", format!("{briefing}; {names}; {list}; no model calls")));
    let place = match setup.has_repository {
        true => "a  every git repository (default)     r  this repository only",
        false => "every git repository",
    };
    rows.push(("Where", place.to_owned()));
    rows.push(("Exclude", "midstride config set capture.exclude '~/clients/**'".to_owned()));
    let mut clients = setup.clients.iter().map(|one| one.client.profile());
    if let Some(client) = clients.find(|client| client.has_status_line && !setup.adds_status_line) {
        let text = format!("midstride setup --status-line, for {}'s status line", client.title);
        rows.push(("Optional", text));
    }
    rows.push(("Undo", "midstride setup --undo".to_owned()));
    rows.iter().map(|(label, text)| row(label, text, width)).collect()
}

/// The clients with their versions.
fn names(clients: &[SetupClient]) -> String {
    clients.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn name(one: &SetupClient) -> String {
    let version = one.program.as_ref().and_then(ClientProgram::version_number);
    let title = one.client.title();
    match version {
        Some(version) => format!("{title} {version}"),
        None => title.to_owned(),
    }
}

/// What changes, and where.
fn changes(setup: &SetupScreen<'_>) -> String {
    let changed = setup.clients.iter().filter(|one| !one.plan.changes.is_empty());
    let folders = changed.flat_map(|one| &one.plan.changes).filter_map(|change| {
        let path = change.path();
        let below = setup.home.and_then(|home| path.strip_prefix(home).ok())?;
        let first = below.components().next()?;
        Some(format!("~/{}", first.as_os_str().to_string_lossy()))
    });
    let folders: BTreeSet<String> = folders.collect();
    if folders.is_empty() && setup.clients.iter().all(|one| one.plan.changes.is_empty()) {
        return "nothing; midstride is already installed".to_owned();
    }
    let folders: Vec<String> = folders.into_iter().collect();
    // An installation that needs a repair changes only some of it.
    let what = match setup.clients.iter().any(|one| one.is_installed) {
        true => {
            let files = setup.clients.iter().map(|one| one.plan.changes.len()).sum();
            count(files, "file")
        }
        false => "hooks, one MCP server and two commands".to_owned(),
    };
    format!("{what} in {}   (d: show the diff)", join(&folders))
}

fn join(words: &[String]) -> String {
    match words {
        [] => "their folders".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// A labeled row whose text wraps at the width.
fn row(label: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(LABEL);
    // A text that fits keeps its spaces.
    let lines = if text.width() <= room { vec![text.to_owned()] } else { wrap(text, room) };
    let line = |(index, line): (usize, &String)| {
        let label = if index == 0 { label } else { "" };
        format!("{label:<LABEL$}{line}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

/// The line for a client in which nothing had to change.
pub fn unchanged(one: &SetupClient) -> String {
    format!("{}: already set up", name(one))
}

/// What was found in the repository, before the briefing.
pub fn found(project: &SetupProjectJson) -> String {
    let sessions = count(project.sessions, "past session");
    let handoffs = count(project.handoffs, "handoff");
    let forgotten = match project.forgotten {
        0 => String::new(),
        number => format!(" {} stayed forgotten.", count(number, "session")),
    };
    format!(
        "Found {sessions} and {handoffs}.{forgotten} This is what your next session would know:"
    )
}

/// What undoing changed, one line each.
pub fn undone(plans: &[InstallPlan], settings: &SettingsUndo) -> Vec<String> {
    let changed: Vec<&InstallPlan> = plans.iter().filter(|plan| !plan.changes.is_empty()).collect();
    let mut lines: Vec<String> = changed
        .iter()
        .map(|plan| {
            let files = count(plan.changes.len(), "file");
            format!("{}: restored {files}", plan.client.title())
        })
        .collect();
    if changed.is_empty() {
        lines.push("midstride is not installed in any client".to_owned());
    }
    match settings {
        SettingsUndo::Unchanged => {}
        SettingsUndo::Restored => lines.push("Restored your settings".to_owned()),
        SettingsUndo::Kept(path) => {
            lines.push(format!("Kept {}: it was edited since setup", path.display()));
        }
    }
    lines
}

/// The result of `midstride setup --json`.
#[derive(Serialize)]
pub struct SetupJson {
    clients: Vec<SetupClientJson>,
    #[serde(flatten)]
    project: Option<SetupProjectJson>,
}

impl JsonAnswer for SetupJson {
    const SCHEMA: &'static str = "setup/1";
}

#[derive(Serialize)]
struct SetupClientJson {
    client: &'static str,
    version: Option<String>,
    /// The files that were written.
    changed: Vec<String>,
}

/// What setup found in the repository.
#[derive(Serialize)]
pub struct SetupProjectJson {
    /// How many past sessions there are.
    pub sessions: usize,
    /// How many more there are whose captures were deleted.
    pub forgotten: usize,
    /// How many handoffs there are.
    pub handoffs: usize,
    /// How many of them are not trusted.
    pub withheld: usize,
    /// The briefing of the next session.
    pub briefing: String,
}

/// The JSON for a setup.
pub fn json(clients: &[SetupClient], project: Option<SetupProjectJson>) -> SetupJson {
    let path = |change: &FileChange| change.path().display().to_string();
    let one = |one: &SetupClient| SetupClientJson {
        client: one.client.name(),
        version: one.program.as_ref().and_then(|program| program.version.clone()),
        changed: one.plan.changes.iter().map(path).collect(),
    };
    SetupJson { clients: clients.iter().map(one).collect(), project }
}

/// The changes of all clients as diffs, and the documents that need trust.
pub fn diff(clients: &[SetupClient], documents: Option<&TrustListing>) -> String {
    let mut out: String = clients.iter().map(|one| client::changes_of(&one.plan)).collect();
    for document in documents.into_iter().flat_map(|listing| &listing.documents) {
        out.push_str(&format!("trusts {}\n", document.path.display()));
    }
    out
}

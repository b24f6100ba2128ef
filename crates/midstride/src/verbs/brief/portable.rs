//! A briefing on one session or handoff as Markdown that makes sense without midstride: without ids
//! of sessions, paths of this machine and commands of midstride.

use super::{
    BriefRequest, RankedHandoff, collect_handoff_items, compose_clean, name_chosen_session,
};
use crate::clients;
use crate::store::Store;
use crate::store::index::IndexCard;
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::brief::items::{headline, session_items};
use midstride_core::brief::markdown::to_markdown;
use midstride_core::brief::{BriefItem, BriefOccasion, Material, StartupTools};
use midstride_core::session::checkpoint::SessionSummary;
use midstride_core::session::short_id;
use midstride_core::text::portable::MachineNames;

/// The title of a page about a session whose goal is unknown.
const UNTITLED: &str = "Work so far";

/// What a session did, as Markdown. Empty if nothing fits.
pub(in crate::verbs) fn session_markdown(
    workspace: &Workspace,
    asked: &BriefRequest,
    summary: &SessionSummary,
) -> String {
    let id = summary.session.as_str();
    let mut items = session_items(summary, clients::title(summary.client.as_str()));
    name_chosen_session(&mut items);
    for item in &mut items {
        // The line that names the session.
        item.text = item.text.replace(&format!(" {}, ", short_id(id)), ", ");
    }
    let folder = summary.folder.clone();
    let title = headline(summary).title.unwrap_or_else(|| UNTITLED.to_owned());
    page(workspace, asked, &material(items), &title, &[id.to_owned()], folder)
}

/// What a handoff says, as Markdown. Empty if nothing fits.
pub(in crate::verbs) fn handoff_markdown(
    store: &Store,
    asked: &BriefRequest,
    stored: StoredHandoff,
) -> String {
    let workspace = store.workspace();
    let card = IndexCard::from_document(workspace, &stored);
    let one = RankedHandoff { is_dated: card.changed.is_some(), card, citations: None, stored };
    let ledger = store.existing_ledger().ok().flatten();
    let (startup, items) = collect_handoff_items(workspace, asked, ledger, &one);
    let handoff = one.stored.handoff(workspace);
    let title = handoff.title().unwrap_or(UNTITLED).to_owned();
    let session = handoff.recovery().and_then(|from| from.session);
    let sessions: Vec<String> = session.iter().map(ToString::to_string).collect();
    let material = Material { startup, ..material(items) };
    page(workspace, asked, &material, &title, &sessions, None)
}

/// The material of a page that names no source and no command.
fn material(mut items: Vec<BriefItem>) -> Material {
    for item in &mut items {
        item.is_page_subject = true;
        item.show.clear();
    }
    Material {
        tools: StartupTools::UNKNOWN,
        occasion: BriefOccasion::Startup,
        role: None,
        branch: None,
        startup: Vec::new(),
        items,
        unread: 0,
        show_all: Vec::new(),
        headline: None,
    }
}

fn page(
    workspace: &Workspace,
    asked: &BriefRequest,
    material: &Material,
    title: &str,
    sessions: &[String],
    folder: Option<String>,
) -> String {
    let briefing = compose_clean(workspace, asked, material);
    if briefing.text.is_empty() {
        return String::new();
    }
    let short = sessions.iter().map(|id| short_id(id).to_owned());
    let root = workspace.root().path().display().to_string();
    let trees = clients::project_folders(workspace).into_iter();
    let names = MachineNames {
        roots: trees.map(|top| top.display().to_string()).chain([root]).chain(folder).collect(),
        home: workspace.environment().home.as_ref().map(|home| home.display().to_string()),
        sessions: sessions.iter().cloned().chain(short).collect(),
    };
    let text = names.remove_from(&to_markdown(&briefing.text, &names.remove_from(title)));
    // Shorter paths may join what was split before.
    workspace.clean(&text).0.as_str().to_owned()
}

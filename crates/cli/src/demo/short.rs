//! The short demo: a session is killed while it edits a file, the next session starts without
//! midstride and with it, and a check finds the line that the edit moved.

use super::recovery::{CLIENT, write_transcript};
use super::{Demo, find_client};
use crate::ui::Ui;
use midstride::code::CodeState;
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::verbs::{self, BriefRequest, Comparison};
use midstride::workspace::{Access, Workspace};
use midstride_core::brief::{BriefOccasion, Briefing};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::demo as view;
use midstride_surface::view::findings::{self, HintDisplay};
use midstride_surface::view::{Surface, heading};

/// The repository, the home and the state folder, below the temporary folder.
pub(super) const PLACES: [&str; 3] = ["shop", "home", "state"];
/// When the repository was created.
pub(super) const DAY_BEFORE: &str = "2026-03-24T16:00:00Z";
/// When the next session starts.
const NEXT_DAY: &str = "2026-03-25T05:40:00Z";
const SESSION: &str = "6c6f6769-6e00-4000-8000-000000000001";
/// The file that the session edits.
const EDITED: &str = "shop/login.py";
const CODE: &str = include_str!("killed/login.py");
const CODE_EDITED: &str = include_str!("killed/login-edited.py");
const HANDOFF: &str = include_str!("killed/HANDOFF.md");
/// A transcript that ends in an edit without a result, and half a record.
const TRANSCRIPT: &str = include_str!("killed/transcript.jsonl");
/// The width of the output if the terminal does not limit it. Two columns need that much.
const WIDTH_MAX: usize = 100;
/// The width of the column without midstride.
const LEFT: usize = 32;

/// The width of the output.
pub(super) fn width() -> usize {
    Ui::width().unwrap_or(WIDTH_MAX).min(WIDTH_MAX)
}

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    let width = width();
    make_repository(demo)?;
    let client = find_client(CLIENT)?;
    let store = Store::new(demo.workspace()?, WaitPolicy::Command);
    verbs::import_sessions(&store, 1, &mut |_, _| ())?;
    let (sessions, _) = verbs::sessions(&store, Some(client))?;
    ui.print(&heading("A recorded session is killed while editing a file"))?;
    ui.print(&view::sessions(&sessions, width))?;
    show_next_session(ui, demo, &store, width)?;
    show_check(ui, &store, width)?;
    ui.print(&format!("\n{}", heading("Your turn: midstride setup")))?;
    Ok(())
}

/// Makes a repository with a handoff, and what the killed session left behind.
fn make_repository(demo: &mut Demo) -> Result<(), Diagnostic> {
    let inside = |path: &str| format!("{}/{path}", PLACES[0]);
    demo.write(&inside(EDITED), CODE)?;
    demo.write(&inside("HANDOFF.md"), HANDOFF)?;
    demo.git(&["init", "--quiet"])?;
    demo.git(&["add", "."])?;
    demo.git(&["commit", "--quiet", "-m", "Log customers in"])?;
    demo.write(&inside(EDITED), CODE_EDITED)?;
    write_transcript(demo, TRANSCRIPT, SESSION)?;
    demo.now = NEXT_DAY;
    Ok(())
}

/// Shows what the next session can find out, and what midstride adds.
fn show_next_session(
    ui: &mut Ui,
    demo: &Demo,
    store: &Store,
    width: usize,
) -> Result<(), Diagnostic> {
    let briefing = brief(store)?;
    let asked = ["status", "--short"];
    let status = demo.git_output(&asked)?;
    let without = format!(
        "An empty context. Git knows what changed, not why:\n$ git {}\n{status}",
        asked.join(" ")
    );
    let columns = [
        ("Next session without midstride", without.as_str()),
        ("Next session with midstride", &briefing.text),
    ];
    ui.print(&format!("\n{}", view::columns(columns, LEFT, width)))?;
    Ok(())
}

/// The briefing that a client gets when a session starts. The handoff is not trusted.
fn brief(store: &Store) -> Result<Briefing, Diagnostic> {
    let workspace = store.workspace();
    drop(verbs::observe(workspace));
    let own_view = match workspace.access() {
        Access::Granted => None,
        Access::Own { .. } | Access::Untrusted { .. } => Some(workspace.own_view()?),
    };
    let own_view = own_view.map(|view: Workspace| Store::new(view, WaitPolicy::Command));
    let occasion = Some(BriefOccasion::Startup);
    let asked = BriefRequest { occasion, ..BriefRequest::default() };
    Ok(verbs::brief(own_view.as_ref().unwrap_or(store), &asked, &mut |_, _| ()).briefing)
}

/// Shows that the edit moved a line that the handoff cites.
fn show_check(ui: &mut Ui, store: &Store, width: usize) -> Result<(), Diagnostic> {
    let with = Comparison::against(store, CodeState::WorkTree, false)?;
    let checked: Vec<_> = verbs::check_all(store, &with).into_iter().collect::<Result<_, _>>()?;
    let title = "midstride check finds the line that the edit moved";
    ui.print(&format!("\n{}", heading(title)))?;
    let width = Some(width);
    let text =
        findings::human(store.workspace(), &checked, Surface::Terminal, width, HintDisplay::Listed);
    ui.print(&format!("{}\n", text.trim_end()))?;
    Ok(())
}

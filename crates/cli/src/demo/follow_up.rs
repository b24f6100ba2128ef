//! Demo chapters: days later, the handoff is found, compared with the code, and its proof runs
//! again.

use super::Demo;
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

const CODE_MOVED: &str = include_str!("story/market-moved.py");

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    show_search(ui, demo)?;
    show_drift(ui, demo)?;
    show_proof(ui, demo)
}

fn show_search(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.now = "2026-03-23T10:00:00Z";
    demo.write("app/market.py", CODE_MOVED)?;
    demo.git(&["commit", "--quiet", "-m", "Log what the market pages do", "app"])?;
    demo.user = "implementer";
    demo.now = "2026-03-25T05:00:00Z";
    demo.begin_chapter(
        ui,
        "Days later, another session",
        "It starts with an empty context. The home screen shows what is open and what to do next; a few\n\
         words are enough to find the handoff. It says what was found out, what was wrong, and how\n\
         often it was challenged.",
    )?;
    demo.run(ui, &[], 0)?;
    demo.run(ui, &["search", "slow", "pages"], 0)?;
    demo.run(ui, &["show", "market"], 0)
}

fn show_drift(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "Is the code still where the handoff says?",
        "Meanwhile a colleague changed the same file. When the handoff was written, midstride took down\n\
         what stood at the places it names. Both are in other lines now. One is the same there, and --fix\n\
         writes that down as a revision. The other one reads differently, and whether what is said about\n\
         it still holds is for somebody to judge: it does, which is recorded, with its line too.",
    )?;
    demo.run(ui, &["check", "-v"], 1)?;
    demo.run(ui, &["check", "--fix", "--quiet"], 1)?;
    let held = ["--challenged", "app/market.py:23", "--verdict", "held"];
    demo.run(ui, &[&["review", "market", "--by", "implementer"], &held[..]].concat(), 0)?;
    demo.run(ui, &["show", "market", "--section", "root causes"], 0)
}

fn show_proof(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "Is the claim still true?",
        "The handoff claims something, and has a command that shows it. Nothing is run before a person\n\
         has allowed exactly this command; then the claim can be looked at whenever it matters.",
    )?;
    demo.run(ui, &["verify", "market"], 1)?;
    demo.allow(ui, "market", 1)?;
    demo.run(ui, &["verify", "market"], 0)?;
    demo.run(ui, &["start", "market"], 0)
}

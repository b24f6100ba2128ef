//! Days later: the handoff is found, compared with the code, and its claim is looked at again.

use super::Demo;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;

const CODE_MOVED: &str = include_str!("story/market-moved.py");

pub(super) fn present(ui: &mut Ui, play: &mut Demo) -> Result<(), Diagnostic> {
    show_search(ui, play)?;
    show_drift(ui, play)?;
    show_proof(ui, play)
}

fn show_search(ui: &mut Ui, play: &mut Demo) -> Result<(), Diagnostic> {
    play.now = "2026-03-23T10:00:00Z";
    play.write("app/market.py", CODE_MOVED)?;
    play.git(&["commit", "--quiet", "-m", "Log what the market pages do", "app"])?;
    play.user = "implementer";
    play.now = "2026-03-25T05:00:00Z";
    play.begin_chapter(
        ui,
        "Days later, another session",
        "It starts with an empty context. The inbox tells what is open and what to do next; whoever has\n\
         only a few words to go by finds the handoff by them. It tells what was found out, what was\n\
         wrong, and how often it was challenged.",
    )?;
    play.run(ui, &[], 0)?;
    play.run(ui, &["search", "slow", "pages"], 0)?;
    play.run(ui, &["show", "market"], 0)
}

fn show_drift(ui: &mut Ui, play: &mut Demo) -> Result<(), Diagnostic> {
    play.begin_chapter(
        ui,
        "Is the code still where the handoff says?",
        "Meanwhile a colleague changed the same file. When the handoff was written, midstride took down\n\
         what stood at the places it names. Both are in other lines now. One is the same there, and --fix\n\
         writes that down as a revision. The other one reads differently, and whether what is said about\n\
         it still holds is for somebody to judge: it does, which is recorded, with its line too.",
    )?;
    play.run(ui, &["check"], 1)?;
    play.run(ui, &["check", "--fix", "--quiet"], 1)?;
    let held = ["--challenged", "app/market.py:23", "--verdict", "held"];
    play.run(ui, &[&["review", "market", "--by", "implementer"], &held[..]].concat(), 0)?;
    play.run(ui, &["show", "market", "--section", "root causes"], 0)
}

fn show_proof(ui: &mut Ui, play: &mut Demo) -> Result<(), Diagnostic> {
    play.begin_chapter(
        ui,
        "Is the claim still true?",
        "The handoff claims something, and has a command that shows it. Nothing is run before a person\n\
         has allowed exactly this command; then the claim can be looked at whenever it matters.",
    )?;
    play.run(ui, &["verify", "market"], 1)?;
    play.run(ui, &["allow", "market", "1", "--yes"], 0)?;
    play.run(ui, &["verify", "market"], 0)?;
    play.run(ui, &["start", "market"], 0)
}

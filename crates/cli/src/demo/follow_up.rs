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
        "It starts with an empty context. The home screen shows what is open and what to do next. Searching\n\
         for a few words finds the handoff with its findings, wrong turns and reviews.",
    )?;
    demo.run(ui, &[], 0)?;
    demo.run(ui, &["search", "slow", "pages"], 0)?;
    demo.run(ui, &["show", "market"], 0)
}

fn show_drift(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "Is the code still where the handoff says?",
        "Meanwhile, a colleague changed the same file. midstride recorded the two cited lines when the\n\
         handoff was written. Both have moved. One is unchanged, so --fix updates its line number in a new\n\
         revision. The other one changed, so a reviewer checks whether the claim about it still holds. It\n\
         does, and the review records that along with the new line number.",
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
        "The handoff makes a claim and gives a command that proves it. midstride runs nothing until the user\n\
         allows this exact command. After that, the claim can be checked at any time.",
    )?;
    demo.run(ui, &["verify", "market"], 1)?;
    demo.allow(ui, "market", 1)?;
    demo.run(ui, &["verify", "market"], 0)?;
    demo.run(ui, &["start", "market"], 0)
}

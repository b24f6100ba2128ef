//! Demo chapters: a hasty first draft, its findings, and what `check --fix` fixes.

use super::Demo;
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

const FILE: &str = ".midstride/handoffs/market-page-perf.md";
const CODE: &str = include_str!("story/market.py");
const SETTINGS: &str = "PAGE_CACHE_SECONDS = 0\n";
const FIRST_DRAFT: &str = include_str!("story/first-draft.md");

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.git(&["init", "--quiet"])?;
    demo.write("app/market.py", CODE)?;
    demo.write("app/settings.py", SETTINGS)?;
    demo.git(&["add", "."])?;
    demo.git(&["commit", "--quiet", "-m", "Add the site"])?;
    demo.begin_chapter(
        ui,
        "Set up",
        "This creates one folder with one configuration file; git sees nothing else.",
    )?;
    demo.trust()?;
    demo.run(ui, &["init"], 0)?;
    demo.show_git(ui, &["status", "--short", "--untracked-files=all"])?;
    demo.write(FILE, FIRST_DRAFT)?;
    demo.begin_chapter(
        ui,
        "A hasty first draft that is wrong",
        "The author wrote it quickly in an editor. It gives few reasons, cites no code, and leaves the plan\n\
         open. It also blames a function that the slow pages never call. No program can detect that, but a\n\
         reviewer will. `market` is a prefix of the handoff's id, and commands accept it in place of the id.",
    )?;
    demo.run(ui, &["show", "market", "--as", "raw"], 0)?;
    demo.begin_chapter(
        ui,
        "What check reports",
        "Each finding has a code (see `midstride explain`), a line and a fix. --quiet omits hints. Warnings\n\
         and errors set exit code 1, so that a hook or a CI job can stop here.",
    )?;
    demo.run(ui, &["check", "--quiet"], 1)?;
    demo.begin_chapter(
        ui,
        "Fix the mechanical problems",
        "fmt rewrites loose values in strict form and records a revision. git keeps the old text, @1, under\n\
         the id after `was`, and @2 replaces it. Comments and every other byte are preserved.",
    )?;
    demo.run(ui, &["fmt"], 0)?;
    demo.run(ui, &["diff", "market"], 0)
}

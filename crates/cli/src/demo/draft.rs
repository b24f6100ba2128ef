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
    demo.git(&["commit", "--quiet", "-m", "The site as it is"])?;
    demo.begin_chapter(
        ui,
        "Set up",
        "One folder with one configuration file; git sees nothing else.",
    )?;
    demo.trust()?;
    demo.run(ui, &["init"], 0)?;
    demo.show_git(ui, &["status", "--short", "--untracked-files=all"])?;
    demo.write(FILE, FIRST_DRAFT)?;
    demo.begin_chapter(
        ui,
        "A hasty first draft, and it is wrong",
        "The author wrote it with an editor, loosely, as people write. It hardly gives reasons, cites\n\
         no code, and leaves the plan open. And it blames a function that the slow pages never call:\n\
         no program can know that, but a reviewer will. `market` is the start of its id; that is enough.",
    )?;
    demo.run(ui, &["show", "market", "--as", "raw"], 0)?;
    demo.begin_chapter(
        ui,
        "What the judge says",
        "Each finding has a code, which `midstride explain` explains, the line it is about, and a way\n\
         out. --quiet omits hints; warnings and errors give exit code 1, so a hook or CI can stop\n\
         here.",
    )?;
    demo.run(ui, &["check", "--quiet"], 1)?;
    demo.begin_chapter(
        ui,
        "Mend what is mechanical",
        "fmt writes loose values strictly, as a revision: the text that is replaced, @1, is kept in git\n\
         under the id behind `was`, and @2 takes its place. Comments and every other byte stay.",
    )?;
    demo.run(ui, &["fmt"], 0)?;
    demo.run(ui, &["diff", "market"], 0)
}

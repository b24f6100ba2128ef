//! A hasty first draft, what the judge says to it, and what mends itself.

use super::Demo;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;

const FILE: &str = ".midstride/handoffs/market-page-perf.md";
const CODE: &str = include_str!("story/market.py");
const SETTINGS: &str = "PAGE_CACHE_SECONDS = 0\n";
const FIRST_DRAFT: &str = include_str!("story/first-draft.md");

pub(super) fn present(ui: &mut Ui, play: &mut Demo) -> Result<(), Diagnostic> {
    play.git(&["init", "--quiet"])?;
    play.write("app/market.py", CODE)?;
    play.write("app/settings.py", SETTINGS)?;
    play.git(&["add", "."])?;
    play.git(&["commit", "--quiet", "-m", "The site as it is"])?;
    play.begin_chapter(
        ui,
        "Set up",
        "One folder with one configuration file; git sees nothing else.",
    )?;
    play.run(ui, &["init"], 0)?;
    play.show_git(ui, &["status", "--short", "--untracked-files=all"])?;
    play.write(FILE, FIRST_DRAFT)?;
    play.begin_chapter(
        ui,
        "A hasty first draft, and it is wrong",
        "The author wrote it with an editor, loosely, as people write. It hardly gives reasons, cites\n\
         no code, and leaves the plan open. And it blames a function that the slow pages never call:\n\
         no program can know that, but a reviewer will. `market` is the start of its id; that is enough.",
    )?;
    play.run(ui, &["show", "market", "--as", "raw"], 0)?;
    play.begin_chapter(
        ui,
        "What the judge says",
        "Each finding has a code, which `midstride explain` explains, the line it is about, and a way\n\
         out. --quiet leaves advice out; warnings and errors give exit code 1, so a hook or CI can stop\n\
         here.",
    )?;
    play.run(ui, &["check", "--quiet"], 1)?;
    play.begin_chapter(
        ui,
        "Mend what is mechanical",
        "fmt writes loose values strictly, as a revision: the text that is replaced, @1, is kept in git\n\
         under the id behind `was`, and @2 takes its place. Comments and every other byte stay.",
    )?;
    play.run(ui, &["fmt"], 0)?;
    play.run(ui, &["diff", "market"], 0)
}

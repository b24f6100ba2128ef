//! The story of a slow page: a wrong first draft, what the judge says, the mended handoff.

use super::Stage;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;

/// The story plays on one day, whenever it is told.
pub(super) const NOW: &str = "2026-03-21T17:24:00Z";

const CODE: &str = include_str!("story/market.py");
const FIRST_DRAFT: &str = include_str!("story/first-draft.md");
const MENDED: &str = include_str!("story/mended.md");

pub(super) fn tell(ui: &mut Ui, stage: &mut Stage) -> Result<(), Diagnostic> {
    ui.print(
        "A site serves some pages in 14 seconds. Somebody looked into it and has to stop now.\n",
    )?;
    ui.print(
        "What was learned must reach whoever goes on. This plays in a real git repository.\n",
    )?;

    stage.git(&["init", "--quiet"])?;
    stage.write("app/market.py", CODE)?;
    stage.git(&["add", "."])?;
    stage.git(&["commit", "--quiet", "-m", "The site as it is"])?;

    stage.chapter(
        ui,
        "Set up",
        "One folder and one configuration file; nothing else is touched.",
    )?;
    stage.run(ui, &["init"], 0)?;

    stage.chapter(
        ui,
        "A hasty first draft",
        "It blames a function that does not serve the slow pages, gives no reasons, cites nothing,\nand leaves the plan open. The header is written loosely, as people write.",
    )?;
    stage.write(".midstride/handoffs/market-page-perf.md", FIRST_DRAFT)?;
    stage.run(ui, &["show", "market-page-perf"], 0)?;

    stage.chapter(
        ui,
        "What the judge says",
        "Each finding has a code, the line it is about, and a way out. Exit code 1: there are findings.",
    )?;
    stage.run(ui, &["check"], 1)?;

    stage.chapter(ui, "Why is that a finding?", "Every code explains itself.")?;
    stage.run(ui, &["explain", "C001"], 0)?;

    stage.chapter(
        ui,
        "Mend what is mechanical",
        "Loose values are written strictly. Comments and every other byte stay. What needs thought remains.",
    )?;
    stage.run(ui, &["check", "--fix", "--quiet"], 1)?;

    stage.chapter(
        ui,
        "The mended handoff",
        "A review found the right function. The new draft says what was wrong before, cites the code,\nand tells how each step is proven. One question is left, and it blocks.",
    )?;
    stage.write(".midstride/handoffs/market-page-perf.md", MENDED)?;
    stage.run(ui, &["check"], 1)?;
    stage.run(ui, &["show", "market-page-perf", "--section", "wrong_turns"], 0)?;

    stage.chapter(
        ui,
        "The inbox",
        "What the next session sees first: what is open, what blocks, and what to do next.",
    )?;
    stage.run(ui, &[], 0)?;

    ui.print("\nThat was the life of a document up to its first good state.\n")?;
    ui.print("In your own project: midstride init, then midstride new \"what you found out\".\n")?;
    Ok(())
}

//! The story of a slow page: a hasty first draft, what the judge says, the draft after the review.

use super::Play;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;

/// The story plays on one day, whenever it is told.
pub(super) const NOW: &str = "2026-03-21T17:24:00Z";

const FILE: &str = ".midstride/handoffs/market-page-perf.md";
const CODE: &str = include_str!("story/market.py");
const FIRST_DRAFT: &str = include_str!("story/first-draft.md");
const REVIEWED: &str = include_str!("story/reviewed.md");

const OPENING: &str = "\
midstride carries work from one agent session to the next. What was tried, what was wrong and what
to do next is handed over in a handoff: a Markdown file that an agent or a person writes, and that
a program checks.

The story: a site about cities serves some of its market pages in 14 seconds. Somebody looked into
it and has to stop now. It plays in a real git repository in a temporary folder.
";

pub(super) fn tell(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    ui.print(OPENING)?;
    play.git(&["init", "--quiet"])?;
    play.write("app/market.py", CODE)?;
    play.git(&["add", "."])?;
    play.git(&["commit", "--quiet", "-m", "The site as it is"])?;

    set_up(ui, play)?;
    first_draft(ui, play)?;
    mechanical(ui, play)?;
    reviewed(ui, play)?;
    next_session(ui, play)?;
    ui.print("\nThe temporary folder is gone unless you said --keep. In your own project:\n")?;
    ui.print("midstride init, then midstride new \"what you found out\".\n")?;
    Ok(())
}

fn set_up(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.chapter(ui, "Set up", "One folder with one configuration file; git sees nothing else.")?;
    play.run(ui, &["init"], 0)?;
    play.show_git(ui, &["status", "--short", "--untracked-files=all"])
}

fn first_draft(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.write(FILE, FIRST_DRAFT)?;
    play.chapter(
        ui,
        "A hasty first draft",
        "The author wrote it with an editor, loosely, as people write. It hardly gives reasons, cites\n\
         no code, and leaves the plan open.",
    )?;
    play.run(ui, &["show", "market", "--as", "raw"], 0)?;
    play.chapter(
        ui,
        "What the judge says",
        "Each finding has a code, the line it is about, and a way out. --quiet leaves advice out;\n\
         warnings and errors give exit code 1, so a hook or CI can stop here.",
    )?;
    play.run(ui, &["check", "--quiet"], 1)?;
    play.chapter(ui, "Why is that a finding?", "Ask for any code.")?;
    play.run(ui, &["explain", "C001"], 0)
}

fn mechanical(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.git(&["add", ".midstride"])?;
    play.git(&["commit", "--quiet", "-m", "A first draft"])?;
    play.chapter(
        ui,
        "Mend what is mechanical",
        "fmt writes loose values strictly. The difference shows that comments and every other byte\n\
         stay; what needs thought is left to the author.",
    )?;
    play.run(ui, &["fmt"], 0)?;
    play.run(ui, &["diff", "market"], 0)
}

fn reviewed(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.write(FILE, REVIEWED)?;
    play.chapter(
        ui,
        "The draft after a review",
        "The reviewer found that another function serves the slow pages. The author rewrote the\n\
         document: it keeps the wrong turns, cites the code, and says how each step is proven.",
    )?;
    play.run(ui, &["show", "market"], 0)?;
    play.chapter(
        ui,
        "One question is left",
        "The document says what it should. But a part of the plan waits for an answer, and work that\n\
         goes on without it may be thrown away: a warning, until the question is answered.",
    )?;
    play.run(ui, &["check"], 1)
}

fn next_session(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.chapter(
        ui,
        "The inbox",
        "What the next session looks at first: what is open, what blocks, and what to do next.",
    )?;
    play.run(ui, &[], 0)?;
    play.chapter(
        ui,
        "Answered",
        "The answer goes into the document, and the text it replaces is kept. Nothing blocks now, and\n\
         whoever takes the handoff over can carry out the whole plan.",
    )?;
    play.run(ui, &["answer", "market", "q1", "Yes, ten minutes are fine"], 0)?;
    play.run(ui, &["diff", "market", "--words"], 0)?;
    play.run(ui, &["check"], 0)?;
    play.run(ui, &[], 0)
}

//! Demo chapters: the reviews that correct the draft, and the open question.

use super::Demo;
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

const SECOND_DRAFT: &str = include_str!("story/second-draft.md");
const THIRD_DRAFT: &str = include_str!("story/third-draft.md");
const FOURTH_DRAFT: &str = include_str!("story/fourth-draft.md");

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    show_first_review(ui, demo)?;
    show_more_reviews(ui, demo)?;
    show_question(ui, demo)
}

fn show_first_review(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.now = "2026-03-21T18:05:00Z";
    demo.begin_chapter(
        ui,
        "The first review",
        "A reviewer read the code: a different function serves the pages. The corrected draft replaces the\n\
         first one, and the dropped claim stays on record as a wrong turn, so that no session repeats it.\n\
         All of this is one revision, and any revision can be shown by its number.",
    )?;
    demo.write("draft.md", SECOND_DRAFT)?;
    add_review(
        ui,
        demo,
        "the code path",
        &[
            "--dropped",
            "Blaming _fetch_market_data()",
            "--because",
            "The measured pages are served by market_hub()",
            "--instead",
            "Measuring market_hub() itself",
        ],
    )?;
    demo.run(ui, &["show", "market@2", "--section", "root causes"], 0)?;
    demo.run(ui, &["show", "market@3", "--section", "root causes"], 0)
}

fn show_more_reviews(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.now = "2026-03-21T18:12:00Z";
    demo.begin_chapter(
        ui,
        "Two more reviews",
        "The second finds unnecessary work; the third finds a step that would not have helped.",
    )?;
    demo.write("draft.md", THIRD_DRAFT)?;
    add_review(
        ui,
        demo,
        "unnecessary HTMX partials",
        &[
            "--dropped",
            "Loading map and tier counts with HTMX",
            "--because",
            "The map URL is signed locally, so there is no request to defer",
            "--instead",
            "One aggregation query for the counts",
        ],
    )?;
    demo.now = "2026-03-21T18:20:00Z";
    demo.write("draft.md", FOURTH_DRAFT)?;
    add_review(ui, demo, "a synchronous client blocks the event loop even behind HTMX", &[])
}

fn add_review(
    ui: &mut Ui,
    demo: &Demo,
    challenged: &str,
    dropped: &[&str],
) -> Result<(), Diagnostic> {
    let words = ["review", "market", "--by", "code-review", "--challenged", challenged];
    let given = ["--verdict", "corrected", "--body", "draft.md"];
    demo.run(ui, &[&words[..], &given, dropped].concat(), 0)
}

fn show_question(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "The last open question is answered",
        "Part of the plan depends on an answer, and work done before then may have to be thrown away, so\n\
         check warns until the question is answered. After that, nothing is blocked, and the next session\n\
         can implement the whole plan. The session that found all this ended long ago.",
    )?;
    demo.run(ui, &["check", "--quiet"], 1)?;
    demo.now = "2026-03-22T09:00:00Z";
    demo.run(ui, &["answer", "market", "q1", "Yes, ten minutes are fine", "--by", "product"], 0)?;
    demo.run(ui, &["check", "--quiet"], 0)?;
    demo.git(&["add", ".midstride"])?;
    demo.git(&["commit", "--quiet", "-m", "Why market pages are slow"])
}

//! Demo chapters: the next session continues where the other was killed, and finishes the work.

use super::Demo;
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.now = "2026-03-25T06:30:00Z";
    demo.git(&["commit", "--quiet", "-m", "Paginate market pages in the database", "app"])?;
    demo.begin_chapter(
        ui,
        "A claim that no longer holds",
        "The next session measured the pages and committed the fix. The proof command from earlier now shows\n\
         that the old claim is no longer true. Here, that was the goal; otherwise, it would be an early\n\
         warning.",
    )?;
    demo.run(ui, &["verify", "market"], 1)?;
    show_resolution(ui, demo)?;
    show_history(ui, demo)
}

fn show_resolution(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "Resolved",
        "Resolving requires an existing commit or an outcome. The handoff keeps the measurements from before\n\
         and after the work.",
    )?;
    demo.run(ui, &["resolve", "market"], 2)?;
    demo.run(ui, &["resolve", "market", "--commit", "feedbee"], 2)?;
    demo.show_git(ui, &["log", "-1", "--format=%an: %s"])?;
    let measured = [
        "Tokyo=381:97 ms",
        "Oslo=1180:99 ms",
        "Lisbon=2730:101 ms",
        "Denver=5702:102 ms",
        "Berlin=9466:104 ms",
        "Austin=14290:108 ms",
    ];
    let measured: Vec<&str> = measured.iter().flat_map(|page| ["--measured", *page]).collect();
    let words =
        ["resolve", "market", "--commit", "HEAD", "--outcome", "All three steps are deployed"];
    demo.run(ui, &[&words[..], &measured].concat(), 0)?;
    demo.run(ui, &["resolve", "carry-out", "--commit", "HEAD"], 0)
}

fn show_history(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    demo.begin_chapter(
        ui,
        "The whole story",
        "A handoff that was never revised might still be wrong. This one was challenged four times and\n\
         corrected three times. Nothing is lost: even the hasty draft is still there.",
    )?;
    demo.run(ui, &["show", "market", "--history"], 0)?;
    demo.run(ui, &["show", "market@1", "--section", "plan"], 0)?;
    demo.run(ui, &[], 0)
}

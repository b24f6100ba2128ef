//! The story of a slow page: a wrong first draft, the reviews that corrected it, and the session that
//! carried it out four days later.

use super::Play;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;

/// The story begins on this day, whenever it is told.
pub(super) const FIRST_DAY: &str = "2026-03-21T17:24:00Z";

const FILE: &str = ".midstride/handoffs/market-page-perf.md";
const CODE: &str = include_str!("story/market.py");
const CODE_FIXED: &str = include_str!("story/market-fixed.py");
const CODE_MOVED: &str = include_str!("story/market-moved.py");
const FIRST_DRAFT: &str = include_str!("story/first-draft.md");
const SECOND_DRAFT: &str = include_str!("story/second-draft.md");
const THIRD_DRAFT: &str = include_str!("story/third-draft.md");
const FOURTH_DRAFT: &str = include_str!("story/fourth-draft.md");

const OPENING: &str = "\
midstride carries work from one agent session to the next. What was tried, what was wrong and what
to do next is handed over in a handoff: a Markdown file that an agent or a person writes, and that
a program checks.

The story: a site about cities needs up to 14 seconds for a market page. A session looked into it,
wrote down what it found, and ended. Another session will mend it. It plays in a real git repository
in a temporary folder. Every command below is run there, and what it prints is what you see; the
files that people write in between, their names and the clock are the story's.
";

pub(super) fn tell(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    ui.print(OPENING)?;
    play.git(&["init", "--quiet"])?;
    play.write("app/market.py", CODE)?;
    play.git(&["add", "."])?;
    play.git(&["commit", "--quiet", "-m", "The site as it is"])?;

    set_up(ui, play)?;
    first_draft(ui, play)?;
    reviews(ui, play)?;
    what_changed(ui, play)?;
    answered(ui, play)?;
    four_days_later(ui, play)?;
    still_so(ui, play)?;
    carried_out(ui, play)?;
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
        "A hasty first draft, and it is wrong",
        "The author wrote it with an editor, loosely, as people write. It hardly gives reasons, cites\n\
         no code, and leaves the plan open. And it blames a function that the slow pages never call:\n\
         no program can know that, but a reviewer will. `market` is the start of its id; that is enough.",
    )?;
    play.run(ui, &["show", "market", "--as", "raw"], 0)?;
    play.chapter(
        ui,
        "What the judge says",
        "Each finding has a code, the line it is about, and a way out. --quiet leaves advice out;\n\
         warnings and errors give exit code 1, so a hook or CI can stop here.",
    )?;
    play.run(ui, &["check", "--quiet"], 1)?;
    play.run(ui, &["explain", "C001"], 0)?;
    play.chapter(
        ui,
        "Mend what is mechanical",
        "fmt writes loose values strictly, as a revision: the text that is replaced, @1, is kept in git\n\
         under the id behind `was`, and @2 takes its place. Comments and every other byte stay.",
    )?;
    play.run(ui, &["fmt"], 0)?;
    play.run(ui, &["diff", "market"], 0)
}

fn reviews(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.now = "2026-03-21T18:05:00Z";
    play.chapter(
        ui,
        "The first review",
        "A reviewer read the code: the pages are served by another function. The corrected draft takes\n\
         the place of the first one, and what was dropped stays on record as a wrong turn, so that\n\
         nobody has to walk into it again. All of it is one revision.",
    )?;
    play.write("draft.md", SECOND_DRAFT)?;
    review(
        ui,
        play,
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
    play.run(ui, &["show", "market@2", "--section", "root causes"], 0)?;
    play.run(ui, &["show", "market@3", "--section", "root causes"], 0)?;
    play.now = "2026-03-21T18:12:00Z";
    play.chapter(
        ui,
        "Two more reviews",
        "The second one finds work that is not needed, the third a step that would not have helped.",
    )?;
    play.write("draft.md", THIRD_DRAFT)?;
    review(
        ui,
        play,
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
    play.now = "2026-03-21T18:20:00Z";
    play.write("draft.md", FOURTH_DRAFT)?;
    review(ui, play, "a synchronous client blocks the event loop even behind HTMX", &[])
}

fn review(ui: &mut Ui, play: &Play, challenged: &str, dropped: &[&str]) -> Result<(), Diagnostic> {
    let words = ["review", "market", "--by", "code-review", "--challenged", challenged];
    let given = ["--verdict", "corrected", "--body", "draft.md"];
    play.run(ui, &[&words[..], &given, dropped].concat(), 0)
}

fn what_changed(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.chapter(
        ui,
        "What a review changed",
        "Every text can be shown and compared by its number. This is the last correction, word by\n\
         word: [-taken out-] and {+put in+}.",
    )?;
    play.run(ui, &["diff", "market@4", "market@5", "--words"], 0)?;
    play.chapter(
        ui,
        "One question is left",
        "The document says what it should. But a part of the plan waits for an answer, and work that\n\
         goes on without it may be thrown away: a warning, until the question is answered.",
    )?;
    play.run(ui, &["check", "--quiet"], 1)
}

fn answered(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.now = "2026-03-22T09:00:00Z";
    play.chapter(
        ui,
        "Answered",
        "The answer goes into the document. Nothing blocks now: whoever takes the handoff over can\n\
         carry out the whole plan. The session that found all this out has long ended.",
    )?;
    play.run(ui, &["answer", "market", "q1", "Yes, ten minutes are fine", "--by", "product"], 0)?;
    play.run(ui, &["check", "--quiet"], 0)?;
    play.git(&["add", ".midstride"])?;
    play.git(&["commit", "--quiet", "-m", "Why market pages are slow"])
}

fn four_days_later(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.now = "2026-03-23T10:00:00Z";
    play.write("app/market.py", CODE_MOVED)?;
    play.git(&["commit", "--quiet", "-m", "Log what the market pages do", "app"])?;
    play.user = "implementer";
    play.now = "2026-03-25T05:00:00Z";
    play.chapter(
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

fn still_so(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.chapter(
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
    play.run(ui, &["check", "--quiet"], 0)?;
    play.run(ui, &["show", "market", "--section", "root causes"], 0)?;
    play.chapter(
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

fn carried_out(ui: &mut Ui, play: &mut Play) -> Result<(), Diagnostic> {
    play.write("app/market.py", CODE_FIXED)?;
    play.git(&["commit", "--quiet", "-m", "Paginate market pages in the database", "app"])?;
    play.now = "2026-03-25T06:30:00Z";
    play.chapter(
        ui,
        "A claim that broke",
        "The session changed the code and committed it. The same command shows now that the old claim\n\
         holds no longer: here that is what was wanted; anywhere else it is a warning in time.",
    )?;
    play.run(ui, &["verify", "market"], 1)?;
    play.chapter(
        ui,
        "Resolved",
        "The same six pages were measured again. That it is done is not taken for granted: resolving\n\
         wants a commit that exists, or an outcome. The numbers before and after stay with it.",
    )?;
    play.run(ui, &["resolve", "market"], 2)?;
    play.run(ui, &["resolve", "market", "--commit", "feedbee"], 2)?;
    play.show_git(ui, &["log", "-1", "--format=%an: %s"])?;
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
    play.run(ui, &[&words[..], &measured].concat(), 0)?;
    play.chapter(
        ui,
        "The whole story",
        "A handoff without revisions might be wrong; this one was challenged four times, and three times\n\
         corrected. Nothing of it is lost; even the hasty draft is still there.",
    )?;
    play.run(ui, &["show", "market", "--history"], 0)?;
    play.run(ui, &["show", "market@1", "--section", "plan"], 0)?;
    play.run(ui, &[], 0)
}

//! The story of the demo, about a slow page: a wrong first draft, the reviews that correct it, a
//! session that is killed while it does the work, and one that finishes it.

use super::{Demo, draft, follow_up, recovery, resolution, reviews};
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

/// The date on which the story starts, so that the output is always the same.
pub(super) const FIRST_DAY: &str = "2026-03-21T17:24:00Z";

const OPENING: &str = "\
midstride hands work from one agent session to the next in a handoff: a Markdown file that an agent
or the user writes and midstride checks. It says what was tried, what was wrong and what to do next.

The story: a site about cities takes up to 14 seconds to serve a market page. A session
investigated it, recorded its findings, and ended. Another session starts the fix and is killed. The
demo runs in a real git repository in a temporary folder. The commands below and their output are
real; the files, the transcript, the names and the clock are made up.
";

pub(super) fn present(ui: &mut Ui, demo: &mut Demo) -> Result<(), Diagnostic> {
    ui.print(OPENING)?;
    draft::present(ui, demo)?;
    reviews::present(ui, demo)?;
    follow_up::present(ui, demo)?;
    recovery::present(ui, demo)?;
    resolution::present(ui, demo)?;
    ui.print(
        "\nThe temporary folder is deleted unless you passed --keep. Your turn: midstride setup\n",
    )?;
    Ok(())
}

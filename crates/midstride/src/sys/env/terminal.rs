//! What the environment says about the terminal: the user's editor and pager, and what it can do. Only
//! variables and the user's own configuration of git can name a program, never a repository.
#![expect(clippy::disallowed_methods, reason = "part of the module that reads the environment")]

use super::{Environment, Variables};
use crate::sys::git;
use std::io::IsTerminal as _;

/// The editor where nothing names one.
const USUAL_EDITOR: &str = "vi";
/// The variables that name the pager, by priority.
const PAGER_VARIABLES: [&str; 2] = ["MIDSTRIDE_PAGER", "PAGER"];
/// The pager where no variable names one: exits if the text fits, keeps colors and the screen.
const USUAL_PAGER: &str = "less -FRX";

impl Environment {
    /// The command of the user's editor: `VISUAL`, `EDITOR`, git's `core.editor`, or at a terminal vi.
    pub fn editor(&self) -> Option<String> {
        let of_git = || match self.variables {
            Variables::Process => git::user_editor(),
            Variables::Fixed(_) => None,
        };
        let usual = || can_edit().then(|| USUAL_EDITOR.to_owned());
        self.editor.clone().or_else(of_git).or_else(usual)
    }
}

/// The command of the user's pager. `None` if the variable is blank or `cat`, as in git.
pub fn pager() -> Option<String> {
    let named = PAGER_VARIABLES.iter().find_map(|name| std::env::var(name).ok());
    let pager = named.unwrap_or_else(|| USUAL_PAGER.to_owned());
    (!matches!(pager.trim(), "" | "cat")).then_some(pager)
}

/// The width that the user set for the output.
pub fn chosen_width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.trim().parse().ok()?;
    (columns > 0).then_some(columns)
}

/// Whether an editor can use the terminal.
fn can_edit() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !is_terminal_dumb()
}

/// Whether the terminal cannot move the cursor.
pub fn is_terminal_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|name| name == "dumb")
}

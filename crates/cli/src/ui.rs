//! The terminal: data goes to standard output, talk to standard error, colour where it is seen.

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};
use std::process::ExitCode;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Where a command speaks.
#[derive(Debug)]
pub(crate) struct Ui {
    out: AutoStream<Stdout>,
    err: AutoStream<Stderr>,
}

impl Ui {
    pub(crate) fn new(color: Color) -> Self {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self {
            out: AutoStream::new(io::stdout(), choice),
            err: AutoStream::new(io::stderr(), choice),
        }
    }

    /// How wide the terminal is, where there is one.
    pub(crate) fn width() -> Option<usize> {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width))
    }

    /// Whether a person sits at the terminal.
    pub(crate) fn is_watched() -> bool {
        io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// Prints data.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Writes bytes as they are.
    pub(crate) fn write_bytes(bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Prints a value as JSON.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print(&format!("{text}\n"))
    }

    /// Asks the person at the terminal; anything but yes is no.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<bool> {
        write!(self.err, "{question} [y/N] ")?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows what is going on in one line that comes and goes, where somebody sees it.
    pub(crate) fn busy(text: &str) {
        const CLEAR_LINE: &str = "\r\u{1b}[2K";
        if io::stderr().is_terminal() {
            // Nothing depends on it.
            let _ = write!(io::stderr(), "{CLEAR_LINE}{text}");
            let _ = io::stderr().flush();
        }
    }

    /// Shows how far long work has come, where somebody looks; done, it is wiped away.
    pub(crate) fn progress(&mut self, what: &str, done: usize, all: usize) {
        const WIDTH: usize = 30;
        if !io::stderr().is_terminal() || all == 0 {
            return;
        }
        let filled = done * WIDTH / all;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
        // Work goes on whether or not it can be shown.
        let _ = if done < all {
            write!(self.err, "\r{what} {bar} {done}/{all}")
        } else {
            write!(self.err, "\r\u{1b}[2K")
        };
        let _ = self.err.flush();
    }

    /// Says something about what happened.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "{text}")
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well: exit 0.
    Clean,
    /// Something was found: exit 1.
    Findings,
    /// Part of it could not run: exit 2.
    Incomplete,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
            Outcome::Incomplete => 2,
        })
    }
}

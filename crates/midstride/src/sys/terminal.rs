//! The terminal of this process, whatever its standard input and output are.
#![expect(clippy::disallowed_methods, reason = "the one module that opens the terminal")]

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};

/// The controlling terminal.
#[derive(Debug)]
pub(crate) struct Terminal(File);

impl Terminal {
    /// Opens the terminal. Fails if the process has none.
    pub(crate) fn open() -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").map(Self)
    }

    /// Shows a line.
    pub(crate) fn show(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.0, "{line}")
    }

    /// Shows a question and returns the line that the user types, trimmed.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<String> {
        write!(self.0, "{question} ")?;
        let mut answer = String::new();
        // A terminal gives one line at a time, so nothing is lost with the buffer.
        BufReader::new(&self.0).read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }
}

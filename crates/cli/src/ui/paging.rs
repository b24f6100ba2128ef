//! The pager: long output of a command that prints to read. What is printed is kept until the command
//! is done, then the pager replaces the program. Texts are redacted and sanitized before they come here.

use super::{CliOutcome, Ui};
use anstream::ColorChoice;
use midstride::sys::env::{Environment, is_terminal_dumb, pager};
use midstride::sys::files::ScratchFolder;
use midstride::sys::process;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// The output of a command so far, in its order.
#[derive(Debug)]
pub(super) struct PagedOutput {
    pager: String,
    parts: Vec<PagedChunk>,
}

#[derive(Debug)]
struct PagedChunk {
    bytes: Vec<u8>,
    is_message: bool,
}

impl PagedOutput {
    pub(super) fn push_data(&mut self, bytes: &[u8]) {
        self.parts.push(PagedChunk { bytes: bytes.to_owned(), is_message: false });
    }

    pub(super) fn push_message(&mut self, bytes: &[u8]) {
        self.parts.push(PagedChunk { bytes: bytes.to_owned(), is_message: true });
    }
}

impl Ui {
    /// Sends what follows to the user's pager if it turns out to be long. An agent at a terminal gets
    /// no pager, because it would wait for keys.
    pub(crate) fn start_paging(&mut self, environment: &Environment) {
        self.paged =
            usable_pager(environment).map(|pager| PagedOutput { pager, parts: Vec::new() });
    }

    /// Shows a text line by line as it is, before the command continues: in the user's pager if it is
    /// long, else on standard error.
    pub(crate) fn show_lines(&mut self, environment: &Environment, text: &str) -> io::Result<()> {
        let text = format!("{}\n", self.visible(text.trim_end()));
        let pager = usable_pager(environment).filter(|_| is_long(text.as_bytes()));
        if let Some(pager) = pager
            && let Ok(file) = ScratchFolder::unlisted_file(text.as_bytes())
            && process::page_and_wait(&pager, file).is_ok()
        {
            return Ok(());
        }
        self.err.write_all(text.as_bytes())
    }

    /// Shows what was kept for the pager. The pager replaces this process and ends with this status.
    pub(crate) fn finish(&mut self, status: CliOutcome) -> ExitCode {
        if let Some(PagedOutput { pager, parts }) = self.paged.take() {
            let text = self.terminal_bytes(&parts);
            // If the file cannot be written, or there is no shell, the text is printed.
            if is_long(&text)
                && let Ok(file) = ScratchFolder::unlisted_file(&text)
            {
                self.write_messages_elsewhere(&parts);
                let _ = process::page(&pager, file, status.code());
            }
            for part in &parts {
                // If the stream is closed, the exit code is all that is left.
                let _ = match part.is_message {
                    true => self.err.write_all(&part.bytes),
                    false => self.out.write_all(&part.bytes),
                };
            }
            let _ = self.out.flush();
        }
        status.into()
    }

    /// What the terminal shows: the data, and the messages unless they go elsewhere.
    fn terminal_bytes(&self, parts: &[PagedChunk]) -> Vec<u8> {
        let shows_messages = io::stderr().is_terminal();
        let shown = parts.iter().filter(|part| !part.is_message || shows_messages);
        let text: Vec<u8> = shown.flat_map(|part| part.bytes.iter().copied()).collect();
        match self.out.current_choice() {
            ColorChoice::Never => anstream::adapter::strip_bytes(&text).into_vec(),
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => text,
        }
    }

    /// Writes the messages to standard error if that is no terminal.
    fn write_messages_elsewhere(&mut self, parts: &[PagedChunk]) {
        if io::stderr().is_terminal() {
            return;
        }
        for part in parts.iter().filter(|part| part.is_message) {
            // If the stream is closed, the rest still goes to the pager.
            let _ = self.err.write_all(&part.bytes);
        }
    }
}

/// The user's pager, unless there is no terminal for it.
fn usable_pager(environment: &Environment) -> Option<String> {
    let has_terminal = io::stdout().is_terminal() && !is_terminal_dumb();
    pager().filter(|_| has_terminal && environment.automation().is_none())
}

/// Whether a text does not fit on the terminal. Lines that wrap count as several.
fn is_long(text: &[u8]) -> bool {
    let size = terminal_size::terminal_size_of(io::stdout());
    let Some((terminal_size::Width(width), terminal_size::Height(height))) = size else {
        return false;
    };
    let plain = anstream::adapter::strip_bytes(text).into_vec();
    let plain = String::from_utf8_lossy(&plain);
    let width = usize::from(width).max(1);
    let rows: usize = plain.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    // One line is left for the prompt of the shell.
    rows >= usize::from(height)
}

//! Terminal input and output: data goes to standard output, messages go to standard error, and
//! colors appear only where a terminal shows them.

mod paging;

use anstream::{AutoStream, ColorChoice};
use anstyle::AnsiColor;
use clap::ValueEnum;
use midstride::sys::env::{Environment, chosen_width};
use midstride::workspace::Workspace;
use midstride::workspace::consent::{ConsentError, ConsentQuestion, UserConsent};
use midstride_core::text::redact::{
    CustomRule, Redaction, RedactionRules, RedactionStream, redaction_mark,
};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::json::{JsonAnswer, json_text};
use midstride_surface::text::{escape_json, sanitize};
use midstride_surface::view::{self, shell_word};
use paging::PagedOutput;
use std::cell::OnceCell;
use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};
use std::process::ExitCode;
use std::rc::Rc;

/// Like [`sanitize`], but keeps midstride's own colors. This is the last filter before a terminal,
/// whatever the views let through.
fn sanitize_styled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        out.push_str(&sanitize(&rest[..at]));
        let colour = color_sequence_length(&rest[at..]);
        let end = at + colour.unwrap_or(ESCAPE.len_utf8());
        match colour {
            Some(_) => out.push_str(&rest[at..end]),
            None => out.push(char::REPLACEMENT_CHARACTER),
        }
        rest = &rest[end..];
    }
    out.push_str(&sanitize(rest));
    out
}

const ESCAPE: char = '\u{1b}';

/// The length of the color sequence at the start of a text, if there is one.
fn color_sequence_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inside[end..].starts_with('m').then_some(text.len() - inside.len() + end + 1)
}

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The output streams of a command.
#[derive(Debug)]
pub(crate) struct Ui {
    out: AutoStream<Stdout>,
    err: AutoStream<Stderr>,
    /// Whether JSON was printed to standard output.
    has_answered: bool,
    /// The output so far, if it may go to the pager.
    paged: Option<PagedOutput>,
    redactor: Rc<MessageRedactor>,
}

/// Redacts secrets from messages: by the built-in rules, and by the project's rules once the
/// project is known.
#[derive(Debug, Default)]
pub(crate) struct MessageRedactor {
    project_rules: OnceCell<Vec<CustomRule>>,
    /// The compiled rules. They are built on first use, because most commands never print anything
    /// that has to be redacted.
    compiled: OnceCell<Option<RedactionRules>>,
}

impl MessageRedactor {
    /// Sets the rules of the project. Only the first call counts.
    pub(crate) fn set_project(&self, workspace: &Workspace) {
        let _ = self.project_rules.set(workspace.added_rules().to_vec());
    }

    /// Whether the project is known.
    pub(crate) fn has_project(&self) -> bool {
        self.project_rules.get().is_some()
    }

    /// Redacts the secrets in a text.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.rules().clean(text).0.as_str().to_owned()
    }

    /// Redacts the secrets in a text for the terminal. A color that starts or ends inside a secret
    /// stays.
    fn clean_styled(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for Redaction { kind, at } in self.rules().find(text.as_bytes()) {
            out.push_str(&text[from..at.start]);
            out.push_str(&redaction_mark(&kind));
            let inside = at.slice(text);
            for (escape, _) in inside.match_indices(ESCAPE) {
                let length = color_sequence_length(&inside[escape..]).unwrap_or(0);
                out.push_str(&inside[escape..escape + length]);
            }
            from = at.end;
        }
        out + &text[from..]
    }

    /// Redacts the secrets in each string of a JSON text.
    fn clean_json(&self, json: &str) -> String {
        self.rules().clean_json(json).0.as_str().to_owned()
    }

    /// Redacts the secrets in bytes that may be no text.
    fn clean_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        let mut stream = RedactionStream::new(self.rules());
        stream.push(bytes, &mut clean);
        stream.finish(&mut clean);
        clean
    }

    fn rules(&self) -> &RedactionRules {
        let added = self.project_rules.get().filter(|added| !added.is_empty());
        // The settings were validated with these rules. If they do not compile after all, use the
        // built-in rules.
        let made = added.and_then(|added| {
            self.compiled.get_or_init(|| RedactionRules::with_custom(added).ok()).as_ref()
        });
        made.unwrap_or(RedactionRules::shipped())
    }
}

impl Ui {
    pub(crate) fn new(color: ColorMode) -> Self {
        let choice = match color {
            ColorMode::Auto => ColorChoice::Auto,
            ColorMode::Always => ColorChoice::Always,
            ColorMode::Never => ColorChoice::Never,
        };
        Self {
            out: AutoStream::new(io::stdout(), choice),
            err: AutoStream::new(io::stderr(), choice),
            has_answered: false,
            paged: None,
            redactor: Rc::default(),
        }
    }

    /// The redactor for messages; it learns about the project once that is opened.
    pub(crate) fn redactor(&self) -> Rc<MessageRedactor> {
        Rc::clone(&self.redactor)
    }

    /// Redacts a message, by the project's rules if the project is known.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.redactor.clean(text)
    }

    /// The width of the terminal, if standard output is one: `COLUMNS`, or what the terminal says.
    pub(crate) fn width() -> Option<usize> {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(chosen_width().unwrap_or(usize::from(width)))
    }

    /// Whether a user can be prompted.
    pub(crate) fn is_interactive() -> bool {
        io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// Prints data. Secrets are redacted here once more, because printing removes the invisible
    /// characters that may split one, and joins texts.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        self.write_text(&self.visible(text))
    }

    /// Prints data with long lines, which a terminal gets wrapped between words.
    pub(crate) fn print_wrapped(&mut self, text: &str) -> io::Result<()> {
        let text = self.visible(text);
        match Self::width() {
            Some(width) => self.write_text(&view::wrap_lines(&text, width)),
            None => self.write_text(&text),
        }
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        if let Some(paged) = &mut self.paged {
            paged.push_data(text.as_bytes());
            return Ok(());
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Prints the raw text of a document, with its secrets redacted.
    pub(crate) fn print_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let bytes = self.redactor.clean_bytes(bytes);
        match &mut self.paged {
            Some(paged) => paged.push_data(&bytes),
            None => Self::write_bytes(&bytes)?,
        }
        Ok(())
    }

    /// Writes bytes to standard output unchanged, for the protocols of clients.
    pub(crate) fn write_bytes(bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Prints an answer as JSON, with the name of its schema.
    pub(crate) fn print_json<T: JsonAnswer>(&mut self, answer: &T) -> io::Result<()> {
        let text = json_text(answer).map_err(io::Error::from)?;
        self.print_json_text(&format!("{text}\n"))
    }

    /// Prints JSON whose shape another standard owns, such as SARIF.
    pub(crate) fn print_foreign_json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print_json_text(&format!("{text}\n"))
    }

    /// Prints JSON texts. They stay valid JSON, because each string is redacted separately.
    pub(crate) fn print_json_text(&mut self, json: &str) -> io::Result<()> {
        self.has_answered = true;
        let json = self.redactor.clean_json(json);
        self.write_text(&escape_json(&json))
    }

    /// Asks the user a yes-or-no question; anything but yes is no.
    pub(crate) fn confirm(&mut self, question: &str) -> io::Result<bool> {
        write!(self.err, "{} [y/N] ", self.visible(question))?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks the user at the terminal to agree; `is_answered` if an option does. `None` if they
    /// decline.
    pub(crate) fn ask_consent(
        environment: &Environment,
        question: &str,
        is_answered: bool,
    ) -> Result<Option<UserConsent>, Diagnostic> {
        let text = &sanitize(question);
        let question = ConsentQuestion { text, word: None, is_answered };
        UserConsent::ask(environment, question).map_err(|error| consent_error(environment, error))
    }

    /// Like `ask_consent`, but the user has to type a word.
    pub(crate) fn ask_for_word(
        environment: &Environment,
        question: &str,
        word: &str,
        is_answered: bool,
    ) -> Result<Option<UserConsent>, Diagnostic> {
        let text = &sanitize(question);
        let question = ConsentQuestion { text, word: Some(word), is_answered };
        UserConsent::ask(environment, question).map_err(|error| consent_error(environment, error))
    }

    /// The consent of a user who typed the command at a terminal.
    pub(crate) fn consent_by_presence(
        environment: &Environment,
    ) -> Result<UserConsent, Diagnostic> {
        UserConsent::by_presence(environment).map_err(|error| consent_error(environment, error))
    }

    /// Asks the user for a line; a blank line is `None`.
    pub(crate) fn prompt(&mut self, question: &str) -> io::Result<Option<String>> {
        write!(self.err, "{} ", self.visible(question))?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        let answer = answer.trim();
        Ok((!answer.is_empty()).then(|| answer.to_owned()))
    }

    /// Shows a temporary status line on a terminal.
    pub(crate) fn show_status(text: &str) {
        const CLEAR_LINE: &str = "\r\u{1b}[2K";
        if io::stderr().is_terminal() {
            // The status line is optional, so ignore errors.
            let _ = write!(io::stderr(), "{CLEAR_LINE}{text}");
            let _ = io::stderr().flush();
        }
    }

    /// Shows a progress bar on a terminal and clears it when the work is done.
    pub(crate) fn show_progress(&mut self, what: &str, done: usize, all: usize) {
        const WIDTH: usize = 30;
        if !io::stderr().is_terminal() || all == 0 {
            return;
        }
        let filled = done * WIDTH / all;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
        // Progress is optional, so ignore errors.
        let _ = if done < all {
            write!(self.err, "\r{what} {bar} {done}/{all}")
        } else {
            write!(self.err, "\r\u{1b}[2K")
        };
        let _ = self.err.flush();
    }

    /// Prints a message to standard error.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        let mut line = format!("{}\n", self.visible(text));
        if let Some(width) = Self::width().filter(|_| io::stderr().is_terminal()) {
            line = view::wrap_lines(&line, width);
        }
        if let Some(paged) = &mut self.paged {
            paged.push_message(line.as_bytes());
            return Ok(());
        }
        self.err.write_all(line.as_bytes())
    }

    /// A message without secrets and hidden characters.
    fn visible(&self, text: &str) -> String {
        sanitize_styled(&self.redactor.clean_styled(text))
    }

    /// Prints the error that ends the program and returns the outcome for "could not run".
    /// With `as_json`, the error is the answer on standard output, unless an answer was printed before.
    pub(crate) fn report(&mut self, error: &Diagnostic, as_json: bool) -> CliOutcome {
        if error.is_silent() {
            return CliOutcome::Clean;
        }
        // If the stream is closed, the exit code is all that is left.
        let _ = match as_json && !self.has_answered {
            true => {
                let (code, message) = (error.code().name(), error.message());
                self.print_json(&view::error::json(code, message, error.hints()))
            }
            false => self.print_diagnostic(error, AnsiColor::Red, "error"),
        };
        CliOutcome::Incomplete
    }

    /// Prints a warning about a part that failed; the command continues.
    pub(crate) fn warn(&mut self, warning: &Diagnostic) -> io::Result<()> {
        self.print_diagnostic(warning, AnsiColor::Yellow, "warning")
    }

    /// Prints a message and its hints.
    fn print_diagnostic(
        &mut self,
        diagnostic: &Diagnostic,
        color: AnsiColor,
        name: &str,
    ) -> io::Result<()> {
        let style = color.on_default().bold();
        self.say(&format!("{style}{name}{style:#}: {}", diagnostic.message()))?;
        let style = AnsiColor::Cyan.on_default().bold();
        for hint in diagnostic.hints() {
            self.say(&format!("{style}hint{style:#}: {hint}"))?;
        }
        Ok(())
    }
}

/// Says why the user could not be asked, with the line that they type.
fn consent_error(environment: &Environment, error: ConsentError) -> Diagnostic {
    let line = typed_line(environment);
    let hint = match &error {
        ConsentError::RequiresUser(_) => format!("ask the user to run this in a terminal: {line}"),
        ConsentError::NoTerminal | ConsentError::Terminal(_) | _ => {
            format!("run this in a terminal: {line}")
        }
    };
    Diagnostic::from(error).hint(hint)
}

/// The command as it was typed, for a terminal in any folder. Without `--yes`, so that it asks.
fn typed_line(environment: &Environment) -> String {
    let folder = environment.folder.display().to_string();
    let mut words = vec!["midstride".to_owned(), "-C".to_owned(), shell_word(&folder)];
    let mut typed = std::env::args().skip(1);
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--yes" => {}
            "-C" => drop(typed.next()),
            _ if word.starts_with("-C") => {}
            _ => words.push(shell_word(&word)),
        }
    }
    words.join(" ")
}

/// The outcome of a command, which decides its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliOutcome {
    /// Success: exit 0.
    Clean,
    /// Something was found, or nothing matched: exit 1.
    Findings,
    /// Some of the work could not be done: exit 2.
    Incomplete,
}

impl CliOutcome {
    /// The exit code.
    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Incomplete => 2,
        }
    }

    /// The outcome of a search or filter that matched nothing.
    pub(crate) fn or_nothing_matched(self) -> Self {
        if self == Self::Clean { Self::Findings } else { self }
    }
}

impl From<CliOutcome> for ExitCode {
    fn from(outcome: CliOutcome) -> Self {
        Self::from(outcome.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midstride_core::text::hidden::is_invisible;

    const STEERING: &str = "\u{0}\u{7}\u{8}\r\u{b}\u{1b}\u{7f}\u{80}\u{85}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\u{2029}\u{2066}\u{2069}\u{200b}\u{200d}\u{e0041}";

    #[test]
    fn a_redacted_secret_keeps_the_colors_inside_it() {
        let token = format!("ghp_{}", "a1B2c3".repeat(6));
        let (head, tail) = token.split_at(12);
        let clean = |text: &str| MessageRedactor::default().clean_styled(text);
        assert_eq!(
            clean(&format!("a {head}\u{1b}[1m{tail}\u{1b}[0m b")),
            "a REDACTED-github-token\u{1b}[1m\u{1b}[0m b"
        );
        assert_eq!(
            clean(&format!("a \u{1b}[1m{head}\u{1b}[0m\u{200b}{tail} b")),
            "a \u{1b}[1mREDACTED-github-token\u{1b}[0m b"
        );
    }

    #[test]
    fn only_colors_control_the_terminal() {
        assert!(STEERING.chars().all(is_invisible));
        assert!(!"a\tb\nä日\u{301}".chars().any(is_invisible));
        assert!(!sanitize_styled(STEERING).chars().any(is_invisible));
        assert_eq!(sanitize_styled("a\r\nb\rc"), "a\nb\u{fffd}c");
        assert_eq!(sanitize_styled("\u{1b}[1;32mok\u{1b}[0m"), "\u{1b}[1;32mok\u{1b}[0m");
        for odd in ["\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{1b}[", "\u{1b}[1", "\u{1b}\u{1b}[2K"] {
            assert!(!sanitize_styled(odd).contains(ESCAPE), "{odd:?}");
        }
    }
}

//! Splits command lines into tokens: words without their quotes, operators, redirections, and
//! here-documents.

/// The maximum depth of nested substitutions; anything deeper is plain text.
const DEPTH_MAX: usize = 6;

/// A token of a command line.
#[derive(Clone, Debug)]
pub(super) enum Token {
    Word(ShellWord),
    And,
    Or,
    /// `;`, a newline or `;;`.
    Next,
    /// `&`: the command before it runs in the background.
    Background,
    Pipe,
    Open,
    Close,
    Redirect(Redirect),
}

/// A word, without its quotes.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellWord {
    pub(super) text: String,
    /// As typed.
    pub(super) raw: String,
    /// Whether it has no quotes, escapes or substitutions.
    pub(super) is_plain: bool,
    /// The commands that run inside it: `$(…)`, backticks, `<(…)`.
    pub(super) inner: Vec<Vec<Token>>,
}

/// Where a command writes stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StderrTarget {
    /// Separate from stdout: it is shown, but possibly after the output of later commands.
    #[default]
    Beside,
    /// Into stdout.
    Merged,
    /// Into a file.
    Hidden,
}

/// A redirection of input or output.
#[derive(Clone, Debug, Default)]
pub(super) struct Redirect {
    /// The file that stdout, or all output, is written to.
    pub(super) to: Option<String>,
    /// Where stderr goes, if the redirection says so.
    pub(super) errors: Option<StderrTarget>,
    /// The index of the here-document that is read.
    pub(super) here: Option<usize>,
    /// The text of a here-string.
    pub(super) text: Option<String>,
}

/// A here-document whose body has not been read yet.
struct PendingHereDoc {
    end: String,
    strips_tabs: bool,
    number: usize,
}

/// Tokens of a command line, and the here-documents that they refer to.
pub(super) struct LexedLine {
    pub(super) tokens: Vec<Token>,
    pub(super) bodies: Vec<String>,
}

/// Lexes a command line. There are no errors: anything unclosed ends with the text.
pub(super) fn lex(text: &str) -> LexedLine {
    let mut lexer = Lexer { text, at: 0, depth: 0, awaited: Vec::new(), bodies: Vec::new() };
    let mut tokens = lexer.tokens();
    // An extra `)` closes nothing, so continue after it.
    while lexer.at < text.len() {
        lexer.at += 1;
        tokens.push(Token::Next);
        tokens.append(&mut lexer.tokens());
    }
    LexedLine { tokens, bodies: lexer.bodies }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    awaited: Vec<PendingHereDoc>,
    bodies: Vec<String>,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn starts(&self, with: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(with.as_bytes())
    }

    /// Reads tokens up to a `)` that was not opened here, and leaves that `)`.
    fn tokens(&mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.starts("\\\n") => self.at += 2,
                b'\n' => {
                    self.at += 1;
                    self.read_bodies();
                    tokens.push(Token::Next);
                }
                b'#' => self.skip_to(b'\n'),
                b')' if open == 0 => break,
                b')' => {
                    open -= 1;
                    self.at += 1;
                    tokens.push(Token::Close);
                }
                b'(' => {
                    open += 1;
                    self.at += 1;
                    tokens.push(Token::Open);
                }
                _ => {
                    let token = self.operator().unwrap_or_else(|| self.word_or_redirect());
                    tokens.push(token);
                }
            }
        }
        tokens
    }

    fn skip_to(&mut self, byte: u8) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|at| *at == byte).unwrap_or(rest.len());
    }

    fn operator(&mut self) -> Option<Token> {
        let table = [
            ("&&", Token::And),
            ("||", Token::Or),
            (";;", Token::Next),
            (";", Token::Next),
            ("|&", Token::Pipe),
            ("|", Token::Pipe),
        ];
        for (mark, token) in table {
            if self.starts(mark) {
                self.at += mark.len();
                return Some(token);
            }
        }
        if self.starts("&") && !self.starts("&>") {
            self.at += 1;
            return Some(Token::Background);
        }
        None
    }

    fn word_or_redirect(&mut self) -> Token {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let descriptor = &self.text[start..self.at];
        if matches!(self.peek(), Some(b'<' | b'>')) || self.starts("&>") {
            if self.starts("<(") || self.starts(">(") {
                self.at += 1;
                let mut word = ShellWord::default();
                self.substitution(&mut word);
                word.raw = self.text[start..self.at].to_owned();
                return Token::Word(word);
            }
            return self.redirect(descriptor);
        }
        self.at = start;
        Token::Word(self.word())
    }

    fn redirect(&mut self, descriptor: &str) -> Token {
        let rest = &self.text[self.at..];
        let marks = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];
        let mark = marks.into_iter().find(|mark| rest.starts_with(mark)).unwrap_or(">");
        self.at += mark.len();
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let word = self.word();
        let mut redirect = Redirect::default();
        match mark {
            "<<" | "<<-" => {
                redirect.here = Some(self.bodies.len());
                self.awaited.push(PendingHereDoc {
                    end: word.text,
                    strips_tabs: mark == "<<-",
                    number: self.bodies.len(),
                });
                self.bodies.push(String::new());
            }
            "<<<" => redirect.text = Some(word.text),
            ">&" if !is_descriptor(&word.text) => redirect.to = Some(word.text),
            "&>" | "&>>" => redirect.to = Some(word.text),
            ">" | ">>" | ">|" if matches!(descriptor, "" | "1") => redirect.to = Some(word.text),
            ">" | ">>" | ">|" if descriptor == "2" => redirect.errors = Some(StderrTarget::Hidden),
            ">&" if descriptor == "2" && word.text == "1" => {
                redirect.errors = Some(StderrTarget::Merged);
            }
            _ => {}
        }
        Token::Redirect(redirect)
    }

    fn read_bodies(&mut self) {
        for awaited in std::mem::take(&mut self.awaited) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let line = rest.split('\n').next().unwrap_or_default();
                let bare = if awaited.strips_tabs { line.trim_start_matches('\t') } else { line };
                let after = bare.strip_prefix(awaited.end.as_str());
                // Shells also end a body inside `$(…)` at `EOF)`, with a warning.
                if after.is_some_and(|after| after.trim_end().is_empty() || after.starts_with(')'))
                {
                    self.at += line.len() - after.map_or(0, str::len);
                    break;
                }
                body.push_str(bare);
                body.push('\n');
                self.at = (self.at + line.len() + 1).min(self.text.len());
            }
            if let Some(slot) = self.bodies.get_mut(awaited.number) {
                *slot = body;
            }
        }
    }

    fn word(&mut self) -> ShellWord {
        let start = self.at;
        let mut bytes = Vec::new();
        let mut word = ShellWord { is_plain: true, ..ShellWord::default() };
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if bytes.ends_with(b"=") => {
                    // An array: only substitutions in it run, and they are rare.
                    self.skip_to(b')');
                    self.at = (self.at + 1).min(self.text.len());
                    word.is_plain = false;
                }
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' => {
                    break;
                }
                b'\'' => {
                    self.at += 1;
                    let from = self.at;
                    self.skip_to(b'\'');
                    bytes.extend_from_slice(&self.text.as_bytes()[from..self.at]);
                    self.at = (self.at + 1).min(self.text.len());
                    word.is_plain = false;
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut word, &mut bytes);
                    word.is_plain = false;
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'\n') | None => {}
                        Some(escaped) => bytes.push(escaped),
                    }
                    self.at = (self.at + 1).min(self.text.len());
                    word.is_plain = false;
                }
                b'$' | b'`' => {
                    self.expansion(&mut word, &mut bytes);
                    word.is_plain = false;
                }
                _ => self.take_while(is_plain_byte, &mut bytes),
            }
        }
        if self.at == start {
            // Skip an unexpected byte, so that the loop advances.
            self.at += 1;
        }
        let end = self.text.ceil_char_boundary(self.at);
        self.at = end;
        word.raw = self.text[start..end].to_owned();
        word.text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        word
    }

    /// Appends the bytes up to the first one that is not plain.
    fn take_while(&mut self, is_plain: impl Fn(u8) -> bool, bytes: &mut Vec<u8>) {
        let rest = &self.text.as_bytes()[self.at..];
        let run = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
        bytes.extend_from_slice(&rest[..run]);
        self.at += run;
    }

    fn double_quoted(&mut self, word: &mut ShellWord, bytes: &mut Vec<u8>) {
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'\n') | None => {}
                        Some(escaped @ (b'"' | b'\\' | b'$' | b'`')) => bytes.push(escaped),
                        Some(other) => bytes.extend([b'\\', other]),
                    }
                    self.at = (self.at + 1).min(self.text.len());
                }
                b'$' | b'`' => self.expansion(word, bytes),
                _ => self.take_while(|byte| !matches!(byte, b'"' | b'\\' | b'$' | b'`'), bytes),
            }
        }
    }

    /// Reads `$(…)`, `${…}`, `$((…))`, `$'…'`, `$name`, or a backtick.
    fn expansion(&mut self, word: &mut ShellWord, bytes: &mut Vec<u8>) {
        let start = self.at;
        if self.starts("`") {
            self.at += 1;
            let from = self.at;
            self.skip_to(b'`');
            if self.depth < DEPTH_MAX {
                // Drop its redirections: their here-documents belong to the inner lexer.
                let inner = lex(&self.text[from..self.at]).tokens.into_iter();
                word.inner.push(inner.filter(|one| !matches!(one, Token::Redirect(_))).collect());
            }
            self.at = (self.at + 1).min(self.text.len());
        } else if self.starts("$((") {
            self.skip_past("))");
        } else if self.starts("$(") {
            self.at += 1;
            if let Some(body) = self.substitution(word) {
                bytes.extend_from_slice(body.trim_end_matches('\n').as_bytes());
                return;
            }
        } else if self.starts("${") {
            self.skip_past("}");
        } else if self.starts("$'") {
            self.at += 2;
            self.skip_to(b'\'');
            let inside = &self.text.as_bytes()[(start + 2).min(self.at)..self.at];
            bytes.extend_from_slice(inside);
            self.at = (self.at + 1).min(self.text.len());
            return;
        } else {
            self.at += 1;
        }
        bytes.extend_from_slice(&self.text.as_bytes()[start..self.at]);
    }

    fn skip_past(&mut self, end: &str) {
        let rest = &self.text[self.at..];
        self.at += rest.find(end).map_or(rest.len(), |at| at + end.len());
    }

    /// Reads a substitution in parentheses, which runs separately. Returns the text if it is `cat`
    /// of a here-document.
    fn substitution(&mut self, word: &mut ShellWord) -> Option<String> {
        self.at += 1;
        if self.depth >= DEPTH_MAX {
            self.skip_past(")");
            return None;
        }
        self.depth += 1;
        let tokens = self.tokens();
        self.depth -= 1;
        self.at = (self.at + 1).min(self.text.len());
        let mut meant = tokens.iter().filter(|token| !matches!(token, Token::Next));
        if let (Some(Token::Word(cat)), Some(Token::Redirect(from)), None) =
            (meant.next(), meant.next(), meant.next())
            && cat.text == "cat"
            && let Some(number) = from.here
        {
            return self.bodies.get(number).cloned();
        }
        word.inner.push(tokens);
        None
    }
}

/// Whether a byte outside quotes has no special meaning.
fn is_plain_byte(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t'
            | b'\r'
            | b'\n'
            | b';'
            | b'|'
            | b'&'
            | b'<'
            | b'>'
            | b'('
            | b')'
            | b'\''
            | b'"'
            | b'\\'
            | b'$'
            | b'`'
    )
}

fn is_descriptor(text: &str) -> bool {
    text == "-" || text.bytes().all(|byte| byte.is_ascii_digit())
}

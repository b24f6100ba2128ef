//! Text as it reads on a terminal: without the sequences that colour it, move about or set titles.

use std::iter::Peekable;
use std::str::Chars;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
/// Ends a string that a terminal keeps to itself.
const STRING_END: char = '\u{9c}';

/// A text without escape sequences. One that never ends takes its line with it, not the rest.
pub fn strip_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ESCAPE => skip_escape(&mut rest),
            '\u{9b}' => skip_control(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            _ => out.push(c),
        }
    }
    out
}

/// What follows an escape character.
fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(_) => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        None => {}
    }
}

/// `31;1m`: parameters, what is between, and one letter. Anything else ends it and is text.
fn skip_control(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, '0'..='?')).is_some() {}
    while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// A title, a link or the like, up to its end or that of the line.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        match c {
            BELL | STRING_END => return,
            ESCAPE => return skip_escape(rest),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_no_text() {
        for (text, reads) in [
            ("12 ms\n", "12 ms\n"),
            ("\u{1b}[32m12 ms\u{1b}[0m\n", "12 ms\n"),
            ("\u{1b}[38;2;1;2;3mred\u{1b}[m", "red"),
            ("\u{1b}[?25l\u{1b}[2K\u{1b}[1;1Hx", "x"),
            ("\u{9b}1mbold\u{9b}m", "bold"),
            ("\u{1b}]0;title 7\u{7}x", "x"),
            ("\u{1b}]8;;https://a.b/9\u{1b}\\link\u{1b}]8;;\u{1b}\\ end", "link end"),
            ("\u{9d}0;title 7\u{9c}x", "x"),
            ("\u{1b}Pq#1\u{1b}\\x\u{1b}_y\u{1b}\\z", "xz"),
            ("\u{1b}(B\u{1b}=\u{1b}7x\u{1b}8", "x"),
            ("\u{1b}[1 qx", "x"),
            // Unterminated.
            ("x\u{1b}", "x"),
            ("x\u{1b}[", "x"),
            ("x\u{1b}[31", "x"),
            ("\u{1b}[31\nnext 5", "\nnext 5"),
            ("\u{1b}]0;title\nmedian 12", "\nmedian 12"),
            ("x\u{1b}]0;title", "x"),
            ("\u{1b}]0;a\u{1b}[31mb", "b"),
            ("\u{1b}[3\u{1b}[4mx", "x"),
            ("\u{1b}[1ä", "ä"),
            ("\u{1b}ä", "ä"),
            ("\u{1b}\u{1b}[1mx", "x"),
        ] {
            assert_eq!(strip_escapes(text), reads, "{text:?}");
        }
    }
}

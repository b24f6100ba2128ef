//! Strips terminal escape sequences, such as colors, cursor movement and titles.

use std::iter::Peekable;
use std::str::Chars;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
/// Ends a control string, such as a title.
const STRING_END: char = '\u{9c}';

/// A text without escape sequences. An unterminated sequence ends at the end of its line.
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

/// Skips the rest of a sequence after its escape character.
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

/// Skips a control sequence such as `31;1m`: parameters, intermediate bytes and a final byte. A
/// character that does not fit is text.
fn skip_control(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, '0'..='?')).is_some() {}
    while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips a control string, such as a title or a link, up to its terminator or the end of the line.
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
    fn escape_sequences_are_stripped() {
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

//! Invisible characters, and characters that change how other text is displayed.
//!
//! This is the only table of them. Terminal output, briefings and HTML pages all use it.

/// The character that replaces a hidden character.
pub(crate) const HIDDEN_MARK: char = char::REPLACEMENT_CHARACTER;

/// Whether a character only affects how letters are shaped or joined. Removing it loses nothing.
pub(crate) fn is_shaping_hint(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200D
        | 0x2060 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0)
}

/// Whether a character is invisible or changes how other text is displayed: controls, bidi
/// controls, annotations, tags, selectors, private-use characters, and line separators that not
/// every program treats as line breaks.
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    c.is_control()
        || code & 0xFFFE == 0xFFFE
        || matches!(code,
            0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x8E2 | 0x200E..=0x200F | 0x2028..=0x202E
            | 0x2061..=0x206F | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xFFF0..=0xFFFB | 0x110BD
            | 0x110CD | 0x13430..=0x1345F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
            | 0xE0000..)
}

/// Whether a character of a multi-line text is invisible. Line breaks and tabs count as visible.
pub fn is_invisible(c: char) -> bool {
    !matches!(c, '\n' | '\t') && (is_hidden(c) || is_shaping_hint(c))
}

/// Makes every character of a multi-line text visible: replaces hidden characters with
/// `HIDDEN_MARK` and removes shaping hints.
pub fn visible_text(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let shown = |c: char| match c {
        '\n' | '\t' => Some(c),
        c if is_shaping_hint(c) => None,
        c => Some(if is_hidden(c) { HIDDEN_MARK } else { c }),
    };
    text.chars().filter_map(shown).collect()
}

/// Like [`visible_text`], but also replaces line breaks and tabs, so that one line remains.
pub fn visible_line(text: &str) -> String {
    visible_text(text).replace(['\n', '\t'], &HIDDEN_MARK.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_text_has_no_invisible_characters() {
        assert_eq!(visible_text("a\tb\r\nä日e\u{301} 👍🏽"), "a\tb\nä日e\u{301} 👍🏽");
        assert_eq!(
            visible_text("a\u{1b}[2K\u{7}\rb\u{202e}c\u{2028}"),
            "a\u{fffd}[2K\u{fffd}\u{fffd}b\u{fffd}c\u{fffd}"
        );
        assert_eq!(visible_text("a\u{200b}b\u{e0041}c\u{feff}"), "ab\u{fffd}c");
        assert_eq!(visible_line("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
        let every: String = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
        assert!(!visible_text(&every).chars().any(is_invisible));
    }
}

//! Text that is safe to print: none of its characters controls the terminal.

use midstride_core::text::hidden::{self, is_invisible};
use midstride_core::text::redact::CleanText;

/// Makes hidden characters visible, so that nothing in the text controls the terminal. A secret that
/// they split is redacted first: without them, it would be whole.
pub fn sanitize(text: &str) -> String {
    match text.contains(is_invisible) {
        true => hidden::visible_text(CleanText::redact(text).0.as_str()),
        false => hidden::visible_text(text),
    }
}

/// Escapes characters in JSON that would control the terminal. The JSON keeps its meaning.
pub fn escape_json(json: &str) -> String {
    let mut units = [0; 2];
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match is_invisible(c) {
            true => c.encode_utf16(&mut units).iter().for_each(|unit| {
                out.push_str(&format!("\\u{unit:04x}"));
            }),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEERING: &str = "\u{0}\u{7}\u{8}\r\u{b}\u{1b}\u{7f}\u{80}\u{85}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\u{2029}\u{2066}\u{2069}\u{200b}\u{200d}\u{e0041}";

    #[test]
    fn a_secret_is_not_joined_by_making_text_visible() {
        // The first two end a word, the others take the next letter with them.
        let others = ['\r', '\u{b}', '\u{1b}', '\u{9b}'];
        for hidden in STEERING.chars().filter(|c| !others.contains(c)) {
            let text = format!("a ghp_u8jzP{hidden}de0IgxLd6GncfBAepfJBd0Kh8oOOL8d b");
            assert_eq!(sanitize(&text), "a REDACTED-github-token b", "{hidden:?}");
        }
    }

    #[test]
    fn escaped_json_keeps_its_meaning() {
        let json = serde_json::to_string(STEERING).unwrap();
        let shown = escape_json(&json);
        assert!(!shown.chars().any(is_invisible), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), STEERING);
    }
}

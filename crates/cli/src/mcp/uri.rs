//! URIs: the file URIs that clients use for their roots, and the URIs of this server's resources.

use std::path::PathBuf;

/// The prefix of handoff URIs.
pub(super) const HANDOFF: &str = "midstride://handoff/";
/// The URI of the briefing.
pub(super) const BRIEFING: &str = "midstride://briefing";

/// The local path of a `file:` URI.
pub(super) fn file_path(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    path.starts_with('/').then(|| decode(path)).flatten().map(PathBuf::from)
}

/// Percent-encodes a name.
pub(super) fn encode(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte);
    let shown =
        |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(shown).collect()
}

/// Decodes a percent-encoded name; `None` if the result is not UTF-8.
pub(super) fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let digits = escaped.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_encoding_and_decoding() {
        for name in ["market", "feat-042/request@2", "a b%20c", "ä/日", "..%2f"] {
            assert_eq!(decode(&encode(name)).as_deref(), Some(name));
        }
        assert_eq!(decode("100%"), Some("100%".to_owned()));
        assert_eq!(decode("%g0%+1"), Some("%g0%+1".to_owned()));
        assert_eq!(decode("%ff"), None);
        assert_eq!(
            file_path("file:///home/dev/my%20shop"),
            Some(PathBuf::from("/home/dev/my shop"))
        );
        assert_eq!(file_path("https://example.org/"), None);
        assert_eq!(file_path("file://elsewhere/share"), None);
    }
}

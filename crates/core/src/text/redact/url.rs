//! Finds passwords in URLs and connection strings.

use super::hit::SecretCandidate;
use super::value::{EvidenceStrength, ValueChecker};
use std::ops::Range;

/// The separator after the scheme. JSON may escape the slashes.
pub(super) const PREFIXES: [&str; 2] = ["://", r":\/\/"];

/// The maximum length of a user name with its password.
const USER_BYTES_MAX: usize = 512;
const PASSWORD_BYTES_MIN: usize = 3;

/// The minimum length of a token in hexadecimal digits. Shorter ones are public keys.
const HEX_TOKEN_BYTES_MIN: usize = 40;
/// The password that marks the user name as a token.
const TOKEN_MARKS: [&[u8]; 2] = [b"x-oauth-basic", b"x-oauth-token"];

/// The user name and the password of a URL, as offsets in the text after the scheme.
struct UserInfo {
    /// The colon between the two, if there is a password.
    colon: Option<usize>,
    /// The `@` after them.
    end: usize,
}

impl UserInfo {
    /// Reads the user name and the password at the start of a text.
    fn parse(rest: &[u8]) -> Option<Self> {
        let rest = &rest[..rest.len().min(USER_BYTES_MAX)];
        let run = rest.iter().position(|byte| ends_url(*byte)).unwrap_or(rest.len());
        let run = &rest[..run];
        let authority = run.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(run.len());
        let is_at = |byte: &u8| *byte == b'@';
        let at = run[..authority].iter().rposition(is_at);
        let colon = run[..at.unwrap_or(authority)].iter().position(|byte| *byte == b':');
        let end = match (at, colon) {
            (Some(end), _) => end,
            // If it is not a port, it is a password with slashes that should have been escaped.
            (None, Some(colon)) if !is_port(&run[colon + 1..authority]) => {
                run.iter().position(is_at)?
            }
            (None, _) => return None,
        };
        Some(Self { colon, end })
    }
}

/// The password of a URL, or the token that is its user name.
pub(super) fn find(
    hit: SecretCandidate<'_>,
    begins: &str,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    let from = hit.at + begins.len();
    let rest = &hit.text[from..];
    let UserInfo { colon, end } = UserInfo::parse(rest)?;
    let (user, password) = match colon {
        Some(colon) => (&rest[..colon], &rest[colon + 1..end]),
        None => (&rest[..end], &rest[..0]),
    };
    if password.is_empty() || TOKEN_MARKS.contains(&password) {
        return is_token(user, values).then(|| from..from + user.len());
    }
    let real = password.len() >= PASSWORD_BYTES_MIN
        && password.is_ascii()
        && password != user
        && !user.contains(&b'@')
        && !values.is_placeholder(password);
    real.then(|| from + end - password.len()..from + end)
}

/// Whether a place is between the scheme and the `@` of a URL. Then only the rule for URLs decides,
/// because in `https://token:…@host/path` the host and the path belong to no value.
pub(super) fn is_in_user_info(text: &[u8], at: usize) -> bool {
    let ends = |byte: &u8| ends_url(*byte) || b"/?#".contains(byte);
    let before = &text[at.saturating_sub(USER_BYTES_MAX)..at];
    let start = before.iter().rposition(ends).map_or(0, |end| end + 1);
    let is_url = PREFIXES.iter().any(|prefix| before[..start].ends_with(prefix.as_bytes()));
    let user_start = at - (before.len() - start);
    let user = &text[user_start..];
    let info = is_url.then(|| UserInfo::parse(user)).flatten();
    info.is_some_and(|UserInfo { colon, end }| {
        let has_password = colon.is_some_and(|colon| colon + PASSWORD_BYTES_MIN < end);
        has_password && user[..end].is_ascii() && at < user_start + end
    })
}

/// Whether a user name is a token.
fn is_token(user: &[u8], values: &ValueChecker) -> bool {
    let is_hex = user.len() >= HEX_TOKEN_BYTES_MIN
        && user.iter().all(u8::is_ascii_hexdigit)
        && !values.is_placeholder(user);
    is_hex || values.is_secret(user, EvidenceStrength::Near, false)
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

fn is_port(text: &[u8]) -> bool {
    let name = |byte: &u8| byte.is_ascii_digit() || b"${}*".contains(byte);
    text.iter().all(name) || text.starts_with(b"$") || text.starts_with(b"{")
}

//! Finds passwords in URLs and connection strings.

use super::hit::SecretCandidate;
use super::value::{EvidenceStrength, ValueChecker};
use std::ops::Range;

/// The separator after the scheme. JSON may escape the slashes.
pub(super) const PREFIXES: [&str; 2] = ["://", r":\/\/"];

/// The maximum length of a user name with its password.
const USER_BYTES_MAX: usize = 512;
const PASSWORD_BYTES_MIN: usize = 3;

/// The password of a URL.
pub(super) fn find(
    hit: SecretCandidate<'_>,
    begins: &str,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    let from = hit.at + begins.len();
    let rest = &hit.text[from..hit.text.len().min(from + USER_BYTES_MAX)];
    let run = rest.iter().position(|byte| ends_url(*byte)).unwrap_or(rest.len());
    let run = &rest[..run];
    let authority = run.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(run.len());
    let Some(colon) = run[..authority].iter().position(|byte| *byte == b':') else {
        return user_token(&run[..authority], values).map(|end| from..from + end);
    };
    let is_at = |byte: &u8| *byte == b'@';
    let end = match run[..authority].iter().rposition(is_at) {
        Some(end) => end,
        // If it is not a port, it is a password with slashes that should have been escaped.
        None if is_port(&run[colon + 1..authority]) => return None,
        None => run.iter().position(is_at)?,
    };
    let (user, password) = (&run[..colon], run.get(colon + 1..end)?);
    let real = password.len() >= PASSWORD_BYTES_MIN
        && password.is_ascii()
        && password != user
        && !user.contains(&b'@')
        && !values.is_placeholder(password);
    real.then(|| from + colon + 1..from + end)
}

/// The length of a token that is given as the user name, without a password.
fn user_token(authority: &[u8], values: &ValueChecker) -> Option<usize> {
    let end = authority.iter().position(|byte| *byte == b'@')?;
    values.is_secret(&authority[..end], EvidenceStrength::Near, false).then_some(end)
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

fn is_port(text: &[u8]) -> bool {
    let name = |byte: &u8| byte.is_ascii_digit() || b"${}*".contains(byte);
    text.iter().all(name) || text.starts_with(b"$") || text.starts_with(b"{")
}

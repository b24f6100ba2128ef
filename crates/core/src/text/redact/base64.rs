//! Recognizes base64 data, and decodes just enough of it to detect an encoded user name and
//! password.

use super::value::is_plain;
use super::words::oddity;
use std::ops::Range;

/// How many bytes around a token are checked for base64 data, and how many make it data.
const DATA_BYTES_MAX: usize = 128;
const DATA_BYTES_MIN: usize = 24;

/// Whether a token is in the middle of base64 data: a `+` or `/` joins it to more random letters
/// that are no token themselves.
pub(super) fn lies_in_base64(text: &[u8], token: &Range<usize>) -> bool {
    let is_data = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let (ahead, behind) = (&text[..token.start], &text[token.end..]);
    let before = ahead.iter().rev().take(DATA_BYTES_MAX).take_while(is_data).count();
    let after = behind.iter().take(DATA_BYTES_MAX).take_while(is_data).count();
    let joins = |run: &[u8], sign: Option<&u8>, border: Option<&u8>| {
        sign.is_some_and(|sign| b"+/".contains(sign))
            && !border.is_some_and(|border| b"_-.:~%\\".contains(border))
            && run.len() >= DATA_BYTES_MIN
            && oddity(run) >= 25
            && !is_plain(run, true)
    };
    let (rest, run) = ahead.split_at(ahead.len() - before);
    let (next, end) = behind.split_at(after);
    joins(run, run.last(), rest.last()) || joins(next, next.first(), end.first())
}

/// Whether the base64 text decodes to `user:password`.
pub(super) fn is_userpass(text: &[u8]) -> bool {
    let plain = decode(text);
    let readable = plain.iter().all(|byte| (b' '..=b'~').contains(byte));
    readable && plain.iter().skip(1).rev().skip(1).any(|byte| *byte == b':')
}

fn decode(text: &[u8]) -> Vec<u8> {
    let mut bits = 0u32;
    let mut count = 0;
    let mut plain = Vec::with_capacity(text.len());
    for value in text.iter().map_while(|byte| digit_value(*byte)) {
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            plain.push(u8::try_from(bits >> count & 0xff).unwrap_or_default());
        }
    }
    plain
}

fn digit_value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_name_and_password_is_detected() {
        assert!(is_userpass(b"YWxhZGRpbjpvcGVuc2VzYW1l"));
        assert!(is_userpass(b"dTpw"));
        assert!(!is_userpass(b"authentication"));
        assert!(!is_userpass(b"YWxhZGRpbg=="));
        assert!(!is_userpass(b"Og=="));
    }
}

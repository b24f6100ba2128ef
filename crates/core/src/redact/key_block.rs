//! Private keys as blocks of base64 between two lines, also where the breaks are written `\n`.

use super::hit::Hit;
use super::words::oddity;
use std::ops::Range;

/// How a block begins: as everybody writes it, and as SSH2 does.
pub(super) const BEGINS: [&str; 2] = ["-----BEGIN ", "---- BEGIN SSH2 ENCRYPTED "];

const LABEL_BYTES_MAX: usize = 64;
/// A run of letters as long as this is not taken for a word.
const RUN_BYTES_MIN: usize = 16;
const LONG_RUN_BYTES_MIN: usize = 40;

/// The block that begins here, up to its end or as far as it goes.
pub(super) fn find(hit: Hit<'_>, begins: &str) -> Option<Range<usize>> {
    let rest = hit.rest();
    let dashes = &begins.as_bytes()[..4];
    let label = line_of_dashes(rest, begins.len(), dashes)?;
    let body = label.end;
    let next = position(&rest[body..], dashes).map(|at| at + body);
    let closing = next.filter(|at| is_end(&rest[*at..], dashes));
    let end = match closing {
        Some(at) => line_of_dashes(rest, at + dashes.len(), dashes)?.end,
        None => body + length_of_base64(&rest[body..next.unwrap_or(rest.len())]),
    };
    has_key(&rest[body..closing.unwrap_or(end)]).then(|| hit.at..hit.at + end)
}

/// The rest of a line that names a private key and ends in dashes.
fn line_of_dashes(text: &[u8], from: usize, dashes: &[u8]) -> Option<Range<usize>> {
    let line = text.get(from..text.len().min(from + LABEL_BYTES_MAX))?;
    let length = position(line, dashes)?;
    let names_key = position(&line[..length], b"PRIVATE KEY").is_some();
    let tail = line[length..].iter().take_while(|byte| **byte == b'-').count();
    names_key.then(|| from..from + length + tail)
}

fn is_end(text: &[u8], dashes: &[u8]) -> bool {
    let text = &text[dashes.len()..];
    let text = text.strip_prefix(b"-").or(text.strip_prefix(b" ")).unwrap_or(text);
    let line = &text[..text.len().min(LABEL_BYTES_MAX)];
    line.starts_with(b"END ") && position(line, b"PRIVATE KEY").is_some()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Whether something stands there that is no mere mention.
fn has_key(body: &[u8]) -> bool {
    body.split(|byte| !is_base64(*byte)).any(|run| {
        // The letter of an escape `\n` sticks to the run behind it.
        run.len() >= LONG_RUN_BYTES_MIN || (run.len() >= RUN_BYTES_MIN && oddity(run) >= 25)
    })
}

/// How far a block goes whose end is missing.
fn length_of_base64(body: &[u8]) -> usize {
    let mut end = 0;
    let mut at = 0;
    while at < body.len() {
        let gap = gap_length(&body[at..]);
        let run = body[at + gap..].iter().take_while(|byte| is_base64(**byte)).count();
        let words = run < RUN_BYTES_MIN || oddity(&body[at + gap..at + gap + run]) < 25;
        if gap > RUN_BYTES_MIN || words {
            break;
        }
        at += gap + run;
        end = at;
    }
    end
}

/// What stands between two lines: breaks, also as `\n`, and what is put in front of lines.
fn gap_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|byte| !is_base64(**byte)) {
        let escape = *byte == b'\\' && text.get(at + 1).is_some_and(|next| b"nrt".contains(next));
        at += if escape { 2 } else { 1 };
    }
    at
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

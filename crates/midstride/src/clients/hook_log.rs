//! What hooks did: a line for each call, in a file that stays small. It tells what became of a hook
//! that must not fail its client.

mod report;

pub use report::{HookLogReport, HookStats, read_report};

use crate::sys::files::{FileError, Root};
use jiff::Timestamp;
use midstride_core::text::redact::CleanText;
use serde_json::json;
use std::path::Path;

/// The file, with what is never committed.
pub const FILE: &str = "hooks.log";
/// A longer file loses its older half.
const BYTES_MAX: u64 = 256 << 10;
/// Of an error the beginning tells enough.
const ERROR_LETTERS_MAX: usize = 400;

/// One call of a hook.
#[derive(Clone, Debug)]
pub struct HookLogLine<'l> {
    /// When.
    pub at: Timestamp,
    /// The client.
    pub client: &'l str,
    /// The moment as the client names it.
    pub event: &'l str,
    /// The session.
    pub session: Option<&'l str>,
    /// How long it took.
    pub milliseconds: u64,
    /// How many tokens the model was told.
    pub tokens: u64,
    /// What was done, in words.
    pub did: &'l str,
    /// What went wrong.
    pub error: Option<&'l str>,
}

/// Adds a line, in a folder that is there.
pub fn add(private: &Path, line: &HookLogLine<'_>) -> Result<(), FileError> {
    let folder = Root::open(private)?;
    let short = |text: &str| -> String {
        CleanText::redact(text).0.as_str().chars().take(ERROR_LETTERS_MAX).collect()
    };
    let text = json!({
        "at": line.at.to_string(),
        "client": line.client,
        "event": short(line.event),
        "session": line.session.map(short),
        "milliseconds": line.milliseconds,
        "tokens": line.tokens,
        "did": line.did,
        "error": line.error.map(short),
    });
    let file = Path::new(FILE);
    folder.append(file, format!("{text}\n").as_bytes())?;
    let bytes = crate::sys::files::size(&private.join(FILE)).unwrap_or_default();
    if bytes > BYTES_MAX { halve(&folder, file) } else { Ok(()) }
}

/// Keeps the newer half. A line that is added meanwhile may be lost, and is missed by nobody.
fn halve(folder: &Root, file: &Path) -> Result<(), FileError> {
    let bytes = folder.read(file)?;
    let half = &bytes[bytes.len() / 2..];
    let start = half.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    folder.put_without_sync(file, &half[start..])
}

//! The hook log: one line per hook call, in a file of limited size. It shows what happened to a
//! hook, because a hook must not fail its client.

mod report;

pub use report::{HookLogReport, HookStats, read_report};

use crate::sys::env::Environment;
use crate::sys::files::{FileError, Root};
use jiff::Timestamp;
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::CleanText;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The folder below the user's state folder.
const USER_FOLDER: &str = "midstride";
/// The file name, inside the private folder or the user's folder.
pub const FILE: &str = "hooks.log";
/// A larger file loses its older half.
const BYTES_MAX: u64 = 256 << 10;
/// The beginning of an error is enough.
const ERROR_LETTERS_MAX: usize = 400;

/// One hook call.
#[derive(Clone, Debug)]
pub struct HookLogLine<'l> {
    /// When it ran.
    pub at: Timestamp,
    /// The client.
    pub client: &'l str,
    /// The event name that the client uses.
    pub event: &'l str,
    /// The session.
    pub session: Option<&'l SessionId>,
    /// How long it took.
    pub milliseconds: u64,
    /// Number of tokens given to the model.
    pub tokens: u64,
    /// What it did, in words.
    pub did: &'l str,
    /// The error, if any.
    pub error: Option<&'l str>,
}

/// The user's folder, for calls that could not open their project.
pub fn user_folder(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state.as_ref()?.join(USER_FOLDER))
}

/// Appends a line to the log in an existing folder.
pub fn add(private: &Path, line: &HookLogLine<'_>) -> Result<(), FileError> {
    let folder = Root::open(private)?.into_private();
    let short = |text: &str| -> String {
        CleanText::redact(text).0.as_str().chars().take(ERROR_LETTERS_MAX).collect()
    };
    let text = json!({
        "at": line.at.to_string(),
        "client": line.client,
        "event": short(line.event),
        "session": line.session.map(|session| short(session.as_str())),
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

/// Keeps the newer half. A line added at the same time may be lost, which does no harm.
fn halve(folder: &Root, file: &Path) -> Result<(), FileError> {
    let bytes = folder.read(file)?;
    let half = &bytes[bytes.len() / 2..];
    let start = half.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    folder.put_without_sync(file, &half[start..])
}

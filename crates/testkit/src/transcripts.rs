//! Readers of the clients' transcripts, by the name of the client.

use midstride::clients::{self, Client};
use midstride_core::session::transcript::TranscriptCursor;

/// The client with this name.
pub fn client(name: &str) -> &'static dyn Client {
    clients::find(name).unwrap()
}

/// A cursor at the start of a transcript of a client.
pub fn cursor(name: &str) -> TranscriptCursor {
    client(name).new_cursor()
}

/// Parses a stored cursor.
pub fn parse_cursor(stored: &str) -> Option<TranscriptCursor> {
    clients::parse_cursor(stored.as_bytes())
}

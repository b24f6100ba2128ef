//! Give a handoff its next text, with the reason in its history.

use crate::journal::{Change, JournalError, Recorded};
use crate::project::{Project, Shelved};
use midstride_core::document::{Document, EditRefused};
use midstride_core::edit::Edit;

/// What came of it.
#[derive(Debug)]
pub enum Revised {
    /// The text is the one that was there.
    Unchanged,
    /// The document has the new text.
    Recorded(Recorded),
}

/// Puts a new text in the place of a handoff. A text without a header replaces the body only.
pub fn revise(
    project: &Project,
    shelved: &Shelved,
    text: &str,
    change: &Change,
) -> Result<Revised, JournalError> {
    let next = next(&shelved.document, text)?;
    if next.text() == shelved.document.text() {
        return Ok(Revised::Unchanged);
    }
    project.record(shelved, &next, change, &|_| ()).map(Revised::Recorded)
}

fn next(document: &Document, text: &str) -> Result<Document, EditRefused> {
    let given = Document::parse(text.as_bytes());
    if given.handoff_header().is_some() {
        return Ok(given);
    }
    let body = format!("\n{}", text.trim_start_matches('\n'));
    document.edit(&[Edit::Body(document.body(), body)]).map(|(next, _)| next)
}

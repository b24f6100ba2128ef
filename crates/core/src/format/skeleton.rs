//! The body of a new document: its headings, with instructions in comments that readers do not see.
//!
//! The check compares a document with it to recognize an untouched draft.

use crate::format::header::HandoffKind;

/// The body of a new document. A stage has none: its header holds the content.
pub fn skeleton(kind: HandoffKind) -> &'static str {
    match kind {
        HandoffKind::Investigation => {
            "## Diagnosis\n\n<!-- What was measured or observed, and what it proves. -->\n\n\
             ## Root causes\n\n<!-- By impact, each with its file and line. -->\n\n\
             ## Plan\n\n<!-- Steps, each with how to tell that it is done. -->\n\n\
             ## Continuation\n\n<!-- Where to start. -->\n"
        }
        HandoffKind::Session => {
            "## State\n\n<!-- What is done, what is in flight. -->\n\n\
             ## Continuation\n\n<!-- The next action, and what to read before it. -->\n"
        }
        HandoffKind::Stage => "",
    }
}

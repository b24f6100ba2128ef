//! What was found out about the citations of documents, for whoever asks again.

use super::{Index, IndexError};
use rusqlite::{OptionalExtension as _, TransactionBehavior, params};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What is kept about one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedDocument {
    /// Where the document lies.
    pub path: PathBuf,
    /// The hash of its text.
    pub document: String,
    /// What was checked out.
    pub head: Option<String>,
    /// What was found out, as its owner writes it.
    pub results: String,
}

impl Index {
    /// What is kept about a document.
    pub fn checked_document(&self, path: &Path) -> Result<Option<CheckedDocument>, IndexError> {
        let asked = "SELECT document, head, judged FROM judged WHERE path = ?1";
        let mut statement = self.connection.prepare_cached(asked)?;
        let found = statement.query_row(params![path.as_os_str().as_bytes()], |row| {
            Ok(CheckedDocument {
                path: path.to_owned(),
                document: row.get(0)?,
                head: row.get(1)?,
                results: row.get(2)?,
            })
        });
        Ok(found.optional()?)
    }

    /// Keeps what was found out, in the place of what was kept before.
    pub fn save_checked_documents(&mut self, all: &[CheckedDocument]) -> Result<(), IndexError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for CheckedDocument { path, document, head, results: judged } in all {
            transaction
                .prepare_cached("REPLACE INTO judged VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![path.as_os_str().as_bytes(), document, head, judged])?;
        }
        Ok(transaction.commit()?)
    }
}

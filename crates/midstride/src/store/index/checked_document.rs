//! Cached check results for the citations of documents.

use super::{Index, IndexError};
use midstride_core::text::id::CommitId;
use rusqlite::{OptionalExtension as _, TransactionBehavior, params};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The cached results of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedDocument {
    /// The path of the document.
    pub path: PathBuf,
    /// The hash of its text.
    pub document: String,
    /// The commit that was checked out.
    pub head: Option<CommitId>,
    /// The results, in the format of the code that checks citations.
    pub results: String,
}

impl Index {
    /// The cached results of a document.
    pub(crate) fn checked_document(
        &self,
        path: &Path,
    ) -> Result<Option<CheckedDocument>, IndexError> {
        let sql = "SELECT document, head, judged FROM judged WHERE path = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![path.as_os_str().as_bytes()], |row| {
            Ok(CheckedDocument {
                path: path.to_owned(),
                document: row.get(0)?,
                head: row.get::<_, Option<String>>(1)?.map(CommitId::new),
                results: row.get(2)?,
            })
        });
        Ok(found.optional()?)
    }

    /// Saves results, replacing earlier ones of the same documents.
    pub(crate) fn save_checked_documents(
        &mut self,
        all: &[CheckedDocument],
    ) -> Result<(), IndexError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for CheckedDocument { path, document, head, results } in all {
            let head = head.as_ref().map(CommitId::as_str);
            transaction
                .prepare_cached("REPLACE INTO judged VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![path.as_os_str().as_bytes(), document, head, results])?;
        }
        Ok(transaction.commit()?)
    }
}

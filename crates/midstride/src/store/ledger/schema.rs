//! The database schema and its migrations, one step per version. A released step is never edited.

use super::{DatabaseError, LedgerError};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};

/// Each step upgrades a database from the previous version.
const STEPS: [&str; 1] = [include_str!("migrations/0001.sql")];

/// The newest schema version this midstride supports.
#[expect(clippy::cast_possible_truncation, reason = "there are a few")]
pub const NEWEST_VERSION: u32 = STEPS.len() as u32;

/// Upgrades a database to the newest version; a newer database is left untouched.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    migrate_by(&STEPS, connection, path)
}

fn migrate_by(steps: &[&str], connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let known = u32::try_from(steps.len()).expect("there are a few");
    let found = version(connection).map_err(|error| damaged(path, &error))?;
    if found == known {
        return Ok(());
    }
    if found > known {
        return Err(DatabaseError::Newer { path: path.to_owned(), found, known }.into());
    }
    if found > 0 {
        back_up(connection, path, found).map_err(|error| damaged(path, &error))?;
    }
    apply_steps(steps, connection).map_err(|error| damaged(path, &error))
}

/// The schema version of a database; 0 if it has none.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Copies the database next to itself before an upgrade.
fn back_up(connection: &Connection, path: &Path, version: u32) -> rusqlite::Result<()> {
    let copy = backup_path(path, version);
    match connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]) {
        // A run that was interrupted has already made the copy.
        Err(_) if crate::sys::files::exists(&copy) => Ok(()),
        done => done.map(|_| ()),
    }
}

/// The path of the backup of a version.
fn backup_path(path: &Path, version: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".version-{version}"));
    path.with_file_name(name)
}

/// Runs all steps or none. If two processes upgrade at once, the second has nothing left to do.
fn apply_steps(steps: &[&str], connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in steps.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {}", steps.len()))?;
    transaction.commit()
}

pub(super) fn damaged(path: &Path, error: &rusqlite::Error) -> LedgerError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            LedgerError::Unavailable(error.to_string())
        }
        _ => DatabaseError::Damaged { path: path.to_owned(), message: error.to_string() }.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files;

    #[test]
    fn an_older_database_is_upgraded_and_backed_up() {
        let folder = files::ScratchFolder::new("midstride-schema").unwrap();
        let path = folder.path().join("ledger.db");
        let mut connection = Connection::open(&path).unwrap();
        let steps = ["CREATE TABLE one (x)", "ALTER TABLE one RENAME TO two"];
        migrate_by(&steps[..1], &mut connection, &path).unwrap();
        assert!(!files::exists(&backup_path(&path, 1)), "a new one has nothing to keep");
        connection.execute("INSERT INTO one VALUES (7)", []).unwrap();
        migrate_by(&steps, &mut connection, &path).unwrap();
        let read = |connection: &Connection, sql: &str| -> i64 {
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(read(&connection, "SELECT x FROM two"), 7);
        let copy = Connection::open(backup_path(&path, 1)).unwrap();
        assert_eq!(read(&copy, "SELECT x FROM one"), 7);
        // The older program refuses the newer database and leaves it untouched.
        let refused = migrate_by(&steps[..1], &mut connection, &path).unwrap_err();
        let newer = refused.engine::<DatabaseError>();
        assert!(
            matches!(newer, Some(DatabaseError::Newer { found: 2, known: 1, .. })),
            "{refused}"
        );
        assert_eq!(read(&connection, "SELECT x FROM two"), 7);
        folder.remove().unwrap();
    }

    #[test]
    fn a_failed_step_leaves_the_database_unchanged() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE one (x)", "CREATE TABLE two (x); nonsense"];
        assert!(apply_steps(&steps, &mut connection).is_err());
        assert_eq!(version(&connection).unwrap(), 0);
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 0);
    }
}

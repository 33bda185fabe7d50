//! The mark of an unfinished copy in a database file.

use std::path::Path;

use rusqlite::Connection;

use super::{
    connection::APPLICATION_ID,
    files::unusable,
    sql::{Statements as _, cell},
};
use crate::{
    StoreResult,
    copy_mark::{CopyMark, UNFINISHED_COPY},
};

/// The mark, where there is one.
pub(super) fn read(conn: &Connection) -> StoreResult<Option<CopyMark>> {
    let is_there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    if conn.first(is_there, [UNFINISHED_COPY], cell::<i64>)?.is_none() {
        return Ok(None);
    }
    conn.first(&format!("SELECT source, desk FROM {UNFINISHED_COPY}"), [], |row| {
        Ok(CopyMark { source: row.get(0)?, desk: row.get(1)? })
    })
}

/// Refuses a file with a mark.
pub(super) fn refuse(conn: &Connection, path: &Path) -> StoreResult<()> {
    read(conn)?.map_or(Ok(()), |mark| Err(unusable(path, &mark.refusal())))
}

/// Marks a file that has no tables of its own yet, or not more than those of the schema.
pub(super) fn put(conn: &Connection, mark: &CopyMark) -> StoreResult<()> {
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID};
         CREATE TABLE {UNFINISHED_COPY} (source TEXT NOT NULL, desk BLOB NOT NULL) STRICT"
    ))?;
    conn.run(&format!("INSERT INTO {UNFINISHED_COPY} VALUES (?1, ?2)"), (&mark.source, &mark.desk))?;
    Ok(conn.execute_batch("COMMIT")?)
}

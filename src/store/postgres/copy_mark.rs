//! The mark of an unfinished copy in a database on a server, with the run of `avert copy` that is at work on it.

use uuid::Uuid;

use super::{connection::Connection, statements::cell};
use crate::{
    StoreError,
    copy_mark::{CopyMark, UNFINISHED_COPY},
    work::Work,
};

/// Reads the mark, where there is one.
pub(super) async fn read(conn: &Connection) -> Work<Option<CopyMark>> {
    if !conn.one("SELECT to_regclass($1) IS NOT NULL", &[&UNFINISHED_COPY], cell::<bool>).await? {
        return Ok(None);
    }
    conn.first(&format!("SELECT source, desk FROM {UNFINISHED_COPY}"), &[], |row| {
        Ok(CopyMark { source: row.get(0)?, desk: row.get(1)? })
    })
    .await
}

/// Refuses a database with a mark.
pub(super) async fn refuse(conn: &Connection) -> Work<()> {
    match read(conn).await? {
        Some(mark) => Err(StoreError::Unusable(mark.refusal()).into()),
        None => Ok(()),
    }
}

/// Marks the database, or takes the mark over: from now on this run works on it.
pub(super) async fn put(conn: &Connection, mark: &CopyMark, run: &Uuid) -> Work<()> {
    conn.batch(&format!(
        "DROP TABLE IF EXISTS {UNFINISHED_COPY};
         CREATE TABLE {UNFINISHED_COPY} (source text NOT NULL, desk bytea NOT NULL, run uuid NOT NULL)"
    ))
    .await?;
    let put = format!("INSERT INTO {UNFINISHED_COPY} VALUES ($1, $2, $3)");
    conn.run(&put, &[&mark.source, &mark.desk, run]).await?;
    Ok(())
}

/// Locks the mark until the transaction ends; refuses where another run has taken it over.
pub(super) async fn hold(conn: &Connection, run: &Uuid) -> Work<()> {
    let held = format!("SELECT run FROM {UNFINISHED_COPY} FOR UPDATE");
    if conn.first(&held, &[], cell::<Uuid>).await?.as_ref() == Some(run) {
        return Ok(());
    }
    Err(StoreError::Unusable("another `avert copy` has begun anew meanwhile".to_owned()).into())
}

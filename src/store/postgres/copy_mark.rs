//! The mark of an unfinished copy in a database on a server, with the run of `avert copy` that is at work on it.

use uuid::Uuid;

use super::connection::Connection;
use super::fault::Work;
use super::statements::cell;
use crate::store::StoreError;
use crate::store::copy_mark::{CopyMark, UNFINISHED_COPY};

/// The mark, where there is one.
pub(super) async fn read(conn: &Connection) -> Work<Option<CopyMark>> {
    if !conn.one("SELECT to_regclass($1) IS NOT NULL", &[&UNFINISHED_COPY], cell::<bool>).await? {
        return Ok(None);
    }
    conn.first(&format!("SELECT source, desk, state FROM {UNFINISHED_COPY}"), &[], |row| {
        Ok(CopyMark { source: row.try_get(0)?, desk: row.try_get(1)?, state: row.try_get(2)? })
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

/// Marks the database, or takes the mark over: from now on this run is at work on it.
pub(super) async fn put(conn: &Connection, mark: &CopyMark, run: &Uuid) -> Work<()> {
    conn.batch(&format!(
        "CREATE TABLE IF NOT EXISTS {UNFINISHED_COPY} (
            single bigint PRIMARY KEY CHECK (single = 1), source text NOT NULL, desk bytea NOT NULL, state text NOT \
            NULL, run uuid NOT NULL,
            -- The last alert that the search over all fields knows.
            indexed bigint NOT NULL DEFAULT 0
        )"
    ))
    .await?;
    let CopyMark { source, desk, state } = mark;
    let put = format!(
        "INSERT INTO {UNFINISHED_COPY} (single, source, desk, state, run) VALUES (1, $1, $2, $3, $4)
         ON CONFLICT (single) DO UPDATE SET source = excluded.source, state = excluded.state, run = excluded.run"
    );
    conn.run(&put, &[source, desk, state, run]).await?;
    Ok(())
}

/// Holds the mark until the transaction ends; refused where another run has taken it over.
pub(super) async fn hold(conn: &Connection, run: &Uuid) -> Work<()> {
    let held = format!("SELECT run FROM {UNFINISHED_COPY} FOR UPDATE");
    if conn.first(&held, &[], cell::<Uuid>).await?.as_ref() == Some(run) {
        return Ok(());
    }
    Err(StoreError::Unusable("another `avert copy` has gone on with it meanwhile".to_owned()).into())
}

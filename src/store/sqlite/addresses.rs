//! The addresses of endpoints: what one carries in its query is sealed, and the rest stands openly.

use rusqlite::{Connection, Row, TransactionBehavior};

use super::data_key;
use super::statements::{Statements as _, id};
use crate::domain::EndpointId;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::store::key_file::DataKey;
use crate::store::{StoreError, StoreResult, sealed};

/// Seals what still stands openly: addresses that were stored before they were sealed.
pub(super) fn seal_open_ones(conn: &mut Connection, key: &DataKey) -> StoreResult<()> {
    const OPEN: &str = "SELECT key, id, url, removed_at IS NOT NULL FROM endpoint
        WHERE sealed_url IS NULL AND url LIKE '%?_%' AND url NOT LIKE '%?****'";
    let read = |row: &Row<'_>| {
        Ok((row.get::<_, i64>(0)?, EndpointId(id(row, 1)?), row.get::<_, String>(2)?, row.get::<_, bool>(3)?))
    };
    let open = |conn: &Connection| conn.all(OPEN, [], read);
    if open(conn)?.is_empty() {
        return Ok(());
    }
    // What is written over leaves nothing behind in the file.
    let before: i64 = conn.pragma_query_value(None, "secure_delete", |row| row.get(0))?;
    conn.pragma_update(None, "secure_delete", true)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seal = data_key::seal(&tx, key)?;
    for (key, id, text, removed) in open(&tx)? {
        let url = EndpointUrl::parse(&text, PlainHttp::Allowed);
        let url = url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?;
        let (shown, sealed) = sealed::address(&seal, &id, &url)?;
        tx.run(
            "UPDATE endpoint SET url = ?2, sealed_url = ?3 WHERE key = ?1",
            (key, shown, sealed.filter(|_| !removed)),
        )?;
    }
    tx.commit()?;
    conn.pragma_update(None, "secure_delete", before)?;
    // The write-ahead log held them too.
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

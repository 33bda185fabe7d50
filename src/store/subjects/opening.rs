//! Facts that are made as a database is opened first: its data key, its id, and its organization.

use std::path::Path;

use super::organizations::ensure_organization;
use crate::{
    cells::cell,
    domain::{
        DatabaseId,
        time::{Clock as _, SystemClock},
    },
    encryption::KEY_CHECK,
    error::Work,
    key_file::DataKey,
    portable::DESK,
    sql::StoreRows,
};

/// Proves the data key and reads the id. Fresh data gets both, and its organization; nobody else may be at it.
pub(crate) async fn open(
    rows: &StoreRows<'_>,
    key_file: &Path,
    database: &str,
    whence: &str,
) -> Work<(DataKey, DatabaseId)> {
    let data_key = data_key(rows, key_file, database, whence).await?;
    if rows.fact(DESK).await?.is_none() {
        rows.keep_fact(DESK, DatabaseId::generate().0.as_bytes()).await?;
    }
    let id = rows.one("SELECT value FROM fact WHERE name = ?1", &[&DESK], cell).await?;
    ensure_organization(rows, SystemClock.now()).await?;
    Ok((data_key, DatabaseId(id)))
}

/// Proves the data key, which is made for a database that has none. `whence` tells the sources of a missing one.
pub(crate) async fn data_key(rows: &StoreRows<'_>, key_file: &Path, database: &str, whence: &str) -> Work<DataKey> {
    let check = rows.fact(KEY_CHECK).await?;
    let is_new = check.is_none();
    let key = DataKey::unlock(key_file, check, database, whence)?;
    if is_new {
        rows.keep_fact(KEY_CHECK, &key.check()).await?;
    }
    Ok(key)
}

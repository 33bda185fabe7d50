//! Everything that is sealed, sealed anew with another data key.

use rusqlite::types::Value;

use super::audit;
use super::data_key::fits;
use super::statements::Statements as _;
use super::writer::Unit;
use crate::domain::Actor;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::store::seal::Seal;
use crate::store::sealed::{self, KEY_CHECK, SEALED};
use crate::store::{StoreError, StoreResult};

/// Seals everything with another key; returns how many values that were.
pub(super) fn seal_anew(unit: &Unit<'_>, by: &Actor, new: &Seal, now: Timestamp) -> StoreResult<u64> {
    let (conn, old) = (unit.conn, unit.seal()?);
    if fits(conn, new)? == Some(true) {
        return Err(sealed::in_use_already());
    }
    let mut values = 0;
    for (table, column) in SEALED {
        // The credential of an endpoint that was removed is gone.
        let all = format!("SELECT id, {column} FROM {table} WHERE length({column}) > 0");
        let update = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
        for (id, bytes) in conn.all(&all, [], |row| Ok((row.get::<_, Value>(0)?, row.get::<_, Vec<u8>>(1)?)))? {
            let row = match &id {
                Value::Blob(id) => id.as_slice(),
                Value::Text(id) => id.as_bytes(),
                _ => return Err(StoreError::Corrupt(format!("an id in {table} that is none"))),
            };
            let again = sealed::again(&old, new, table, column, row, &bytes)?;
            conn.run(&update, (&id, again))?;
            values += 1;
        }
    }
    conn.run("UPDATE fact SET value = ?2 WHERE name = ?1", (KEY_CHECK, sealed::key_check(new)?))?;
    audit::record_for_all(conn, by, &AuditNote::data_key_rotated(values), now)?;
    Ok(values)
}

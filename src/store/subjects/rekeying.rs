//! The data key: the proof that it is at hand, and everything sealed anew with another.

use uuid::Uuid;

use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::store::cells::ToCell;
use crate::store::encryption::Seal;
use crate::store::sealed::{self, CHECK, KEY_CHECK, SEALED};
use crate::store::stored_row::cell;
use crate::store::units::UnitOfWork;
use crate::store::work::Work;

/// Proves that the key that the database is sealed with is at hand.
pub(super) async fn prove(unit: &UnitOfWork<'_>) -> Work<()> {
    unit.one(&format!("SELECT {CHECK}"), &[], |row| unit.seal_of(row, 0)).await.map(drop)
}

/// Seals everything with another key; returns the number of values.
pub(super) async fn seal_anew(unit: &UnitOfWork<'_>, new: &Seal, now: Timestamp) -> Work<u64> {
    let old = unit.sealing().await?;
    let check: Vec<u8> = unit.one(&format!("SELECT {CHECK}"), &[], cell).await?;
    if sealed::proves(new, &check) {
        return Err(sealed::in_use_already().into());
    }
    let mut values = 0;
    for (table, column) in SEALED {
        // The credential of an endpoint that was removed is gone.
        let all = format!("SELECT id, {column} FROM {table} WHERE length({column}) > 0");
        // One that is removed meanwhile stays so.
        let update = format!("UPDATE {table} SET {column} = ?3 WHERE id = ?1 AND {column} = ?2");
        let rows = unit.all(&all, &[], |row| {
            let id = if table == "signing_key" { RowId::Text(row.get(0)?) } else { RowId::Uuid(row.get(0)?) };
            Ok((id, row.get::<Vec<u8>>(1)?))
        });
        for (id, bytes) in rows.await? {
            let again = sealed::again(&old, new, table, column, id.bytes(), &bytes)?;
            unit.run(&update, &[id.value(), &bytes, &again]).await?;
            values += 1;
        }
    }
    unit.run("UPDATE fact SET value = ?2 WHERE name = ?1", &[&KEY_CHECK, &sealed::key_check(new)?]).await?;
    unit.note_for_all(&AuditNote::data_key_rotated(values), now).await?;
    Ok(values)
}

/// The id of a row that has something sealed.
enum RowId {
    Uuid(Uuid),
    Text(String),
}

impl RowId {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Uuid(id) => id.as_bytes(),
            Self::Text(id) => id.as_bytes(),
        }
    }

    fn value(&self) -> &dyn ToCell {
        match self {
            Self::Uuid(id) => id,
            Self::Text(id) => id,
        }
    }
}

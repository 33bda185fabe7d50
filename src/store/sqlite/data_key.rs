//! The data key of a database: a row that was sealed with it tells whether a key is the right one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::files::unusable;
use super::statements::{Statements as _, cell};
use crate::store::StoreResult;
use crate::store::seal::Seal;
use crate::store::sealed::{self, KEY_CHECK};

/// Whether a seal is the one that everything in a database was sealed with; `None` where the database does not tell.
pub(super) fn fits(conn: &Connection, seal: &Seal) -> StoreResult<Option<bool>> {
    Ok(key_check(conn)?.map(|check| sealed::proves(seal, &check)))
}

fn key_check(conn: &Connection) -> StoreResult<Option<Vec<u8>>> {
    conn.first("SELECT value FROM fact WHERE name = ?1", [KEY_CHECK], cell)
}

/// Reads the data key, made for a new database, and proves that it is the one that everything in here was sealed with.
pub(super) fn unlock(conn: &mut Connection, key_file: &Path, database: &Path) -> StoreResult<Seal> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let check = key_check(&tx)?;
    let seal = Seal::from_file(key_file, check.is_none())?;
    match check {
        Some(check) if !sealed::proves(&seal, &check) => Err(unusable(
            key_file,
            &format!(
                "is not the key that {} was sealed with; put the right file there (it was made with the database)",
                database.display()
            ),
        )),
        Some(_) => Ok(seal),
        None => {
            tx.execute("INSERT INTO fact (name, value) VALUES (?1, ?2)", (KEY_CHECK, sealed::key_check(&seal)?))?;
            tx.commit()?;
            Ok(seal)
        }
    }
}

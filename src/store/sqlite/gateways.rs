//! Which networks decisions go to by a gateway: an engine that has one writes it down, so that one without it does not answer in its place.

use rusqlite::{Connection, params};

use super::writer::Unit;
use crate::domain::Provider;
use crate::store::StoreResult;

/// What the rows of `fact` are called by.
const PREFIX: &str = "gateway ";

/// The networks that have a gateway, with its address.
pub(super) fn read(conn: &Connection) -> StoreResult<Vec<(Provider, String)>> {
    let mut statement =
        conn.prepare_cached("SELECT substr(name, length(?1) + 1), CAST(value AS TEXT) FROM fact WHERE substr(name, 1, length(?1)) = ?1")?;
    let known = statement.query_map([PREFIX], |row| Ok((Provider::parse(&row.get::<_, String>(0)?), row.get(1)?)))?;
    Ok(known.collect::<Result<_, _>>()?)
}

/// Keeps the address of a network's gateway, or forgets it where there is none.
pub(super) fn keep(unit: &Unit<'_>, known: &[(Provider, Option<String>)]) -> StoreResult<()> {
    for (network, url) in known {
        let name = format!("{PREFIX}{network}");
        match url {
            Some(url) => unit
                .conn
                .prepare_cached("INSERT INTO fact (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")?
                .execute(params![name, url.as_bytes()])?,
            None => unit.conn.prepare_cached("DELETE FROM fact WHERE name = ?1")?.execute([name])?,
        };
    }
    Ok(())
}

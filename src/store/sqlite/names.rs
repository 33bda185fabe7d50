//! Names in a database file, for completions. The file is only read: nothing is made, migrated or waited for.

use std::path::Path;

use uuid::Uuid;

use super::{connection, sql::Statements as _};
use crate::{StoreResult, cells::BoundValues};

/// Rows of an organization, by its name or id; of all where ?1 is empty.
const OF: &str =
    "organization IN (SELECT key FROM organization WHERE ?1 IN ('', name) OR hex(id) = upper(replace(?1, '-', '')))";

/// Returns the organizations, each with its id and its name.
pub fn organizations(database: &Path) -> StoreResult<Vec<(String, String)>> {
    read(database, "SELECT id, name FROM organization ORDER BY name", &[])
}

/// Returns the endpoints of an organization, each with its id and its address.
pub fn endpoints(database: &Path, organization: &str) -> StoreResult<Vec<(String, String)>> {
    let endpoints = format!("SELECT id, url FROM endpoint WHERE removed_at IS NULL AND {OF} ORDER BY key");
    read(database, &endpoints, &[&organization])
}

/// Returns open alerts of an organization whose id begins so, at most 100, those that are due first. Each has its id,
/// and its network with the id there.
pub fn open_alerts(database: &Path, organization: &str, beginning: &str) -> StoreResult<Vec<(String, String)>> {
    let alerts = format!(
        "SELECT id, (SELECT value FROM word WHERE key = provider) || ' ' || provider_id
        FROM alert INDEXED BY alert_by_open_deadline
        WHERE open_deadline IS NOT NULL AND {OF} AND hex(id) LIKE replace(?2, '-', '') || '%'
        ORDER BY open_deadline LIMIT 100"
    );
    read(database, &alerts, &[&organization, &beginning])
}

fn read(database: &Path, sql: &str, values: BoundValues<'_>) -> StoreResult<Vec<(String, String)>> {
    let conn = connection::open_untouched(database)?;
    conn.all(sql, values, |row| Ok((row.get::<Uuid>(0)?.to_string(), row.get(1)?)))
}

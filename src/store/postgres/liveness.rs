//! Liveness of processes by heartbeats in a table. A process is dead where its heartbeat is too old by the database's
//! clock, or missing.

use tokio_postgres::Client;
use uuid::Uuid;

use super::{connection::Connection, statements::cell};
use crate::{domain::InstanceId, work::Work};

/// Time after which a process without a heartbeat is dead, in SQL.
pub(super) const DEAD_AFTER: &str = "interval '15 seconds'";

/// SQL that is true where the process in this column is provably dead; `own` is the place of this process.
pub(crate) fn is_dead(column: &str, own: &str) -> String {
    format!(
        "({column} <> {own} AND NOT EXISTS (
            SELECT 1 FROM instance i WHERE i.id = {column} AND i.beat_at > clock_timestamp() - {DEAD_AFTER}))"
    )
}

/// Time for which a service without a heartbeat keeps its work, in SQL: two heartbeats. So another process goes on with
/// the work within 15 s of its last moment.
const SERVES_FOR: &str = "interval '10 seconds'";

/// Returns whether another process serves on this database, and this one does not.
pub(crate) async fn is_beside_service(conn: &Connection, own: InstanceId) -> Work<bool> {
    if own.is_serving() {
        return Ok(false);
    }
    let living = format!("SELECT id FROM instance WHERE beat_at > clock_timestamp() - {SERVES_FOR}");
    let living = conn.all(&living, &[], |row| cell(row).map(InstanceId)).await?;
    Ok(living.into_iter().any(InstanceId::is_serving))
}

/// Sends a heartbeat, and removes rows of dead processes: a missing row says the same.
pub(super) async fn beat(client: &Client, own: &Uuid) -> Result<(), tokio_postgres::Error> {
    let alive = "INSERT INTO instance (id, beat_at) VALUES ($1, clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at";
    client.execute(alive, &[own]).await?;
    client.execute(&format!("DELETE FROM instance WHERE beat_at < clock_timestamp() - 4 * {DEAD_AFTER}"), &[]).await?;
    Ok(())
}

/// Removes the row of this process, which tells others that it is gone.
pub(super) async fn leave(client: &Client, own: &Uuid) -> Result<(), tokio_postgres::Error> {
    client.execute("DELETE FROM instance WHERE id = $1", &[own]).await.map(drop)
}

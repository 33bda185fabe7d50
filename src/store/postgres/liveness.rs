//! Liveness of processes by heartbeats in a table: one that has not beaten for a while by the database's clock, or is not there, is dead.

use tokio_postgres::Client;
use uuid::Uuid;

/// How long a process lives without a heartbeat, in SQL.
pub(super) const DEAD_AFTER: &str = "interval '15 seconds'";

/// SQL that says whether the process in this column is provably gone; `own` is the place of this process.
pub(super) fn is_dead(column: &str, own: &str) -> String {
    format!(
        "({column} <> {own} AND NOT EXISTS (
            SELECT 1 FROM instance i WHERE i.id = {column} AND i.beat_at > clock_timestamp() - {DEAD_AFTER}))"
    )
}

/// Says that a process is alive, and removes what dead ones left: a missing row says the same.
pub(super) async fn beat(client: &Client, own: &Uuid) -> Result<(), tokio_postgres::Error> {
    let alive = "INSERT INTO instance (id, beat_at) VALUES ($1, clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at";
    client.execute(alive, &[own]).await?;
    client.execute(&format!("DELETE FROM instance WHERE beat_at < clock_timestamp() - 4 * {DEAD_AFTER}"), &[]).await?;
    Ok(())
}

/// Says that a process is gone.
pub(super) async fn leave(client: &Client, own: &Uuid) -> Result<(), tokio_postgres::Error> {
    client.execute("DELETE FROM instance WHERE id = $1", &[own]).await.map(drop)
}

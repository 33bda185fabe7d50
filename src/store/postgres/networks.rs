//! The alert networks: which have a gateway, how far alerts were pulled from where, and which process does it.
//!
//! An engine that has a gateway writes it down, so that one without it does not answer in its place.

use async_trait::async_trait;

use super::connection::Connection;
use super::fault::Work;
use super::handle::{PostgresStore, WriteKind};
use super::liveness::{is_beside_service, is_dead};
use super::statements::{micros, moment_at, number_at, optional_moment, storable};
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Provider, lease};
use crate::store::{NetworkStore, PullEnd, PullLease, PullState, StoreResult};

#[async_trait]
impl NetworkStore for PostgresStore {
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>> {
        self.look(|unit| Box::pin(gateways(&unit.conn))).await
    }

    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()> {
        self.write(WriteKind::Visible, |unit| Box::pin(keep_gateways(&unit.conn, &known))).await
    }

    async fn claim_pull(&self, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>> {
        self.write(WriteKind::Quiet, |unit| Box::pin(claim(unit, source, now, lease_until))).await
    }

    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool> {
        let cursor = cursor.map(String::into_bytes);
        self.write(WriteKind::Quiet, |unit| {
            Box::pin(advance(unit, source, generation, cursor.as_deref(), now, lease_until))
        })
        .await
    }

    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool> {
        self.write(WriteKind::Quiet, |unit| Box::pin(self::end(unit, source, generation, &end))).await
    }

    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>> {
        self.look(|unit| Box::pin(state(unit, source))).await
    }
}

/// What the rows of `fact` are called by.
const PREFIX: &str = "gateway ";

/// The networks that have a gateway, with its address.
pub(super) async fn gateways(conn: &Connection) -> Work<Vec<(Provider, String)>> {
    let all =
        "SELECT substr(name, length($1::text) + 1), value FROM fact WHERE starts_with(name, $1::text) ORDER BY name";
    conn.all(all, &[&PREFIX], |row| {
        Ok((Provider::parse(row.try_get(0)?), String::from_utf8_lossy(row.try_get(1)?).into_owned()))
    })
    .await
}

/// Keeps the address of a network's gateway, or removes it where there is none.
async fn keep_gateways(conn: &Connection, known: &[(Provider, Option<String>)]) -> Work<()> {
    for (network, url) in known {
        let name = format!("{PREFIX}{}", storable(network.as_str()));
        match url {
            Some(url) => {
                let kept = "INSERT INTO fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = \
                    excluded.value
                    WHERE fact.value <> excluded.value";
                conn.run(kept, &[&name, &url.as_bytes()]).await?
            }
            None => conn.run("DELETE FROM fact WHERE name = $1", &[&name]).await?,
        };
    }
    Ok(())
}

/// Leases a source that is due.
async fn claim(unit: &Unit<'_>, source: &str, now: Timestamp, lease_until: Timestamp) -> Work<Option<PullLease>> {
    let conn = &unit.conn;
    if is_beside_service(conn, unit.shared.own).await? {
        return Ok(None);
    }
    let first = "INSERT INTO pull (source, next_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    conn.run(first, &[&source, &micros(now)]).await?;
    let dead = is_dead("p.instance", "$2");
    let found = format!(
        "SELECT p.generation + 1, p.cursor, p.failures, coalesce({dead}, false), p.lease_until, p.next_at, p.since
         FROM pull p WHERE p.source = $1 FOR UPDATE OF p"
    );
    let (lease, held) = conn
        .one(&found, &[&source, &unit.shared.own.0], |row| {
            let leased = lease::is_held(optional_moment(row, 4)?, lease_until - now, row.try_get(3)?, now);
            let held = leased || lease::waits(optional_moment(row, 6)?.unwrap_or(now), moment_at(row, 5)?, now);
            Ok((
                PullLease { generation: row.try_get(0)?, cursor: text(row.try_get(1)?), failures: number_at(row, 2)? },
                held,
            ))
        })
        .await?;
    if held {
        return Ok(None);
    }
    let leased = "UPDATE pull SET generation = $2, instance = $3, lease_until = $4 WHERE source = $1";
    conn.run(leased, &[&source, &lease.generation, &unit.shared.own.0, &micros(lease_until)]).await?;
    Ok(Some(lease))
}

fn text(bytes: Option<&[u8]>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

async fn advance(
    unit: &Unit<'_>,
    source: &str,
    generation: i64,
    cursor: Option<&[u8]>,
    now: Timestamp,
    lease_until: Timestamp,
) -> Work<bool> {
    let advanced =
        "UPDATE pull SET cursor = coalesce($3, cursor), pulled_at = $4, lease_until = $5, failures = 0, failure = ''
        WHERE source = $1 AND generation = $2 AND lease_until IS NOT NULL";
    Ok(unit.conn.run(advanced, &[&source, &generation, &cursor, &micros(now), &micros(lease_until)]).await? == 1)
}

async fn end(unit: &Unit<'_>, source: &str, generation: i64, end: &PullEnd) -> Work<bool> {
    let ended = "UPDATE pull SET lease_until = NULL, instance = NULL, next_at = $3, since = $5,
            failures = CASE WHEN $4::text IS NULL THEN 0 ELSE failures + 1 END, failure = coalesce($4::text, '')
        WHERE source = $1 AND generation = $2 AND lease_until IS NOT NULL";
    let failure = end.failure.as_deref().map(storable);
    let values = (micros(end.next_at), micros(end.ended_at));
    Ok(unit.conn.run(ended, &[&source, &generation, &values.0, &failure, &values.1]).await? == 1)
}

async fn state(unit: &Unit<'_>, source: &str) -> Work<Option<PullState>> {
    let state = "SELECT cursor, pulled_at, next_at, failures, failure FROM pull WHERE source = $1";
    unit.conn
        .first(state, &[&source], |row| {
            Ok(PullState {
                cursor: text(row.try_get(0)?),
                pulled_at: optional_moment(row, 1)?,
                next_at: moment_at(row, 2)?,
                failures: number_at(row, 3)?,
                failure: row.try_get(4)?,
            })
        })
        .await
}

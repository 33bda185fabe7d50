//! The alert networks: which have a gateway, how far alerts were pulled from where, and which process does it.
//!
//! An engine that has a gateway writes it down, so that one without it does not answer in its place.

use async_trait::async_trait;
use rusqlite::Connection;

use super::handle::SqliteStore;
use super::statements::{Statements as _, micros, moment, optional_moment};
use super::writer::{Unit, WriteKind};
use crate::domain::time::Timestamp;
use crate::domain::{Provider, lease};
use crate::store::{NetworkStore, PullEnd, PullLease, PullState, StoreResult};

#[async_trait]
impl NetworkStore for SqliteStore {
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>> {
        self.read(|reader| gateways(&reader.conn)).await
    }

    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()> {
        self.write(WriteKind::Visible, move |unit, _| keep_gateways(unit, &known)).await
    }

    async fn claim_pull(&self, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>> {
        let source = source.to_owned();
        self.write(WriteKind::Quiet, move |unit, _| claim(unit, &source, now, lease_until)).await
    }

    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool> {
        let values = (source.to_owned(), generation, cursor, micros(now), micros(lease_until));
        self.write(WriteKind::Quiet, move |unit, _| {
            let changed = unit.conn.run(
                "UPDATE pull SET cursor = coalesce(?3, cursor), pulled_at = ?4, lease_until = ?5, failures = 0, \
                    failure = ''
                 WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL",
                values,
            )?;
            Ok(changed == 1)
        })
        .await
    }

    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool> {
        let values = (source.to_owned(), generation, micros(end.next_at), end.failure, micros(end.ended_at));
        self.write(WriteKind::Quiet, move |unit, _| {
            let changed = unit.conn.run(
                "UPDATE pull SET lease_until = NULL, instance = NULL, next_at = ?3, since = ?5,
                    failures = CASE WHEN ?4 IS NULL THEN 0 ELSE failures + 1 END, failure = coalesce(?4, '')
                 WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL",
                values,
            )?;
            Ok(changed == 1)
        })
        .await
    }

    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>> {
        let source = source.to_owned();
        self.read(move |reader| {
            let state = "SELECT cursor, pulled_at, next_at, failures, failure FROM pull WHERE source = ?1";
            reader.conn.first(state, [source], |row| {
                Ok(PullState {
                    cursor: row.get(0)?,
                    pulled_at: optional_moment(row, 1)?,
                    next_at: moment(row.get(2)?)?,
                    failures: row.get(3)?,
                    failure: row.get(4)?,
                })
            })
        })
        .await
    }
}

/// What the rows of `fact` are called by.
const PREFIX: &str = "gateway ";

/// The networks that have a gateway, with its address.
pub(super) fn gateways(conn: &Connection) -> StoreResult<Vec<(Provider, String)>> {
    conn.all(
        "SELECT substr(name, length(?1) + 1), CAST(value AS TEXT) FROM fact WHERE substr(name, 1, length(?1)) = ?1",
        [PREFIX],
        |row| Ok((Provider::parse(&row.get::<_, String>(0)?), row.get(1)?)),
    )
}

/// Keeps the address of a network's gateway, or removes it where there is none.
fn keep_gateways(unit: &Unit<'_>, known: &[(Provider, Option<String>)]) -> StoreResult<()> {
    for (network, url) in known {
        let name = format!("{PREFIX}{network}");
        match url {
            Some(url) => unit.conn.run(
                "INSERT INTO fact (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = \
                    excluded.value",
                (name, url.as_bytes()),
            )?,
            None => unit.conn.run("DELETE FROM fact WHERE name = ?1", [name])?,
        };
    }
    Ok(())
}

/// Leases a source that is due.
fn claim(unit: &Unit<'_>, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>> {
    let conn = unit.conn;
    if unit.shared.instances.is_beside_service() {
        return Ok(None);
    }
    conn.run("INSERT INTO pull (source, next_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING", (source, micros(now)))?;
    let found =
        "SELECT generation + 1, cursor, failures, instance, lease_until, next_at, since FROM pull WHERE source = ?1";
    let (lease, held) = conn.one(found, [source], |row| {
        let dead = row.get::<_, Option<_>>(3)?.is_some_and(|instance| unit.shared.instances.is_dead(instance));
        let leased = lease::is_held(optional_moment(row, 4)?, lease_until - now, dead, now);
        let held = leased || lease::waits(optional_moment(row, 6)?.unwrap_or(now), moment(row.get(5)?)?, now);
        Ok((PullLease { generation: row.get(0)?, cursor: row.get(1)?, failures: row.get(2)? }, held))
    })?;
    if held {
        return Ok(None);
    }
    let values = (source, lease.generation, unit.own(), micros(lease_until));
    conn.run("UPDATE pull SET generation = ?2, instance = ?3, lease_until = ?4 WHERE source = ?1", values)?;
    Ok(Some(lease))
}

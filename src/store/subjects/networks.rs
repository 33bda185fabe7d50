//! The alert networks: those with a gateway, the positions of pulled sources, and the process that pulls.
//!
//! An engine with a gateway records it, so that one without it does not answer in its place.

use async_trait::async_trait;

use crate::domain::time::Timestamp;
use crate::domain::{Provider, lease};
use crate::store::sql::StoreRows;
use crate::store::units::{UnitOfWork, Units, Way};
use crate::store::work::Work;
use crate::store::{NetworkStore, PullEnd, PullLease, PullState, StoreResult};

#[async_trait]
impl<S: Units> NetworkStore for S {
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>> {
        self.unit(Way::Look, (), |unit, ()| Box::pin(gateways(unit))).await
    }

    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()> {
        self.unit(Way::Visible, known, |unit, known| Box::pin(keep_gateways(unit, known))).await
    }

    async fn claim_pull(&self, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>> {
        let given = (source.to_owned(), now, lease_until);
        self.unit(Way::Quiet, given, |unit, (source, now, until)| Box::pin(claim(unit, source, *now, *until))).await
    }

    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool> {
        let given = (source.to_owned(), generation, cursor, now, lease_until);
        self.unit(Way::Quiet, given, |unit, (source, generation, cursor, now, until)| {
            Box::pin(async move {
                let advanced = "UPDATE pull SET cursor = coalesce(?3, cursor), pulled_at = ?4, lease_until = ?5, \
                    failures = 0, failure = ''
                    WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL";
                Ok(unit.run(advanced, &[source, generation, cursor, now, until]).await? == 1)
            })
        })
        .await
    }

    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool> {
        let given = (source.to_owned(), generation, end);
        self.unit(Way::Quiet, given, |unit, (source, generation, end)| {
            Box::pin(async move {
                let ended = "UPDATE pull SET lease_until = NULL, instance = NULL, next_at = ?3, since = ?5,
                    failures = CASE WHEN ?4/*+::text*/ IS NULL THEN 0 ELSE failures + 1 END, \
                    failure = coalesce(?4/*+::text*/, '')
                    WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL";
                let ended = unit.run(ended, &[source, generation, &end.next_at, &end.failure, &end.ended_at]).await?;
                Ok(ended == 1)
            })
        })
        .await
    }

    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>> {
        self.unit(Way::Look, source.to_owned(), |unit, source| Box::pin(state(unit, source))).await
    }
}

/// Prefix of the names of these rows of `fact`.
const PREFIX: &str = "gateway ";

/// The networks that have a gateway, with its address.
pub(in crate::store) async fn gateways(rows: &StoreRows<'_>) -> Work<Vec<(Provider, String)>> {
    let all = "SELECT substr(name, length(?1/*+::text*/) + 1), value FROM fact
        WHERE substr(name, 1, length(?1/*+::text*/)) = ?1/*+::text*/ ORDER BY name";
    rows.all(all, &[&PREFIX], |row| Ok((Provider::parse(row.get(0)?), row.get(1)?))).await
}

/// Stores the address of a network's gateway, or removes it where there is none.
async fn keep_gateways(unit: &UnitOfWork<'_>, known: &[(Provider, Option<String>)]) -> Work<()> {
    for (network, url) in known {
        let name = format!("{PREFIX}{network}");
        match url {
            Some(url) => {
                let kept = "INSERT INTO fact (name, value) VALUES (?1, ?2)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE fact.value <> excluded.value";
                unit.run(kept, &[&name, &url.as_bytes()]).await?
            }
            None => unit.run("DELETE FROM fact WHERE name = ?1", &[&name]).await?,
        };
    }
    Ok(())
}

/// Leases a source that is due.
async fn claim(unit: &UnitOfWork<'_>, source: &str, now: Timestamp, lease_until: Timestamp) -> Work<Option<PullLease>> {
    if unit.is_beside_service().await? {
        return Ok(None);
    }
    let first = "INSERT INTO pull (source, next_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    unit.run(first, &[&source, &now]).await?;
    let found = format!(
        "SELECT p.generation + 1, p.cursor, p.failures, {}, p.lease_until, p.next_at, p.since
         FROM pull p WHERE p.source = ?1/*+ FOR UPDATE OF p*/",
        unit.dead("p.instance")
    );
    let (lease, held) = unit
        .one(&found, &[&source], |row| {
            let leased = lease::is_held(row.get(4)?, lease_until - now, unit.is_dead(row, 3)?, now);
            let held = leased || lease::waits(row.get::<Option<_>>(6)?.unwrap_or(now), row.get(5)?, now);
            Ok((PullLease { generation: row.get(0)?, cursor: row.get(1)?, failures: row.get(2)? }, held))
        })
        .await?;
    if held {
        return Ok(None);
    }
    let leased = "UPDATE pull SET generation = ?2, instance = ?3, lease_until = ?4 WHERE source = ?1";
    unit.run(leased, &[&source, &lease.generation, &unit.own(), &lease_until]).await?;
    Ok(Some(lease))
}

async fn state(unit: &UnitOfWork<'_>, source: &str) -> Work<Option<PullState>> {
    let state = "SELECT cursor, pulled_at, next_at, failures, failure FROM pull WHERE source = ?1";
    unit.first(state, &[&source], |row| {
        Ok(PullState {
            cursor: row.get(0)?,
            pulled_at: row.get(1)?,
            next_at: row.get(2)?,
            failures: row.get(3)?,
            failure: row.get(4)?,
        })
    })
    .await
}

//! The alert networks: those with a gateway, the positions of pulled sources, and the process that pulls.
//!
//! An engine with a gateway records it, so that one without it does not answer in its place.

use crate::{
    cells::StoredRow,
    domain::{Provider, clock, time::Timestamp},
    error::Work,
    sql::StoreRows,
    units::{UnitOfWork, Way, units},
};

/// Lease on a source of alerts: permission to pull from it until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLease {
    /// Fence, to be given back with the end of the turn.
    pub generation: i64,
    /// Position of the next pull; `None` at the first pull.
    pub cursor: Option<String>,
    /// Failures in a row before this.
    pub failures: u32,
}

/// The end of a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnd {
    pub ended_at: Timestamp,
    pub next_at: Timestamp,
    /// Reason of the failure, in words; `None` where the poll succeeded.
    pub failure: Option<String>,
}

/// The state of polling a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullState {
    /// Position of the next turn.
    pub cursor: Option<String>,
    pub next_at: Timestamp,
    /// Reason of the last failure; empty where the last poll succeeded.
    pub failure: String,
}

units! {
    /// Units of work on networks: gateways and pulled sources.
    NetworkStore:

    /// The networks that decisions go to by a gateway, with its address. A process without that gateway must not answer
    /// in its place.
    async fn gateways() -> Vec<(Provider, String)> {
        Way::ByKey => gateways
    }

    /// Stores the addresses of networks' gateways, and removes them where there is none.
    async fn keep_gateways([ref] known: Vec<(Provider, Option<String>)>) -> () {
        Way::Visible => keep_gateways
    }

    /// Leases a source of alerts where it is due and no living process has it; otherwise `None`. A turn that was put
    /// off by a clock that has been set back since is due now.
    async fn claim_pull(
        [ref] source: &str as to_owned,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Option<PullLease> {
        Way::Quiet => claim
    }

    /// Records that a page is stored, with the beginning of the next one (`None`: unchanged). `false` when another
    /// process has the lease by now.
    async fn advance_pull(
        source: &str as to_owned,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> bool {
        Way::Quiet => |unit| async move {
            let advanced = "UPDATE pull SET cursor = coalesce(?3, cursor), pulled_at = ?4, lease_until = ?5, \
                    failures = 0, failure = ''
                WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL";
            Ok(unit.run(advanced, &[source, generation, cursor, now, lease_until]).await? == 1)
        }
    }

    /// Ends a turn of pulling; `false` when another process has the lease by now.
    async fn end_pull(source: &str as to_owned, generation: i64, end: PullEnd) -> bool {
        Way::Quiet => |unit| async move {
            let ended = "UPDATE pull SET lease_until = NULL, instance = NULL, next_at = ?3, since = ?5,
                    failures = CASE WHEN ?4/*+::text*/ IS NULL THEN 0 ELSE failures + 1 END, \
                    failure = coalesce(?4/*+::text*/, '')
                WHERE source = ?1 AND generation = ?2 AND lease_until IS NOT NULL";
            Ok(unit.run(ended, &[source, generation, &end.next_at, &end.failure, &end.ended_at]).await? == 1)
        }
    }

    /// State of pulling from a source; `None` where it was never pulled.
    async fn pull_state([ref] source: &str as to_owned) -> Option<PullState> {
        Way::ByKey => state
    }
}

/// Prefix of the names of these rows of `fact`.
const PREFIX: &str = "gateway ";

/// The networks that have a gateway, with its address.
pub(crate) async fn gateways(rows: &StoreRows<'_>) -> Work<Vec<(Provider, String)>> {
    let all =
        format!("SELECT substr(name, {}), value FROM fact WHERE name LIKE '{PREFIX}%' ORDER BY name", PREFIX.len() + 1);
    rows.all(&all, &[], |row| Ok((Provider::parse(row.get(0)?), row.get(1)?))).await
}

/// Stores the address of a network's gateway, or removes it where there is none.
async fn keep_gateways(unit: &UnitOfWork<'_>, known: &[(Provider, Option<String>)]) -> Work<()> {
    for (network, url) in known {
        let name = format!("{PREFIX}{network}");
        match url {
            Some(url) => unit.keep_fact(&name, url.as_bytes()).await?,
            None => unit.run("DELETE FROM fact WHERE name = ?1", &[&name]).await.map(drop)?,
        }
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
            let leased = clock::is_held(row.get(4)?, lease_until - now, unit.is_dead(row, 3)?, now);
            let held = leased || clock::waits(row.get::<Option<_>>(6)?.unwrap_or(now), row.get(5)?, now);
            Ok((PullLease { generation: row.get(0)?, cursor: row.get(1)?, failures: row.get(2)? }, held))
        })
        .await?;
    if held {
        return Ok(None);
    }
    let leased = "UPDATE pull SET generation = ?2, instance = ?3, lease_until = ?4 WHERE source = ?1";
    unit.run(leased, &[&source, &lease.generation, &unit.context.own, &lease_until]).await?;
    Ok(Some(lease))
}

async fn state(unit: &UnitOfWork<'_>, source: &str) -> Work<Option<PullState>> {
    let state = "SELECT cursor, next_at, failure FROM pull WHERE source = ?1";
    let read = |row: &StoredRow<'_>| Ok(PullState { cursor: row.get(0)?, next_at: row.get(1)?, failure: row.get(2)? });
    unit.first(state, &[&source], read).await
}

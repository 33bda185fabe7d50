//! Health of the store: the write probe and queue depths.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, Params};

use super::handle::SqliteStore;
use super::readers::Reader;
use super::statements::{Statements as _, cell, micros, optional_moment};
use super::writer::WriteKind;
use super::{clock, data_key, newest, rekeying, retention};
use crate::domain::clock::ClockMemory;
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};
use crate::store::seal::Seal;
use crate::store::{Depths, StoreResult, UpkeepStore};

#[async_trait]
impl UpkeepStore for SqliteStore {
    async fn ping(&self) -> StoreResult<()> {
        self.read(|reader| newest::newest_change(&reader.conn).map(drop)).await
    }

    async fn probe(&self, now: Timestamp) -> StoreResult<()> {
        // The present moment where nobody looks: the commit of it proves that the disk takes what it is given.
        self.write(WriteKind::Quiet, move |unit, _| {
            unit.conn.run(
                "INSERT INTO fact (name, value) VALUES ('probed_at', ?1) ON CONFLICT (name) DO UPDATE SET value = \
                    excluded.value",
                [micros(now).to_be_bytes()],
            )?;
            Ok(())
        })
        .await
    }

    async fn prove_key(&self) -> StoreResult<()> {
        let shared = Arc::clone(&self.shared);
        self.read(move |reader| data_key::seal(&reader.conn, &shared.data_key).map(drop)).await
    }

    async fn seal_anew(&self, new: Seal, now: Timestamp) -> StoreResult<u64> {
        self.write(WriteKind::Visible, move |unit, by| rekeying::seal_anew(unit, by, &new, now)).await
    }

    async fn kept_clock(&self) -> StoreResult<Option<ClockMemory>> {
        self.read(|reader| clock::kept(&reader.conn)).await
    }

    async fn keep_clock(&self, memory: ClockMemory) -> StoreResult<()> {
        self.write(WriteKind::Quiet, move |unit, _| clock::keep(unit.conn, &memory)).await
    }

    async fn depths(&self) -> StoreResult<Depths> {
        self.read_list(None, |reader| depths(reader)).await
    }

    async fn prune(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        // Found by a reader, so that a long search holds up nobody's write.
        let found = self.read_list(None, move |reader| retention::find(reader, cut_offs, limit, now)).await?;
        if found.is_empty() {
            return Ok(Pruned::default());
        }
        self.write(WriteKind::Quiet, move |unit, _| retention::prune(unit, &found, now)).await
    }
}

/// Queue depths.
fn depths(reader: &Reader) -> StoreResult<Depths> {
    let conn = &reader.conn;
    let (pending, oldest_due): (i64, _) = conn.one(
        "SELECT count(*), min(d.due) FROM endpoint e JOIN delivery d INDEXED BY delivery_pending ON d.endpoint = e.key
         WHERE d.state = 'pending'",
        [],
        |row| Ok((row.get(0)?, optional_moment(row, 1)?)),
    )?;
    Ok(Depths {
        pending: pending.unsigned_abs(),
        oldest_due,
        leased: count(conn, "SELECT count(*) FROM delivery WHERE state = 'leased'", [])?,
        exhausted: count(conn, "SELECT count(*) FROM delivery WHERE state = 'exhausted' AND test = 0", [])?,
        inflight: count(conn, RUNNING, ["INFLIGHT"])?,
        unknown: count(conn, RUNNING, ["UNKNOWN"])?,
        parked: count(conn, RUNNING, ["PARKED"])?,
    })
}

const RUNNING: &str = "SELECT count(*) FROM resolution_attempt INDEXED BY resolution_attempt_open
    WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED') AND state = ?1";

fn count(conn: &Connection, sql: &str, values: impl Params) -> StoreResult<u64> {
    Ok(conn.one(sql, values, cell::<i64>)?.unsigned_abs())
}

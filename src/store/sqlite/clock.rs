//! What was observed of the clocks: one row, which every process of the machine goes on from.

use std::time::Duration;

use chrono::TimeDelta;
use rusqlite::Connection;

use super::statements::{Statements as _, micros, moment};
use crate::domain::clock::{ClockMemory, Jump};
use crate::store::StoreResult;

/// Reads it.
pub(super) fn kept(conn: &Connection) -> StoreResult<Option<ClockMemory>> {
    let kept = "SELECT epoch, date, count, jump_ahead, jump_since, jump_observed, jump_observations FROM clock";
    conn.first(kept, [], |row| {
        let count = |micros: i64| Duration::from_micros(micros.unsigned_abs());
        let jump = match (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?) {
            (Some(ahead), Some(since), Some(observed), Some(observations)) => Some(Jump {
                ahead: TimeDelta::microseconds(ahead),
                since: count(since),
                last_observed: count(observed),
                observations,
            }),
            _ => None,
        };
        Ok(ClockMemory { epoch: row.get(0)?, date: moment(row.get(1)?)?, count: count(row.get(2)?), jump })
    })
}

/// Keeps it.
pub(super) fn keep(conn: &Connection, memory: &ClockMemory) -> StoreResult<()> {
    let count = |passed: Duration| i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
    let jump = memory.jump.as_ref();
    conn.run(
        "INSERT OR REPLACE INTO clock (only, epoch, date, count, jump_ahead, jump_since, jump_observed, \
            jump_observations)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            memory.epoch,
            micros(memory.date),
            count(memory.count),
            jump.map(|jump| jump.ahead.num_microseconds().unwrap_or(i64::MAX)),
            jump.map(|jump| count(jump.since)),
            jump.map(|jump| count(jump.last_observed)),
            jump.map(|jump| jump.observations),
        ),
    )?;
    Ok(())
}

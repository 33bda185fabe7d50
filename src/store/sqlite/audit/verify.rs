//! Going through the audit log: what shows where somebody has worked on it by hand.
//!
//! Every alteration, gap, change of order and missing beginning shows, and a missing end by the number that SQLite gave last. Whoever can
//! write the database and forges all of it (every later hash, that number) is found out only by a hash that was noted elsewhere.

use std::fmt::Write as _;

use rusqlite::Connection;

use super::{Action, Entry, Link, last_number, start};
use crate::domain::AuditState;
use crate::store::StoreResult;

/// Checks every entry there is.
pub(in crate::store::sqlite) fn verify(conn: &Connection) -> StoreResult<AuditState> {
    // Read first: what is added meanwhile is larger, and not missing.
    let last = last_number(conn)?;
    let start = start(conn)?;
    let mut statement = conn.prepare(&format!("SELECT {} FROM audit ORDER BY number", Entry::COLUMNS))?;
    let mut rows = statement.query([])?;
    let mut before = start;
    // Where a log has no beginning any more, an entry in it has to say who took it away.
    let mut told = start.number == 0;
    let mut entries = 0;
    let broken = |number: i64, what: &str| Ok(AuditState::Broken { number: number.unsigned_abs(), what: what.to_owned() });
    while let Some(row) = rows.next()? {
        let (entry, hash) = Entry::read(row)?;
        if entry.hash() != hash {
            return broken(entry.number, "was altered: its hash does not fit");
        }
        if entry.number > before.number + 1 {
            return broken(before.number + 1, "is missing");
        }
        if entry.number <= before.number || entry.previous != before.hash {
            return broken(entry.number, "does not follow from the one before");
        }
        told |= tells_of(&entry, start);
        before = Link { number: entry.number, hash };
        entries += 1;
    }
    if !told {
        return broken(start.number, "was taken away with all before it, and no later entry tells of it");
    }
    if last > before.number {
        return broken(before.number + 1, "is missing at the end");
    }
    if last < before.number {
        return broken(before.number, "is later than the last one that was written");
    }
    Ok(AuditState::Whole { entries, newest: before.number.unsigned_abs(), hash: before.hash })
}

/// Whether an entry says that all up to this one was taken away by age.
fn tells_of(entry: &Entry, start: Link) -> bool {
    let [_, _, action, subject, detail] = &entry.texts;
    action == Action::AuditPruned.as_str() && *subject == start.number.to_string() && detail.contains(&hex(&start.hash))
}

/// As `sha256sum` writes it.
pub(in crate::store::sqlite) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

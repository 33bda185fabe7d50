//! The clock of this machine beside the server's: deadlines go by the one, leases by the other.

use chrono::TimeDelta;

use super::connection::Connection;
use super::fault::Work;
use super::statements::moment_at;
use crate::domain::time::Timestamp;

/// They may differ by so much.
const APART: TimeDelta = TimeDelta::seconds(5);

/// What to do where they differ.
pub(super) const ADVICE: &str = "set the clocks of the machines by NTP: deadlines go by this one, leases by the server's";

/// By how much this machine's clock differs from the server's, in words, where that is too much.
pub(super) async fn apart(conn: &Connection, now: Timestamp) -> Work<Option<String>> {
    let there = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let apart = conn.one(there, &[], |row| moment_at(row, 0)).await? - now;
    Ok((apart.abs() > APART).then(|| {
        let (by, way) = (apart.abs().num_seconds(), if apart > TimeDelta::zero() { "behind" } else { "ahead of" });
        format!("this machine's clock is {by} s {way} the server's")
    }))
}

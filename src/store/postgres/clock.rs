//! The clock of this machine beside the server's: deadlines go by the one, leases by the other.

use chrono::TimeDelta;

use super::{connection::Connection, statements::cell};
use crate::{domain::time::Timestamp, work::Work};

/// Tolerated difference of the clocks.
const APART: TimeDelta = TimeDelta::seconds(5);

/// Advice where the clocks differ.
pub(super) const ADVICE: &str =
    "set the clocks of the machines by NTP: deadlines go by this one, leases by the server's";

/// The server's date, in microseconds.
pub(super) const SERVERS_DATE: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// Describes the difference of this machine's clock from the server's, where it is too large.
pub(super) async fn apart(conn: &Connection, now: Timestamp) -> Work<Option<String>> {
    Ok(in_words(conn.one(SERVERS_DATE, &[], cell::<Timestamp>).await? - now))
}

/// Describes the lead of the server's clock over this machine's, where it is too large.
fn in_words(ahead: TimeDelta) -> Option<String> {
    (ahead.abs() > APART).then(|| {
        let (by, way) = (ahead.abs().num_seconds(), if ahead > TimeDelta::zero() { "behind" } else { "ahead of" });
        format!("this machine's clock is {by} s {way} the server's")
    })
}

/// State of the clocks as the log last had it.
#[derive(Debug)]
pub(super) struct ClockWatch {
    apart: bool,
}

impl ClockWatch {
    /// Begins with the state that the log was given at the start.
    pub(super) fn new(apart: bool) -> Self {
        Self { apart }
    }

    /// Compares the clocks again, and logs it where they have come apart or together.
    pub(super) fn observe(&mut self, server: Timestamp, here: Timestamp) {
        let ahead = server - here;
        metrics::gauge!("avert_clock_off_seconds").set(-ahead.as_seconds_f64());
        let words = in_words(ahead);
        match (&words, self.apart) {
            (Some(words), false) => tracing::warn!("{words}: {ADVICE}"),
            (None, true) => tracing::info!("this machine's clock is the server's again"),
            _ => {}
        }
        self.apart = words.is_some();
    }
}

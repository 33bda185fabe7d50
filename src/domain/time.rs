//! Timestamps: microseconds UTC inside, ISO 8601 outside, and the clock that everything is handed.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};

/// A moment in UTC.
pub type Timestamp = DateTime<Utc>;

/// A clock: where the present moment comes from. Passed in everywhere, so that tests own the time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the present moment, in whole microseconds.
    fn now(&self) -> Timestamp;
}

/// A shared clock.
pub type SharedClock = Arc<dyn Clock>;

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // The store keeps microseconds; a moment must survive the way through it unchanged.
        Utc::now().trunc_subsecs(6)
    }
}

/// Adds a duration to a moment, saturating.
pub fn later_by(moment: Timestamp, by: TimeDelta) -> Timestamp {
    moment.checked_add_signed(by).unwrap_or(Timestamp::MAX_UTC)
}

/// Writes a moment as the interface does: ISO 8601 in UTC, milliseconds, `Z`; microseconds only where they are needed.
pub fn to_iso(moment: Timestamp) -> String {
    let format = if moment.timestamp_subsec_micros().is_multiple_of(1_000) {
        SecondsFormat::Millis
    } else {
        SecondsFormat::Micros
    };
    moment.to_rfc3339_opts(format, true)
}

/// Reads an ISO 8601 date-time: with an offset, or without one (then UTC), `T` or a blank between date and time.
///
/// Tolerant, because deployments differ; the result is in whole microseconds.
pub fn from_iso(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let with_offset = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .map(|moment| moment.to_utc());
    let parsed = with_offset.ok().or_else(|| {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .iter()
            .find_map(|format| chrono::NaiveDateTime::parse_from_str(text, format).ok())
            .map(|naive| naive.and_utc())
    });
    parsed.map(|moment| moment.trunc_subsecs(6))
}

/// A duration in the one notation of time left: `52s`, `4m12` under five minutes, `38m`, `1h20` under eight hours,
/// `9h`, `1d 2h`; never negative.
pub fn short(duration: TimeDelta) -> String {
    let seconds = duration.num_seconds().max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, ..5) if seconds % 60 > 0 => format!("{minutes}m{:02}", seconds % 60),
        (0, _) => format!("{minutes}m"),
        (..8, _) if minutes % 60 > 0 => format!("{hours}h{:02}", minutes % 60),
        (..24, _) => format!("{hours}h"),
        _ => format!("{}d {}h", hours / 24, hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_shows_a_date_of_these_years() {
        assert!(SystemClock.now() > from_iso("2026-01-01T00:00:00Z").unwrap());
    }
}

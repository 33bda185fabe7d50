//! Retention: how long things are kept, the cut-offs before which they are pruned, and how many go at once.

use chrono::{TimeDelta, TimeZone as _, Utc};

use crate::{Timestamp, attempt::IDEMPOTENCY_KEY_MEMORY};

/// Factor by which more audit entries are pruned at once than other records. Each pruning leaves an entry in the log,
/// so that few large ones are better.
pub const AUDIT_AT_ONCE: u32 = 10;

/// Retention: how long things are kept; nothing where they are kept for ever. Alerts, outcomes, attempts that have not
/// ended, and deliveries that can still be tried are never pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention<T> {
    /// The log of attempts of a delivery that arrived, from each attempt on.
    pub delivery_attempts: Option<T>,
    /// A delivery that arrived, and its event once every delivery of it is pruned; from its arrival on.
    pub deliveries: Option<T>,
    /// A delivery that failed for good (exhausted, or cancelled with its endpoint), with its event and its attempts;
    /// from that moment on.
    pub given_up: Option<T>,
    /// An attempt to resolve, from its end on; a day at least.
    pub attempts: Option<T>,
    /// The event of a source, with its body; from its receipt on.
    pub source_events: Option<T>,
    /// An entry of the audit log, to the end of the UTC day.
    pub audit: Option<T>,
}

/// The lengths of time.
pub type RetentionPolicy = Retention<TimeDelta>;

/// The moments before which things may be pruned.
pub type CutOffs = Retention<Timestamp>;

impl Default for RetentionPolicy {
    fn default() -> Self {
        let days = |days| Some(TimeDelta::days(days));
        Self {
            delivery_attempts: days(30),
            deliveries: days(90),
            given_up: days(365),
            attempts: days(365),
            source_events: days(30),
            audit: days(2_557),
        }
    }
}

impl RetentionPolicy {
    /// Returns the cut-offs at this moment.
    pub fn cut_offs(self, now: Timestamp) -> CutOffs {
        let before = |kept: Option<TimeDelta>| kept.and_then(|kept| now.checked_sub_signed(kept));
        CutOffs {
            delivery_attempts: before(self.delivery_attempts),
            deliveries: before(self.deliveries),
            given_up: before(self.given_up),
            // Idempotency-Keys are remembered by them.
            attempts: before(self.attempts.map(|kept| kept.max(IDEMPOTENCY_KEY_MEMORY))),
            source_events: before(self.source_events),
            // Whole days: each pruning leaves an entry, and one a day is enough.
            audit: before(self.audit)
                .and_then(|moment| moment.date_naive().and_hms_opt(0, 0, 0))
                .map(|day| Utc.from_utc_datetime(&day)),
        }
    }
}

/// Numbers of pruned records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Deliveries that had arrived or failed for good.
    pub deliveries: u64,
    /// Events that have no delivery any more.
    pub events: u64,
    /// Entries of the log of attempts.
    pub delivery_attempts: u64,
    /// Attempts to resolve that have ended.
    pub attempts: u64,
    /// Events of sources.
    pub source_events: u64,
    pub audit: u64,
}

impl Pruned {
    /// Adds what else was pruned.
    pub fn add(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.events += other.events;
        self.delivery_attempts += other.delivery_attempts;
        self.attempts += other.attempts;
        self.source_events += other.source_events;
        self.audit += other.audit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn what_is_kept_for_ever_has_no_cut_off_and_the_rest_one_of_its_own() {
        let days = TimeDelta::days;
        let retention = RetentionPolicy {
            delivery_attempts: None,
            deliveries: Some(days(1)),
            given_up: Some(days(2)),
            attempts: Some(days(3)),
            source_events: Some(days(4)),
            audit: None,
        };

        let expected = CutOffs {
            delivery_attempts: None,
            deliveries: Some(noon() - days(1)),
            given_up: Some(noon() - days(2)),
            attempts: Some(noon() - days(3)),
            source_events: Some(noon() - days(4)),
            audit: None,
        };
        assert_eq!(retention.cut_offs(noon()), expected);
    }

    #[test]
    fn an_attempt_is_kept_as_long_as_its_idempotency_key_is_remembered() {
        let retention = RetentionPolicy { attempts: Some(TimeDelta::zero()), ..RetentionPolicy::default() };

        assert_eq!(retention.cut_offs(noon()).attempts, Some(noon() - TimeDelta::hours(24)));
    }

    #[test]
    fn the_audit_log_is_cut_off_at_the_beginning_of_a_day() {
        let retention = RetentionPolicy { audit: Some(TimeDelta::days(30)), ..RetentionPolicy::default() };

        assert_eq!(retention.cut_offs(noon()).audit, from_iso("2026-02-08T00:00:00Z"));
    }

    #[test]
    fn what_was_pruned_is_summed_up_by_kind() {
        let mut all =
            Pruned { deliveries: 1, events: 2, delivery_attempts: 3, attempts: 4, source_events: 6, audit: 5 };

        all.add(Pruned {
            deliveries: 10,
            events: 20,
            delivery_attempts: 30,
            attempts: 40,
            source_events: 60,
            audit: 50,
        });

        assert_eq!(
            all,
            Pruned { deliveries: 11, events: 22, delivery_attempts: 33, attempts: 44, source_events: 66, audit: 55 }
        );
    }
}

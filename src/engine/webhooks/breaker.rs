//! A circuit breaker for one endpoint: it keeps the places in flight from an endpoint that does not answer. Such an
//! endpoint proves itself again with one delivery at a time.
//!
//! While the breaker is open nothing is tried, so no delivery uses up its schedule on an endpoint that is known to be
//! down.

use chrono::Duration;

use crate::{
    domain::time::Timestamp,
    outbound::circuit::{Circuit, CircuitLimits},
};

/// Opened by the fifth failure in a row, and later where trust was earned; the pause is doubled by each further one.
const LIMITS: CircuitLimits =
    CircuitLimits { failures: 5, first_pause: Duration::seconds(5), longest_pause: Duration::seconds(60) };
/// Window of an endpoint that has never answered: most deliveries in flight.
const UNPROVEN_WINDOW: u32 = 2;
/// Largest window: more than the places of one endpoint, so that single failures take none of them.
const LARGEST_WINDOW: u32 = 64;
/// Most failures in a row that trust adds to the limit: one for each delivery taken since the endpoint was last down.
/// An endpoint that fails at random 3 times in 10 has 5 failures in a row every 600 attempts, and 20 never.
const MOST_TRUST: u32 = 15;

/// The circuit breaker of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    circuit: Circuit,
    window: u32,
    trust: u32,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { circuit: Circuit::new(LIMITS), window: UNPROVEN_WINDOW, trust: 0 }
    }
}

impl Breaker {
    /// Returns whether nothing may be sent at this moment.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.reopens_at(now).is_some()
    }

    /// Returns the time at which an open breaker permits the next attempt.
    pub fn reopens_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.circuit.reopens_at(now)
    }

    /// Returns the most deliveries that the endpoint may have in flight. There are few until it has answered, then
    /// twice as many with each success, half as many with each failure.
    pub fn window(&self, limit: u32) -> u32 {
        self.window.min(limit).max(1)
    }

    /// The receiver took a delivery.
    pub fn succeeded(&mut self) {
        // An endpoint that was down earns its trust anew.
        self.trust = if self.circuit.is_unproven() { 0 } else { (self.trust + 1).min(MOST_TRUST) };
        self.circuit.succeeded();
        self.circuit.bear(LIMITS.failures + self.trust);
        self.window = (self.window * 2).clamp(1, LARGEST_WINDOW);
    }

    /// An attempt failed.
    pub fn failed(&mut self, now: Timestamp) {
        self.circuit.failed(now);
        self.window /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn after(failures: u32) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..failures {
            breaker.failed(noon());
        }
        breaker
    }

    #[test]
    fn it_opens_at_the_fifth_failure_in_a_row() {
        assert!(!after(4).is_open(noon()));
        assert!(after(5).is_open(noon()));
        assert!(!after(5).is_open(noon() + Duration::seconds(5)));
        let mut interrupted = after(4);
        interrupted.succeeded();
        interrupted.failed(noon());
        assert!(!interrupted.is_open(noon()));
    }

    #[test]
    fn its_pauses_double_up_to_a_minute() {
        let pauses: Vec<i64> =
            (5..12).map(|failures| (after(failures).reopens_at(noon()).unwrap() - noon()).num_seconds()).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 60, 60, 60]);
        assert!(after(u32::from(u16::MAX)).is_open(noon()));
    }

    #[test]
    fn one_success_closes_it() {
        let mut breaker = after(9);
        breaker.succeeded();
        assert!(!breaker.is_open(noon()));
    }

    #[test]
    fn an_endpoint_earns_its_places() {
        let mut breaker = Breaker::default();
        let mut windows = vec![breaker.window(8)];
        for _ in 0..3 {
            breaker.succeeded();
            windows.push(breaker.window(8));
        }
        for _ in 0..4 {
            breaker.failed(noon());
            windows.push(breaker.window(8));
        }
        assert_eq!(windows, [2, 4, 8, 8, 8, 4, 2, 1]);
    }

    #[test]
    fn each_success_earns_one_more_failure_in_a_row_up_to_twenty() {
        let opened_by = |successes: u32| {
            let mut breaker = Breaker::default();
            (0..successes).for_each(|_| breaker.succeeded());
            (1..).find(|_| {
                breaker.failed(noon());
                breaker.is_open(noon())
            })
        };

        assert_eq!([0, 1, 7, 15, 1_000].map(opened_by), [5, 6, 12, 20, 20].map(Some));
    }

    #[test]
    fn what_was_down_earns_its_trust_anew_and_its_pauses_grow_as_ever() {
        let mut breaker = Breaker::default();
        (0..100).for_each(|_| breaker.succeeded());
        (0..20).for_each(|_| breaker.failed(noon()));
        let first = breaker.reopens_at(noon());
        breaker.failed(noon());
        let second = breaker.reopens_at(noon());

        breaker.succeeded();
        (0..5).for_each(|_| breaker.failed(noon()));

        assert_eq!([first, second], [5, 10].map(|seconds| Some(noon() + Duration::seconds(seconds))));
        assert!(breaker.is_open(noon()), "five are enough again");
    }

    #[test]
    fn a_clock_set_back_does_not_keep_it_open() {
        assert!(!after(5).is_open(noon() - Duration::hours(1)));
    }
}

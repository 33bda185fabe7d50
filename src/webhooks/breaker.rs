//! A circuit breaker for one endpoint: it keeps the places in flight from an endpoint that does not answer, and lets it prove itself
//! again with one delivery at a time.
//!
//! While the breaker is open nothing is tried, so no delivery uses up its schedule on an endpoint that is known to be down.

use chrono::Duration;

use crate::domain::time::Timestamp;
use crate::outbound::circuit::{Circuit, CircuitLimits};

/// Opened by the fifth failure in a row; the pause is doubled by each further one.
const LIMITS: CircuitLimits = CircuitLimits { failures: 5, first_pause: Duration::seconds(5), longest_pause: Duration::seconds(60) };
/// What an endpoint may have in flight before it has ever answered.
const UNPROVEN_WINDOW: u32 = 2;

/// The circuit breaker of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    circuit: Circuit,
    window: u32,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { circuit: Circuit::new(LIMITS), window: UNPROVEN_WINDOW }
    }
}

impl Breaker {
    /// Whether nothing may be sent at this moment.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.reopens_at(now).is_some()
    }

    /// When an open breaker lets the next attempt through.
    pub fn reopens_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.circuit.reopens_at(now)
    }

    /// How many deliveries the endpoint may have in flight: few until it has answered, more with each success, one while it fails.
    pub fn window(&self, limit: u32) -> u32 {
        self.window.min(limit).max(1)
    }

    /// The receiver took a delivery.
    pub fn succeeded(&mut self) {
        self.circuit.succeeded();
        self.window = self.window.saturating_mul(2);
    }

    /// An attempt failed.
    pub fn failed(&mut self, now: Timestamp) {
        self.circuit.failed(now);
        self.window = 1;
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
        let pauses: Vec<i64> = (5..12).map(|failures| (after(failures).reopens_at(noon()).unwrap() - noon()).num_seconds()).collect();
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
        breaker.failed(noon());
        windows.push(breaker.window(8));
        assert_eq!(windows, [2, 4, 8, 8, 1]);
    }

    #[test]
    fn a_clock_set_back_does_not_keep_it_open() {
        assert!(!after(5).is_open(noon() - Duration::hours(1)));
    }
}

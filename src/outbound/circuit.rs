//! The circuit breaker: after some failures in a row it opens for a pause, and nothing is attempted; each further
//! failure doubles the pause.
//!
//! Each endpoint of `webhooks` and each gateway of `providers` has one. It only counts; callers limit the probes while
//! it proves itself again.

use chrono::Duration;

use crate::domain::{clock, time::Timestamp};

/// Thresholds of a circuit breaker: when it opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitLimits {
    /// Number of failures in a row that open it.
    pub failures: u32,
    /// Pause after it opens the first time.
    pub first_pause: Duration,
    /// The longest it stays open.
    pub longest_pause: Duration,
}

/// The state of a circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    limits: CircuitLimits,
    failures: u32,
    /// End and start of the time for which it is open.
    open: Option<(Timestamp, Timestamp)>,
}

impl Circuit {
    /// A closed circuit.
    pub const fn new(limits: CircuitLimits) -> Self {
        Self { limits, failures: 0, open: None }
    }

    /// Returns the time at which an open circuit permits the next attempt; `None` where it is not open.
    pub fn reopens_at(&self, now: Timestamp) -> Option<Timestamp> {
        // A clock that was set back must not keep the circuit open for longer than its pause is.
        self.open.filter(|(until, since)| clock::waits(*since, *until, now)).map(|(until, _)| until)
    }

    /// Checks that it has opened and no attempt has succeeded since. The next permitted attempt then proves the other
    /// side.
    pub fn is_unproven(&self) -> bool {
        self.failures >= self.limits.failures
    }

    /// Failures in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Sets the number of failures in a row that open the circuit.
    pub fn set_threshold(&mut self, failures: u32) {
        self.limits.failures = failures;
    }

    /// The other side did its work.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.open = None;
    }

    /// An attempt failed.
    pub fn failed(&mut self, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        if self.is_unproven() {
            let doublings = (self.failures - self.limits.failures).min(16);
            let doubled = self.limits.first_pause.checked_mul(1 << doublings).unwrap_or(self.limits.longest_pause);
            self.open = now.checked_add_signed(doubled.min(self.limits.longest_pause)).map(|until| (until, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    const LIMITS: CircuitLimits =
        CircuitLimits { failures: 3, first_pause: Duration::seconds(10), longest_pause: Duration::seconds(60) };

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn after(failures: u32) -> Circuit {
        let mut circuit = Circuit::new(LIMITS);
        for _ in 0..failures {
            circuit.failed(noon());
        }
        circuit
    }

    #[test]
    fn it_opens_at_the_last_of_so_many_failures_in_a_row() {
        let mut interrupted = after(2);
        interrupted.succeeded();
        interrupted.failed(noon());

        assert_eq!((after(2).reopens_at(noon()), after(2).is_unproven()), (None, false));
        assert_eq!(after(3).reopens_at(noon()), Some(noon() + Duration::seconds(10)));
        assert_eq!(interrupted.reopens_at(noon()), None);
    }

    #[test]
    fn after_its_pause_it_lets_through_and_is_unproven_until_a_success() {
        let mut circuit = after(3);
        let later = noon() + Duration::seconds(10);

        assert_eq!((circuit.reopens_at(later), circuit.is_unproven()), (None, true));
        circuit.succeeded();
        assert_eq!((circuit.is_unproven(), circuit.failures()), (false, 0));
    }

    #[test]
    fn its_pauses_double_up_to_the_longest() {
        let pauses: Vec<i64> =
            (3..8).map(|failures| (after(failures).reopens_at(noon()).unwrap() - noon()).num_seconds()).collect();

        assert_eq!(pauses, [10, 20, 40, 60, 60]);
        assert!(after(70_000).reopens_at(noon()).is_some());
    }

    #[test]
    fn a_clock_set_back_does_not_keep_it_open() {
        assert_eq!(after(3).reopens_at(noon() - Duration::hours(1)), None);
        assert_eq!(after(3).reopens_at(noon() - Duration::seconds(1)), None, "nor for longer than its own pause");
    }
}

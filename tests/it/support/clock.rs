//! A clock that a test moves by hand.

use std::sync::{Arc, Mutex};

use avert::domain::time::{Clock, Timestamp, from_iso};
use chrono::Duration;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock that shows this moment.
    pub fn at(iso: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(from_iso(iso).expect("an ISO 8601 moment"))))
    }

    /// Moves the clock forward (or back, by a negative duration).
    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

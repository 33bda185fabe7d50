//! Clocks that a test moves by hand.

use std::sync::{Arc, Mutex};

use avert::{
    domain::time::{Clock, Timestamp, from_iso},
    engine::MonotonicClock,
};
use chrono::{Duration, TimeDelta};

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

/// Both clocks of a machine: the date, which can be set, and the count since its boot, which cannot.
#[derive(Debug, Clone)]
pub struct MachineClocks {
    pub date: Arc<ManualClock>,
    /// What engines on this machine count by; the same epoch for all of them.
    pub counting: MonotonicClock,
    count: Arc<Mutex<std::time::Duration>>,
}

impl MachineClocks {
    /// A machine that was just booted, at this moment.
    pub fn at(iso: &str) -> Self {
        let count = Arc::<Mutex<std::time::Duration>>::default();
        let counted = Arc::clone(&count);
        Self { date: ManualClock::at(iso), counting: MonotonicClock::new(move || *counted.lock().unwrap()), count }
    }

    /// The same machine, or another one, booted anew: it counts from the beginning.
    pub fn booted(&self) -> Self {
        Self { date: Arc::clone(&self.date), ..Self::at("2026-03-10T12:00:00Z") }
    }

    /// Time goes by as it does.
    pub fn pass(&self, seconds: u32) {
        self.jump(TimeDelta::seconds(seconds.into()));
        *self.count.lock().unwrap() += std::time::Duration::from_secs(seconds.into());
    }

    /// Somebody sets the date.
    pub fn jump(&self, by: TimeDelta) {
        self.date.advance(by);
    }
}

//! Forgetting what has served its time: deliveries that arrived or were given up long ago, their events and the log of tries, attempts to resolve that have
//! ended, and the oldest entries of the audit log.

use std::time::Duration;

use chrono::{TimeDelta, TimeZone as _, Utc};
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::domain::Timestamp;
use crate::store::{Forgotten, Horizon, StoreResult};

/// How much goes in one commit, so that others get their turn in between.
const BATCH: u32 = 500;

/// The pause between two commits.
const BREATH: Duration = Duration::from_millis(50);

/// How long after the start, and how often from then on, it is looked for what may go.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(3_600);

/// So long an attempt answers repeats with its Idempotency-Key (decisions, Repeats).
const IDEMPOTENCY_KEY_LIFE: TimeDelta = TimeDelta::hours(24);

/// How long things are kept; nothing where they are kept for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The log of tries of a delivery that arrived, from each try on.
    pub tries: Option<TimeDelta>,
    /// A delivery that arrived, and its event once every delivery of it is forgotten; from its arrival on.
    pub deliveries: Option<TimeDelta>,
    /// A delivery that was given up (exhausted, or cancelled with its endpoint), with its event and its tries; from that moment on.
    pub given_up: Option<TimeDelta>,
    /// An attempt to resolve, from its end on; a day at least.
    pub attempts: Option<TimeDelta>,
    /// An entry of the audit log, to the end of the UTC day.
    pub audit: Option<TimeDelta>,
}

impl Default for Retention {
    fn default() -> Self {
        let days = |days| Some(TimeDelta::days(days));
        Self { tries: days(30), deliveries: days(90), given_up: days(365), attempts: days(365), audit: days(2_557) }
    }
}

impl Retention {
    fn horizon(self, now: Timestamp) -> Horizon {
        let before = |kept: Option<TimeDelta>| kept.and_then(|kept| now.checked_sub_signed(kept));
        Horizon {
            tries: before(self.tries),
            deliveries: before(self.deliveries),
            given_up: before(self.given_up),
            attempts: before(self.attempts.map(|kept| kept.max(IDEMPOTENCY_KEY_LIFE))),
            // Whole days: each pruning leaves an entry, and one a day is enough.
            audit: before(self.audit).and_then(|moment| moment.date_naive().and_hms_opt(0, 0, 0)).map(|day| Utc.from_utc_datetime(&day)),
        }
    }
}

impl Engine {
    /// Forgets everything whose time is over. Alerts, outcomes, attempts that have not ended, and deliveries that can still be tried are
    /// never touched.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn forget_once(&self) -> StoreResult<Forgotten> {
        // A clock that has jumped ahead must not make us forget what is young.
        let now = self.trusted_now();
        let horizon = self.settings().retention.horizon(now);
        let mut all = Forgotten::default();
        loop {
            let batch = self.store().forget(horizon, BATCH, now).await?;
            all.add(batch);
            let kinds = [
                ("delivery", batch.deliveries),
                ("event", batch.events),
                ("try", batch.tries),
                ("attempt", batch.attempts),
                ("audit", batch.audit),
            ];
            for (kind, rows) in kinds {
                metrics::counter!("avert_forgotten_total", "kind" => kind).increment(rows);
            }
            if batch == Forgotten::default() {
                return Ok(all);
            }
            tokio::time::sleep(BREATH).await;
        }
    }
}

/// The loop.
pub(super) async fn run(engine: Engine, cancel: CancellationToken) {
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = EVERY;
        tokio::select! {
            () = cancel.cancelled() => return,
            done = engine.forget_once() => match done {
                Ok(done) if done == Forgotten::default() => {}
                Ok(Forgotten { deliveries, events, tries, attempts, audit }) => {
                    tracing::info!(deliveries, events, tries, attempts, audit, "what has served its time was forgotten");
                }
                Err(error) => tracing::warn!(%error, "what has served its time could not be forgotten, trying again in an hour"),
            },
        }
    }
}

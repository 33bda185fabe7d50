//! Forgetting what has served its time: deliveries that arrived long ago, their events, and the log of tries.

use std::time::Duration;

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

/// How long things are kept; nothing where they are kept for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The log of tries of a delivery that arrived, from each try on.
    pub tries: Option<chrono::TimeDelta>,
    /// A delivery that arrived, and its event once every delivery of it is forgotten; from its arrival on.
    pub deliveries: Option<chrono::TimeDelta>,
}

impl Default for Retention {
    fn default() -> Self {
        Self { tries: Some(chrono::TimeDelta::days(30)), deliveries: Some(chrono::TimeDelta::days(90)) }
    }
}

impl Retention {
    fn horizon(self, now: Timestamp) -> Horizon {
        let before = |kept: Option<chrono::TimeDelta>| kept.and_then(|kept| now.checked_sub_signed(kept));
        Horizon { tries: before(self.tries), deliveries: before(self.deliveries) }
    }
}

impl Engine {
    /// Forgets everything whose time is over. Alerts, outcomes, decisions, and deliveries that have not arrived are never touched.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn forget_once(&self) -> StoreResult<Forgotten> {
        // A clock that has jumped ahead must not make us forget what is young.
        let horizon = self.settings().retention.horizon(self.trusted_now());
        let mut all = Forgotten::default();
        loop {
            let batch = self.store().forget(horizon, BATCH).await?;
            all.add(batch);
            for (kind, rows) in [("delivery", batch.deliveries), ("event", batch.events), ("try", batch.tries)] {
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
                Ok(Forgotten { deliveries: 0, tries: 0, .. }) => {}
                Ok(done) => tracing::info!(deliveries = done.deliveries, events = done.events, tries = done.tries, "old deliveries were forgotten"),
                Err(error) => tracing::warn!(%error, "old deliveries could not be forgotten, trying again in an hour"),
            },
        }
    }
}

//! Retention: prunes rows beyond their cut-off. These are deliveries that arrived or have failed, their events and
//! attempt logs, attempts that have ended, and the oldest audit entries.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::handle::Engine;
use crate::{
    domain::{Pruned, batch},
    store::StoreResult,
};

/// The pause between two commits.
const BREATH: Duration = Duration::from_millis(50);

/// The pruning interval: how long after the start, and how often from then on.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(3_600);

impl Engine {
    /// Prunes everything whose time is over. Alerts, outcomes, attempts that have not ended, and deliveries that can
    /// still be tried are never touched.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn prune_once(&self) -> StoreResult<Pruned> {
        // A clock that has jumped ahead must not make us prune what is young.
        let now = self.now();
        let cut_offs = self.settings().retention.cut_offs(now);
        let mut all = Pruned::default();
        loop {
            let batch = self.store().prune(cut_offs, batch::AT_ONCE, now).await?;
            all.add(batch);
            let kinds = [
                ("delivery", batch.deliveries),
                ("event", batch.events),
                ("try", batch.delivery_attempts),
                ("attempt", batch.attempts),
                ("audit", batch.audit),
            ];
            for (kind, rows) in kinds {
                metrics::counter!("avert_forgotten_total", "kind" => kind).increment(rows);
            }
            if batch == Pruned::default() {
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
            done = engine.prune_once() => match done {
                Ok(done) if done == Pruned::default() => {}
                Ok(Pruned { deliveries, events, delivery_attempts, attempts, audit }) => {
                    tracing::info!(deliveries, events, delivery_attempts, attempts, audit,
                        "what has served its time was pruned");
                }
                Err(error) => tracing::warn!(%error, "what has served its time could not be pruned, trying again in \
                    an hour"),
            },
        }
    }
}

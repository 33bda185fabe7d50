//! Expiry: at its deadline an open alert without an outcome becomes EXPIRED.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::handle::{Engine, until};
use crate::domain::{Timestamp, batch};
use crate::store::StoreResult;

/// The longest sleep. The machine's clock may jump (suspend, adjustment) while a timer does not.
const LONGEST: Duration = Duration::from_secs(30);

/// The shortest one: a burst of changes is looked at once.
const SHORTEST: Duration = Duration::from_millis(250);

impl Engine {
    /// Expires every alert whose deadline has passed, except those whose resolution is with the provider. Returns how many did.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn expire_once(&self) -> StoreResult<u64> {
        let mut expired = 0;
        loop {
            let batch = self.store().expire_due(self.guarded_now(), batch::AT_ONCE).await?;
            expired += batch;
            metrics::counter!("avert_expired_total").increment(batch);
            if batch < u64::from(batch::AT_ONCE) {
                return Ok(expired);
            }
        }
    }
}

/// The expiry loop: sleeps until the next deadline, or until something has changed.
pub(super) async fn run(engine: Engine, cancel: CancellationToken) {
    let mut changes = engine.store().changes();
    loop {
        changes.mark_unchanged();
        let pause = match turn(&engine).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(%error, "alerts could not lapse, trying again");
                LONGEST
            }
        };
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(pause.clamp(SHORTEST, LONGEST)) => {}
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = tokio::time::sleep(SHORTEST) => {}
                }
            }
        }
    }
}

/// Expires what is due and says how long there is nothing to do.
async fn turn(engine: &Engine) -> StoreResult<Duration> {
    let pause = |next: Option<Timestamp>| next.map_or(LONGEST, |deadline| until(deadline, engine.guarded_now()));
    // Most changes bring no earlier deadline: look before writing.
    let wait = pause(engine.store().next_deadline().await?);
    if !wait.is_zero() {
        return Ok(wait);
    }
    let expired = engine.expire_once().await?;
    tracing::info!(expired, "alerts lapsed");
    Ok(pause(engine.store().next_deadline().await?))
}

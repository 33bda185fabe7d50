//! Expiry and retention: open alerts without an outcome expire at their deadline, and rows beyond their retention are
//! pruned.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::{
    domain::{Pruned, Timestamp, batch},
    handle::{Engine, until, wait_for_change},
    store::StoreResult,
};

/// The longest sleep. The machine's clock may jump (suspend, adjustment) while a timer does not.
const LONGEST: Duration = Duration::from_secs(30);

/// The shortest one: a burst of changes is looked at once.
const SHORTEST: Duration = Duration::from_millis(250);

/// The least time between two looks for alerts to call: each reads what was called before.
const CALLS: Duration = Duration::from_secs(10);

impl Engine {
    /// Expires every alert whose deadline has passed, except those whose resolution is with the provider. Returns how
    /// many did.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn expire_once(&self) -> StoreResult<u64> {
        self.follow_clock().await?;
        let mut expired = 0;
        loop {
            let batch = self.store().expire_due(self.now(), batch::AT_ONCE).await?;
            expired += batch;
            metrics::counter!("avert_expired_total").increment(batch);
            if batch < u64::from(batch::AT_ONCE) {
                return Ok(expired);
            }
        }
    }

    /// Records the calls of alerts that are about to expire without an answer. Returns how many there are.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn call_expiring_once(&self) -> StoreResult<u64> {
        let (store, mut called) = (self.store(), 0);
        while store.has_expiring(self.now()).await? {
            match store.record_expiring(self.now(), batch::AT_ONCE).await? {
                0 => break,
                recorded => called += recorded,
            }
        }
        Ok(called)
    }

    /// Keeps the clock in step with the other processes of this machine, and reopens alerts that expired by a wrong
    /// date.
    async fn follow_clock(&self) -> StoreResult<()> {
        self.recall_clock().await?;
        let now = self.now();
        if self.inner.clock.take_set_back()
            && let Err(error) = self.undo_expiry(now).await
        {
            self.inner.clock.set_back();
            return Err(error);
        }
        match self.inner.clock.to_keep() {
            Some(memory) => self.store().keep_clock(memory).await,
            None => Ok(()),
        }
    }

    /// Goes on from what was observed of this machine's clocks, by this process or another one.
    ///
    /// # Errors
    /// When the store cannot be read now.
    pub async fn recall_clock(&self) -> StoreResult<()> {
        if let Some(memory) = self.store().kept_clock().await? {
            self.inner.clock.recall(memory);
        }
        Ok(())
    }

    /// Reopens alerts that expired by a wrong date.
    async fn undo_expiry(&self, now: Timestamp) -> StoreResult<()> {
        loop {
            let reopened = self.store().undo_expiry(now, batch::AT_ONCE).await?;
            if reopened > 0 {
                tracing::warn!(reopened, "alerts that had expired before their time are open again");
            }
            if reopened < u64::from(batch::AT_ONCE) {
                return Ok(());
            }
        }
    }
}

/// The expiry loop: sleeps until the next deadline, or until something has changed.
pub(super) async fn run(engine: Engine, cancel: CancellationToken) {
    let (mut changes, mut called) = (engine.store().changes(), None::<Instant>);
    loop {
        changes.mark_unchanged();
        if called.is_none_or(|at| at.elapsed() >= CALLS) {
            called = Some(Instant::now());
            if let Err(error) = engine.call_expiring_once().await {
                tracing::warn!(%error, "alerts that expire soon could not be called, trying again");
            }
        }
        let pause = match turn(&engine).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(%error, "alerts could not expire, trying again");
                LONGEST
            }
        };
        if !wait_for_change(&cancel, &mut changes, pause.clamp(SHORTEST, LONGEST), SHORTEST).await {
            return;
        }
    }
}

/// Expires what is due and says how long there is nothing to do.
async fn turn(engine: &Engine) -> StoreResult<Duration> {
    let pause = |next: Option<Timestamp>| next.map_or(LONGEST, |deadline| until(deadline, engine.now()));
    engine.follow_clock().await?;
    // Most changes bring no earlier deadline: look before writing.
    let wait = pause(engine.store().next_deadline().await?);
    if !wait.is_zero() {
        return Ok(wait);
    }
    let expired = engine.expire_once().await?;
    tracing::info!(expired, "alerts expired");
    Ok(pause(engine.store().next_deadline().await?))
}

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
                ("source_event", batch.source_events),
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

/// Removes what is beyond its retention, hour by hour, until it is cancelled.
pub(super) async fn run_retention(engine: Engine, cancel: CancellationToken) {
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
                Ok(Pruned { deliveries, events, delivery_attempts, attempts, source_events, audit }) => {
                    tracing::info!(deliveries, events, delivery_attempts, attempts, source_events, audit,
                        "what has served its time was pruned");
                }
                Err(error) => tracing::warn!(%error, "what has served its time could not be pruned, trying again in \
                    an hour"),
            },
        }
    }
}

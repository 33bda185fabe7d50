//! The dispatcher: leases deliveries that are due, sends them, records the results, and looks for more.
//!
//! One task owns the state and starts the work, and each piece of work comes back to it as a `Done`. At most one claim
//! and one record commit are under way at a time, and many sends. Results gather while a commit is under way, and for a
//! moment while there is more to send. The next commit takes them all, and the next claim goes with it. So the number
//! of commits follows the disk, and the number of sends the receivers. A place is free again as soon as its send has
//! ended.
//!
//! Nothing here is needed for safety: events and deliveries are in the store before anybody hears of the change. A
//! lease that nobody finishes runs out, and a record whose fence is broken changes nothing. A fault in here costs a
//! repeat at worst.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt as _;
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    queues::{EndpointQueues, Gathering, Limits},
    sender::{AttemptReport, Sender},
};
use crate::{
    domain::{
        NextStep,
        time::{SharedClock, Timestamp},
        webhook::schedule::{AttemptResult, GAPS_SECONDS, next_step},
    },
    store::{AttemptRecord, DueDelivery, SharedStore, StoreError, StoreResult},
    trace,
};

/// Number of unrecorded results with which nothing more is leased.
const MOST_UNRECORDED: usize = 1_024;
/// Time to record an attempt before its lease ends.
const RECORD_MARGIN: Duration = Duration::from_secs(5);
/// Factor by which the store is asked less often where nothing is due.
const RESTING: u32 = 4;
/// Longest time for the last commit when the dispatcher stops.
const LAST_COMMIT: Duration = Duration::from_secs(2);

/// Configuration of a dispatcher.
#[derive(Debug, Clone, Copy)]
pub struct DispatcherSettings {
    /// Sends in flight in all; those that take long no longer count.
    pub in_flight: usize,
    /// Sends in flight for each endpoint.
    pub per_endpoint: u32,
    /// Sockets in all, those of sends that take long included; organizations share them.
    pub sockets: usize,
    /// Lease of a claimed delivery.
    pub lease: Duration,
    /// Interval at which it looks for work that nobody announced; four times as long while nothing is due.
    pub poll: Duration,
    /// Longest time for sends in flight to end when the dispatcher stops.
    pub drain: Duration,
    /// Seconds to wait after the first, second, ... failed attempt.
    pub gaps: &'static [i64],
}

impl Default for DispatcherSettings {
    fn default() -> Self {
        Self {
            in_flight: 32,
            per_endpoint: 8,
            sockets: 256,
            lease: Duration::from_secs(45),
            poll: Duration::from_millis(500),
            drain: Duration::from_secs(5),
            gaps: &GAPS_SECONDS,
        }
    }
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Attempts made.
    pub attempted: u64,
    /// Deliveries that a receiver took.
    pub delivered: u64,
}

/// The dispatcher: sends what the outbox holds to its endpoints.
pub struct Dispatcher {
    store: SharedStore,
    sender: Sender,
    clock: SharedClock,
    settings: DispatcherSettings,
    queues: EndpointQueues,
    tasks: JoinSet<Done>,
    /// Results that wait to be recorded.
    results: Gathering<AttemptRecord>,
    /// Results in the commit that is under way; kept, so that they can be tried again.
    recording: Arc<[AttemptRecord]>,
    claiming: bool,
    /// True where there may be something to lease.
    claim_wanted: bool,
    next_due: Option<Timestamp>,
    /// True where the store had nothing due when it was last asked.
    is_resting: bool,
    claims: Backoff,
    commits: Backoff,
    report: RunReport,
    /// Time at which it last moved: it had nothing to wait for from the store, or that had come.
    heartbeat: watch::Sender<Instant>,
}

/// A piece of work that has come to its end.
enum Done {
    Sent(Box<DueDelivery>, AttemptReport),
    Claimed { until: Timestamp, limit: usize, claimed: StoreResult<(Vec<DueDelivery>, Option<Timestamp>)> },
    Recorded(StoreResult<()>),
}

/// Backoff of a store that failed: the time at which it is asked again.
#[derive(Debug, Default)]
struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    fn failed(&mut self) {
        let wait = Duration::from_millis(100) * (1 << self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        self.until = Some(Instant::now() + wait.min(Duration::from_secs(5)));
    }

    fn succeeded(&mut self) {
        *self = Self::default();
    }

    fn is_over(&self) -> bool {
        self.until.is_none_or(|until| until <= Instant::now())
    }
}

impl Dispatcher {
    /// A dispatcher that has not begun. The clock is one that does not jump: due times, leases and how long an endpoint
    /// has failed go by it.
    pub fn new(store: SharedStore, sender: Sender, clock: SharedClock, settings: DispatcherSettings) -> Self {
        Self {
            store,
            sender,
            clock,
            settings,
            queues: EndpointQueues::default(),
            tasks: JoinSet::new(),
            results: Gathering::default(),
            recording: Arc::from([]),
            claiming: false,
            claim_wanted: true,
            next_due: None,
            is_resting: false,
            claims: Backoff::default(),
            commits: Backoff::default(),
            report: RunReport::default(),
            heartbeat: watch::Sender::new(Instant::now()),
        }
    }

    /// Returns the heartbeat: when the dispatcher last moved, from now on; closed when it has ended. One that works, or
    /// has nothing to do, moves each time that it looks for work ([`DispatcherSettings::poll`]). One that is stuck, or
    /// waits for a store that never answers, does not.
    pub fn heartbeat(&self) -> watch::Receiver<Instant> {
        self.heartbeat.subscribe()
    }

    /// Runs until cancelled, on a task of its own. Then it leases nothing more, gives sends in flight
    /// [`DispatcherSettings::drain`] to end, and records them. The handle ends when all that is done.
    pub fn start(mut self, cancel: CancellationToken) -> JoinHandle<()> {
        tokio::spawn(async move { self.run(&cancel).await })
    }

    /// Sends everything that is due at this moment of the clock, and what becomes due by that, records it and returns.
    /// The first error of the store ends it; what was leased then waits for its lease.
    pub async fn run_once(&mut self) -> StoreResult<RunReport> {
        (self.report, self.claims, self.commits) = (RunReport::default(), Backoff::default(), Backoff::default());
        self.claim_wanted = true;
        loop {
            self.advance();
            if self.is_idle() {
                return Ok(self.report);
            }
            let wake = self.next_slow_or_gathered(Instant::now());
            tokio::select! {
                Some(done) = self.tasks.join_next() => {
                    self.take_ready(done.ok()).inspect_err(|_| self.queues.clear())?;
                }
                () = sleep_until(wake), if wake.is_some() => {}
                else => return Ok(self.report),
            }
        }
    }

    async fn run(&mut self, cancel: &CancellationToken) {
        let mut changes = self.store.changes();
        let mut watching = true;
        let mut polled = Instant::now();
        while !cancel.is_cancelled() {
            self.advance();
            if !self.claiming && self.recording.is_empty() {
                self.heartbeat.send_replace(Instant::now());
            }
            let poll = polled + self.poll_interval();
            let wake = self.next_wake(poll);
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                Some(done) = self.tasks.join_next() => drop(self.take_ready(done.ok())),
                changed = changes.changed(), if watching => {
                    watching = changed.is_ok();
                    self.claim_wanted = true;
                }
                () = sleep_until(Some(wake)) => {
                    let now = Instant::now();
                    let due = self.next_due.is_some_and(|due| due <= self.clock.now());
                    if poll <= now || due {
                        self.claim_wanted = true;
                        self.next_due = None;
                        self.queues.reset_speed();
                        polled = now;
                    }
                }
            }
        }
        self.drain().await;
    }

    /// Lets what is in flight end, for a while, and records it.
    async fn drain(&mut self) {
        self.queues.clear();
        let deadline = Instant::now() + self.settings.drain;
        while self.queues.in_flight() > 0 || !self.recording.is_empty() {
            self.begin_commit();
            tokio::select! {
                Some(done) = self.tasks.join_next() => drop(self.take_ready(done.ok())),
                () = sleep_until(Some(deadline)) => break,
                else => break,
            }
        }
        self.tasks.abort_all();
        self.put_back();
        let left = self.results.take_all();
        if left.is_empty() {
            return;
        }
        let commit = self.store.record_attempts(left, self.clock.now());
        match tokio::time::timeout(LAST_COMMIT, guarded(commit)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(
                    "the last webhook results were not recorded, those deliveries will be repeated: {error}"
                );
            }
            Err(_) => {
                tracing::warn!("the last webhook results were not recorded in time, those deliveries may be repeated");
            }
        }
    }

    /// Starts whatever can be started now.
    fn advance(&mut self) {
        let limits = self.limits();
        while let Some(delivery) = self.queues.start_next(limits, self.clock.now(), Instant::now()) {
            self.begin_send(delivery);
        }
        // With nothing leased ahead, the next claim waits for these results.
        let begins_commit = self.results.is_ready(!self.queues.has_next(), Instant::now()) && self.begin_commit();
        self.begin_claim(begins_commit);
    }

    fn begin_send(&mut self, due: DueDelivery) {
        let (sender, now) = (self.sender.clone(), self.clock.now());
        self.tasks.spawn(async move {
            let began = Instant::now();
            let report = AssertUnwindSafe(sender.send(&due, now)).catch_unwind().await;
            let report = report.unwrap_or_else(|_| {
                AttemptReport::failed(
                    now,
                    began.elapsed(),
                    "avert failed to make the request; this is a fault of its own",
                )
            });
            Done::Sent(Box::new(due), report)
        });
    }

    /// Records results, where there are any and no other commit is under way; whether it does.
    fn begin_commit(&mut self) -> bool {
        if self.results.is_empty() || !self.recording.is_empty() || !self.commits.is_over() {
            return false;
        }
        self.recording = self.results.take_batch();
        let (store, records, now) = (self.store.clone(), Arc::clone(&self.recording), self.clock.now());
        self.tasks.spawn(async move { Done::Recorded(guarded(store.record_attempts(records, now)).await) });
        true
    }

    /// Puts the results of a commit back that did not come to its end.
    fn put_back(&mut self) {
        let again = std::mem::replace(&mut self.recording, Arc::from([]));
        self.results.put_back(&again, Instant::now());
    }

    /// Leases more, where there may be something. Where no place is free, the claim goes with the next commit of
    /// results, and a place comes free only after that. Two units of work that are asked for at once are one commit.
    fn begin_claim(&mut self, begins_commit: bool) {
        let unrecorded = self.results.len() + self.recording.len();
        if !self.claim_wanted || self.claiming || !self.claims.is_over() || unrecorded >= MOST_UNRECORDED {
            return;
        }
        let (limits, now) = (self.limits(), self.clock.now());
        let ahead = self.queues.ahead();
        let room = self.queues.room(limits, now, Instant::now());
        let limit = room + ahead.in_all;
        if limit == 0 || room == 0 && !begins_commit {
            return;
        }
        // In the store, deliveries whose result is not recorded yet are still in flight.
        let per_endpoint = limits.per_endpoint.saturating_add(small(ahead.of_one + unrecorded));
        let skip = self.queues.skip(limits, now);
        let until = now + chrono::Duration::from_std(self.settings.lease).unwrap_or(chrono::Duration::seconds(45));
        let store = self.store.clone();
        (self.claiming, self.claim_wanted) = (true, false);
        self.tasks.spawn(async move {
            let claimed = guarded(async {
                let due = store.claim_due_deliveries(now, until, small(limit), per_endpoint, &skip).await?;
                let next = if due.len() < limit { store.next_due_delivery().await? } else { None };
                Ok((due, next))
            });
            Done::Claimed { until, limit, claimed: claimed.await }
        });
    }

    /// Takes in a piece of work that has ended and every other one that has ended meanwhile. The first error of the
    /// store has been noted like all others.
    fn take_ready(&mut self, first: Option<Done>) -> StoreResult<()> {
        let mut result = Ok(());
        let mut next = first;
        loop {
            if let Some(done) = next {
                result = result.and(self.take(done));
            }
            match self.tasks.try_join_next() {
                Some(done) => next = done.ok(),
                None => return result,
            }
        }
    }

    fn take(&mut self, done: Done) -> StoreResult<()> {
        if matches!(done, Done::Claimed { .. } | Done::Recorded(_)) {
            self.heartbeat.send_replace(Instant::now());
        }
        match done {
            Done::Sent(due, report) => {
                self.sent(&due, report);
                Ok(())
            }
            Done::Claimed { until, limit, claimed } => {
                self.claiming = false;
                match claimed {
                    Ok((due, next_due)) => {
                        self.claims.succeeded();
                        let is_ahead = |next: &Timestamp| *next > self.clock.now();
                        self.is_resting = due.is_empty() && next_due.as_ref().is_none_or(is_ahead);
                        self.next_due = next_due.filter(is_ahead);
                        // As many came as were asked for: that may not be all there is.
                        self.claim_wanted |= due.len() >= limit;
                        self.queues.accept(due, until);
                        Ok(())
                    }
                    Err(error) => {
                        if self.claims.failures == 0 {
                            tracing::warn!("webhook deliveries cannot be claimed, trying again: {error}");
                        }
                        self.claims.failed();
                        self.claim_wanted = true;
                        Err(error)
                    }
                }
            }
            Done::Recorded(Ok(())) => {
                self.commits.succeeded();
                self.recording = Arc::from([]);
                // Places are free again in the store, and what waited for these deliveries may go.
                self.claim_wanted = true;
                Ok(())
            }
            Done::Recorded(Err(error)) => {
                tracing::warn!("webhook results cannot be recorded: {error}");
                self.commits.failed();
                self.put_back();
                Err(error)
            }
        }
    }

    fn sent(&mut self, due: &DueDelivery, report: AttemptReport) {
        let _trace = trace::span(&due.trace).entered();
        let DueDelivery { delivery, attempt, endpoint, .. } = *due;
        let now = self.clock.now();
        let next = next_step(report.result, attempt, self.settings.gaps, now, &mut rand::rng());
        let delivered = next == NextStep::Delivered;
        if report.result == AttemptResult::Refused {
            // Its breaker keeps it from being asked for again at once.
            self.queues.finished(delivery, endpoint, delivered, now);
            tracing::warn!(error = report.error, %endpoint, "a webhook stays due: this process may not reach its \
                endpoint");
            for queued in std::iter::once(due).chain(&self.queues.remove(endpoint)) {
                self.results.add(report.clone().into_record(queued, now, next.clone()), Instant::now());
            }
            return;
        }
        let result = match &next {
            NextStep::Delivered => "delivered",
            NextStep::RetryAt(_) => "failed",
            NextStep::Exhausted => "exhausted",
            NextStep::DisableEndpoint(_) => "disabled",
        };
        metrics::counter!("avert_delivery_tries_total", "result" => result).increment(1);
        metrics::histogram!("avert_delivery_try_seconds").record(report.duration);
        self.queues.finished(delivery, endpoint, delivered, now);
        self.report.attempted += 1;
        self.report.delivered += u64::from(delivered);
        let status = report.status();
        match &next {
            NextStep::Delivered => tracing::debug!(%delivery, attempt, status, "webhook delivered"),
            NextStep::DisableEndpoint(reason) => {
                tracing::warn!(%delivery, %endpoint, "webhook endpoint disabled: {reason}");
                drop(self.queues.remove(endpoint));
            }
            NextStep::RetryAt(at) => {
                let again = at.format("%Y-%m-%dT%H:%M:%SZ");
                tracing::warn!(status, error = report.error, attempt, %again, %delivery, "webhook not delivered");
            }
            NextStep::Exhausted => tracing::warn!(status, error = report.error, attempt, %delivery, "webhook failed"),
        }
        self.results.add(report.into_record(due, self.clock.now(), next), Instant::now());
    }

    fn limits(&self) -> Limits {
        let lease_left = self.sender.settings().timeout + RECORD_MARGIN;
        Limits {
            in_flight: self.settings.in_flight.max(1),
            per_endpoint: self.settings.per_endpoint.max(1),
            sockets: self.settings.sockets.max(1),
            lease_left: chrono::Duration::from_std(lease_left).unwrap_or(chrono::Duration::seconds(20)),
        }
    }

    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.results.is_empty() && !self.claim_wanted
    }

    /// Returns the time until the store is asked again. Where it had nothing due, only another process's death can
    /// bring something unannounced.
    fn poll_interval(&self) -> Duration {
        if self.is_resting { self.settings.poll * RESTING } else { self.settings.poll }
    }

    /// Returns the time at which the next slow send gives its place back, or the results have waited long enough.
    fn next_slow_or_gathered(&self, now: Instant) -> Option<Instant> {
        // While a commit is under way its end is waited for.
        let gathered = self.results.ready_at().filter(|_| self.recording.is_empty());
        [self.queues.next_slow(now), gathered].into_iter().flatten().min()
    }

    /// Returns the time at which something can be started that cannot be started now, unless an answer comes before.
    fn next_wake(&self, poll: Instant) -> Instant {
        let now = Instant::now();
        let due = self
            .next_due
            .map(|due| now + (due - self.clock.now()).to_std().unwrap_or_default().max(Duration::from_millis(10)));
        [self.claims.until, self.commits.until, due, self.next_slow_or_gathered(now)]
            .into_iter()
            .flatten()
            .filter(|wake| *wake > now)
            .fold(poll, Instant::min)
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// A unit of work whose panic is an error, so that it cannot end the dispatcher.
async fn guarded<T>(work: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
    let panicked = |_| Err(StoreError::Unavailable("a unit of work panicked".to_owned()));
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(panicked)
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_fails_is_asked_again_after_waits_that_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        let waits = [(); 8].map(|()| {
            let before = Instant::now();
            backoff.failed();
            backoff.until.unwrap() - before
        });

        // The moment at which it failed is a little later than the one before.
        let least = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000].map(Duration::from_millis);
        assert!(
            waits.iter().zip(least).all(|(wait, least)| (least..least + Duration::from_secs(1)).contains(wait)),
            "{waits:?}"
        );
        backoff.succeeded();
        assert!(backoff.is_over());
    }
}

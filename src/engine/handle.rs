//! The engine: the store, the providers, the clock and the settings that every use case stands on, and the caller it
//! acts for.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock::{GuardedClock, MonotonicClock},
    domain::{
        Currency, Environment, FieldError, MonotonicTime, OrganizationId, Present, Provider, ResponseWindows,
        RetentionPolicy,
        audit::person_name,
        time::{Clock, SharedClock, Timestamp, later_by},
    },
    engine_rules::EngineRules,
    outbound::address::AddressPolicy,
    providers::Providers,
    service::ServiceError,
    source::InboundSource,
    store::{Actor, CommitRequest, OrganizationRecord, SharedStore, StoreError},
    tokens::TokenKeys,
    webhooks::Sender,
};

/// An authenticated caller: the organization that everything is bound to, and the actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Organization of its alerts, keys and endpoints.
    pub organization: OrganizationRecord,
    /// The caller as the log and the audit log put it down.
    pub actor: Actor,
}

impl Caller {
    /// The same caller, asking from an address.
    #[must_use]
    pub fn from_address(mut self, address: std::net::IpAddr) -> Self {
        self.actor.origin = address.to_canonical().to_string();
        self
    }

    /// The same caller, who says to be this person.
    #[must_use]
    pub fn said_to_be(mut self, person: &str) -> Self {
        self.actor.person = person_name(person);
        self
    }
}

/// The networks that have a gateway, with its address.
pub(super) type Gateways = Arc<[(Provider, String)]>;

/// The alert service in this process. Cheap to clone: clones are one engine.
#[derive(Clone)]
pub struct Engine {
    pub(super) inner: Arc<EngineParts>,
}

pub(super) struct EngineParts {
    pub(super) store: SharedStore,
    pub(super) providers: Providers,
    pub(super) clock: Arc<GuardedClock>,
    pub(super) settings: EngineSettings,
    /// Resolutions on their way, the loops, and small work that no request waits for.
    pub(super) tasks: TaskTracker,
    /// Signal that ends the loops, once they were started.
    pub(super) loops: OnceLock<CancellationToken>,
    /// Number of decisions that callers wait for.
    pub(super) deciding: watch::Sender<usize>,
    /// The organizations that callers were of, which never change.
    pub(super) organizations: Mutex<HashMap<OrganizationId, OrganizationRecord>>,
    /// Time of each credential's last recorded use, by id.
    pub(super) touched: Mutex<HashMap<String, Timestamp>>,
    /// Keys that sign and check access tokens, and the time at which they were read.
    pub(super) token_keys: Mutex<Option<(MonotonicTime, Arc<TokenKeys>)>>,
    /// Providers' acceptances that the store could not take yet. An acceptance is never thrown away.
    pub(super) late: Mutex<Vec<CommitRequest>>,
    /// The earliest moment at which an attempt that this process laid down is to be looked at.
    pub(super) next_check: Mutex<Option<MonotonicTime>>,
    /// Sender of endpoint tests.
    pub(super) sender: OnceLock<Sender>,
    /// Places for tests of each organization's endpoints.
    pub(super) tests: Mutex<HashMap<OrganizationId, Arc<Semaphore>>>,
    /// The newest change number.
    pub(super) changes: watch::Receiver<u64>,
    /// The gateways that the database knew at a change number.
    pub(super) gateways: Mutex<Option<(u64, Gateways)>>,
    /// Wakes the reconciler when `next_check` has moved.
    pub(super) reconcile: Notify,
    /// Held by the one round of reconciling that a waiting resolution has asked for.
    pub(super) round: tokio::sync::Mutex<()>,
    /// Currencies that money at risk was reported in.
    pub(super) currencies: Mutex<BTreeSet<Currency>>,
}

impl Engine {
    /// An engine on these parts. Nothing runs until [`Engine::start`].
    pub fn new(store: SharedStore, providers: Providers, clock: SharedClock, settings: EngineSettings) -> Self {
        let changes = store.changes();
        let inner = EngineParts {
            store,
            providers,
            clock: Arc::new(GuardedClock::new(clock, settings.monotonic_clock.clone())),
            settings,
            organizations: Mutex::default(),
            tasks: TaskTracker::new(),
            loops: OnceLock::new(),
            deciding: watch::Sender::new(0),
            touched: Mutex::default(),
            token_keys: Mutex::default(),
            late: Mutex::default(),
            next_check: Mutex::default(),
            sender: OnceLock::new(),
            tests: Mutex::default(),
            changes,
            gateways: Mutex::default(),
            reconcile: Notify::new(),
            round: tokio::sync::Mutex::default(),
            currencies: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The store that the engine stands on.
    pub fn store(&self) -> &SharedStore {
        &self.inner.store
    }

    /// The store, whose changes the audit log puts down to this caller.
    pub(super) fn signed(&self, caller: &Caller) -> SharedStore {
        self.store().signed(caller.actor.clone())
    }

    /// The engine's clock: the guarded one.
    pub fn clock(&self) -> SharedClock {
        self.inner.clock.clone()
    }

    /// The engine's settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.inner.settings
    }

    pub(super) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// The present moment by both clocks.
    pub(super) fn present(&self) -> Present {
        self.inner.clock.present()
    }

    /// The present moment by the monotonic clock: what has to pass is measured by it.
    pub(super) fn counted(&self) -> MonotonicTime {
        self.inner.clock.counted()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// Shortest interval between two log lines of the same store error: while a database is away, every task meets it
/// several times a second.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// Most store errors that are remembered; they are few, but for texts of the server's.
const MOST_TOLD: usize = 64;

/// The store errors that the log was told of, and when.
#[derive(Debug, Default)]
struct Told(BTreeMap<String, Instant>);

impl Told {
    /// Returns whether the error is to be logged at this moment, and remembers it.
    fn is_due(&mut self, error: String, now: Instant) -> bool {
        self.0.retain(|_, told| now.saturating_duration_since(*told) < TELL_AGAIN);
        if self.0.contains_key(&error) {
            return false;
        }
        if self.0.len() < MOST_TOLD {
            self.0.insert(error, now);
        }
        true
    }
}

/// Store errors logged by this process: errors become a caller's in many places, none of which knows of the others.
static TOLD: Mutex<Told> = Mutex::new(Told(BTreeMap::new()));

/// A store error as the caller's; the log has it as it was.
pub(crate) fn service_error(error: StoreError) -> ServiceError {
    let kind = match &error {
        // The number of free bytes differs each time.
        StoreError::Refused(cause, _) => cause.to_string(),
        other => other.to_string(),
    };
    match locked(&TOLD).is_due(kind, Instant::now()) {
        true => tracing::warn!(%error, "the store did not do its work; said once a minute"),
        false => tracing::debug!(%error, "the store did not do its work"),
    }
    match error {
        StoreError::Unusable(text) | StoreError::Newer(text) => ServiceError::Unavailable(text),
        StoreError::Unavailable(text) => ServiceError::Unavailable(format!(
            "the database cannot do this now ({text}); nothing was changed, try again"
        )),
        StoreError::Corrupt(text) => ServiceError::Unavailable(format!(
            "the database holds something that should not be there ({text}); `avert doctor` says more"
        )),
        refused @ StoreError::Refused(..) => ServiceError::Unavailable(refused.to_string()),
        StoreError::Conflict(what) => {
            ServiceError::InvalidRequest(vec![FieldError::new("", format!("{what} exists already"))])
        }
    }
}

/// Adds a duration to a moment, saturating.
pub(super) fn later(moment: Timestamp, by: Duration) -> Timestamp {
    later_by(moment, span(by))
}

/// A duration as moments are reckoned with, saturating.
pub(super) fn span(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}

/// Returns the time until a moment; zero once it has come.
pub(super) fn until(moment: Timestamp, now: Timestamp) -> Duration {
    (moment - now).to_std().unwrap_or(Duration::ZERO)
}

/// Waits for so long, or until something has changed and a pause behind it has passed; `false` where the loop is to
/// end.
pub(super) async fn wait_for_change(
    cancel: &CancellationToken,
    changes: &mut watch::Receiver<u64>,
    longest: Duration,
    behind_a_change: Duration,
) -> bool {
    let changed = async {
        tokio::select! {
            () = tokio::time::sleep(longest) => true,
            changed = changes.changed() => {
                if changed.is_ok() {
                    tokio::time::sleep(behind_a_change).await;
                }
                changed.is_ok()
            }
        }
    };
    cancel.run_until_cancelled(changed).await.unwrap_or(false)
}

/// Locks a mutex though it may be poisoned: no holder leaves half a change behind.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Configuration of an [`Engine`].
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Environment of the engine; new keys carry it.
    pub environment: Environment,
    pub windows: ResponseWindows,
    /// Longest wait for a provider's answer to a decision.
    pub provider_timeout: Duration,
    /// Longest wait for a provider's answer to a look-up.
    pub look_up_timeout: Duration,
    /// Longest wait of a resolution for another one of the same alert to end.
    pub wait_for_winner: Duration,
    /// The gaps between checks of an attempt whose fate is unknown; after the last one a person has to decide.
    pub checks: Vec<Duration>,
    /// Interval at which attempts are looked for that another process left behind.
    pub reconcile_poll: Duration,
    /// Policy of addresses that webhook endpoints may have.
    pub addresses: AddressPolicy,
    /// Most webhook endpoints of an organization.
    pub endpoints_per_organization: u32,
    /// Sources whose webhooks are taken.
    pub sources: Arc<[InboundSource]>,
    /// Rules that answer by themselves.
    pub rules: EngineRules,
    /// Retention of rows that have ended.
    pub retention: RetentionPolicy,
    /// Monotonic clock that shows jumps of the engine's clock, and measures waits. Nothing where the clock is believed
    /// whatever it shows.
    pub monotonic_clock: Option<MonotonicClock>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let checks = [2, 5, 15, 30, 60, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400];
        Self {
            environment: Environment::default(),
            windows: ResponseWindows::default(),
            provider_timeout: Duration::from_secs(10),
            look_up_timeout: Duration::from_secs(4),
            wait_for_winner: Duration::from_secs(15),
            checks: checks.map(Duration::from_secs).to_vec(),
            reconcile_poll: Duration::from_secs(5),
            addresses: AddressPolicy::default(),
            endpoints_per_organization: 32,
            sources: Arc::new([]),
            rules: EngineRules::default(),
            retention: RetentionPolicy::default(),
            monotonic_clock: None,
        }
    }
}

impl EngineSettings {
    /// Returns the longest time for a decision: the call, a look-up after it, and the commit. It is the lease of a
    /// claim too.
    pub fn longest_decision(&self) -> Duration {
        self.provider_timeout.saturating_add(self.look_up_timeout).saturating_add(Duration::from_secs(5))
    }

    /// The lease of a reconciler's claim: a batch is worked through in less.
    pub(super) fn reconcile_lease(&self) -> Duration {
        self.provider_timeout.max(self.look_up_timeout).saturating_mul(4).saturating_add(Duration::from_secs(30))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_told_of_the_same_store_error_once_a_minute_and_of_another_at_once() {
        let (mut told, begin) = (Told::default(), Instant::now());
        let mut is_due = |error: &str, seconds| told.is_due(error.to_owned(), begin + Duration::from_secs(seconds));

        let due = [
            is_due("away", 0),
            is_due("away", 1),
            is_due("full", 2),
            is_due("away", 59),
            is_due("away", 60),
            is_due("away", 61),
        ];

        assert_eq!(due, [true, false, true, false, true, false]);
    }
}

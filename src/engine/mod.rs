//! The alert service's use cases; the only writer of alerts.
//!
//! An [`Engine`] stands on a store, the providers, a clock and its settings. It is bound to a caller before anything is asked of it:
//! [`Engine::acting_for`] gives the handle behind which every capability of the seam stands. [`Engine::start`] sets its loops going: alerts
//! lapse at their deadline, decisions whose fate is unknown are reconciled with the provider, and what has served its time is pruned.

mod access;
mod acting;
mod clock;
mod credential_text;
mod credentials;
mod expire;
mod gateways;
pub mod intake;
mod metrics;
mod organizations;
mod pull;
mod reconcile;
mod resolve;
mod retention;
mod settings;
mod test_event;
mod tokens;
mod webhooks;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::{Notify, OnceCell, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use access::KnownClient;
pub use acting::ActingEngine;
pub use clock::MonotonicClock;
pub use pull::{PullFrom, Pulled};
pub use reconcile::Reconciled;
pub use settings::EngineSettings;
pub use tokens::{AccessToken, TOKEN_LIFETIME};

use self::gateways::Gateways;
use self::tokens::SigningKey;
use crate::domain::FieldError;
use crate::domain::clock::ClockGuard;
use crate::domain::time::{Clock, SharedClock, Timestamp, later_by};
use crate::providers::Providers;
use crate::service::ServiceError;
use crate::store::{Actor, CommitRequest, OrganizationRecord, SharedStore, StoreError};
use crate::webhooks::Sender;

/// An authenticated caller: the organization that everything is bound to, and a name for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose alerts, keys and endpoints.
    pub organization: OrganizationRecord,
    /// Who, in words fit for a log: `local`, `key 7Qd2…`, `client avc_live_7Qd2…`.
    pub actor: String,
    /// From where: an address, or `this machine`.
    pub origin: String,
}

impl Caller {
    /// The same caller, asking from an address.
    #[must_use]
    pub fn from_address(self, address: std::net::IpAddr) -> Self {
        Self { origin: address.to_canonical().to_string(), ..self }
    }

    /// As the audit log puts it down.
    fn signature(&self) -> Actor {
        Actor { name: self.actor.clone(), origin: self.origin.clone() }
    }
}

/// The origin of a caller who does not come over a network.
const THIS_MACHINE: &str = Actor::THIS_MACHINE;

/// The alert service in this process. Cheap to clone: clones are one engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    store: SharedStore,
    providers: Providers,
    clock: SharedClock,
    settings: EngineSettings,
    /// Resolutions on their way, the loops, and small work that no request waits for.
    tasks: TaskTracker,
    /// When each credential's use was last written down, by id.
    touched: Mutex<HashMap<String, Timestamp>>,
    /// What access tokens are signed with, once it was needed.
    signing_key: OnceCell<SigningKey>,
    /// Providers' acceptances that the store could not take yet. An acceptance is never thrown away.
    late: Mutex<Vec<CommitRequest>>,
    /// The earliest moment at which an attempt that this process laid down is to be looked at.
    next_check: Mutex<Option<Timestamp>>,
    /// What tests of endpoints are sent with.
    sender: OnceLock<Sender>,
    /// The clock guard.
    guard: Mutex<ClockGuard>,
    /// The newest change number.
    changes: watch::Receiver<u64>,
    /// The gateways that the database knew at a change number.
    gateways: Mutex<Option<(u64, Gateways)>>,
    /// Wakes the reconciler when `next_check` has moved.
    reconcile: Notify,
    /// Held by the one round of reconciling that a waiting resolution has asked for.
    round: tokio::sync::Mutex<()>,
}

impl Engine {
    /// An engine on these parts. Nothing runs until [`Engine::start`].
    pub fn new(store: SharedStore, providers: Providers, clock: SharedClock, settings: EngineSettings) -> Self {
        let changes = store.changes();
        let inner = Inner {
            store,
            providers,
            clock,
            settings,
            tasks: TaskTracker::new(),
            touched: Mutex::default(),
            signing_key: OnceCell::new(),
            late: Mutex::default(),
            next_check: Mutex::default(),
            sender: OnceLock::new(),
            guard: Mutex::default(),
            changes,
            gateways: Mutex::default(),
            reconcile: Notify::new(),
            round: tokio::sync::Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts the loops: expiry, retention and reconciling. They end when `cancel` is cancelled; close the tracker and wait for it, and every
    /// resolution on its way has ended too.
    pub fn start(&self, cancel: CancellationToken) -> TaskTracker {
        let tasks = &self.inner.tasks;
        tasks.spawn(expire::run(self.clone(), cancel.clone()));
        tasks.spawn(retention::run(self.clone(), cancel.clone()));
        tasks.spawn(reconcile::run(self.clone(), cancel));
        tasks.clone()
    }

    /// The store that the engine stands on.
    pub fn store(&self) -> &SharedStore {
        &self.inner.store
    }

    /// The store, whose changes the audit log puts down to this caller.
    fn signed(&self, caller: &Caller) -> SharedStore {
        self.store().signed(caller.signature())
    }

    /// The engine's clock.
    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// The guarded clock: a date that jumps ahead moves it only when it has gone on evenly for a while.
    pub fn guarded_clock(&self) -> SharedClock {
        Arc::new(GuardedClock(self.clone()))
    }

    /// The engine's settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.inner.settings
    }

    fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// The present moment by the guarded clock: what lapses, lapses by it.
    fn guarded_now(&self) -> Timestamp {
        let now = self.now();
        match &self.inner.settings.monotonic_clock {
            Some(counting) => clock::guarded(&mut locked(&self.inner.guard), now, counting),
            None => now,
        }
    }
}

/// See [`Engine::guarded_clock`].
struct GuardedClock(Engine);

impl Clock for GuardedClock {
    fn now(&self) -> Timestamp {
        self.0.guarded_now()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// A store error as the caller's.
fn unavailable(error: StoreError) -> ServiceError {
    tracing::warn!(%error, "the store did not do its work");
    match error {
        StoreError::Unusable(text) => ServiceError::Unavailable(text),
        StoreError::Unavailable(text) => {
            ServiceError::Unavailable(format!("the database cannot do this now ({text}); nothing was changed, try again"))
        }
        StoreError::Corrupt(text) => {
            ServiceError::Unavailable(format!("the database holds something that should not be there ({text}); restore a backup"))
        }
        StoreError::Conflict(what) => ServiceError::InvalidRequest(vec![FieldError::new("", format!("{what} exists already"))]),
    }
}

/// Adds a duration to a moment, saturating.
fn later(moment: Timestamp, by: Duration) -> Timestamp {
    later_by(moment, TimeDelta::from_std(by).unwrap_or(TimeDelta::MAX))
}

/// How long it is until a moment; nothing once it has come.
fn until(moment: Timestamp, now: Timestamp) -> Duration {
    (moment - now).to_std().unwrap_or(Duration::ZERO)
}

/// Locks a mutex though it may be poisoned: no holder leaves half a change behind.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The contract of every store: functions over a [`Fixture`], run against each kind of store. What only SQLite has is
//! in `store/sqlite.rs`, what only PostgreSQL has in `store/postgres.rs`.

pub(crate) mod ground;

/// Makes tests of functions that take a fixture: one of each for every kind of store.
macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        $crate::store::ground::each_kind! { tests_on $($name),+ }
    };
}

macro_rules! tests_on {
    ($kind:ident, $ground:ty, $($name:ident),+) => {
        mod $kind {
            $(
                #[tokio::test]
                async fn $name() {
                    if let Some(fixture) = $crate::store::Fixture::on::<$ground>().await {
                        super::$name(fixture).await;
                    }
                }
            )+
        }
    };
}

mod access;
mod audit;
mod calls;
mod clients;
mod expiry;
mod finds;
mod ingest;
mod insights;
mod keys;
mod lists;
mod organizations;
mod outbox;
mod payments;
mod postgres;
mod processes;
mod resolutions;
mod rules;
mod sources;
mod sqlite;
mod surroundings;
mod truth;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use avert::{
    domain::{Alert, AlertPatch, AlertQuery, OrganizationId, Outcome, OutcomeId, SharedAlert},
    store::{SharedStore, StoreResult},
};

use self::ground::Ground;
use crate::support::alerts::noon;

/// A process with its store.
pub(crate) struct Fixture {
    pub(crate) store: SharedStore,
    pub(crate) organization: OrganizationId,
    ground: Arc<dyn Ground>,
}

impl Fixture {
    /// The first process on fresh data, where this kind of store can be had here.
    pub(crate) async fn on<G: Ground>() -> Option<Self> {
        Some(Self::start(Arc::new(G::fresh().await?)).await)
    }

    /// The same on every kind of store.
    pub(crate) async fn on_each() -> Vec<Self> {
        let mut fixtures = Vec::new();
        macro_rules! add {
            ($kind:ident, $ground:ty,) => {
                fixtures.extend(Self::on::<$ground>().await);
            };
        }
        ground::each_kind! { add }
        fixtures
    }

    /// Another process on the same data.
    pub(crate) async fn another(&self) -> Self {
        Self::start(Arc::clone(&self.ground)).await
    }

    /// The store of a process on the same data that serves.
    pub(crate) async fn service(&self) -> SharedStore {
        self.ground.open_service().await
    }

    /// The same process and data, with another organization.
    pub(crate) async fn another_organization(&self, name: &str) -> Self {
        let other = organizations::organization(name);
        self.store.add_organization(other.clone(), noon()).await.unwrap();
        let (store, ground) = (Arc::clone(&self.store), Arc::clone(&self.ground));
        Self { store, organization: other.organization.id, ground }
    }

    /// The file with the data key.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.ground.key_file()
    }

    /// The store of another process on the same data, which has the key in a file of its own.
    pub(crate) async fn open_by(&self, key_file: &Path) -> StoreResult<SharedStore> {
        self.ground.open_by(key_file).await
    }

    async fn start(ground: Arc<dyn Ground>) -> Self {
        let store = ground.open().await;
        let organization = store.organizations().await.unwrap()[0].organization.id;
        Self { store, organization, ground }
    }

    /// Brings alerts in as they are, without events.
    pub(crate) async fn bring(&self, alerts: &[Alert]) {
        let rows = alerts.iter().map(|alert| row(alert, false)).collect();
        let report = self.store.ingest(self.organization, rows, noon()).await.unwrap();
        assert_eq!(report.created, alerts.len() as u64, "{report:?}");
    }

    /// Brings one alert in, with its event.
    pub(crate) async fn announce(&self, alert: &Alert) {
        let report = self.store.ingest(self.organization, vec![row(alert, true)], noon()).await.unwrap();
        assert_eq!(report.created, 1);
    }

    pub(crate) async fn get(&self, alert: &Alert) -> Alert {
        self.store.get_alert(self.organization, alert.id).await.unwrap().expect("the alert is stored").into_alert()
    }

    pub(crate) async fn list(&self, query: &AlertQuery) -> (Vec<Alert>, u64) {
        let page = self.store.list_alerts(self.organization, query, noon()).await.unwrap();
        (page.data.into_iter().map(SharedAlert::into_alert).collect(), page.total)
    }
}

/// A row that gives everything of an alert.
pub(crate) fn row(alert: &Alert, event: bool) -> AlertPatch {
    AlertPatch { event, ..AlertPatch::of(alert.clone()) }
}

/// A recorded answer.
pub(crate) fn outcome(alert: &Alert, word: &str) -> Outcome {
    Outcome {
        id: OutcomeId::generate(),
        alert_id: alert.id,
        provider_alert_id: alert.provider_id.clone(),
        status: "success".to_owned(),
        outcome: word.to_owned(),
        refunded: "refunded".to_owned(),
        comments: "as agreed".to_owned(),
        dispute_reason_code: None,
        action_time: Some(noon()),
        amount_stopped: None,
    }
}

//! The contract of every store: functions over a [`Fixture`], run against each kind. What only SQLite has is in `store/sqlite.rs`.

/// Makes tests of functions that take a fixture: one of each for every kind of store.
macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(crate::store::Fixture::sqlite().await).await;
                }
            )+
        }
    };
}

mod access;
mod audit;
mod clients;
mod expiry;
mod ingest;
mod lists;
mod organizations;
mod outbox;
mod resolutions;
mod sqlite;

use std::sync::Arc;

use avert::domain::event::RenderEvent;
use avert::domain::time::{Timestamp, to_iso};
use avert::domain::{Alert, AlertQuery, EventKind, OrganizationId, Outcome, OutcomeId};
use avert::store::{IngestRow, SharedStore, SqliteOptions, SqliteStore};

use crate::support::alerts::noon;

/// Writes the few facts of an event that tests look at.
pub(crate) struct PlainEvents;

impl RenderEvent for PlainEvents {
    fn render(&self, kind: &EventKind, alert: &Alert, at: Timestamp) -> String {
        let outcome = alert.outcome.as_ref().map_or("none", |outcome| outcome.outcome.as_str());
        format!("{kind} {} {} {} {outcome} {}", alert.id, alert.provider_id, alert.status, to_iso(at))
    }
}

/// A fresh store.
pub(crate) struct Fixture {
    pub(crate) store: SharedStore,
    pub(crate) organization: OrganizationId,
    /// What the store stands on; goes when it goes.
    _ground: Box<dyn std::any::Any + Send>,
}

/// Opens the store of a directory, once more where it is open already, as another process would.
pub(crate) fn open(directory: &std::path::Path) -> Arc<SqliteStore> {
    SqliteStore::open(&SqliteOptions::directory(directory, Arc::new(PlainEvents))).unwrap()
}

impl Fixture {
    /// On a directory of its own.
    pub(crate) async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self::over(open(directory.path()), Box::new(directory)).await
    }

    async fn over(store: SharedStore, ground: Box<dyn std::any::Any + Send>) -> Self {
        let organization = store.organizations().await.unwrap()[0].organization.id;
        Self { store, organization, _ground: ground }
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
        self.store.get_alert(self.organization, alert.id).await.unwrap().expect("the alert is stored")
    }

    pub(crate) async fn list(&self, query: &AlertQuery) -> (Vec<Alert>, u64) {
        let page = self.store.list_alerts(self.organization, query, noon()).await.unwrap();
        (page.data, page.total)
    }
}

/// A row that gives everything of an alert.
pub(crate) fn row(alert: &Alert, event: bool) -> IngestRow {
    IngestRow {
        line: 1,
        alert: alert.clone(),
        by_id: true,
        alert_time_given: true,
        transaction_time_given: true,
        company_given: true,
        enrollment_given: true,
        event,
    }
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

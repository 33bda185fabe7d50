//! Composition root of local commands: opens store, providers and engine in one way.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use chrono::TimeDelta;
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    context::{Context, Home},
    database::{self, OpenedBy},
    failure::Misused,
    networks::{self, Networks},
    rules_file::RulesText,
    source_settings,
};
use crate::{
    config::{Days, Settings},
    desk::OrderOwner,
    domain::{
        DEFAULT_ORGANIZATION, Organization, OrganizationId, ResponseWindows, RetentionPolicy,
        time::{SharedClock, SystemClock, Timestamp},
    },
    engine::{
        ActingEngine, Caller, Engine, EngineSettings, MonotonicClock, PullFrom,
        webhooks::{Dispatcher, DispatcherSettings, Sender, SenderSettings},
    },
    outbound::address::AddressPolicy,
    service::ServiceError,
    store::{SharedStore, StoreError},
};

/// Local engine: an engine on this machine's database. Nothing runs until [`Local::start`].
pub(super) struct Local {
    pub(super) engine: Engine,
    pub(super) clock: SharedClock,
    store: SharedStore,
    pulls: Vec<PullFrom>,
}

impl Local {
    /// Opens an existing database; an error where there is none.
    pub(super) async fn existing(context: &Context) -> anyhow::Result<Self> {
        context.home.require_data()?;
        match Self::open(&context.home, &context.settings, &RulesText::of(context), OpenedBy::Command).await {
            Ok(local) => Ok(local),
            Err(error) => Err(database::nothing_kept(&context.home).await.map_or(error, Into::into)),
        }
    }

    /// Opens an existing database, and acts for an organization.
    pub(super) async fn existing_for(context: &Context) -> anyhow::Result<(Self, ActingEngine)> {
        let local = Self::existing(context).await?;
        let caller = local.caller(context.organization()).await?;
        let acting = local.engine.acting_for(caller.said_to_be(&context.user().unwrap_or_default()));
        Ok((local, acting))
    }

    /// Opens the database, or creates it and says so, to reveal a mistyped location at once.
    pub(super) async fn making(context: &Context) -> anyhow::Result<Self> {
        Self::making_for(context, OpenedBy::Command).await
    }

    /// Opens or creates the database for a console or a service.
    pub(super) async fn making_for(context: &Context, by: OpenedBy) -> anyhow::Result<Self> {
        let home = &context.home;
        let missing = home.missing_directory();
        let local = Self::open(home, &context.settings, &RulesText::of(context), by).await?;
        if let Some(directory) = missing {
            say!("made a new data directory {}", directory.display());
        }
        Ok(local)
    }

    /// Opens the database (creating a missing file) with an engine on it. Starts no background task.
    pub(super) async fn open(
        home: &Home,
        settings: &Settings,
        rules: &RulesText,
        by: OpenedBy,
    ) -> anyhow::Result<Self> {
        let clock: SharedClock = Arc::new(SystemClock);
        let mut networks = networks::networks(settings, &clock)?;
        let store = database::open(home, settings, by).await?;
        let sources = source_settings::sources(settings, by == OpenedBy::Service, &clock, &mut networks)?.into();
        let Networks { providers, pulls } = networks;
        let rules = rules.clone().engine_rules(settings);
        let engine_settings = EngineSettings { sources, rules, ..engine_settings(settings) };
        let engine = Engine::new(Arc::clone(&store), providers, clock, engine_settings);
        engine.recall_clock().await?;
        match engine.keep_gateways(networks::said(settings)).await {
            Err(error @ StoreError::Refused(..)) => {
                tracing::warn!(%error, "nothing can be recorded now; what is there is answered");
            }
            kept => kept?,
        }
        Ok(Self { clock: engine.clock(), engine, store, pulls })
    }

    /// Returns the services for an organization: the named one, or the only one there is.
    pub(super) async fn acting(&self, organization: Option<&str>) -> anyhow::Result<ActingEngine> {
        Ok(self.engine.acting_for(self.caller(organization).await?))
    }

    /// Returns the caller at this machine for an organization: the named one, or the only one there is.
    pub(super) async fn caller(&self, organization: Option<&str>) -> anyhow::Result<Caller> {
        self.engine.local_caller(organization).await.map_err(|error| match error {
            // The engine knows the names, but not how a command names one.
            ServiceError::InvalidRequest(fields) if organization.is_none() => {
                let said: Vec<String> =
                    fields.iter().map(|wrong| format!("{} {}", wrong.field, wrong.message)).collect();
                let how = "say --organization NAME (`avert open --organization NAME` for the console), or name one in \
                    the settings (organization, AVERT_ORGANIZATION)";
                misused!("{}: {how}", said.join("; ")).into()
            }
            other => other.into(),
        })
    }

    /// Returns the owner of the shop's orders in a desk of this data directory, for an organization.
    pub(super) async fn order_owner(&self, organization: OrganizationId) -> anyhow::Result<OrderOwner> {
        let all = self.engine.organizations().await?;
        let is_default = |known: &Organization| known.id == organization && known.name == DEFAULT_ORGANIZATION;
        let inherits = all.len() < 2 || all.iter().any(|known| is_default(&known.organization));
        Ok(OrderOwner { organization: organization.to_string(), inherits })
    }

    /// Returns the engine's current time.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Closes the database, once everything on it has ended.
    pub(super) fn close(self) {
        self.store.close();
    }

    /// Enables test deliveries to endpoints.
    pub(super) fn send_tests(&self) -> anyhow::Result<()> {
        self.engine.set_test_sender(self.sender()?);
        Ok(())
    }

    /// Returns a webhook sender limited to the addresses that the settings allow.
    fn sender(&self) -> anyhow::Result<Sender> {
        let addresses = self.engine.settings().addresses.clone();
        Sender::new(SenderSettings { addresses, ..SenderSettings::default() }).map_err(|error| anyhow!(error))
    }

    /// Starts the background tasks: expiry, reconciliation, webhooks.
    pub(super) fn start(&self, drain: Duration) -> anyhow::Result<Running> {
        self.start_dispatching(DispatcherSettings { drain, ..DispatcherSettings::default() })
    }

    /// Starts the background tasks with other webhook settings.
    pub(super) fn start_dispatching(&self, settings: DispatcherSettings) -> anyhow::Result<Running> {
        self.engine.settings().rules.check().map_err(Misused)?;
        let sender = self.sender()?;
        self.engine.set_test_sender(sender.clone());
        let cancel = CancellationToken::new();
        let dispatcher = Dispatcher::new(Arc::clone(self.engine.store()), sender, Arc::clone(&self.clock), settings);
        let heartbeat = dispatcher.heartbeat();
        let tasks = self.engine.start(cancel.clone());
        for from in &self.pulls {
            self.engine.pull(from.clone(), cancel.clone());
        }
        Ok(Running { tasks, dispatcher: dispatcher.start(cancel.clone()), heartbeat, cancel })
    }
}

/// Converts the retention periods of the settings; 0 days is for ever.
fn retention(settings: &Settings) -> RetentionPolicy {
    let days = |days: Days| Some(days.0).filter(|days| *days > 0).map(|days| TimeDelta::days(days.into()));
    let kept = &settings.retention;
    RetentionPolicy {
        delivery_attempts: days(kept.tries_days),
        deliveries: days(kept.deliveries_days),
        given_up: days(kept.given_up_days),
        attempts: days(kept.attempts_days),
        source_events: days(kept.source_events_days),
        audit: days(kept.audit_days),
    }
}

/// Background tasks of a local engine.
pub(super) struct Running {
    /// Cancels all tasks.
    pub(super) cancel: CancellationToken,
    tasks: TaskTracker,
    dispatcher: JoinHandle<()>,
    heartbeat: watch::Receiver<Instant>,
}

impl Running {
    /// Returns the dispatcher's heartbeat: the time of its last turn; closed once it has ended.
    pub(super) fn dispatcher(&self) -> watch::Receiver<Instant> {
        self.heartbeat.clone()
    }

    /// Ends the tasks, and drains resolutions and deliveries for so long. The next process takes up the rest.
    pub(super) async fn stop(self, patience: Duration) {
        self.cancel.cancel();
        self.tasks.close();
        let ended = async {
            self.tasks.wait().await;
            if let Err(error) = self.dispatcher.await {
                tracing::error!(%error, "the dispatcher ended in a fault");
            }
        };
        if tokio::time::timeout(patience, ended).await.is_err() {
            tracing::warn!("some work was still on its way; the next process on this database takes it up");
        }
    }
}

/// Returns the engine's part of the settings.
pub(super) fn engine_settings(settings: &Settings) -> EngineSettings {
    let hours = |hours: u32| TimeDelta::hours(hours.into());
    let windows = &settings.windows;
    let by_provider = ResponseWindows::default()
        .with("ETHOCA", hours(windows.ethoca.0))
        .with("VERIFI", hours(windows.verifi.0))
        .with("CDRN", hours(windows.cdrn.0));
    let windows =
        windows.types.iter().fold(by_provider, |all, (name, window)| all.with(name.0.as_str(), hours(window.0)));
    let defaults = EngineSettings::default();
    EngineSettings {
        environment: settings.environment,
        addresses: AddressPolicy::new(settings.webhooks.allow.iter().copied()),
        endpoints_per_organization: settings.webhooks.endpoints_per_organization.0,
        windows,
        retention: retention(settings),
        monotonic_clock: Some(MonotonicClock::of_the_machine()),
        provider_timeout: networks::longest_call(settings)
            .map_or(defaults.provider_timeout, |longest| longest.max(defaults.provider_timeout)),
        ..defaults
    }
}

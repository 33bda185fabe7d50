//! Access to the alerts that a command works on: this machine's, or another deployment's.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::{args::RemoteArgs, context::Context, local::Local, networks, process::variable, target::RemoteTarget};
use crate::{
    desk::{
        Desk, DeskError, History, Journal, OrderOwner,
        ledger::{files::read_whole, sender::AnswerSender},
    },
    domain::{
        Environment,
        query::Vocabulary,
        time::{SharedClock, SystemClock, Timestamp},
    },
    service::{Alerts, Deployment, ServiceError},
    wire::Dialect,
};

/// Access to the alerts that a command works on: this machine's, or another deployment's.
pub(super) struct AlertAccess {
    pub(super) alerts: Arc<dyn Alerts>,
    /// Capabilities beyond the interface: the search for duplicates, the full-text search, the decisions that an engine
    /// has not finished.
    pub(super) deployment: Deployment,
    /// Dialect of filters and decisions.
    pub(super) dialect: Dialect,
    pub(super) environment: Option<Environment>,
    /// Description of the connection: `this machine's own in …`, or the deployment. Results of one do not hold for
    /// another.
    pub(super) place: String,
    /// Name of the connection in the journal, as a console on it writes it.
    console_place: String,
    /// Name of the user.
    user: Option<String>,
    /// Directory of the desk, which need not exist.
    desk: PathBuf,
    /// History of the desk's journal, read when it is first asked; nothing where it cannot be read.
    history: OnceLock<History>,
    /// Owner of the shop's orders, where the desk may have those of several organizations.
    order_owner: Option<OrderOwner>,
    /// True where every write is refused.
    read_only: bool,
    pub(super) clock: SharedClock,
    local: Option<Local>,
}

/// Alerts that the flags of a command mean: another deployment's, or this machine's.
pub(super) struct MeantAlerts {
    target: Option<RemoteTarget>,
    pub(super) dialect: Dialect,
}

impl MeantAlerts {
    pub(super) fn of(context: &Context, remote: &RemoteArgs) -> anyhow::Result<Self> {
        let target = remote.target(context.profiles.as_ref(), variable)?;
        if target.is_some() {
            context.refuse_organization()?;
        }
        let dialect = target.as_ref().map_or(remote.dialect.unwrap_or(Dialect::Current), |target| target.dialect);
        Ok(Self { target, dialect })
    }

    /// Returns the words that a query may have.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        if self.target.is_some() { self.dialect.into() } else { Vocabulary::Desk }
    }

    /// Opens the access with an operator's key: one that is named or kept, or the API key where it has both scopes.
    pub(super) async fn open_as_operator(self, context: &Context) -> anyhow::Result<AlertAccess> {
        let target = match self.target {
            Some(target) => Some(target.for_operator(context.profiles.as_ref()).await?),
            None => None,
        };
        Self { target, ..self }.open(context).await
    }

    /// Opens the access.
    pub(super) async fn open(self, context: &Context) -> anyhow::Result<AlertAccess> {
        match self.target {
            Some(target) => AlertAccess::elsewhere(context, target),
            None => AlertAccess::here(context, self.dialect).await,
        }
    }
}

impl AlertAccess {
    fn elsewhere(context: &Context, target: RemoteTarget) -> anyhow::Result<Self> {
        let clock: SharedClock = Arc::new(SystemClock);
        let (dialect, environment) = (target.dialect, target.profile.environment);
        let (place, console_place, read_only) = (target.place(), target.name(), target.profile.read_only);
        let desk = context.desk_of_deployment(target.named.as_ref(), &target.url);
        let (_, deployment) = target.connect(Arc::clone(&clock), context.user())?;
        Ok(Self {
            alerts: Arc::clone(&deployment.alerts),
            deployment,
            dialect,
            environment,
            place,
            console_place,
            user: context.user(),
            read_only,
            clock,
            desk,
            history: OnceLock::new(),
            order_owner: None,
            local: None,
        })
    }

    async fn here(context: &Context, dialect: Dialect) -> anyhow::Result<Self> {
        let (local, acting) = Local::existing_for(context).await?;
        let own = &acting.caller().organization.organization;
        let known = local.engine.store().gateways().await?;
        let of = context.organization().map_or_else(String::new, |name| format!(", organization {name}"));
        let deployment = local.engine.deployment(acting.caller().clone());
        Ok(Self {
            alerts: Arc::clone(&deployment.alerts),
            deployment,
            dialect,
            environment: Some(context.settings.environment),
            place: format!("this machine's own in {}{of}", context.home.place()),
            console_place: networks::place_of(&own.name, &context.settings, &known),
            user: context.user(),
            desk: context.home.desk(),
            history: OnceLock::new(),
            order_owner: Some(local.order_owner(own.id).await?),
            read_only: false,
            clock: Arc::clone(&local.clock),
            local: Some(local),
        })
    }

    /// Refuses to write on a read-only connection, before a question is asked.
    pub(super) fn require_writable(&self) -> Result<(), ServiceError> {
        if self.read_only { Err(ServiceError::ReadOnly) } else { Ok(()) }
    }

    /// Returns the history in the desk's journal, as it was when it was first asked for.
    pub(super) fn history(&self) -> &History {
        self.history.get_or_init(|| History::of(read_whole(&self.desk).unwrap_or_default().entries))
    }

    /// Opens the journal of the desk as a console there does, and makes a missing desk.
    pub(super) fn journal(&self) -> Result<Journal, DeskError> {
        Journal::open(&self.desk, &self.console_place, self.user.as_deref(), Arc::clone(&self.clock))
    }

    /// Returns the sender of answers to its alerts.
    pub(super) fn sender(&self) -> AnswerSender {
        AnswerSender { deployment: self.deployment.clone(), desk: self.desk() }
    }

    /// Opens the desk; `None` where it does not exist.
    pub(super) fn desk(&self) -> Result<Option<Desk>, DeskError> {
        let opened = self.desk.exists().then(|| Desk::open(&self.desk)).transpose()?;
        Ok(opened.map(|desk| desk.with_orders_of(self.order_owner.clone())))
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Closes the access, once everything on it has ended.
    pub(super) fn close(self) {
        drop((self.alerts, self.deployment));
        if let Some(local) = self.local {
            local.close();
        }
    }
}

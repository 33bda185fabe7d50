//! Access to the alerts that a command works on: this machine's, or another deployment's.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::{
    args::SourceArgs,
    context::Context,
    failure::{Misused, NotFound},
    local::Local,
    networks,
    output::printable,
    process::variable,
};
use crate::{
    desk::{Desk, DeskError, History, Journal, OrderOwner, ledger::files::read_whole, lists::same_payment},
    domain::{
        Alert, Environment, OrderAdvice, ResolutionAttempt, duplicate,
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

impl AlertAccess {
    /// Opens the access for a command that reads nothing from its flags first.
    pub(super) async fn open(context: &Context, source: &SourceArgs) -> anyhow::Result<Self> {
        Ok(Self::open_for(context, source, |_, _| Ok(())).await?.0)
    }

    /// Opens the access, after `asked` has read the flags in its dialect. A misuse is reported before a database or a
    /// network is opened.
    pub(super) async fn open_for<T>(
        context: &Context,
        source: &SourceArgs,
        asked: impl FnOnce(Dialect, Vocabulary) -> Result<T, Misused>,
    ) -> anyhow::Result<(Self, T)> {
        if source.remote.access.operator_key_file.is_some() {
            refuse!(
                "--operator-key-file is for the console, `avert alerts find` and `avert alerts resolve`: other \
                    commands on alerts need no operator's key"
            );
        }
        Self::open_with(context, source, asked, false).await
    }

    /// Opens the access with an operator's key: one that is named or kept, or the API key where it has both scopes.
    pub(super) async fn open_as_operator(context: &Context, source: &SourceArgs) -> anyhow::Result<Self> {
        Ok(Self::open_with(context, source, |_, _| Ok(()), true).await?.0)
    }

    async fn open_with<T>(
        context: &Context,
        SourceArgs { organization, remote }: &SourceArgs,
        asked: impl FnOnce(Dialect, Vocabulary) -> Result<T, Misused>,
        as_operator: bool,
    ) -> anyhow::Result<(Self, T)> {
        let (desk, user) = (remote.desk(context)?, context.user());
        if let Some(mut target) = remote.target(context.profiles.as_ref(), variable)? {
            organization.refuse_elsewhere()?;
            let asked = asked(target.dialect, target.dialect.into())?;
            if as_operator {
                let (with_kept, withheld) = target.with_kept_operator_key(context.profiles.as_ref())?;
                withheld.iter().for_each(|why| say!("{why}"));
                target = with_kept.with_key_of_both_scopes().await?;
            }
            let clock: SharedClock = Arc::new(SystemClock);
            let (dialect, environment) = (target.dialect, target.profile.environment);
            let (place, console_place, read_only) = (target.place(), target.name(), target.profile.read_only);
            let (_, deployment) = target.by_person(user.clone()).connect(Arc::clone(&clock))?;
            let opened = Self {
                alerts: Arc::clone(&deployment.alerts),
                deployment,
                dialect,
                environment,
                place,
                console_place,
                user,
                read_only,
                clock,
                desk,
                history: OnceLock::new(),
                order_owner: None,
                local: None,
            };
            return Ok((opened, asked));
        }
        let dialect = remote.dialect.unwrap_or(Dialect::Current);
        let asked = asked(dialect, Vocabulary::Desk)?;
        let (local, acting) =
            Local::existing_for(context, organization).await.map_err(|error| or_a_profile(error, context))?;
        let own = &acting.caller().organization.organization;
        let known = local.engine.store().gateways().await?;
        let of = context.organization(organization).map_or_else(String::new, |name| format!(", organization {name}"));
        let deployment = local.engine.deployment(acting.caller().clone());
        let opened = Self {
            alerts: Arc::clone(&deployment.alerts),
            deployment,
            dialect,
            environment: Some(context.settings.environment),
            place: format!("this machine's own in {}{of}", context.home.place()),
            console_place: networks::place_of(&own.name, &context.settings, &known),
            user,
            desk,
            history: OnceLock::new(),
            order_owner: Some(local.order_owner(own.id).await?),
            read_only: false,
            clock: Arc::clone(&local.clock),
            local: Some(local),
        };
        Ok((opened, asked))
    }

    /// Refuses to write on a read-only connection, before a question is asked.
    pub(super) fn require_writable(&self) -> Result<(), ServiceError> {
        if self.read_only { Err(ServiceError::ReadOnly) } else { Ok(()) }
    }

    /// Returns the alerts that may be on an alert's payment, as far as can be searched here. Outcomes of the desk's
    /// journal fill in where the service's lists are behind.
    pub(super) async fn same_payment(&self, alert: &Alert) -> Result<Vec<Alert>, ServiceError> {
        let found =
            same_payment(&*self.alerts, self.deployment.duplicates.as_deref(), alert.id, duplicate::query(alert))
                .await?;
        Ok(found.iter().map(|other| self.history().as_answered(other).into_owned()).collect())
    }

    /// Returns the decisions that the engine has not finished: sending, unconfirmed or parked; none where it cannot be
    /// asked.
    pub(super) async fn unfinished(&self) -> Vec<ResolutionAttempt> {
        match &self.deployment.attempts {
            Some(attempts) => attempts.unfinished().await.unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// Returns the history in the desk's journal, as it was when it was first asked for.
    pub(super) fn history(&self) -> &History {
        self.history.get_or_init(|| History::of(read_whole(&self.desk).unwrap_or_default().entries))
    }

    /// Opens the journal of the desk as a console there does, and makes a missing desk.
    pub(super) fn open_journal(&self) -> Result<Option<Journal>, DeskError> {
        let mut desk = Desk::open(&self.desk)?;
        desk.open_journal(&self.console_place, self.user.as_deref(), Arc::clone(&self.clock))?;
        Ok(desk.journal().cloned())
    }

    /// Opens the desk; `None` where it does not exist.
    pub(super) fn desk(&self) -> Result<Option<Desk>, DeskError> {
        let opened = self.desk.exists().then(|| Desk::open(&self.desk)).transpose()?;
        Ok(opened.map(|desk| desk.with_orders_of(self.order_owner.clone())))
    }

    /// Returns the shop's order that matches an alert best, by its id, and what it advises.
    pub(super) fn order_advice(
        &self,
        alert: &Alert,
        others: &[Alert],
    ) -> Result<Option<(String, OrderAdvice)>, DeskError> {
        self.desk()?.map_or(Ok(None), |desk| desk.order_advice(alert, others))
    }

    /// Describes the shop's order where its money was returned already: a refund would be paid twice.
    pub(super) fn refunded_order(&self, alert: &Alert, others: &[Alert]) -> Option<String> {
        match self.order_advice(alert, others) {
            Ok(advised) => advised
                .filter(|(_, advice)| advice.was_refunded_before())
                .map(|(id, advice)| format!("the shop's order {}: {}", printable(&id), advice.why)),
            Err(error) => Some(format!("the shop's orders could not be looked at: {error}")),
        }
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

/// Adds the names of the profiles to the error that nothing is kept here.
fn or_a_profile(error: anyhow::Error, context: &Context) -> anyhow::Error {
    let list = context.profiles.as_ref().and_then(|access| access.profiles.list().ok());
    let names: Vec<String> =
        list.into_iter().flat_map(|list| list.all.into_keys()).map(|name| name.to_string()).collect();
    match error.downcast::<NotFound>() {
        Ok(NotFound(why)) if !names.is_empty() => {
            NotFound(format!("{why}; or say whose alerts are meant with --profile: there are {}", names.join(", ")))
                .into()
        }
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

//! Access to the alerts that a command works on: this machine's, or another deployment's.

use std::path::PathBuf;
use std::sync::Arc;

use super::args::SourceArgs;
use super::context::Context;
use super::failure::{Misused, NotFound};
use super::local::Local;
use super::networks;
use super::output::printable;
use super::process::variable;
use crate::desk::journal::ComingReader;
use crate::desk::same_payment::same_payment;
use crate::desk::{ComingDecision, Desk, DeskError, Journal, OrderOwner};
use crate::domain::query::Vocabulary;
use crate::domain::time::{SharedClock, SystemClock, Timestamp};
use crate::domain::{Alert, Environment, ResolutionAttempt, duplicate};
use crate::service::{Alerts, Deployment, ServiceError};
use crate::wire::Dialect;

/// Access to the alerts that a command works on: this machine's, or another deployment's.
pub(super) struct AlertAccess {
    pub(super) alerts: Arc<dyn Alerts>,
    /// What else there is: a search for duplicates by more than the interface knows, one over all fields, the decisions
    /// that an engine has not finished.
    pub(super) deployment: Deployment,
    /// In whose words filters and decisions are given.
    pub(super) dialect: Dialect,
    pub(super) environment: Option<Environment>,
    /// Whose alerts these are, in words: what was done with those of one place says nothing of another's.
    pub(super) place: String,
    /// The same as a console on it has it in the journal.
    console_place: String,
    /// Who works here.
    user: Option<String>,
    /// Place where the desk is, if there is one.
    desk: PathBuf,
    /// What consoles of it have under way.
    coming: ComingReader,
    /// Whose orders of the shop are meant, where there may be those of several organizations.
    order_owner: Option<OrderOwner>,
    /// Whether every write is refused.
    read_only: bool,
    pub(super) clock: SharedClock,
    local: Option<Local>,
}

impl AlertAccess {
    /// Opens it.
    pub(super) async fn open(context: &Context, source: &SourceArgs) -> anyhow::Result<Self> {
        Ok(Self::open_for(context, source, |_, _| Ok(())).await?.0)
    }

    /// Opens it for what is asked in its dialect and of what its lists know: a misuse is told before anything is looked
    /// for.
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

    /// Opens it with what an operator's key adds, where one is named or kept, or the API key is one as well.
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
                coming: ComingReader::default(),
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
            coming: ComingReader::default(),
            order_owner: Some(local.order_owner(own.id).await?),
            read_only: false,
            clock: Arc::clone(&local.clock),
            local: Some(local),
        };
        Ok((opened, asked))
    }

    /// Refuses what would write where nothing may be written, before anything is asked of anybody.
    pub(super) fn require_writable(&self) -> Result<(), ServiceError> {
        if self.read_only { Err(ServiceError::ReadOnly) } else { Ok(()) }
    }

    /// The alerts that may be on an alert's payment, as far as can be looked for here; with the outcomes that the
    /// desk's journal told of as it was read last, where the service's lists are behind.
    pub(super) async fn same_payment(&self, alert: &Alert) -> Result<Vec<Alert>, ServiceError> {
        let found =
            same_payment(&*self.alerts, self.deployment.duplicates.as_deref(), alert.id, duplicate::query(alert))
                .await?;
        Ok(found.iter().map(|other| self.coming.as_answered(other)).collect())
    }

    /// The decisions that the engine has not finished: on their way, unknown or parked; none where it cannot be asked.
    pub(super) async fn unfinished(&self) -> Vec<ResolutionAttempt> {
        match &self.deployment.attempts {
            Some(attempts) => attempts.unfinished().await.unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// The decisions that consoles of the desk have under way, or of whose fate they do not know.
    pub(super) fn coming(&self) -> Result<Vec<ComingDecision>, DeskError> {
        self.coming.read(&self.desk)
    }

    /// The journal of the desk, as a console there opens it; a desk that is not there is made.
    pub(super) fn open_journal(&self) -> Result<Option<Journal>, DeskError> {
        let mut desk = Desk::open(&self.desk)?;
        desk.open_journal(&self.console_place, self.user.as_deref(), Arc::clone(&self.clock))?;
        Ok(desk.journal().cloned())
    }

    /// The desk; one that is not there is not made.
    pub(super) fn desk(&self) -> Result<Option<Desk>, DeskError> {
        let opened = self.desk.exists().then(|| Desk::open(&self.desk)).transpose()?;
        Ok(opened.map(|desk| desk.with_orders_of(self.order_owner.clone())))
    }

    /// Returns what the shop's order says where its money had gone back already: a refund would be paid twice.
    pub(super) fn refunded_order(&self, alert: &Alert, others: &[Alert]) -> Option<String> {
        let advised = self.desk().and_then(|desk| desk.map_or(Ok(None), |desk| desk.order_advice(alert, others)));
        match advised {
            Ok(advised) => advised
                .filter(|(_, advice)| advice.was_refunded_before())
                .map(|(id, advice)| format!("the shop's order {}: {}", printable(&id), advice.why)),
            Err(error) => Some(format!("the shop's orders could not be looked at: {error}")),
        }
    }

    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets go of what it holds, when everything on it has ended.
    pub(super) fn close(self) {
        drop((self.alerts, self.deployment));
        if let Some(local) = self.local {
            local.close();
        }
    }
}

/// The same error, which names the profiles as well where nothing is kept here.
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

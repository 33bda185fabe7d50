//! Access to the alerts that a command works on: this machine's, or another deployment's.

use std::sync::Arc;

use super::args::{OrganizationArgs, RemoteArgs};
use super::context::Context;
use super::failure::Misused;
use super::local::Local;
use super::target::variable;
use crate::domain::Environment;
use crate::domain::time::{SharedClock, SystemClock, Timestamp};
use crate::service::{Alerts, ServiceError};
use crate::wire::Dialect;

/// Access to the alerts that a command works on: this machine's, or another deployment's.
pub(super) struct AlertAccess {
    pub(super) alerts: Arc<dyn Alerts>,
    /// In whose words filters and decisions are given.
    pub(super) dialect: Dialect,
    pub(super) environment: Option<Environment>,
    /// Whether every write is refused.
    read_only: bool,
    pub(super) clock: SharedClock,
    local: Option<Local>,
}

impl AlertAccess {
    /// Opens it.
    pub(super) async fn open(context: &Context, remote: &RemoteArgs, organization: &OrganizationArgs) -> anyhow::Result<Self> {
        Ok(Self::open_for(context, remote, organization, |_| Ok(())).await?.0)
    }

    /// Opens it for what is asked in its dialect: a misuse is told before anything is looked for.
    pub(super) async fn open_for<T>(
        context: &Context,
        remote: &RemoteArgs,
        organization: &OrganizationArgs,
        asked: impl FnOnce(Dialect) -> Result<T, Misused>,
    ) -> anyhow::Result<(Self, T)> {
        if remote.access.operator_key_file.is_some() {
            return Err(Misused("--operator-key-file is for the console: commands on alerts need no operator's key".to_owned()).into());
        }
        if let Some(target) = remote.target(context.profiles.as_ref(), variable)? {
            organization.refuse_elsewhere()?;
            let clock: SharedClock = Arc::new(SystemClock);
            let (dialect, environment, read_only) = (target.dialect, target.environment, target.read_only);
            let asked = asked(dialect)?;
            let (_, deployment) = target.connect(Arc::clone(&clock))?;
            return Ok((Self { alerts: deployment.alerts, dialect, environment, read_only, clock, local: None }, asked));
        }
        let dialect = remote.dialect.map_or(Dialect::Current, Dialect::from);
        let asked = asked(dialect)?;
        let (local, acting) = Local::existing_for(context, organization).await?;
        let source = Self {
            alerts: Arc::new(acting),
            dialect,
            environment: Some(context.settings.environment.into()),
            read_only: false,
            clock: Arc::clone(&local.clock),
            local: Some(local),
        };
        Ok((source, asked))
    }

    /// Refuses what would write where nothing may be written, before anything is asked of anybody.
    pub(super) fn require_writable(&self) -> Result<(), ServiceError> {
        if self.read_only { Err(ServiceError::ReadOnly) } else { Ok(()) }
    }

    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets go of what it holds, when everything on it has ended.
    pub(super) fn close(self) {
        drop(self.alerts);
        if let Some(local) = self.local {
            local.close();
        }
    }
}

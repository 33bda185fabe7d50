//! The client itself: made of its options, and the interface's three operations.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use super::{
    http::Http,
    inner::{Authorization, Inner},
    options::{self, AccessCredential, Base, ClientError, ClientOptions},
    reading::PageCap,
    tokens::Tokens,
};
use crate::{
    domain::{Alert, AlertId, AlertQuery, Page, audit::person_header, query::Vocabulary, resolution::FieldError},
    service::{Alerts, Deployment, ResolveRequest, ServiceError},
    wire::Dialect,
};

/// Another deployment's alert service. Cheap to clone: clones share connections and token.
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) inner: Arc<Inner>,
}

impl Client {
    /// A client with connections of its own; nothing is sent yet.
    ///
    /// # Errors
    /// When the credential cannot be sent, or this machine cannot have an HTTP client.
    pub fn new(options: ClientOptions) -> Result<Self, ClientError> {
        let base = Base::of(&options.base_url);
        let http = Http::new(&options)?;
        let access = match options.credential {
            AccessCredential::ApiKey(key) => {
                options::check_header("the API key", key.reveal())?;
                Authorization::ApiKey(key)
            }
            AccessCredential::ClientCredentials { id, secret } => {
                Authorization::Token(Tokens::new(id, secret, base.token(), options.clock)?)
            }
        };
        if let Some(key) = &options.operator_key {
            options::check_header("the operator's key", key.reveal())?;
        }
        if options.company_parameter.is_empty() {
            return Err(ClientError("the company parameter has no name".to_owned()));
        }
        let inner = Inner {
            host: options.base_url.host(),
            http,
            base,
            dialect: options.dialect,
            company_parameter: options.company_parameter,
            access,
            person: options.person.as_deref().and_then(person_header).filter(|_| options.operator_key.is_some()),
            operator_key: options.operator_key,
            pauses: options.pauses,
            page_cap: PageCap::default(),
            sending: TaskTracker::new(),
            changes: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The dialect it speaks.
    pub fn dialect(&self) -> Dialect {
        self.inner.dialect
    }

    /// Host and port of the service: what a header or a title says of it.
    pub fn host(&self) -> String {
        self.inner.host.clone()
    }

    /// Waits until every decision on its way has come to its end, at most so long.
    pub async fn finish(&self, patience: Duration) {
        let sending = &self.inner.sending;
        sending.close();
        if tokio::time::timeout(patience, sending.wait()).await.is_err() {
            tracing::warn!(decisions = sending.len(), "decisions were still on their way: look at their alerts again");
        }
    }

    /// The deployment that this service is. An operator's key says that it is an avert, which has everything; another
    /// service has the interface and nothing beyond it.
    pub fn deployment(&self) -> Deployment {
        let handle = Arc::new(self.clone());
        let deployment =
            if self.inner.operator_key.is_some() { Deployment::whole(handle) } else { Deployment::plain(handle) };
        deployment.asked_in(self.inner.dialect.into())
    }
}

#[async_trait]
impl Alerts for Client {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        let inner = &self.inner;
        if let (Some(hours), Some(most)) = (query.filter.expires_in, Vocabulary::from(inner.dialect).most_hours())
            && !(1..=most).contains(&hours)
        {
            let message =
                format!("{hours} is not allowed: this deployment speaks the older dialect, which knows 1 to {most}");
            return Err(ServiceError::InvalidRequest(vec![FieldError::new("expiresIn", message)]));
        }
        inner.list(query).await
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.inner.get(id).await
    }

    async fn clock_lead(&self) -> Result<Option<TimeDelta>, ServiceError> {
        Ok(self.inner.http.clock_lead())
    }

    /// The request runs in a task of its own: whoever stops waiting changes nothing about what was sent, and
    /// [`Client::finish`] waits for it.
    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        let inner = Arc::clone(&self.inner);
        let sending = self.inner.sending.spawn(async move { inner.resolve(id, request).await });
        sending.await.unwrap_or_else(|error| {
            tracing::error!(%error, alert = %id, "a resolution broke off");
            Err(ServiceError::Indeterminate("avert broke off while the decision was on its way".to_owned()))
        })
    }
}

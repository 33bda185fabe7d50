//! The alert service of another deployment, spoken to over HTTP in either dialect.
//!
//! A [`Client`] is bound to one credential, as an engine's handle is bound to one caller. Reads are repeated a little where that helps.
//! **A decision is sent once**: when its answer does not come, whoever asked is told that it is indeterminate.

mod credentials;
mod http;
mod options;
mod reading;
mod resolving;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use tokio_util::task::TaskTracker;

pub use options::{ClientError, ClientOptions, Credential, Pauses};

use self::http::{Answer, Call, Http, NoAnswer};
use self::options::Base;
use self::tokens::Tokens;
use crate::domain::resolution::FieldError;
use crate::domain::{Alert, AlertId, AlertQuery, Page, Secret};
use crate::service::{Alerts, Credentials, Deployment, ResolveRequest, ServiceError};
use crate::wire::refusal::Refusal;
use crate::wire::{Dialect, query};

/// Most hours that the older dialect's `expiresIn` takes (interface, Limits).
const OLDER_MOST_HOURS: u32 = 24;

/// Another deployment's alert service. Cheap to clone: clones share connections and token.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    host: String,
    http: Http,
    base: Base,
    dialect: Dialect,
    company_parameter: String,
    access: Access,
    operator_key: Option<Secret>,
    pauses: Pauses,
    /// Decisions on their way.
    sending: TaskTracker,
}

/// What a request is authorized with.
#[derive(Debug)]
enum Access {
    ApiKey(Secret),
    Token(Tokens),
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
            Credential::ApiKey(key) => {
                options::check_header("the API key", key.reveal())?;
                Access::ApiKey(key)
            }
            Credential::ClientCredentials { id, secret } => Access::Token(Tokens::new(id, secret, base.token(), options.clock)?),
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
            operator_key: options.operator_key,
            pauses: options.pauses,
            sending: TaskTracker::new(),
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

    /// The deployment that this service is. Of what avert's own engine offers beyond the interface, keys and clients can be managed with
    /// an operator's key.
    pub fn deployment(&self) -> Deployment {
        let mut deployment = Deployment::plain(Arc::new(self.clone()));
        deployment.credentials = self.inner.operator_key.is_some().then(|| Arc::new(self.clone()) as Arc<dyn Credentials>);
        deployment
    }
}

impl Inner {
    /// Makes a call that can be repeated: a little, where the service is not there or says when to come again, and once more with a new
    /// token where the old one was refused.
    async fn read(&self, url: &str) -> Result<Answer, NoAnswer> {
        let call = Call::new(Method::GET, url);
        let (name, value, used) = self.authorization().await?;
        let answer = self.http.send_patiently(call.clone().header(name, value), &self.pauses).await?;
        let (Access::Token(tokens), Some(used), 401 | 403) = (&self.access, used, answer.status) else { return Ok(answer) };
        if !used.may_have_expired() {
            return Ok(answer);
        }
        tracing::debug!(status = answer.status, "the token was refused: trying once more with a new one");
        let renewed = tokens.renewed(&used, &self.http, &self.pauses).await.map_err(NoAnswer::Refused)?;
        let (name, value) = renewed.header();
        let answer = self.http.send_patiently(call.header(name, value), &self.pauses).await?;
        if matches!(answer.status, 401 | 403) {
            tokens.refused(&renewed).await;
        }
        Ok(answer)
    }

    /// The header that a request is authorized with, and the token in it.
    async fn authorization(&self) -> Result<(&'static str, String, Option<tokens::Token>), NoAnswer> {
        match &self.access {
            Access::ApiKey(key) => Ok(("x-api-key", key.reveal().to_owned(), None)),
            Access::Token(tokens) => {
                let token = tokens.current(&self.http, &self.pauses).await.map_err(NoAnswer::Refused)?;
                let (name, value) = token.header();
                Ok((name, value, Some(token)))
            }
        }
    }

    /// An alert; in the older dialect its outcome is asked for where the alert does not hold it.
    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        let answer = self.read(&self.base.alert(id)).await.map_err(ServiceError::from)?;
        let mut alert = match answer.status {
            200..=299 => reading::alert(&answer, id)?,
            _ => return Err(refused_read(&answer, Some(id))),
        };
        if alert.outcome.is_none()
            && self.dialect == Dialect::Older
            && let Ok(answer) = self.read(&self.base.outcome(id)).await
            && answer.status == 200
        {
            alert.outcome = reading::outcome(&answer, &alert);
        }
        Ok(alert)
    }
}

#[async_trait]
impl Alerts for Client {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        let inner = &self.inner;
        if let Some(hours) = query.filter.expires_in
            && inner.dialect == Dialect::Older
            && !(1..=OLDER_MOST_HOURS).contains(&hours)
        {
            let message = format!("{hours} is not allowed: this deployment speaks the older dialect, which knows 1 to {OLDER_MOST_HOURS}");
            return Err(ServiceError::InvalidRequest(vec![FieldError::new("expiresIn", message)]));
        }
        let url = inner.base.alerts(&query::write(query, &inner.company_parameter));
        let answer = inner.read(&url).await?;
        match answer.status {
            200..=299 => reading::page(&answer, query.page),
            _ => Err(refused_read(&answer, None)),
        }
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.inner.get(id).await
    }

    /// The request runs in a task of its own: whoever stops waiting changes nothing about what was sent, and [`Client::finish`] waits
    /// for it.
    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        let inner = Arc::clone(&self.inner);
        let sending = self.inner.sending.spawn(async move { inner.resolve(id, request).await });
        sending.await.unwrap_or_else(|error| {
            tracing::error!(%error, alert = %id, "a resolution broke off");
            Err(ServiceError::Indeterminate("avert broke off while the decision was on its way".to_owned()))
        })
    }
}

/// What a refusal of a read means.
fn refused_read(answer: &Answer, id: Option<AlertId>) -> ServiceError {
    let refusal = answer.refusal();
    match (answer.status, id) {
        (401 | 403, _) => ServiceError::NotAuthorized(words(&refusal, "the service did not accept the credentials")),
        (404, Some(id)) if !refusal.is("route_not_found") => ServiceError::AlertNotFound(id),
        (400 | 422, _) => ServiceError::InvalidRequest(fields(refusal, "query")),
        _ => unavailable(answer, &refusal),
    }
}

/// An answer that says nothing about the alerts.
fn unavailable(answer: &Answer, refusal: &Refusal) -> ServiceError {
    let what = match answer.status {
        300..=399 => "it answered with a redirect, which is not followed: is this the right base URL?".to_owned(),
        404 | 405 => format!("it has no such route ({}): is this the right base URL?", answer.status),
        429 => match answer.retry_after {
            Some(wait) => format!("it was asked too often; it may be asked again in {} s", wait.as_secs().max(1)),
            None => "it was asked too often; try again later".to_owned(),
        },
        503 => "it is busy or down (503); try again in a moment".to_owned(),
        status => format!("it answered {status}"),
    };
    ServiceError::Unavailable(if refusal.words.is_empty() { what } else { format!("{what}: {}", refusal.words) })
}

/// The refusal's own words, or these.
fn words(refusal: &Refusal, otherwise: &str) -> String {
    if refusal.words.is_empty() { otherwise.to_owned() } else { refusal.words.clone() }
}

/// The fields at fault; where none are named, the words at this one.
fn fields(refusal: Refusal, otherwise: &str) -> Vec<FieldError> {
    if !refusal.errors.is_empty() {
        return refusal.errors;
    }
    vec![FieldError::new(otherwise, words(&refusal, "was refused without a reason"))]
}

//! The services, bound to a caller.

use async_trait::async_trait;
use chrono::TimeDelta;
use reqwest::header::{HeaderName, HeaderValue};

use super::{Caller, Engine, later_by, text, unavailable};
use crate::domain::{Alert, AlertId, AlertQuery, FieldError, Page};
use crate::service::{
    AlertService, ApiClient, ApiKey, AtRisk, Company, CreatedClient, CreatedKey, Delivery, Endpoint, EndpointAuth, IncomingAlert,
    IngestOptions, IngestReport, KeyScope, NewEndpoint, Operations, OperatorService, ResolveRequest, ServiceError,
};
use crate::store::SharedStore;

/// Longest address and longest credential of an endpoint.
const MAX_ENDPOINT_TEXT: usize = 2_048;

/// An engine that acts for one caller. Everything it sees and does belongs to the caller's organization.
#[derive(Debug, Clone)]
pub struct ActingEngine {
    pub(super) engine: Engine,
    pub(super) caller: Caller,
}

impl ActingEngine {
    pub(super) fn new(engine: Engine, caller: Caller) -> Self {
        Self { engine, caller }
    }

    /// For whom it acts.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The store, whose changes the audit log puts down to the caller.
    pub(super) fn store(&self) -> SharedStore {
        self.engine.signed(&self.caller)
    }

    pub(super) fn organization(&self) -> crate::domain::OrganizationId {
        self.caller.organization.organization.id
    }
}

#[async_trait]
impl AlertService for ActingEngine {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        self.engine.store().list_alerts(self.organization(), query, self.engine.now()).await.map_err(unavailable)
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.engine.store().get_alert(self.organization(), id).await.map_err(unavailable)?.ok_or(ServiceError::AlertNotFound(id))
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.engine.resolve(&self.caller, id, request).await
    }
}

#[async_trait]
impl OperatorService for ActingEngine {
    fn operations(&self) -> Option<&dyn Operations> {
        Some(self)
    }

    async fn ingest(&self, rows: Vec<IncomingAlert>, options: IngestOptions) -> Result<IngestReport, ServiceError> {
        self.engine.ingest(&self.caller, rows, options).await
    }

    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        let now = self.engine.now();
        let until = later_by(now, TimeDelta::hours(within_hours.into()));
        self.engine.store().at_risk(self.organization(), now, until).await.map_err(unavailable)
    }

    async fn count_all(&self) -> Result<u64, ServiceError> {
        self.engine.store().count_alerts(self.organization()).await.map_err(unavailable)
    }

    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        self.engine.store().endpoints(self.organization()).await.map_err(unavailable)
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        let errors = endpoint_errors(&endpoint);
        if !errors.is_empty() {
            return Err(ServiceError::InvalidRequest(errors));
        }
        let added = self.store().add_endpoint(self.organization(), endpoint, self.engine.now()).await.map_err(unavailable)?;
        tracing::info!(actor = %self.caller.actor, endpoint = %added.id, "endpoint added");
        Ok(added)
    }

    async fn deliveries_of(&self, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
        self.engine.store().deliveries_of(self.organization(), alert).await.map_err(unavailable)
    }

    async fn create_key(&self, scope: KeyScope) -> Result<CreatedKey, ServiceError> {
        self.engine.create_key(&self.caller, scope).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, ServiceError> {
        self.engine.store().keys(self.organization()).await.map_err(unavailable)
    }

    async fn revoke_key(&self, id: &str) -> Result<ApiKey, ServiceError> {
        let revoked = self.store().revoke_key(self.organization(), id, self.engine.now()).await.map_err(unavailable)?;
        let key = revoked.ok_or_else(|| ServiceError::NotFound(format!("key {}", text::words_of_a_provider(id))))?;
        tracing::info!(actor = %self.caller.actor, key = %key.id, "key revoked");
        Ok(key)
    }

    async fn create_client(&self) -> Result<CreatedClient, ServiceError> {
        self.engine.create_client(&self.caller).await
    }

    async fn clients(&self) -> Result<Vec<ApiClient>, ServiceError> {
        self.engine.store().clients(self.organization()).await.map_err(unavailable)
    }

    async fn revoke_client(&self, id: &str) -> Result<ApiClient, ServiceError> {
        self.engine.revoke_client(&self.caller, id).await
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        self.engine.store().companies(self.organization()).await.map_err(unavailable)
    }

    async fn next_change(&self, after: u64) -> Result<u64, ServiceError> {
        let mut changes = self.engine.store().changes();
        let newest = changes.wait_for(|&number| number > after).await.map(|number| *number);
        newest.map_err(|_| ServiceError::Unavailable("the database was closed".to_owned()))
    }
}

/// All that is wrong with an endpoint, field by field. Nothing of a credential is repeated.
pub(super) fn endpoint_errors(endpoint: &NewEndpoint) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut wrong = |field: &str, message: &str| errors.push(FieldError::new(field, message));
    match url::Url::parse(&endpoint.url) {
        _ if endpoint.url.len() > MAX_ENDPOINT_TEXT => wrong("url", "is longer than 2048 characters"),
        Err(_) => wrong("url", "is not an address such as https://example.com/hooks"),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => wrong("url", "must begin with https:// or http://"),
        Ok(url) if !url.has_host() => wrong("url", "names no host"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            wrong("url", "must hold no user name or password: give them as the endpoint's credential");
        }
        Ok(url) if url.fragment().is_some() => wrong("url", "must hold no fragment (#)"),
        Ok(_) => {}
    }
    match &endpoint.auth {
        EndpointAuth::Basic { username, password } => {
            let unfit = |text: &str| text.len() > MAX_ENDPOINT_TEXT || text.chars().any(char::is_control);
            if username.contains(':') || unfit(username) {
                wrong("username", "must hold no colon and no control character");
            }
            if unfit(password.reveal()) {
                wrong("password", "must hold no control character and at most 2048 characters");
            }
        }
        EndpointAuth::Header { name, value } => {
            match HeaderName::from_bytes(name.as_bytes()) {
                Err(_) => wrong("header", "is not a header name such as X-API-Key"),
                Ok(name) if is_ours(&name) => wrong("header", "is a header that avert writes itself: choose another name"),
                Ok(_) => {}
            }
            let value = value.reveal();
            let sendable = !value.is_empty() && value.len() <= MAX_ENDPOINT_TEXT && HeaderValue::from_str(value).is_ok();
            if !sendable || value.trim() != value {
                wrong("value", "must be 1 to 2048 visible characters, without blanks at its ends");
            }
        }
    }
    errors
}

/// Headers that make up the request itself.
fn is_ours(name: &HeaderName) -> bool {
    let taken = ["host", "content-type", "content-length", "transfer-encoding", "connection", "te", "upgrade", "expect", "user-agent"];
    taken.contains(&name.as_str()) || name.as_str().starts_with("webhook-")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::service::Secret;

    fn basic(url: &str, username: &str) -> NewEndpoint {
        NewEndpoint { url: url.to_owned(), auth: EndpointAuth::Basic { username: username.to_owned(), password: Secret::new("p4ss") } }
    }

    fn header(name: &str, value: &str) -> NewEndpoint {
        NewEndpoint {
            url: "https://example.com/hooks".to_owned(),
            auth: EndpointAuth::Header { name: name.to_owned(), value: Secret::new(value) },
        }
    }

    #[rstest]
    #[case(basic("https://example.com/hooks", "avert"))]
    #[case(basic("http://127.0.0.1:9000", "avert"))]
    #[case(header("X-API-Key", "s3cret"))]
    fn a_plain_endpoint_is_fine(#[case] endpoint: NewEndpoint) {
        assert_eq!(endpoint_errors(&endpoint), []);
    }

    #[rstest]
    #[case(basic("example.com", "avert"), "url")]
    #[case(basic("ftp://example.com", "avert"), "url")]
    #[case(basic("https://user:pass@example.com", "avert"), "url")]
    #[case(basic("https://example.com/#part", "avert"), "url")]
    #[case(basic("https://example.com", "a:b"), "username")]
    #[case(basic("https://example.com", "a\nb"), "username")]
    #[case(header("X API Key", "s3cret"), "header")]
    #[case(header("Content-Type", "s3cret"), "header")]
    #[case(header("webhook-id", "s3cret"), "header")]
    #[case(header("X-API-Key", ""), "value")]
    #[case(header("X-API-Key", "s3cret\r\nX-Evil: 1"), "value")]
    fn an_endpoint_that_cannot_work_names_the_field_and_tells_no_secret(#[case] endpoint: NewEndpoint, #[case] field: &str) {
        let errors = endpoint_errors(&endpoint);

        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), [field]);
        assert!(!errors[0].message.contains("s3cret"));
    }
}

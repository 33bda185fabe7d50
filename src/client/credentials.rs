//! Keys and clients of another avert engine, over its operator's routes. Whether it has them is found out by `GET /operator/v1`.

use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use zeroize::Zeroize;

use super::http::{Answer, Call, NoAnswer};
use super::options::key_id;
use super::{Access, Client, Inner, fields, unavailable, words};
use crate::domain::text::words_of_a_provider;
use crate::domain::time::{Timestamp, from_iso};
use crate::domain::{CreatedCredential, Credential, CredentialKind, CredentialList, Environment, KeyScope, Revoked, Secret};
use crate::service::{Credentials, ServiceError};

/// What `GET /operator/v1` says, as far as it matters here.
#[derive(Deserialize)]
struct Index {
    environment: String,
    organization: Named,
    routes: Vec<Route>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Route {
    method: String,
    path: String,
}

#[derive(Deserialize)]
struct Rows<T> {
    data: Vec<T>,
}

/// A key or a client; what creates one has its secret in `key` or `secret`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shape {
    id: String,
    scope: Option<String>,
    created_at: String,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
    #[serde(alias = "key")]
    secret: Option<String>,
}

impl Shape {
    fn credential(&self, client: bool) -> Result<Credential, ServiceError> {
        let moment = |text: &String| from_iso(text).ok_or_else(|| unreadable("a time in it is none"));
        let optional = |text: &Option<String>| -> Result<Option<Timestamp>, ServiceError> { text.as_ref().map(moment).transpose() };
        let kind = match self.scope.as_deref() {
            _ if client => CredentialKind::Client,
            Some("alerts") => CredentialKind::Key(KeyScope::Alerts),
            Some("operator") => CredentialKind::Key(KeyScope::Operator),
            _ => return Err(unreadable("it has a key of unknown scope")),
        };
        Ok(Credential {
            kind,
            id: words_of_a_provider(&self.id),
            created_at: moment(&self.created_at)?,
            last_used_at: optional(&self.last_used_at)?,
            revoked_at: optional(&self.revoked_at)?,
        })
    }
}

/// The words of an answer that cannot be read never repeat any of it: a secret may be in it.
fn unreadable(why: &str) -> ServiceError {
    ServiceError::Unavailable(format!("its answer about keys and clients cannot be read: {why}"))
}

fn read<T: for<'de> Deserialize<'de>>(answer: &Answer) -> Result<T, ServiceError> {
    serde_json::from_slice(&answer.body).map_err(|error| unreadable(&format!("line {}, column {}", error.line(), error.column())))
}

impl Inner {
    fn operator_call(&self, method: Method, path: &str) -> Result<Call, ServiceError> {
        let key = self.operator_key.as_ref().ok_or_else(|| ServiceError::NotAuthorized("no operator's key was named".to_owned()))?;
        Ok(Call::new(method, &self.base.operator(path)).header("x-api-key", key.reveal().to_owned()))
    }

    async fn operator_get(&self, path: &str) -> Result<Answer, ServiceError> {
        let call = self.operator_call(Method::GET, path)?;
        let answer = self.http.send_patiently(call, &self.pauses).await.map_err(ServiceError::from)?;
        match answer.status {
            200..=299 => Ok(answer),
            404 | 405 => Err(no_routes()),
            _ => Err(refused(&answer)),
        }
    }

    /// Sends something that changes something: once.
    async fn operator_send(&self, call: Call, doubt: &str) -> Result<Answer, ServiceError> {
        match self.http.send(call).await {
            Ok(answer) => Ok(answer),
            Err(NoAnswer::NotSent(why)) => Err(ServiceError::Unavailable(format!("{why}; nothing was sent"))),
            Err(NoAnswer::TimedOut(why) | NoAnswer::Broken(why)) => Err(ServiceError::Unavailable(format!("{why}; {doubt}"))),
            Err(NoAnswer::Refused(error)) => Err(error),
        }
    }

    /// Ids of the credentials that the service is spoken to with.
    fn credentials_in_use(&self) -> Vec<String> {
        let own = match &self.access {
            Access::ApiKey(key) => key_id(key.reveal()),
            Access::Token(tokens) => Some(tokens.client_id()),
        };
        let operator = self.operator_key.as_ref().and_then(|key| key_id(key.reveal()));
        own.into_iter().chain(operator).map(str::to_owned).collect()
    }

    async fn credentials_of(&self, client: bool) -> Result<Vec<Credential>, ServiceError> {
        let rows: Rows<Shape> = read(&self.operator_get(path_of(client)).await?)?;
        rows.data.iter().map(|shape| shape.credential(client)).collect()
    }
}

fn path_of(client: bool) -> &'static str {
    if client { "/clients" } else { "/keys" }
}

fn no_routes() -> ServiceError {
    ServiceError::NotFound("avert's own routes for keys and clients, /operator/v1, at this address".to_owned())
}

fn refused(answer: &Answer) -> ServiceError {
    let refusal = answer.refusal();
    match answer.status {
        401 | 403 => ServiceError::NotAuthorized(words(&refusal, "the service did not accept the operator's key")),
        400 | 422 => ServiceError::InvalidRequest(fields(refusal, "request")),
        409 => ServiceError::Conflict(words(&refusal, "it does not go with how things are there")),
        _ => unavailable(answer, &refusal),
    }
}

#[async_trait]
impl Credentials for Client {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        let inner = &self.inner;
        let index: Index = read(&inner.operator_get("").await?)?;
        let has = |path: &str| index.routes.iter().any(|route| route.method.eq_ignore_ascii_case("GET") && route.path == path);
        if !has("/operator/v1/keys") || !has("/operator/v1/clients") {
            return Err(no_routes());
        }
        let mut credentials = inner.credentials_of(false).await?;
        credentials.extend(inner.credentials_of(true).await?);
        let environment =
            if index.environment == Environment::Production.as_str() { Environment::Production } else { Environment::Sandbox };
        let organization = words_of_a_provider(&index.organization.name);
        Ok(CredentialList { organization, environment, credentials, in_use: inner.credentials_in_use() })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        let (inner, client) = (&self.inner, kind == CredentialKind::Client);
        let mut call = inner.operator_call(Method::POST, path_of(client))?;
        if let CredentialKind::Key(scope) = kind {
            call = call.body("application/json", format!("{{\"scope\":\"{}\"}}", scope.as_str()).into_bytes());
        }
        let doubt = "it is not known whether one was created: look at the list, and revoke what nobody has";
        let mut answer = inner.operator_send(call, doubt).await?;
        match answer.status {
            200..=299 => {}
            404 | 405 => return Err(no_routes()),
            _ => return Err(refused(&answer)),
        }
        let shape = read::<Shape>(&answer);
        answer.body.zeroize();
        let mut shape = shape?;
        let secret = shape.secret.take().map(Secret::new).ok_or_else(|| unreadable("it has no secret"))?;
        Ok(CreatedCredential { credential: shape.credential(client)?, secret })
    }

    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        let (inner, client) = (&self.inner, kind == CredentialKind::Client);
        // The answer to a second revocation is that to the first: only the list tells that it had happened.
        let before = inner.credentials_of(client).await?.into_iter().find(|known| known.id == id);
        let segment: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
        let call = inner.operator_call(Method::DELETE, &format!("{}/{segment}", path_of(client)))?;
        let answer = inner.operator_send(call, "it is not known whether it was revoked: look at the list").await?;
        match answer.status {
            200..=299 => {
                let credential = read::<Shape>(&answer)?.credential(client)?;
                Ok(Revoked { credential, already: before.is_some_and(|before| before.revoked_at.is_some()) })
            }
            404 => Err(ServiceError::NotFound(format!("{} {}", kind.as_str(), words_of_a_provider(id)))),
            _ => Err(refused(&answer)),
        }
    }
}

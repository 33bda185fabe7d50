//! Authentication: the caller behind an API key, a client's secret or its token, and the caller at this machine.

use chrono::TimeDelta;
use subtle::ConstantTimeEq;

use super::{
    credentials::{hash, is_client_id, is_client_secret, made_for, public_id},
    handle::{Caller, Engine, locked, service_error},
    tokens::{AccessToken, Claims},
};
use crate::{
    domain::{Credential, CredentialKind, FieldError, KeyScope, OrganizationId, Timestamp},
    service::ServiceError,
    store::{Actor, CredentialRecord, OrganizationRecord},
};

/// Shortest interval between two records of a credential's use.
const TOUCH_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Client credentials found by their id, not authenticated yet.
#[derive(Debug, Clone)]
pub struct KnownClient(CredentialRecord);

impl KnownClient {
    /// The client id.
    pub fn id(&self) -> &str {
        &self.0.credential.id
    }
}

fn refused<T>(why: &str) -> Result<T, ServiceError> {
    Err(ServiceError::NotAuthorized(why.to_owned()))
}

/// Compares the secret with a record, in constant time.
fn fits(record: &CredentialRecord, secret: &str) -> bool {
    record.hash.ct_eq(&hash(secret)).into()
}

impl Engine {
    /// The caller behind an API key.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the key is malformed, unknown, wrong, revoked or of another scope. What
    /// exactly is wrong is told only to who holds the right key.
    pub async fn authenticate(&self, key_text: &str, scope: KeyScope) -> Result<Caller, ServiceError> {
        let Some(id) = public_id(key_text) else {
            return refused("the API key is mistyped or cut off");
        };
        self.check_environment("API key", key_text)?;
        let record = self.store().credential(id).await.map_err(service_error)?.filter(|record| fits(record, key_text));
        let Some(record) = record else { return refused("the API key is not known here") };
        match record.credential.kind {
            CredentialKind::Key(has) if has.includes(scope) => self.caller(record, "API key").await,
            CredentialKind::Key(has) => {
                let (has, needed) = (has.as_str(), scope.as_str());
                refused(&format!("the API key has the scope {has}, this needs the scope {needed}"))
            }
            CredentialKind::Client => refused("the API key is not known here"),
        }
    }

    /// The caller behind a credential that fits. `what` it is, for a refusal.
    async fn caller(&self, record: CredentialRecord, what: &str) -> Result<Caller, ServiceError> {
        let CredentialRecord { organization, credential, .. } = record;
        if credential.revoked_at.is_some() {
            return refused(&format!("the {what} was revoked"));
        }
        let Some(organization) = self.organization(organization).await? else {
            return refused(&format!("the {what}'s organization is gone"));
        };
        self.touch(&credential);
        let name = format!("{} {}", credential.kind.as_str(), credential.id);
        Ok(Caller { organization, actor: Actor { name, ..Actor::at_this_machine() } })
    }

    /// Refuses what was made for the other environment: a switched setting, or a key in the wrong place, must be no
    /// riddle.
    fn check_environment(&self, what: &str, text: &str) -> Result<(), ServiceError> {
        let here = self.settings().environment;
        match made_for(text) {
            Some(other) if other != here => {
                refused(&format!("the {what} was made for {}, and this service is {}", other.as_str(), here.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// Whom access tokens are for: this environment of this database.
    fn audience(&self) -> String {
        format!("avert:{}:{}", self.settings().environment.as_str(), self.store().database())
    }

    /// The client credentials with this client id, of whatever organization.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn client(&self, id: &str) -> Result<Option<KnownClient>, ServiceError> {
        if !is_client_id(id) {
            return Ok(None);
        }
        Ok(self.store().credential(id).await.map_err(service_error)?.map(KnownClient))
    }

    /// An access token for a client that shows its secret.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the client is not known, the secret is not its own or it was revoked. What
    /// exactly is wrong is told only to who holds the right secret.
    pub async fn issue_token(&self, client: Option<KnownClient>, secret: &str) -> Result<AccessToken, ServiceError> {
        if !is_client_secret(secret) {
            return refused("the client is not known here, or its secret is mistyped or cut off");
        }
        self.check_environment("client", secret)?;
        let Some(KnownClient(record)) = client.filter(|KnownClient(record)| fits(record, secret)) else {
            return refused("the client is not known here, or its secret is another one");
        };
        if record.credential.revoked_at.is_some() {
            return refused("the client was revoked");
        }
        let claims = Claims::new(&record.credential.id, record.organization, self.audience(), self.now());
        let token = self.read_token_keys().await?.sign(&claims)?;
        self.touch(&record.credential);
        Ok(token)
    }

    /// Authenticates the caller by an access token.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the token is malformed, was not signed here or has expired, or when its
    /// client is unknown or revoked. The client is read each time, so that a revocation ends its tokens at once.
    pub async fn authenticate_token(&self, token: &str) -> Result<Caller, ServiceError> {
        let claims = self.token_keys_for(token).await?.verify(token, &self.audience(), self.now());
        let claims = claims.map_err(|why| ServiceError::NotAuthorized(why.to_string()))?;
        let record = self.store().credential(&claims.sub).await.map_err(service_error)?;
        let Some(record) = record.filter(|record| record.organization.to_string() == claims.org) else {
            return refused("the access token's client is not known here");
        };
        self.caller(record, "access token's client").await
    }

    /// The caller at this machine: the named organization (by name or id), or the only one there is.
    ///
    /// # Errors
    /// When there are several and none is named, or none has that name; the message lists the names.
    pub async fn local_caller(&self, organization: Option<&str>) -> Result<Caller, ServiceError> {
        let all = self.store().organizations().await.map_err(service_error)?;
        let names = || all.iter().map(|known| known.organization.name.as_str()).collect::<Vec<_>>().join(", ");
        let wrong = |message: String| ServiceError::InvalidRequest(vec![FieldError::new("organization", message)]);
        let found = match (organization, all.as_slice()) {
            (Some(wanted), _) => all
                .iter()
                .find(|known| known.organization.name == wanted || known.organization.id.to_string() == wanted)
                .ok_or_else(|| {
                    wrong(format!("{:?} is not one of {}", wanted.chars().take(60).collect::<String>(), names()))
                })?,
            (None, [only]) => only,
            (None, _) => return Err(wrong(format!("must be named: there are {}", names()))),
        };
        Ok(Caller { organization: found.clone(), actor: Actor::at_this_machine() })
    }

    pub(super) async fn organization(&self, id: OrganizationId) -> Result<Option<OrganizationRecord>, ServiceError> {
        if let Some(known) = locked(&self.inner.organizations).get(&id) {
            return Ok(Some(known.clone()));
        }
        let all = self.store().organizations().await.map_err(service_error)?;
        let found = all.into_iter().find(|known| known.organization.id == id);
        locked(&self.inner.organizations).extend(found.clone().map(|found| (id, found)));
        Ok(found)
    }

    /// Writes down that a credential was used, beside the request and once a minute at most.
    fn touch(&self, credential: &Credential) {
        let now = self.now();
        let recent = |at: Timestamp| now - at < TOUCH_EVERY;
        if credential.last_used_at.is_some_and(recent) {
            return;
        }
        let id = credential.id.clone();
        {
            let mut touched = locked(&self.inner.touched);
            if touched.get(&id).copied().is_some_and(recent) {
                return;
            }
            touched.insert(id.clone(), now);
        }
        let (store, environment) = (self.store().clone(), self.settings().environment);
        self.inner.tasks.spawn(async move {
            if let Err(error) = store.touch_credential(&id, environment, now).await {
                tracing::warn!(%error, credential = %id, "the use of a credential was not written down");
            }
        });
    }
}

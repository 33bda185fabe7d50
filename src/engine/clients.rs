//! Client credentials: making them, knowing them.
//!
//! A client is `avc_<live|test>_<id>`, its secret `avs_<live|test>_<secret><checksum>`: ids, random bits, checksum and storage are those of
//! API keys. What a client may do is told by its tokens.

use rand::RngExt;
use subtle::ConstantTimeEq;

use super::access::{CHECKSUM, ID, SECRET, base62, checksum, hash, named, world};
use super::tokens::{AccessToken, Claims};
use super::{Caller, Engine, THIS_MACHINE, unavailable};
use crate::domain::{ApiClient, CreatedClient, Environment, Secret};
use crate::service::ServiceError;
use crate::store::ClientRecord;

/// Client credentials that are known here; whether the secret fits has yet to be seen.
#[derive(Debug, Clone)]
pub struct KnownClient(ClientRecord);

impl KnownClient {
    /// The client id.
    pub fn id(&self) -> &str {
        &self.0.client.id
    }
}

impl Engine {
    /// The client credentials with this client id, of whatever organization.
    ///
    /// # Errors
    /// Where the store cannot answer.
    pub async fn client(&self, id: &str) -> Result<Option<KnownClient>, ServiceError> {
        if !is_client_id(id) {
            return Ok(None);
        }
        Ok(self.store().client(id).await.map_err(unavailable)?.map(KnownClient))
    }

    /// An access token for a client that shows its secret.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the client is not known, the secret is not its own or it was revoked. What exactly is wrong is
    /// told only to who holds the right secret.
    pub async fn issue_token(&self, client: Option<KnownClient>, secret: &str) -> Result<AccessToken, ServiceError> {
        let refused = |why: &str| Err(ServiceError::NotAuthorized(why.to_owned()));
        if !is_client_secret(secret) {
            return refused("the client is not known here, or its secret is mistyped or cut off");
        }
        let Some(KnownClient(record)) = client.filter(|KnownClient(record)| bool::from(record.hash.ct_eq(&hash(secret)))) else {
            return refused("the client is not known here, or its secret is another one");
        };
        if record.client.revoked_at.is_some() {
            return refused("the client was revoked");
        }
        let token = self.signing_key().await?.sign(&Claims::new(&record.client, self.now()))?;
        self.touch_client(&record.client);
        Ok(token)
    }

    /// The caller behind an access token.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the token is malformed, was not signed here or has expired, or when its client is unknown or
    /// revoked: the client is looked at each time, so that a revocation ends its tokens at once.
    pub async fn authenticate_token(&self, token: &str) -> Result<Caller, ServiceError> {
        let refused = |why: &str| Err(ServiceError::NotAuthorized(why.to_owned()));
        let claims = self.signing_key().await?.verify(token, self.now()).map_err(|why| ServiceError::NotAuthorized(why.to_string()))?;
        let record = self.store().client(&claims.sub).await.map_err(unavailable)?;
        let Some(client) = record.map(|record| record.client).filter(|client| client.organization.to_string() == claims.org) else {
            return refused("the access token's client is not known here");
        };
        if client.revoked_at.is_some() {
            return refused("the access token's client was revoked");
        }
        let Some(organization) = self.organization(client.organization).await? else {
            return refused("the access token's organization is gone");
        };
        self.touch_client(&client);
        Ok(Caller { organization, actor: format!("client {}", client.id), origin: THIS_MACHINE.to_owned() })
    }

    pub(super) async fn create_client(&self, caller: &Caller) -> Result<CreatedClient, ServiceError> {
        let (id, secret) = new_client(self.settings().environment);
        let client = ApiClient {
            id,
            organization: caller.organization.organization.id,
            created_at: self.now(),
            last_used_at: None,
            revoked_at: None,
        };
        self.signed(caller).add_client(ClientRecord { client: client.clone(), hash: hash(&secret) }).await.map_err(unavailable)?;
        tracing::info!(actor = %caller.actor, client = %client.id, "client created");
        Ok(CreatedClient { client, secret: Secret::new(secret) })
    }

    pub(super) async fn revoke_client(&self, caller: &Caller, id: &str) -> Result<ApiClient, ServiceError> {
        let organization = caller.organization.organization.id;
        let revoked = self.signed(caller).revoke_client(organization, id, self.now()).await.map_err(unavailable)?;
        let client = revoked.ok_or_else(|| ServiceError::NotFound(named("client", id)))?;
        tracing::info!(actor = %caller.actor, client = %client.id, "client revoked");
        Ok(client)
    }

    fn touch_client(&self, client: &ApiClient) {
        let store = self.store().clone();
        self.touch(&client.id, client.last_used_at, move |id, now| async move { store.touch_client(&id, now).await });
    }
}

/// New client credentials: client id and secret.
fn new_client(environment: Environment) -> (String, String) {
    let mut random = rand::rng();
    let world = world(environment);
    let id = format!("avc_{world}_{}", base62(&random.random::<[u8; 8]>(), ID));
    let body = format!("avs_{world}_{}", base62(&random.random::<[u8; 32]>(), SECRET));
    let secret = format!("{body}{}", checksum(&body));
    (id, secret)
}

/// What follows `prefix` and the world, where it is so many letters and digits.
fn rest<'a>(text: &'a str, prefix: &str, length: usize) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?;
    let rest = rest.strip_prefix("live_").or_else(|| rest.strip_prefix("test_"))?;
    (rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(rest)
}

fn is_client_id(text: &str) -> bool {
    rest(text, "avc_", ID).is_some()
}

/// Whether a text is a client secret whose checksum fits.
fn is_client_secret(text: &str) -> bool {
    rest(text, "avs_", SECRET + CHECKSUM).is_some_and(|_| {
        let (body, end) = text.split_at(text.len() - CHECKSUM);
        checksum(body) == end
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn new_credentials_are_well_formed_say_their_world_and_are_never_the_same() {
        let (id, secret) = new_client(Environment::Production);
        let (other_id, other_secret) = new_client(Environment::Sandbox);

        assert!(id.starts_with("avc_live_") && other_id.starts_with("avc_test_"));
        assert!(secret.starts_with("avs_live_") && other_secret.starts_with("avs_test_"));
        assert!(is_client_id(&id) && is_client_secret(&secret));
        assert!(id[9..] != other_id[9..] && secret[9..] != other_secret[9..]);
    }

    #[rstest]
    #[case("")]
    #[case("avc_live_")]
    #[case("avc_main_00000000000")]
    #[case("avc_live_0000000000\u{e9}")]
    #[case("avc_live_000000000000")]
    fn what_is_no_client_id_is_told_without_the_store(#[case] text: &str) {
        assert!(!is_client_id(text));
    }

    proptest! {
        #[test]
        fn one_wrong_character_in_a_secret_breaks_its_checksum(at in 0usize..58, to in "[0-9A-Za-z]") {
            let (_, secret) = new_client(Environment::Production);
            let mut wrong = secret.clone();
            wrong.replace_range(at..=at, &to);

            prop_assert_eq!(is_client_secret(&wrong), wrong == secret);
        }

        #[test]
        fn no_text_makes_reading_a_secret_panic(text in "(avs_live_)?\\PC{0,60}") {
            let _ = is_client_secret(&text);
        }
    }
}

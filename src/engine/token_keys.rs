//! The keys of access tokens in this process: read from the database, which every process on it shares, and rotated
//! there.
//!
//! A process reads them before it signs, so that a new key signs at once everywhere. To check a token it takes keys
//! that were read in the last seconds. It reads again where the token names another key: another process may have
//! signed with a new one.

use std::{path::Path, sync::Arc};

use chrono::TimeDelta;
use jsonwebtoken::jwk::JwkSet;

use crate::{
    domain::{Timestamp, time::later_by},
    handle::{Engine, locked, service_error},
    service::ServiceError,
    store::{
        Actor, SigningKeyRecords, StoreError, StoreResult,
        rekeying::{RotatedDataKey, rotate_data_key},
    },
    tokens::{SigningKey, TOKEN_LIFETIME, TokenKeys},
};

/// Longest age of keys in memory that check tokens.
const READ_FOR: TimeDelta = TimeDelta::seconds(5);

/// Time beyond a token's lifetime for which the key before is accepted. A process that read it just before the rotation
/// may sign just after, by a clock ahead of this one's. Every token still ends when it says.
const MARGIN: TimeDelta = TimeDelta::seconds(30);

/// Most restarts of a rotation where another one was faster.
const MOST_REPEATS: u32 = 8;

/// A new signing key, and what becomes of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedSigningKey {
    /// The `kid` of the tokens that are signed from now on.
    pub key: String,
    /// The `kid` of those before, and until when they are taken; nothing where none had been signed.
    pub before: Option<(String, Timestamp)>,
}

impl Engine {
    /// The public keys that access tokens can be checked with, as a JSON Web Key Set (RFC 7517).
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn public_keys(&self) -> Result<JwkSet, ServiceError> {
        Ok(JwkSet { keys: self.read_token_keys().await?.public(self.now()) })
    }

    /// Rotates the key that signs access tokens, in every process on this database. Tokens of the key before are
    /// accepted until the last of them has ended. Only a person at this machine can; so the audit log says.
    ///
    /// # Errors
    /// When the store cannot do it.
    pub async fn rotate_signing_key(&self) -> Result<RotatedSigningKey, ServiceError> {
        let signed = self.store().signed(Actor::at_this_machine());
        for _ in 0..MOST_REPEATS {
            let now = self.now();
            let record = SigningKey::make(now)?;
            let key = record.id.clone();
            let Some(known) = self.store().signing_keys().await.map_err(service_error)? else {
                if self.store().keep_signing_key(record).await.map_err(service_error)?.id == key {
                    return Ok(RotatedSigningKey { key, before: None });
                }
                continue;
            };
            let retired = SigningKey::of(&known.current)?.retire(later_by(now, TOKEN_LIFETIME + MARGIN));
            let before = Some((retired.id.clone(), retired.ends_at));
            if signed.rotate_signing_key(record, retired).await.map_err(service_error)? {
                tracing::info!(key, "access tokens are signed with another key");
                return Ok(RotatedSigningKey { key, before });
            }
        }
        Err(ServiceError::Unavailable(
            "others rotate the signing key at the same time; nothing was changed, try again".to_owned(),
        ))
    }

    /// The keys as they are now; the first one is made when it is first needed.
    pub(super) async fn read_token_keys(&self) -> Result<Arc<TokenKeys>, ServiceError> {
        let read_at = self.counted();
        let records = match self.store().signing_keys().await.map_err(service_error)? {
            Some(records) => records,
            None => {
                let current =
                    self.store().keep_signing_key(SigningKey::make(self.now())?).await.map_err(service_error)?;
                SigningKeyRecords { current, retired: Vec::new() }
            }
        };
        let keys = Arc::new(TokenKeys::of(&records)?);
        *locked(&self.inner.token_keys) = Some((read_at, Arc::clone(&keys)));
        Ok(keys)
    }

    /// The keys to check a token with.
    pub(super) async fn token_keys_for(&self, token: &str) -> Result<Arc<TokenKeys>, ServiceError> {
        let now = self.counted();
        let known = locked(&self.inner.token_keys)
            .clone()
            .filter(|(read_at, _)| now.since(*read_at).is_some_and(|age| age < READ_FOR));
        match known {
            Some((_, keys)) if keys.may_know(token) => Ok(keys),
            _ => self.read_token_keys().await,
        }
    }
}

/// The cause of an error where one is known, in words for strangers; the log has the whole error.
fn cause_of(error: &StoreError) -> Option<String> {
    tracing::warn!(%error, "the store cannot do its work");
    match error {
        StoreError::Refused(cause, _) => Some(cause.to_string()),
        _ => None,
    }
}

impl Engine {
    /// Checks that the database can be read.
    ///
    /// # Errors
    /// When it cannot; with the cause where it is a known one.
    pub async fn ping(&self) -> Result<(), Option<String>> {
        self.store().ping().await.map_err(|error| cause_of(&error))
    }

    /// Checks that the database can be written.
    ///
    /// # Errors
    /// When it cannot; with the cause where it is a known one.
    pub async fn probe(&self) -> Result<(), Option<String>> {
        self.store().probe(self.now()).await.map_err(|error| cause_of(&error))
    }

    /// Returns whether the key of what is sealed in the database is at hand. Where it is not, the log names the file
    /// that has to hold it. Where the database does not answer, nothing is known to be wrong.
    pub async fn has_data_key(&self) -> bool {
        match self.store().prove_key().await {
            Err(error @ StoreError::Unusable(_)) => {
                tracing::error!(%error, "webhooks and access tokens wait for the data key");
                false
            }
            _ => true,
        }
    }

    /// Seals everything in the database anew with another data key, in the place of the one in this file. Only who
    /// works at this machine can; so the audit log says.
    ///
    /// # Errors
    /// [`Unusable`](StoreError::Unusable) with the file that is at fault, and what of the store cannot be done now.
    pub async fn rotate_data_key(&self, file: &Path, new_file: Option<&Path>) -> StoreResult<RotatedDataKey> {
        rotate_data_key(&self.store().signed(Actor::at_this_machine()), file, new_file, self.now(), |_| {}).await
    }
}

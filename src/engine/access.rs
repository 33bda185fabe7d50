//! Who may ask: API keys and the caller at this machine.
//!
//! A key is `avk_<live|test>_<id>_<secret><checksum>`: the id is public, the secret has 256 random bits in base62, the checksum is the
//! CRC-32 of all before it. A mistyped key is refused by its checksum without a look at the store. Only the SHA-256 of the whole key is
//! stored, and compared in constant time.

use chrono::TimeDelta;
use rand::RngExt;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Caller, Engine, THIS_MACHINE, locked, text, unavailable};
use crate::domain::{ApiKey, CreatedKey, Environment, FieldError, KeyScope, OrganizationId, Secret, Timestamp};
use crate::service::ServiceError;
use crate::store::{Actor, KeyRecord, OrganizationRecord, StoreResult};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters of the id (64 bits), the secret (256 bits) and the checksum (32 bits).
pub(super) const ID: usize = 11;
pub(super) const SECRET: usize = 43;
pub(super) const CHECKSUM: usize = 6;

/// How often at most the use of a key is written down.
const TOUCH_EVERY: TimeDelta = TimeDelta::minutes(1);

impl Engine {
    /// The caller behind an API key.
    ///
    /// # Errors
    /// [`ServiceError::NotAuthorized`] when the key is malformed, unknown, wrong, revoked or of another scope. What exactly is wrong is told
    /// only to who holds the right key.
    pub async fn authenticate(&self, key_text: &str, scope: KeyScope) -> Result<Caller, ServiceError> {
        let refused = |why: &str| Err(ServiceError::NotAuthorized(why.to_owned()));
        let Some(id) = public_id(key_text) else {
            return refused("the API key is mistyped or cut off");
        };
        let record = self.store().key(id).await.map_err(unavailable)?;
        let Some(record) = record.filter(|record| bool::from(record.hash.ct_eq(&hash(key_text)))) else {
            return refused("the API key is not known here");
        };
        if record.key.revoked_at.is_some() {
            return refused("the API key was revoked");
        }
        if record.key.scope != scope {
            let (has, needs) = (record.key.scope.as_str(), scope.as_str());
            return refused(&format!("the API key has the scope {has}, this needs the scope {needs}"));
        }
        let Some(organization) = self.organization(record.key.organization).await? else {
            return refused("the API key's organization is gone");
        };
        let store = self.store().clone();
        self.touch(&record.key.id, record.key.last_used_at, move |id, now| async move { store.touch_key(&id, now).await });
        Ok(Caller { organization, actor: format!("key {id}"), origin: THIS_MACHINE.to_owned() })
    }

    /// The caller at this machine: the named organization (by name or id), or the only one there is.
    ///
    /// # Errors
    /// Where there are several and none is named, or none has that name; the message lists the names.
    pub async fn local_caller(&self, organization: Option<&str>) -> Result<Caller, ServiceError> {
        let all = self.store().organizations().await.map_err(unavailable)?;
        let names = || all.iter().map(|known| known.organization.name.as_str()).collect::<Vec<_>>().join(", ");
        let wrong = |message: String| ServiceError::InvalidRequest(vec![FieldError::new("organization", message)]);
        let found = match (organization, all.as_slice()) {
            (Some(wanted), _) => all
                .iter()
                .find(|known| known.organization.name == wanted || known.organization.id.to_string() == wanted)
                .ok_or_else(|| wrong(format!("{:?} is not one of {}", wanted.chars().take(60).collect::<String>(), names())))?,
            (None, [only]) => only,
            (None, _) => return Err(wrong(format!("must be named: there are {}", names()))),
        };
        let Actor { name, origin } = Actor::at_this_machine();
        Ok(Caller { organization: found.clone(), actor: name, origin })
    }

    pub(super) async fn create_key(&self, caller: &Caller, scope: KeyScope) -> Result<CreatedKey, ServiceError> {
        let (id, text) = new_key(self.settings().environment);
        let key = ApiKey {
            id,
            organization: caller.organization.organization.id,
            scope,
            created_at: self.now(),
            last_used_at: None,
            revoked_at: None,
        };
        self.signed(caller).add_key(KeyRecord { key: key.clone(), hash: hash(&text) }).await.map_err(unavailable)?;
        tracing::info!(actor = %caller.actor, key = %key.id, scope = scope.as_str(), "key created");
        Ok(CreatedKey { key, secret: Secret::new(text) })
    }

    /// The organization with this id.
    pub(super) async fn organization(&self, id: OrganizationId) -> Result<Option<OrganizationRecord>, ServiceError> {
        let all = self.store().organizations().await.map_err(unavailable)?;
        Ok(all.into_iter().find(|known| known.organization.id == id))
    }

    /// Writes down that a credential was used, beside the request and once a minute at most.
    pub(super) fn touch<W>(&self, id: &str, last_used_at: Option<Timestamp>, write: impl FnOnce(String, Timestamp) -> W)
    where
        W: Future<Output = StoreResult<()>> + Send + 'static,
    {
        let now = self.now();
        let recent = |at: Timestamp| now - at < TOUCH_EVERY;
        if last_used_at.is_some_and(recent) {
            return;
        }
        {
            let mut touched = locked(&self.inner.touched);
            if touched.get(id).copied().is_some_and(recent) {
                return;
            }
            touched.insert(id.to_owned(), now);
        }
        let (writing, id) = (write(id.to_owned(), now), id.to_owned());
        self.inner.tasks.spawn(async move {
            if let Err(error) = writing.await {
                tracing::warn!(%error, credential = %id, "the use of a credential was not written down");
            }
        });
    }
}

/// A new key: its public id and its whole text.
fn new_key(environment: Environment) -> (String, String) {
    let mut random = rand::rng();
    let id = base62(&random.random::<[u8; 8]>(), ID);
    let body = format!("avk_{}_{id}_{}", world(environment), base62(&random.random::<[u8; 32]>(), SECRET));
    let text = format!("{body}{}", checksum(&body));
    (id, text)
}

/// The word for the environment in every credential that it makes.
pub(super) const fn world(environment: Environment) -> &'static str {
    match environment {
        Environment::Production => "live",
        Environment::Sandbox => "test",
    }
}

/// The public id in a key's text; `None` where the text is no key or its checksum does not fit.
fn public_id(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("avk_live_").or_else(|| text.strip_prefix("avk_test_"))?;
    let (id, secret) = rest.split_once('_')?;
    let shaped = id.len() == ID && secret.len() == SECRET + CHECKSUM && rest.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric());
    let (body, end) = shaped.then(|| text.split_at(text.len() - CHECKSUM))?;
    (checksum(body) == end).then_some(id)
}

/// The id of a key that is named by its id or, as whoever has to end a leaked one may, by all of it, mistyped at its end or not.
pub(super) fn id_of_key(text: &str) -> &str {
    let rest = text.strip_prefix("avk_live_").or_else(|| text.strip_prefix("avk_test_"));
    rest.and_then(|rest| rest.split_once('_')).map_or(text, |(id, _)| id)
}

/// A credential that is not there, named for a message: a secret given in the place of its id is not repeated.
pub(super) fn named(what: &str, id: &str) -> String {
    let longest = "avc_test_".len() + ID;
    if id.len() > longest || ["avk_", "avs_", "whsec_"].iter().any(|secret| id.contains(secret)) {
        return format!(
            "the {what} (what was given is no id, and it is not repeated as it may be a secret; the list of {what}s shows the ids)"
        );
    }
    format!("{what} {}", text::words_of_a_provider(id))
}

pub(super) fn checksum(body: &str) -> String {
    base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECKSUM)
}

pub(super) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A big-endian number in base 62, with leading zeros. `width` digits must be enough for it.
pub(super) fn base62(bytes: &[u8], width: usize) -> String {
    let mut digits = vec![0_usize; width];
    for &byte in bytes {
        let mut carry = usize::from(byte);
        for digit in digits.iter_mut().rev() {
            carry += *digit * 256;
            *digit = carry % 62;
            carry /= 62;
        }
    }
    digits.into_iter().map(|digit| char::from(ALPHABET[digit])).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[0], 2, "00")]
    #[case(&[61], 2, "0z")]
    #[case(&[62], 2, "10")]
    #[case(&[255, 255, 255, 255], 6, "4gfFC3")]
    fn base62_is_written_with_leading_zeros(#[case] bytes: &[u8], #[case] width: usize, #[case] text: &str) {
        assert_eq!(base62(bytes, width), text);
    }

    #[test]
    fn the_widths_hold_the_largest_numbers() {
        for (bytes, width) in [(8, ID), (32, SECRET), (4, CHECKSUM)] {
            let largest = base62(&vec![255; bytes], width);
            let before = base62(&[&[255_u8][..].repeat(bytes - 1), &[254][..]].concat(), width);

            assert!(before < largest, "{width} digits do not wrap round");
        }
    }

    #[test]
    fn a_key_tells_its_world_and_its_id_and_no_two_are_alike() {
        let (id, live) = new_key(Environment::Production);
        let (other, test) = new_key(Environment::Sandbox);

        assert!(live.starts_with(&format!("avk_live_{id}_")) && test.starts_with(&format!("avk_test_{other}_")));
        assert_eq!(public_id(&live), Some(id.as_str()));
        assert_ne!(live[9..], test[9..]);
        assert_eq!(live.len(), 9 + ID + 1 + SECRET + CHECKSUM);
    }

    #[rstest]
    #[case("")]
    #[case("avk_live_")]
    #[case("avk_live_00000000000_0000000000000000000000000000000000000000000000000")]
    #[case("avk_main_00000000000_0000000000000000000000000000000000000000000000000")]
    fn what_is_no_key_is_refused_before_the_store_is_asked(#[case] text: &str) {
        assert_eq!(public_id(text), None);
    }

    proptest! {
        #[test]
        fn one_wrong_character_anywhere_breaks_the_checksum(at in 0usize..69, to in "[0-9A-Za-z]") {
            let (_, text) = new_key(Environment::Production);
            let mut wrong = text.clone();
            wrong.replace_range(at..=at, &to);

            prop_assert_eq!(public_id(&wrong).is_some(), wrong == text);
        }

        #[test]
        fn no_text_makes_reading_a_key_panic(text in "(avk_live_)?\\PC{0,80}") {
            let _ = public_id(&text);
        }
    }
}

//! The organization's keys and clients, bound to a caller, and the texts of credentials.

use async_trait::async_trait;
use rand::RngExt;
use sha2::{Digest, Sha256};

use crate::{
    acting::ActingEngine,
    domain::{CreatedCredential, Credential, CredentialKind, CredentialList, Environment, Revoked, Secret, redact},
    handle::service_error,
    service::{Credentials, ServiceError},
    store::CredentialRecord,
};

#[async_trait]
impl Credentials for ActingEngine {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        Ok(CredentialList {
            organization: self.caller.organization.organization.name.clone(),
            environment: self.engine.settings().environment,
            credentials: self.engine.store().credentials(self.organization()).await.map_err(service_error)?,
            // In this process nothing but the process itself lets one in.
            in_use: Vec::new(),
        })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        let here = self.engine.settings().environment;
        let (id, secret) = made(kind, here);
        let (environment, created_at) = (Some(here), self.engine.now());
        let credential = Credential { kind, id, environment, created_at, last_used_at: None, revoked_at: None };
        let record =
            CredentialRecord { organization: self.organization(), credential: credential.clone(), hash: hash(&secret) };
        self.store().add_credential(record).await.map_err(service_error)?;
        tracing::info!(actor = %self.caller.actor.name, ?kind, id = %credential.id, "credential created");
        Ok(CreatedCredential { credential, secret: Secret::new(secret) })
    }

    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        let id = if let CredentialKind::Key(_) = kind { id_of_key(id) } else { id };
        let missing = || ServiceError::NotFound(named(kind.as_str(), id));
        self.engine
            .store()
            .credential(id)
            .await
            .map_err(service_error)?
            .filter(|known| known.credential.kind.is_alike(kind))
            .ok_or_else(missing)?;
        let revoked = self
            .store()
            .revoke_credential(self.organization(), id, self.engine.now())
            .await
            .map_err(service_error)?
            .ok_or_else(missing)?;
        tracing::info!(actor = %self.caller.actor.name, ?kind, id = %id, "credential revoked");
        Ok(revoked)
    }
}

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters of the id (64 bits), the secret (256 bits) and the checksum (32 bits).
const ID: usize = 11;
const SECRET: usize = 43;
const CHECKSUM: usize = 6;

/// A new credential: its public id, and the whole key or the client's secret.
pub(super) fn made(kind: CredentialKind, environment: Environment) -> (String, String) {
    let mut random = rand::rng();
    let world = environment.words();
    let (id, secret) = (base62(&random.random::<[u8; 8]>(), ID), base62(&random.random::<[u8; 32]>(), SECRET));
    let (id, body) = match kind {
        CredentialKind::Key(_) => (id.clone(), format!("avk_{world}_{id}_{secret}")),
        CredentialKind::Client => (format!("avc_{world}_{id}"), format!("avs_{world}_{secret}")),
    };
    let text = format!("{body}{}", checksum(&body));
    (id, text)
}

/// The environment that a key, a client id or a client's secret was made for, by its prefix.
pub(super) fn made_for(text: &str) -> Option<Environment> {
    let world = ["avk_", "avc_", "avs_"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    Environment::ALL
        .into_iter()
        .find(|environment| world.strip_prefix(environment.words()).is_some_and(|rest| rest.starts_with('_')))
}

/// Strips the prefix and the environment.
fn after_world<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?;
    rest.strip_prefix("live_").or_else(|| rest.strip_prefix("test_"))
}

/// Checks for exactly so many ASCII letters and digits.
fn is_base62(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The public id in a key's text; `None` where the text is no key or its checksum does not fit.
pub(super) fn public_id(text: &str) -> Option<&str> {
    let (id, secret) = after_world(text, "avk_")?.split_once('_')?;
    (is_base62(id, ID) && is_base62(secret, SECRET + CHECKSUM) && is_sound(text)).then_some(id)
}

pub(super) fn is_client_id(text: &str) -> bool {
    after_world(text, "avc_").is_some_and(|rest| is_base62(rest, ID))
}

/// Checks for a client secret whose checksum fits.
pub(super) fn is_client_secret(text: &str) -> bool {
    after_world(text, "avs_").is_some_and(|rest| is_base62(rest, SECRET + CHECKSUM) && is_sound(text))
}

/// Checks the checksum at the end of a well-formed text.
fn is_sound(text: &str) -> bool {
    let (body, end) = text.split_at(text.len() - CHECKSUM);
    checksum(body) == end
}

/// Returns the id of a key that is named by its id or by its whole text, mistyped at its end or not. A leaked key is
/// ended by either.
pub(super) fn id_of_key(text: &str) -> &str {
    after_world(text, "avk_").and_then(|rest| rest.split_once('_')).map_or(text, |(id, _)| id)
}

/// A credential that is not there, named for a message: a secret given in the place of its id is not repeated.
pub(super) fn named(what: &str, id: &str) -> String {
    let longest = "avc_test_".len() + ID;
    if id.len() > longest || ["avk_", "avs_", "whsec_"].iter().any(|secret| id.contains(secret)) {
        return format!(
            "the {what} (what was given is no id, and it is not repeated as it may be a secret; the list of {what}s \
                shows the ids)"
        );
    }
    format!("{what} {}", redact::words(id))
}

fn checksum(body: &str) -> String {
    base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECKSUM)
}

pub(super) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A big-endian number in base 62, with leading zeros. `width` digits must be enough for it.
fn base62(bytes: &[u8], width: usize) -> String {
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
    use crate::domain::KeyScope;

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
        let (id, live) = made(CredentialKind::Key(KeyScope::Alerts), Environment::Production);
        let (other, test) = made(CredentialKind::Key(KeyScope::Alerts), Environment::Sandbox);

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
            let (_, text) = made(CredentialKind::Key(KeyScope::Alerts), Environment::Production);
            let mut wrong = text.clone();
            wrong.replace_range(at..=at, &to);

            prop_assert_eq!(public_id(&wrong).is_some(), wrong == text);
        }

        #[test]
        fn no_text_makes_reading_a_key_panic(text in "(avk_live_)?\\PC{0,80}") {
            let _ = public_id(&text);
        }
    }

    #[rstest]
    #[case("avk_live_0", Some(Environment::Production))]
    #[case("avc_test_0", Some(Environment::Sandbox))]
    #[case("avs_live_0", Some(Environment::Production))]
    #[case("avk_livelier", None)]
    #[case("avk_main_0", None)]
    #[case("live_0", None)]
    fn a_prefix_tells_the_environment(#[case] text: &str, #[case] environment: Option<Environment>) {
        assert_eq!(made_for(text), environment);
    }

    #[test]
    fn new_credentials_are_well_formed_say_their_world_and_are_never_the_same() {
        let (id, secret) = made(CredentialKind::Client, Environment::Production);
        let (other_id, other_secret) = made(CredentialKind::Client, Environment::Sandbox);

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
            let (_, secret) = made(CredentialKind::Client, Environment::Production);
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

//! Access tokens: JWTs that the engine signs with an Ed25519 key of its own and reads again.
//!
//! One key signs for the whole database. It is sealed there and known by its thumbprint (RFC 7638). Of the keys before
//! it, the public halves are kept until their tokens have ended. Times are those of the engine's clock, not of the
//! machine's.

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use chrono::TimeDelta;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    jwk::{Jwk, KeyAlgorithm, PublicKeyUse, ThumbprintHash},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    domain::{KeyScope, OrganizationId, Secret, Timestamp},
    service::ServiceError,
    store::{RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords},
};

/// Lifetime of an access token, 10 min.
pub const TOKEN_LIFETIME: TimeDelta = TimeDelta::seconds(600);

/// Issuer of the tokens.
const ISSUER: &str = "avert";

/// An access token for its client.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// The JWT.
    pub token: Secret,
    /// Lifetime of the token, in seconds.
    pub expires_in: i64,
}

/// The claims of an access token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    iss: String,
    /// Whom it is for: the environment and the database.
    #[serde(default)]
    aud: String,
    /// The client id.
    pub(super) sub: String,
    /// The organization's id.
    pub(super) org: String,
    scope: String,
    /// Seconds since 1970-01-01 UTC.
    iat: i64,
    exp: i64,
    jti: String,
}

impl Claims {
    pub(super) fn new(client: &str, organization: OrganizationId, audience: String, now: Timestamp) -> Self {
        Self {
            iss: ISSUER.to_owned(),
            aud: audience,
            sub: client.to_owned(),
            org: organization.to_string(),
            scope: KeyScope::Alerts.as_str().to_owned(),
            iat: now.timestamp(),
            exp: now.timestamp() + TOKEN_LIFETIME.num_seconds(),
            jti: Uuid::new_v4().to_string(),
        }
    }
}

/// Reason of an access token that is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("the access token is malformed")]
    Malformed,
    /// Another key, another algorithm, or none.
    #[error("the access token was not signed by this service")]
    NotOurs,
    #[error("the access token has expired")]
    Expired,
    #[error("the access token is not for this service: it is for another environment, database or use")]
    WrongAudience,
}

/// A signing key pair. Its `Debug` shows nothing secret.
pub(super) struct SigningKey {
    encoding: EncodingKey,
    verifying: VerifyingKey,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.verifying.id).finish_non_exhaustive()
    }
}

/// The public half of a key pair.
struct VerifyingKey {
    id: String,
    decoding: DecodingKey,
    public: Jwk,
    bytes: Vec<u8>,
}

/// The keys of access tokens: the one that signs, and the public halves of those that signed before it, with their
/// ends.
#[derive(Debug)]
pub(super) struct TokenKeys {
    current: SigningKey,
    retired: Vec<(VerifyingKey, Timestamp)>,
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyingKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A key that could not be made or read.
fn unusable(error: impl fmt::Display) -> ServiceError {
    tracing::error!(%error, "the signing key of access tokens cannot be used");
    ServiceError::Unavailable("access tokens cannot be signed or read now; the reason is in the log".to_owned())
}

impl SigningKey {
    /// Makes a key, as it is stored.
    pub(super) fn make(now: Timestamp) -> Result<SigningKeyRecord, ServiceError> {
        let private_key = Ed25519KeyPair::generate().and_then(|pair| pair.to_pkcs8v1()).map_err(unusable)?;
        let private_key = private_key.as_ref().to_vec();
        let id = VerifyingKey::of_private(&private_key)?.id;
        Ok(SigningKeyRecord { id, private_key, created_at: now })
    }

    pub(super) fn of(record: &SigningKeyRecord) -> Result<Self, ServiceError> {
        let verifying = VerifyingKey::of_private(&record.private_key)?.named(&record.id)?;
        Ok(Self { encoding: EncodingKey::from_ed_der(&record.private_key), verifying })
    }

    /// Returns its public half as the record of a key that signs no more, and ends then.
    pub(super) fn retire(self, ends_at: Timestamp) -> RetiredKeyRecord {
        RetiredKeyRecord { id: self.verifying.id, public_key: self.verifying.bytes, ends_at }
    }
}

impl VerifyingKey {
    fn of(public_key: &[u8]) -> Result<Self, ServiceError> {
        let decoding = DecodingKey::from_ed_der(public_key);
        let mut public = Jwk::from_decoding_key(&decoding, None).map_err(unusable)?;
        let id = public.thumbprint(ThumbprintHash::SHA256).map_err(unusable)?;
        public.common.key_id = Some(id.clone());
        public.common.key_algorithm = Some(KeyAlgorithm::EdDSA);
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { id, decoding, public, bytes: public_key.to_vec() })
    }

    fn of_private(private_key: &[u8]) -> Result<Self, ServiceError> {
        let pair = Ed25519KeyPair::from_pkcs8(private_key).map_err(unusable)?;
        Self::of(pair.public_key().as_ref())
    }

    /// The same where it is stored under its own id.
    fn named(self, id: &str) -> Result<Self, ServiceError> {
        if self.id == id { Ok(self) } else { Err(unusable("its id is another key's")) }
    }
}

impl TokenKeys {
    pub(super) fn of(records: &SigningKeyRecords) -> Result<Self, ServiceError> {
        let retired =
            |record: &RetiredKeyRecord| Ok((VerifyingKey::of(&record.public_key)?.named(&record.id)?, record.ends_at));
        let retired = records.retired.iter().map(retired).collect::<Result<_, ServiceError>>()?;
        Ok(Self { current: SigningKey::of(&records.current)?, retired })
    }

    /// The public halves of those that check tokens now.
    pub(super) fn public(&self, now: Timestamp) -> Vec<Jwk> {
        self.checking(now).map(|key| key.public.clone()).collect()
    }

    /// The keys that check tokens now, the one that signs first.
    fn checking(&self, now: Timestamp) -> impl Iterator<Item = &VerifyingKey> {
        let retired = self.retired.iter().filter(move |(_, ends_at)| now < *ends_at).map(|(key, _)| key);
        std::iter::once(&self.current.verifying).chain(retired)
    }

    /// Returns whether the key that a token names is one of these, also one that has ended. True where it names none:
    /// there is nothing to look for.
    pub(super) fn may_know(&self, token: &str) -> bool {
        let named = jsonwebtoken::decode_header(token).ok().and_then(|header| header.kid);
        let mut all = std::iter::once(&self.current.verifying).chain(self.retired.iter().map(|(key, _)| key));
        named.is_none_or(|id| all.any(|key| key.id == id))
    }

    pub(super) fn sign(&self, claims: &Claims) -> Result<AccessToken, ServiceError> {
        let SigningKey { encoding, verifying } = &self.current;
        let header = Header { kid: Some(verifying.id.clone()), ..Header::new(Algorithm::EdDSA) };
        let token = jsonwebtoken::encode(&header, claims, encoding).map_err(unusable)?;
        Ok(AccessToken { token: Secret::new(token), expires_in: TOKEN_LIFETIME.num_seconds() })
    }

    /// Verifies a token and returns its claims.
    pub(super) fn verify(&self, token: &str, audience: &str, now: Timestamp) -> Result<Claims, TokenError> {
        use jsonwebtoken::errors::ErrorKind;
        let mut signature_alone = Validation::new(Algorithm::EdDSA);
        signature_alone.required_spec_claims.clear();
        signature_alone.validate_exp = false;
        signature_alone.validate_aud = false;
        let named = jsonwebtoken::decode_header(token).map_err(|_| TokenError::Malformed)?.kid;
        let key = self.checking(now).find(|key| Some(&key.id) == named.as_ref()).ok_or(TokenError::NotOurs)?;
        let read = jsonwebtoken::decode::<Claims>(token, &key.decoding, &signature_alone);
        let claims = read.map_err(|error| match error.kind() {
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidSignature => TokenError::NotOurs,
            _ => TokenError::Malformed,
        });
        let claims = claims?.claims;
        if claims.iss != ISSUER || claims.aud != audience || claims.scope != KeyScope::Alerts.as_str() {
            return Err(TokenError::WrongAudience);
        }
        if now.timestamp() >= claims.exp {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::time::from_iso;

    const HERE: &str = "avert:sandbox:0198c5a0-0000-7000-8000-000000000001";

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn key() -> TokenKeys {
        TokenKeys::of(&SigningKeyRecords { current: SigningKey::make(noon()).unwrap(), retired: Vec::new() }).unwrap()
    }

    /// Keys of which the one that signed at noon is retired until then.
    fn rotated(before: TokenKeys, ends_at: Timestamp) -> TokenKeys {
        let retired = vec![before.current.retire(ends_at)];
        TokenKeys::of(&SigningKeyRecords { current: SigningKey::make(noon()).unwrap(), retired }).unwrap()
    }

    fn claims() -> Claims {
        Claims::new("avc_test_00000000000", OrganizationId::generate(), HERE.to_owned(), noon())
    }

    fn part(value: &Value) -> String {
        URL_SAFE_NO_PAD.encode(value.to_string())
    }

    #[test]
    fn a_token_says_what_was_signed_and_for_how_long() {
        let (key, claims) = (key(), claims());

        let token = key.sign(&claims).unwrap();

        assert_eq!(key.verify(token.token.reveal(), HERE, noon()), Ok(claims));
        assert_eq!(token.expires_in, 600);
        assert!(!format!("{token:?} {key:?}").contains(token.token.reveal()));
    }

    #[test]
    fn a_token_is_good_up_to_its_last_second() {
        let key = key();
        let token = key.sign(&claims()).unwrap();
        let at = |seconds: i64| key.verify(token.token.reveal(), HERE, noon() + TimeDelta::seconds(seconds)).err();

        assert_eq!((at(599), at(600), at(601)), (None, Some(TokenError::Expired), Some(TokenError::Expired)));
        // A clock that is set back ends nothing.
        assert_eq!(at(-86_400), None);
    }

    #[test]
    fn a_token_of_a_retired_key_is_taken_until_the_key_ends_and_not_afterwards() {
        let before = key();
        // A stolen key signs what it likes.
        let token = before.sign(&Claims { exp: i64::MAX, ..claims() }).unwrap();
        let keys = rotated(before, noon() + TOKEN_LIFETIME);
        let at = |seconds: i64| keys.verify(token.token.reveal(), HERE, noon() + TimeDelta::seconds(seconds)).err();
        let published = |seconds: i64| keys.public(noon() + TimeDelta::seconds(seconds)).len();

        assert_eq!((at(0), at(599), at(600)), (None, None, Some(TokenError::NotOurs)));
        assert_eq!((published(0), published(599), published(600)), (2, 2, 1));
        assert!(keys.may_know(token.token.reveal()) && !key().may_know(token.token.reveal()));
    }

    #[test]
    fn after_a_rotation_the_new_key_signs() {
        let before = key();
        let earlier = before.sign(&claims()).unwrap();
        let keys = rotated(before, noon() + TOKEN_LIFETIME);

        let token = keys.sign(&claims()).unwrap();

        let kid = |token: &AccessToken| jsonwebtoken::decode_header(token.token.reveal()).unwrap().kid.unwrap();
        assert_eq!(kid(&token), keys.current.verifying.id);
        assert_ne!(kid(&earlier), kid(&token));
        assert!(keys.verify(token.token.reveal(), HERE, noon() + TimeDelta::seconds(599)).is_ok());
    }

    #[test]
    fn a_token_of_another_key_is_not_ours() {
        let token = key().sign(&claims()).unwrap();

        assert_eq!(key().verify(token.token.reveal(), HERE, noon()), Err(TokenError::NotOurs));
    }

    #[test]
    fn a_token_signed_with_the_public_key_as_a_shared_secret_is_not_ours() {
        let key = key();
        let jsonwebtoken::jwk::AlgorithmParameters::OctetKeyPair(public) = &key.current.verifying.public.algorithm
        else {
            panic!("Ed25519")
        };
        let secret = EncodingKey::from_secret(&URL_SAFE_NO_PAD.decode(&public.x).unwrap());
        let header = Header { kid: Some(key.current.verifying.id.clone()), ..Header::new(Algorithm::HS256) };
        let forged = jsonwebtoken::encode(&header, &claims(), &secret).unwrap();

        assert_eq!(key.verify(&forged, HERE, noon()), Err(TokenError::NotOurs));
    }

    #[rstest]
    #[case("none")]
    #[case("None")]
    #[case("")]
    fn a_token_without_an_algorithm_is_refused(#[case] algorithm: &str) {
        let key = key();
        let head = part(&json!({"alg": algorithm, "typ": "JWT", "kid": key.current.verifying.id}));
        let body = part(&serde_json::to_value(claims()).unwrap());

        for signature in ["", "AAAA"] {
            assert!(key.verify(&format!("{head}.{body}.{signature}"), HERE, noon()).is_err());
        }
    }

    #[test]
    fn a_changed_token_is_not_ours() {
        let key = key();
        let token = key.sign(&claims()).unwrap();
        let parts: Vec<&str> = token.token.reveal().split('.').collect();
        let longer = part(&serde_json::to_value(Claims { exp: i64::MAX, ..claims() }).unwrap());

        assert_eq!(key.verify(&[parts[0], &longer, parts[2]].join("."), HERE, noon()), Err(TokenError::NotOurs));
    }

    #[rstest]
    #[case(Claims { iss: "another".to_owned(), ..claims() })]
    #[case(Claims { scope: "operator".to_owned(), ..claims() })]
    #[case(Claims { aud: "avert:production:0198c5a0-0000-7000-8000-000000000001".to_owned(), ..claims() })]
    #[case(Claims { aud: "avert:sandbox:0198c5a0-0000-7000-8000-000000000002".to_owned(), ..claims() })]
    #[case(Claims { aud: String::new(), ..claims() })]
    fn a_token_for_something_else_is_refused(#[case] claims: Claims) {
        let key = key();
        let token = key.sign(&claims).unwrap();

        assert_eq!(key.verify(token.token.reveal(), HERE, noon()), Err(TokenError::WrongAudience));
    }

    #[rstest]
    #[case("")]
    #[case(".")]
    #[case("..")]
    #[case("a.b.c")]
    #[case("a.b.c.d")]
    #[case("\u{e9}.\u{e9}.\u{e9}")]
    fn what_is_no_token_is_malformed(#[case] text: &str) {
        assert_eq!(key().verify(text, HERE, noon()), Err(TokenError::Malformed));
    }

    #[test]
    fn a_stored_key_under_another_ones_id_is_not_used() {
        let record = SigningKeyRecord { id: "another".to_owned(), ..SigningKey::make(noon()).unwrap() };

        assert!(SigningKey::of(&record).is_err());
    }
}

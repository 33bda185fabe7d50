//! Access tokens: JWTs that the engine signs with an Ed25519 key of its own and reads again.
//!
//! The key is made once for the whole database, sealed there, and known by its thumbprint (RFC 7638). Times are taken by the engine's
//! clock, not by the machine's.

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use chrono::TimeDelta;
use jsonwebtoken::jwk::{Jwk, KeyAlgorithm, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::{KeyScope, OrganizationId, Secret, Timestamp};
use crate::service::ServiceError;
use crate::store::SigningKeyRecord;

/// How long an access token is good for (decisions, Credentials).
pub const TOKEN_LIFETIME: TimeDelta = TimeDelta::seconds(600);

/// Who issues the tokens.
const ISSUER: &str = "avert";

/// An access token for its client.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// The JWT.
    pub token: Secret,
    /// How long it is good for, in seconds.
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

/// Why an access token is not valid.
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

/// The engine's signing key pair. Its `Debug` shows nothing secret.
pub(super) struct SigningKey {
    id: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    public: Jwk,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
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
        let id = public_part(&private_key)?.1;
        Ok(SigningKeyRecord { id, private_key, created_at: now })
    }

    pub(super) fn of(record: &SigningKeyRecord) -> Result<Self, ServiceError> {
        let (decoding, id) = public_part(&record.private_key)?;
        if id != record.id {
            return Err(unusable("its id is another key's"));
        }
        let mut public = Jwk::from_decoding_key(&decoding, None).map_err(unusable)?;
        public.common.key_id = Some(id.clone());
        public.common.key_algorithm = Some(KeyAlgorithm::EdDSA);
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { id, encoding: EncodingKey::from_ed_der(&record.private_key), decoding, public })
    }

    /// Its public half.
    pub(super) fn public(&self) -> &Jwk {
        &self.public
    }

    /// Signs a token.
    pub(super) fn sign(&self, claims: &Claims) -> Result<AccessToken, ServiceError> {
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::EdDSA) };
        let token = jsonwebtoken::encode(&header, claims, &self.encoding).map_err(unusable)?;
        Ok(AccessToken { token: Secret::new(token), expires_in: TOKEN_LIFETIME.num_seconds() })
    }

    /// What a token says, where it is ours and still good.
    pub(super) fn verify(&self, token: &str, audience: &str, now: Timestamp) -> Result<Claims, TokenError> {
        use jsonwebtoken::errors::ErrorKind;
        let mut signature_alone = Validation::new(Algorithm::EdDSA);
        signature_alone.required_spec_claims.clear();
        signature_alone.validate_exp = false;
        signature_alone.validate_aud = false;
        let read = jsonwebtoken::decode::<Claims>(token, &self.decoding, &signature_alone);
        let token = read.map_err(|error| match error.kind() {
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidSignature => TokenError::NotOurs,
            _ => TokenError::Malformed,
        })?;
        let claims = token.claims;
        if token.header.kid.as_deref() != Some(self.id.as_str()) {
            return Err(TokenError::NotOurs);
        }
        if claims.iss != ISSUER || claims.aud != audience || claims.scope != KeyScope::Alerts.as_str() {
            return Err(TokenError::WrongAudience);
        }
        if now.timestamp() >= claims.exp {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }
}

/// The public half of a private key, and its thumbprint.
fn public_part(private_key: &[u8]) -> Result<(DecodingKey, String), ServiceError> {
    let pair = Ed25519KeyPair::from_pkcs8(private_key).map_err(unusable)?;
    let decoding = DecodingKey::from_ed_der(pair.public_key().as_ref());
    let thumbprint = Jwk::from_decoding_key(&decoding, None).and_then(|jwk| jwk.thumbprint(ThumbprintHash::SHA256)).map_err(unusable)?;
    Ok((decoding, thumbprint))
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

    fn key() -> SigningKey {
        SigningKey::of(&SigningKey::make(noon()).unwrap()).unwrap()
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
    fn a_token_of_another_key_is_not_ours() {
        let token = key().sign(&claims()).unwrap();

        assert_eq!(key().verify(token.token.reveal(), HERE, noon()), Err(TokenError::NotOurs));
    }

    #[test]
    fn a_token_signed_with_the_public_key_as_a_shared_secret_is_not_ours() {
        let key = key();
        let jsonwebtoken::jwk::AlgorithmParameters::OctetKeyPair(public) = &key.public.algorithm else { panic!("Ed25519") };
        let secret = EncodingKey::from_secret(&URL_SAFE_NO_PAD.decode(&public.x).unwrap());
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::HS256) };
        let forged = jsonwebtoken::encode(&header, &claims(), &secret).unwrap();

        assert_eq!(key.verify(&forged, HERE, noon()), Err(TokenError::NotOurs));
    }

    #[rstest]
    #[case("none")]
    #[case("None")]
    #[case("")]
    fn a_token_without_an_algorithm_is_refused(#[case] algorithm: &str) {
        let key = key();
        let head = part(&json!({"alg": algorithm, "typ": "JWT", "kid": key.id}));
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

//! Access tokens: cached until shortly before they expire, and fetched by one request at a time.

use std::time::Duration;

use chrono::TimeDelta;
use reqwest::Method;
use tokio::sync::Mutex;

use super::http::{Call, Http};
use super::options::{ClientError, Pauses};
use super::refusals::{unavailable, words};
use crate::domain::Secret;
use crate::domain::time::{SharedClock, Timestamp};
use crate::service::ServiceError;
use crate::wire::token;

/// How long a token lasts whose life was not told.
const UNTOLD_LIFE: u64 = 300;
/// A token is renewed a tenth of its life before its end, and at most so many seconds.
const MOST_MARGIN: u64 = 60;
/// No token is kept for longer than this, whatever it promises.
const LONGEST_LIFE: u64 = 24 * 60 * 60;

/// A cached access token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    number: u64,
    value: Secret,
    renew_at: Timestamp,
    /// Whether it was fetched for the request that holds it: then nothing about it is old.
    fresh: bool,
    /// Whether it was refused as soon as it was there: then another one would be too.
    hopeless: bool,
}

impl Token {
    /// The header that carries it.
    pub(super) fn header(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.value.reveal()))
    }

    /// Whether a refusal may be for its age, and a new one may help.
    pub(super) fn may_have_expired(&self) -> bool {
        !self.fresh && !self.hopeless
    }
}

/// A cache of access tokens for one pair of client credentials.
pub(super) struct Tokens {
    id: String,
    secret: Secret,
    url: String,
    clock: SharedClock,
    /// Held while a token is fetched, so that all who wait get the same one.
    newest: Mutex<Option<Token>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Tokens {
    pub(super) fn new(id: String, secret: Secret, url: String, clock: SharedClock) -> Result<Self, ClientError> {
        if id.is_empty() || secret.reveal().is_empty() {
            return Err(ClientError("the client id and the client secret must not be empty".to_owned()));
        }
        Ok(Self { id, secret, url, clock, newest: Mutex::new(None) })
    }

    /// Whose they are.
    pub(super) fn client_id(&self) -> &str {
        &self.id
    }

    /// A token that has not expired.
    pub(super) async fn current(&self, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let mut newest = self.newest.lock().await;
        match newest.as_ref().filter(|token| self.clock.now() < token.renew_at) {
            Some(token) => Ok(token.clone()),
            None => self.fetch(&mut newest, http, pauses).await,
        }
    }

    /// A newer token than the one that was refused: another request's, or one that is fetched now.
    pub(super) async fn renewed(&self, refused: &Token, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let mut newest = self.newest.lock().await;
        match newest.as_ref().filter(|token| token.number > refused.number) {
            Some(token) => Ok(token.clone()),
            None => self.fetch(&mut newest, http, pauses).await,
        }
    }

    /// Takes note that a new token was refused as well.
    pub(super) async fn refused(&self, token: &Token) {
        if let Some(newest) = self.newest.lock().await.as_mut().filter(|newest| newest.number == token.number) {
            newest.hopeless = true;
        }
    }

    async fn fetch(&self, newest: &mut Option<Token>, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let form = token::request(&self.id, &self.secret).into_bytes();
        let call = Call::new(Method::POST, &self.url).body("application/x-www-form-urlencoded", form);
        let asked_at = self.clock.now();
        let answer = http.send_patiently(call, pauses).await?;
        let refusal = answer.refusal();
        let issued = match answer.status {
            200..=299 => {
                let text = String::from_utf8_lossy(&answer.body);
                token::read(&text)
                    .map_err(|error| ServiceError::Unavailable(format!("the token's answer cannot be used: {}", in_words(&error))))?
            }
            // RFC 6749 5.2 has 400 and 401; some services answer 403.
            400 | 401 | 403 => {
                let why = words(&refusal, "no reason given");
                return Err(ServiceError::NotAuthorized(format!("the service gave no token for these client credentials: {why}")));
            }
            _ => return Err(unavailable(&answer, &refusal)),
        };
        let life = issued.expires_in.unwrap_or(UNTOLD_LIFE).min(LONGEST_LIFE);
        let margin = (life / 10).min(MOST_MARGIN);
        let usable = TimeDelta::from_std(Duration::from_secs(life - margin)).unwrap_or_default();
        let number = newest.as_ref().map_or(0, |token| token.number) + 1;
        let token = Token { number, value: issued.access_token, renew_at: asked_at + usable, fresh: true, hopeless: false };
        *newest = Some(Token { fresh: false, ..token.clone() });
        Ok(token)
    }
}

fn in_words(error: &crate::domain::FieldError) -> String {
    format!("{} {}", error.field, error.message).trim().to_owned()
}

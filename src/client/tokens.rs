//! Access tokens: cached, renewed by one request at a time when most of their life is over, and used to its end where
//! that fails.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use reqwest::Method;
use tokio::sync::Mutex as FetchMutex;

use super::{
    http::{Call, Http},
    options::{ClientError, Pauses},
    refusals::{about, unavailable, words},
};
use crate::{
    domain::{
        Secret,
        time::{SharedClock, Timestamp},
    },
    service::ServiceError,
    wire::token,
};

/// Lifetime of a token that names none, in seconds.
const UNTOLD_LIFE: u64 = 300;
/// A token is renewed when so many hundredths of its life are over.
const RENEWED_AT: u64 = 80;
/// No token is kept for longer than this, whatever it promises.
const LONGEST_LIFE: u64 = 24 * 60 * 60;

/// A cached access token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    number: u64,
    value: Secret,
    renew_at: Timestamp,
    expires_at: Timestamp,
    /// True where it was fetched for the request that holds it: then nothing about it is old.
    fresh: bool,
    /// True where it was refused as soon as it was issued: then another one would be too.
    hopeless: bool,
}

impl Token {
    /// The header that carries it.
    pub(super) fn header(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.value.reveal()))
    }

    /// Checks that a refusal may be due to the token's age, so that a new one may help.
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
    newest: Mutex<Option<Token>>,
    /// Held while a token is fetched, so that all who wait get the same one.
    fetching: FetchMutex<()>,
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
        Ok(Self { id, secret, url, clock, newest: Mutex::new(None), fetching: FetchMutex::new(()) })
    }

    pub(super) fn client_id(&self) -> &str {
        &self.id
    }

    /// A token that has not expired.
    pub(super) async fn current(&self, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let kept = self.newest().clone();
        match kept.filter(|token| self.clock.now() < token.expires_at) {
            Some(token) if self.clock.now() < token.renew_at => Ok(token),
            Some(token) => Ok(self.renewed_early(token, http, pauses).await),
            None => {
                let _one = self.fetching.lock().await;
                let kept = self.newest().clone().filter(|token| self.clock.now() < token.expires_at);
                if let Some(token) = kept { Ok(token) } else { self.fetch(http, pauses).await }
            }
        }
    }

    /// A newer token than one whose end is near. While one request asks for it, and where it cannot be had, the old one
    /// does.
    async fn renewed_early(&self, old: Token, http: &Http, pauses: &Pauses) -> Token {
        let Ok(_one) = self.fetching.try_lock() else { return old };
        if let Some(newer) = self.newer_than(&old) {
            return newer;
        }
        match self.fetch(http, pauses).await {
            Ok(token) => token,
            Err(error) => {
                tracing::debug!(%error, "the token cannot be renewed: it is used to its end");
                let now = self.clock.now();
                if let Some(newest) = self.newest().as_mut().filter(|newest| newest.number == old.number) {
                    newest.renew_at = now + (newest.expires_at - now) / 4;
                }
                old
            }
        }
    }

    /// A newer token than the one that was refused: another request's, or one that is fetched now.
    pub(super) async fn renewed(&self, refused: &Token, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let _one = self.fetching.lock().await;
        match self.newer_than(refused) {
            Some(token) => Ok(token),
            None => self.fetch(http, pauses).await,
        }
    }

    /// Takes note that a new token was refused as well.
    pub(super) fn refused(&self, token: &Token) {
        if let Some(newest) = self.newest().as_mut().filter(|newest| newest.number == token.number) {
            newest.hopeless = true;
        }
    }

    fn newer_than(&self, token: &Token) -> Option<Token> {
        self.newest().clone().filter(|newest| newest.number > token.number)
    }

    fn newest(&self) -> MutexGuard<'_, Option<Token>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, http: &Http, pauses: &Pauses) -> Result<Token, ServiceError> {
        let form = token::request(&self.id, &self.secret).into_bytes();
        let call = Call::new(Method::POST, &self.url)
            .body("application/x-www-form-urlencoded", form)
            .hiding(self.secret.reveal().to_owned());
        let asked_at = self.clock.now();
        let answer = http.send_patiently(call, pauses).await?;
        let refusal = answer.refusal();
        let issued = match answer.status {
            200..=299 => {
                let text = String::from_utf8_lossy(&answer.body);
                token::read(&text)
                    .map_err(|error| {
                        about(&answer, &format!("the token's answer cannot be used: {}", in_words(&error)))
                    })
                    .map_err(ServiceError::Unavailable)?
            }
            // RFC 6749 5.2 has 400 and 401; some services answer 403.
            400 | 401 | 403 => {
                let why = words(&refusal, "no reason given");
                let words = format!("the service gave no token for these client credentials: {why}");
                return Err(ServiceError::NotAuthorized(about(&answer, &words)));
            }
            _ => return Err(unavailable(&answer, &refusal)),
        };
        let life = issued.expires_in.unwrap_or(UNTOLD_LIFE).min(LONGEST_LIFE);
        let (renew_at, expires_at) = (asked_at + seconds(life * RENEWED_AT / 100), asked_at + seconds(life));
        let mut newest = self.newest();
        let number = newest.as_ref().map_or(0, |token| token.number) + 1;
        let token = Token { number, value: issued.access_token, renew_at, expires_at, fresh: true, hopeless: false };
        *newest = Some(Token { fresh: false, ..token.clone() });
        Ok(token)
    }
}

fn seconds(count: u64) -> TimeDelta {
    TimeDelta::from_std(Duration::from_secs(count)).unwrap_or_default()
}

fn in_words(error: &crate::domain::FieldError) -> String {
    format!("{} {}", error.field, error.message).trim().to_owned()
}

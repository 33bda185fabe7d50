//! Parts of a client: connections, addresses, the credential, and reads with it.

use std::time::Duration;

use reqwest::{Method, Response};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use crate::{
    domain::{Alert, AlertId, Secret, audit::PERSON_HEADER},
    http::{Answer, Call, Http, NoAnswer},
    options::{Base, Pauses},
    reading::{self, PageCap},
    refusals::refused_read,
    service::ServiceError,
    tokens::{Token, Tokens},
    wire::{Dialect, operator::ChangeJson},
};

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) host: String,
    pub(super) http: Http,
    pub(super) base: Base,
    pub(super) dialect: Dialect,
    pub(super) company_parameter: String,
    pub(super) access: Authorization,
    pub(super) operator_key: Option<Secret>,
    /// Name of the person at work, as a header value; only where the service is known to be an avert.
    pub(super) person: Option<String>,
    pub(super) pauses: Pauses,
    pub(super) page_cap: PageCap,
    /// Decisions on their way.
    pub(super) sending: TaskTracker,
    /// The change stream, where one is open and nobody waits for it.
    pub(super) changes: Mutex<Option<ChangeStream>>,
}

/// Credential that requests are authorized with.
#[derive(Debug)]
pub(super) enum Authorization {
    ApiKey(Secret),
    Token(Tokens),
}

impl Inner {
    /// Makes a call that can be repeated. It retries a few times where the service is unreachable or sends
    /// `Retry-After`. It retries once with a new token where the old one was refused.
    pub(super) async fn read(&self, url: &str) -> Result<Answer, NoAnswer> {
        let call = Call::new(Method::GET, url);
        let (name, value, used) = self.authorization().await?;
        let answer = self.http.send_patiently(call.clone().secret_header(name, value), &self.pauses).await?;
        let (Authorization::Token(tokens), Some(used), 401 | 403) = (&self.access, used, answer.status) else {
            return Ok(answer);
        };
        if !used.may_have_expired() {
            return Ok(answer);
        }
        tracing::debug!(status = answer.status, "the token was refused: trying once more with a new one");
        let renewed = tokens.renewed(&used, &self.http, &self.pauses).await.map_err(NoAnswer::Refused)?;
        let (name, value) = renewed.header();
        let answer = self.http.send_patiently(call.secret_header(name, value), &self.pauses).await?;
        if answer.refuses_who_asks() {
            tokens.refused(&renewed);
        }
        Ok(answer)
    }

    /// Adds the name of the person at work to a call, where that may be told.
    pub(super) fn signed(&self, call: Call) -> Call {
        match &self.person {
            Some(person) => call.header(PERSON_HEADER, person.clone()),
            None => call,
        }
    }

    /// The header that a request is authorized with, and the token in it.
    pub(super) async fn authorization(&self) -> Result<(&'static str, String, Option<Token>), NoAnswer> {
        match &self.access {
            Authorization::ApiKey(key) => Ok(("x-api-key", key.reveal().to_owned(), None)),
            Authorization::Token(tokens) => {
                let token = tokens.current(&self.http, &self.pauses).await.map_err(NoAnswer::Refused)?;
                let (name, value) = token.header();
                Ok((name, value, Some(token)))
            }
        }
    }

    /// An alert; in the older dialect its outcome is asked for where the alert does not hold it.
    pub(super) async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        let answer = self.read(&self.base.alert(id)).await?;
        let mut alert = match answer.status {
            200..=299 => reading::alert(&answer, id)?,
            _ => return Err(refused_read(&answer, Some(id))),
        };
        if alert.outcome.is_none()
            && self.dialect == Dialect::Older
            && let Ok(answer) = self.read(&self.base.outcome(id)).await
            && answer.status == 200
        {
            alert.outcome = reading::outcome(&answer, &alert);
        }
        Ok(alert)
    }
}

/// Longest silence of a stream: something comes every 15 s, be it a comment, so a silent service has gone.
pub(super) const SILENCE: Duration = Duration::from_secs(45);

/// Longest line that is kept; those of a change are short.
const MAX_LINE: usize = 4 * 1024;

/// A stream that is listened to.
#[derive(Debug)]
pub(super) struct ChangeStream {
    response: Response,
    line: Vec<u8>,
    /// The newest number it told.
    pub(super) newest: u64,
}

impl ChangeStream {
    pub(super) fn of(response: Response) -> Self {
        Self { response, line: Vec::new(), newest: 0 }
    }

    /// Waits until it tells a number.
    pub(super) async fn next(&mut self) -> Result<(), String> {
        loop {
            let chunk = tokio::time::timeout(SILENCE, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| format!("nothing came for {} s", SILENCE.as_secs()))?;
            let chunk = chunk.map_err(|_| "the connection broke".to_owned())?;
            if self.take(&chunk.ok_or("it ended the stream of changes")?) {
                return Ok(());
            }
        }
    }

    /// Takes what came; whether a number was told in it.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let mut told = false;
        for byte in bytes {
            match byte {
                b'\n' => {
                    if let Some(number) = std::str::from_utf8(&self.line).ok().and_then(ChangeJson::number_in) {
                        self.newest = number;
                        told = true;
                    }
                    self.line.clear();
                }
                byte if self.line.len() < MAX_LINE => self.line.push(*byte),
                _ => {}
            }
        }
        told
    }
}

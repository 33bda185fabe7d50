//! Changes on another avert: its change stream is listened to while somebody waits for one, and kept for the next who
//! does.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Method, Response};
use serde_json::Value;

use super::handle::Client;
use super::http::Call;
use super::inner::Inner;
use super::refusals::{refused, refused_read};
use crate::service::{Changes, ServiceError};
use crate::wire::operator::ChangeJson;

/// A stream is opened anew after so long at most.
const LONGEST: Duration = Duration::from_secs(60 * 60);

impl Inner {
    /// Opens the stream and waits for its first number: it comes at once where something has changed after this one, or
    /// where this one is of before the data there were restored.
    async fn listen(&self, after: u64) -> Result<ChangeStream, ServiceError> {
        let call = self.call(Method::GET, "/changes")?.header("last-event-id", after.to_string()).within(LONGEST);
        let begun = tokio::time::timeout(SILENCE, self.http.open(call)).await;
        let begun =
            begun.map_err(|_| ServiceError::Unavailable(format!("no answer within {} s", SILENCE.as_secs())))??;
        if !begun.response.status().is_success() {
            return Err(refused(&self.http.answer(begun).await?));
        }
        let mut stream = ChangeStream::of(begun.response);
        stream.next().await.map_err(ServiceError::Unavailable)?;
        Ok(stream)
    }
}

#[async_trait]
impl Changes for Client {
    async fn next_change(&self, after: u64) -> Result<u64, ServiceError> {
        let mut kept = self.inner.changes.lock().await;
        // Whoever stops waiting leaves no stream behind that told something nobody heard.
        if let Some(mut stream) = kept.take() {
            while stream.newest <= after && stream.next().await.is_ok() {}
            if stream.newest > after {
                return Ok(kept.insert(stream).newest);
            }
        }
        let stream = self.inner.listen(after).await?;
        Ok(kept.insert(stream).newest)
    }

    async fn try_writing(&self) -> Result<(), ServiceError> {
        let answer = self.inner.http.send(Call::new(Method::GET, &self.inner.base.ready())).await?;
        match serde_json::from_slice::<Value>(&answer.body) {
            Ok(body) if answer.status == 200 && body["status"] == "ready" => Ok(()),
            _ => Err(refused_read(&answer, None)),
        }
    }
}

/// Something comes every 15 s, be it a comment; whoever is silent for so long is not there any more.
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

//! Changes on another avert: its change stream is listened to while somebody waits for one, and kept for the next who
//! does.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use serde_json::Value;

use super::{
    handle::Client,
    http::Call,
    inner::{ChangeStream, Inner, SILENCE},
    refusals::{refused, refused_read},
};
use crate::service::{Changes, ServiceError};

/// A stream is opened anew after so long at most.
const LONGEST: Duration = Duration::from_secs(60 * 60);

impl Inner {
    /// Opens the stream and waits for its first number. It comes at once where something has changed after this number,
    /// or where this number is from before a restore of the data there.
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

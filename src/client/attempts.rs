//! Attempts of another avert that have not ended, and a person's word on one.

use async_trait::async_trait;
use reqwest::Method;

use super::exchange::Exchange;
use super::handle::Client;
use super::reading;
use super::refusals::unreadable;
use crate::domain::{Alert, AttemptId, ResolutionAttempt};
use crate::service::{Attempts, ServiceError};
use crate::wire::operator::{AttemptDecisionJson, AttemptJson, ListJson};

#[async_trait]
impl Attempts for Client {
    async fn unfinished(&self) -> Result<Vec<ResolutionAttempt>, ServiceError> {
        let attempts = self.inner.ask::<ListJson<AttemptJson>>("/attempts").await?.data;
        let read = attempts.into_iter().map(ResolutionAttempt::try_from).collect::<Result<_, _>>();
        let exchange = Exchange::of(&Method::GET, &self.inner.base.operator("/attempts"));
        read.map_err(|_| unreadable(&exchange, "it has a decision that is none"))
    }

    async fn settle_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError> {
        let call = self.inner.call_with(
            Method::POST,
            &format!("/attempts/{id}/decision"),
            &AttemptDecisionJson { applied },
        )?;
        let answer = self.inner.send(call, "it is not known whether your word was taken: look at the attempts").await?;
        reading::any_alert(&answer)
    }
}

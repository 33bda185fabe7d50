//! Calls of another avert's own routes, `/operator/v1`, with an operator's key: a typed body out, a typed answer back.

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroize;

use super::http::{Answer, Call, NoAnswer};
use super::inner::Inner;
use super::refusals::{refused, unreadable};
use crate::service::ServiceError;

impl Inner {
    /// A call of a route, to be sent by one of the others.
    pub(super) fn call(&self, method: Method, path: &str) -> Result<Call, ServiceError> {
        let key = self
            .operator_key
            .as_ref()
            .ok_or_else(|| ServiceError::NotAuthorized("no operator's key was named".to_owned()))?;
        let call = Call::new(method, &self.base.operator(path)).secret_header("x-api-key", key.reveal().to_owned());
        Ok(self.signed(call))
    }

    /// The same with a body.
    pub(super) fn call_with(&self, method: Method, path: &str, body: &impl Serialize) -> Result<Call, ServiceError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| ServiceError::Unavailable(format!("it cannot be written: {error}")))?;
        Ok(self.call(method, path)?.body("application/json", body))
    }

    /// Reads something.
    pub(super) async fn ask<T: DeserializeOwned>(&self, path: &str) -> Result<T, ServiceError> {
        read(self.read_route(path).await?)
    }

    /// The same, as it came.
    pub(super) async fn read_route(&self, path: &str) -> Result<Answer, ServiceError> {
        good(self.http.send_patiently(self.call(Method::GET, path)?, &self.pauses).await?)
    }

    /// Changes something, and reads the answer.
    pub(super) async fn tell<T: DeserializeOwned>(&self, call: Call, cause: &str) -> Result<T, ServiceError> {
        read(self.send(call, cause).await?)
    }

    /// Changes something: sent once. `cause` is told where the answer does not come.
    pub(super) async fn send(&self, call: Call, cause: &str) -> Result<Answer, ServiceError> {
        match self.http.send(call).await {
            Ok(answer) => good(answer),
            Err(NoAnswer::NotSent(why) | NoAnswer::Untrusted(why) | NoAnswer::TooEarly(why, _)) => {
                Err(ServiceError::Unavailable(format!("{why}; nothing was sent")))
            }
            Err(
                NoAnswer::TimedOut(why) | NoAnswer::Broken(why) | NoAnswer::BrokenOff(why) | NoAnswer::Unusable(why),
            ) => Err(ServiceError::Unavailable(format!("{why}; {cause}"))),
            Err(NoAnswer::Refused(error)) => Err(error),
        }
    }
}

fn good(answer: Answer) -> Result<Answer, ServiceError> {
    if (200..=299).contains(&answer.status) { Ok(answer) } else { Err(refused(&answer)) }
}

fn read<T: DeserializeOwned>(mut answer: Answer) -> Result<T, ServiceError> {
    // By way of a tree, because numbers among flattened members keep their digits only there.
    let tree: Result<Value, _> = serde_json::from_slice(&answer.body);
    answer.body.zeroize();
    let tree = tree
        .map_err(|error| unreadable(&answer.exchange, &format!("line {}, column {}", error.line(), error.column())))?;
    serde_json::from_value(tree).map_err(|_| unreadable(&answer.exchange, "it is not as avert writes it"))
}

//! Observability: liveness, readiness, and metrics for Prometheus.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::{
    sync::{Mutex, watch},
    time::Instant,
};

use super::{
    concurrency_limit::{Asker, StrangersPlace, enter},
    problem::{Code, Problem, json},
};
use crate::{domain::KeyScope, engine::Engine};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The text format of Prometheus.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Longest wait for the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// Cache time of the write probe: anybody may ask, and not everybody's question shall cost a write.
const FRESH: Duration = Duration::from_secs(1);

/// Heartbeat timeout: a dispatcher that has not moved for so long is stuck. It moves at least every two seconds, and
/// the database answers within seconds.
const STUCK: Duration = Duration::from_secs(15);

/// The dispatcher's heartbeat: when it last moved; closed when it has ended.
type Heartbeat = watch::Receiver<std::time::Instant>;

/// Time and result of the last write probe.
type Written = (Instant, Result<(), String>);

/// The state of the health checks.
#[derive(Clone)]
pub(super) struct Observed {
    engine: Engine,
    dispatcher: Option<Heartbeat>,
    metrics: Option<PrometheusHandle>,
    written: Arc<Mutex<Option<Written>>>,
}

impl Observed {
    pub(super) fn new(engine: Engine, dispatcher: Option<Heartbeat>, metrics: Option<PrometheusHandle>) -> Self {
        Self { engine, dispatcher, metrics, written: Arc::default() }
    }

    /// Returns whether the database can be read.
    async fn reading(&self) -> Result<(), String> {
        in_time(self.engine.ping(), "answer", "the database does not answer").await
    }

    /// Returns whether the database can be written.
    async fn writing(&self) -> Result<(), String> {
        // Those who ask at the same time wait for the one who writes.
        let mut written = self.written.lock().await;
        if let Some((at, result)) = &*written
            && at.elapsed() < FRESH
        {
            return result.clone();
        }
        let failed = "answers are refused and nothing is lost: the database cannot be written (see the log)";
        let result = in_time(self.engine.probe(), "write", failed).await;
        *written = Some((Instant::now(), result.clone()));
        result
    }

    /// Checks that the key of what is sealed in the database is at hand. Passes where the database does not answer:
    /// other checks report that.
    async fn unsealing(&self) -> Result<(), String> {
        match tokio::time::timeout(PATIENCE, self.engine.has_data_key()).await {
            Ok(false) => {
                Err("the data key was rotated, and its file here does not hold the new one (see the log)".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn dispatching(&self) -> Result<(), String> {
        let Some(heartbeat) = &self.dispatcher else { return Ok(()) };
        if heartbeat.has_changed().is_err() {
            return Err("webhooks are not sent any more: start avert anew".to_owned());
        }
        let still = heartbeat.borrow().elapsed();
        match still > STUCK {
            true => Err(format!("webhooks are stuck: nothing has moved there for {} s (see the log)", still.as_secs())),
            false => Ok(()),
        }
    }
}

/// Runs a check of the store within the timeout. The error says what failed.
async fn in_time(
    work: impl Future<Output = Result<(), Option<String>>>,
    what: &str,
    failed: &str,
) -> Result<(), String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(cause)) => Err(cause.map_or_else(|| failed.to_owned(), |cause| format!("{failed}: {cause}"))),
        Err(_) => Err(format!("the database takes too long to {what}")),
    }
}

/// GET /health: liveness, whether the process lives and its database answers.
pub(super) async fn health(_: StrangersPlace, State(observed): State<Observed>) -> Response {
    match observed.reading().await {
        Ok(()) => json(br#"{"status":"ok"}"#.to_vec()),
        Err(why) => Problem::new(Code::Overloaded, why).into_response(),
    }
}

/// GET /ready: readiness, whether it can read, write, and send webhooks.
pub(super) async fn ready(_: StrangersPlace, State(observed): State<Observed>) -> Response {
    let (reading, writing, unsealing) = tokio::join!(observed.reading(), observed.writing(), observed.unsealing());
    let failed: Vec<String> =
        [reading, writing, unsealing, observed.dispatching()].into_iter().filter_map(Result::err).collect();
    match failed.is_empty() {
        true => json(br#"{"status":"ready"}"#.to_vec()),
        false => Problem::new(Code::Overloaded, failed.join("; ")).into_response(),
    }
}

/// GET /metrics: for operator keys, as `X-API-KEY` or as `Authorization: Bearer`, which every Prometheus can send.
pub(super) async fn metrics(State(observed): State<Observed>, request: Request) -> Result<Response, Problem> {
    let caller = observed.engine.authenticate(key(request.headers())?, KeyScope::Operator).await?;
    enter(request.extensions(), Asker::Member(caller.organization.organization.id)).await?;
    let Some(metrics) = &observed.metrics else {
        return Err(Problem::new(Code::RouteNotFound, "this engine keeps no figures; `avert serve` does"));
    };
    observed.engine.count_queues().await;
    Ok(([(CONTENT_TYPE, TEXT)], metrics.render()).into_response())
}

fn key(headers: &HeaderMap) -> Result<&str, Problem> {
    let refused = |detail: &str| Problem::new(Code::NotAuthorized, detail);
    let mut given = headers.get_all(X_API_KEY).iter().chain(headers.get_all(AUTHORIZATION).iter());
    let (first, second) = (given.next(), given.next());
    if second.is_some() {
        return Err(Problem::new(
            Code::AmbiguousCredentials,
            "send one credential: X-API-KEY or Authorization, and that once",
        ));
    }
    let given = first.and_then(|value| value.to_str().ok());
    let given = given
        .ok_or_else(|| refused("send an API key with the scope operator, in X-API-KEY or as Authorization: Bearer"))?;
    let bare = match headers.contains_key(AUTHORIZATION) {
        true => given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer")).map(|(_, key)| key),
        false => Some(given),
    };
    bare.map(str::trim).ok_or_else(|| refused("the header Authorization must hold Bearer and an API key"))
}

//! In from HTTP: the interface's routes, credentials, the error table, protection.
//!
//! A request is checked in this order: host and origin, credentials, id, content type, body; then the engine answers 404 and 409. The
//! body of a request is not read before its credentials are known. [`router`] is the whole surface, [`serve()`] runs it on a listener.

mod access;
mod alerts;
mod guard;
mod hosts;
mod limit;
mod observe;
mod problem;
mod serve;
mod slow;
mod token;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post, put};
use governor::clock::DefaultClock;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::task::AbortHandle;

pub use hosts::HostError;
pub use problem::Code;
pub use serve::serve;

use self::guard::Guard;
use self::limit::TokenLimit;
use self::observe::Observed;
use crate::engine::Engine;

/// Largest body of a request, in bytes (decisions, Errors).
pub const MAX_BODY: usize = 64 * 1024;

/// Access tokens for a client from one address, a minute, where nothing else is set.
const TOKENS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("more than zero");

/// What can be set about the API.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    /// Names by which the API may be called beside those it is bound to: `desk.example.com`, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Requests that are worked on at once; more are turned away with 503.
    pub max_in_flight: usize,
    /// Connections that are open at once; more wait until one is closed.
    pub max_connections: usize,
    /// Access tokens that a client may ask for from one address, at once and again in each minute; more are refused with 429.
    pub tokens_per_minute: NonZeroU32,
    /// The dispatcher, for readiness.
    pub dispatcher: Option<AbortHandle>,
    /// The figures that are told at /metrics.
    pub metrics: Option<PrometheusHandle>,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long the body of a request may take.
    pub body_timeout: Duration,
    /// How long a client may leave an answer unread.
    pub write_timeout: Duration,
    /// How long requests on their way may take to end once the API is told to stop.
    pub drain: Duration,
}

impl Default for ApiOptions {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            max_in_flight: 512,
            max_connections: 4_096,
            tokens_per_minute: TOKENS_PER_MINUTE,
            dispatcher: None,
            metrics: None,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
        }
    }
}

/// What the handlers stand on.
#[derive(Clone)]
struct Api {
    engine: Engine,
    body_timeout: Duration,
    token_limit: Arc<TokenLimit>,
}

/// The whole surface of the API, for a listener that is bound to `bound`.
///
/// # Errors
/// Where an allowed host is not a host name.
pub fn router(engine: Engine, bound: SocketAddr, options: &ApiOptions) -> Result<Router, HostError> {
    let guard = Guard::new(bound, options)?;
    let observed = Observed::new(engine.clone(), options.dispatcher.clone(), options.metrics.clone());
    let token_limit = Arc::new(TokenLimit::new(options.tokens_per_minute, DefaultClock::default()));
    let api = Api { engine, body_timeout: options.body_timeout, token_limit };
    let routes = Router::new()
        .route("/api/v1/alerts", get(alerts::list))
        .route("/api/v1/alerts/{id}", get(alerts::get))
        .route("/api/v1/alerts/{id}/outcome", get(alerts::outcome))
        .route("/api/v1/alerts/{id}/resolution", put(alerts::resolve))
        .route("/auth/token", post(token::issue))
        .route("/.well-known/jwks.json", get(token::keys))
        .with_state(api);
    let observing = Router::new()
        .route("/health", get(observe::health))
        .route("/ready", get(observe::ready))
        .route("/metrics", get(observe::metrics))
        .with_state(observed);
    let routes = routes.merge(observing);
    Ok(guard::guarded(routes, Arc::new(guard)))
}

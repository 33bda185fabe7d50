//! In from HTTP: the interface's routes, credentials, the error table, protection.
//!
//! A request is checked in this order: host and origin, credentials, id, content type, body; then the engine answers 404 and 409. The
//! body of a request is not read before its credentials are known. [`router`] is the whole surface, [`serve()`] runs it on a listener.

mod access;
mod alerts;
mod guard;
mod hosts;
mod limit;
mod malformed;
mod observe;
pub mod openapi;
pub(crate) mod operator;
mod problem;
mod serve;
mod slow;
mod token;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::FromRef;
use governor::clock::DefaultClock;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

pub use hosts::HostError;
pub use problem::Code;
pub use serve::serve;

use self::guard::Guard;
use self::limit::TokenLimit;
use self::observe::Observed;
use crate::engine::Engine;

/// Largest body of a request, in bytes (decisions, Errors).
pub const MAX_BODY: usize = 64 * 1024;

/// Largest body that brings alerts in, in bytes (decisions, Errors).
pub const MAX_IMPORT: u64 = 64 * 1024 * 1024;

/// Bodies that are taken in at once: each holds a few thousand alerts in memory.
const MAX_IMPORTS: usize = 8;

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
    /// When the dispatcher of webhooks last moved, for readiness; closed when it has ended.
    pub dispatcher: Option<watch::Receiver<Instant>>,
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
    imports: Arc<Semaphore>,
    /// Ends answers that would go on for ever.
    stop: CancellationToken,
    observed: Observed,
}

impl FromRef<Api> for Observed {
    fn from_ref(api: &Api) -> Self {
        api.observed.clone()
    }
}

macro_rules! routes {
    ($($method:ident $path:literal => $handler:path;)+) => {
        /// Every route there is: its method in lower case, and its path.
        pub const ROUTES: &[(&str, &str)] = &[$((stringify!($method), $path)),+];

        fn all() -> Router<Api> {
            Router::new()$(.route($path, axum::routing::$method($handler)))+
        }
    };
}

routes! {
    get "/api/v1/alerts" => alerts::list;
    get "/api/v1/alerts/{id}" => alerts::get;
    get "/api/v1/alerts/{id}/outcome" => alerts::outcome;
    put "/api/v1/alerts/{id}/resolution" => alerts::resolve;
    post "/auth/token" => token::issue;
    get "/.well-known/jwks.json" => token::keys;
    get "/health" => observe::health;
    get "/ready" => observe::ready;
    get "/metrics" => observe::metrics;
    get "/openapi.json" => openapi::serve;
    get "/operator/v1" => operator::index;
    post "/operator/v1/alerts" => operator::alerts::take_in;
    get "/operator/v1/attempts" => operator::attempts::list;
    post "/operator/v1/attempts/{id}/decision" => operator::attempts::decide;
    get "/operator/v1/audit" => operator::figures::audit;
    get "/operator/v1/changes" => operator::changes::stream;
    get "/operator/v1/clients" => operator::credentials::clients;
    post "/operator/v1/clients" => operator::credentials::create_client;
    delete "/operator/v1/clients/{id}" => operator::credentials::revoke_client;
    get "/operator/v1/companies" => operator::credentials::companies;
    get "/operator/v1/counts" => operator::figures::counts;
    get "/operator/v1/deliveries" => operator::deliveries::list;
    get "/operator/v1/deliveries/{id}" => operator::deliveries::get;
    post "/operator/v1/deliveries/{id}/redeliver" => operator::deliveries::redeliver;
    get "/operator/v1/endpoints" => operator::endpoints::list;
    post "/operator/v1/endpoints" => operator::endpoints::add;
    get "/operator/v1/endpoints/{id}" => operator::endpoints::get;
    patch "/operator/v1/endpoints/{id}" => operator::endpoints::change;
    delete "/operator/v1/endpoints/{id}" => operator::endpoints::remove;
    post "/operator/v1/endpoints/{id}/redeliver" => operator::endpoints::redeliver;
    post "/operator/v1/endpoints/{id}/test" => operator::endpoints::test;
    post "/operator/v1/endpoints/{id}/secret" => operator::endpoints::rotate_secret;
    delete "/operator/v1/endpoints/{id}/secret" => operator::endpoints::remove_secret;
    get "/operator/v1/keys" => operator::credentials::keys;
    post "/operator/v1/keys" => operator::credentials::create_key;
    delete "/operator/v1/keys/{id}" => operator::credentials::revoke_key;
}

/// The whole surface of the API, for a listener that is bound to `bound`.
///
/// # Errors
/// Where an allowed host is not a host name.
pub fn router(engine: Engine, bound: SocketAddr, options: &ApiOptions) -> Result<Router, HostError> {
    routes_until(CancellationToken::new(), engine, bound, options)
}

/// The same, with answers that go on for ever ended by `stop`.
fn routes_until(stop: CancellationToken, engine: Engine, bound: SocketAddr, options: &ApiOptions) -> Result<Router, HostError> {
    let guard = Guard::new(bound, options)?;
    let observed = Observed::new(engine.clone(), options.dispatcher.clone(), options.metrics.clone());
    let token_limit = Arc::new(TokenLimit::new(options.tokens_per_minute, DefaultClock::default()));
    let imports = Arc::new(Semaphore::new(MAX_IMPORTS));
    let api = Api { engine, body_timeout: options.body_timeout, token_limit, imports, stop, observed };
    let routes = all().with_state(api);
    Ok(guard::guarded(routes, Arc::new(guard)))
}

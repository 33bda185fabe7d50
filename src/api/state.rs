//! State that all handlers share, and the facts of a request that they extract.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::FromRef, http::request::Parts};
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    concurrency_limit::Shares,
    domain::{
        OrganizationId,
        audit::{PERSON_HEADER, person_of_header},
    },
    engine::{ActingEngine, Caller, Engine, trace},
    inbound::connections::HttpConnection,
    limit::{SourceLimits, TokenLimit},
    observe::Observed,
};

/// The state that handlers share.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) engine: Engine,
    pub(super) body_timeout: Duration,
    pub(super) list_timeout: Duration,
    pub(super) token_limit: Arc<TokenLimit>,
    pub(super) source_limits: Arc<SourceLimits>,
    pub(super) imports: Arc<Shares<OrganizationId>>,
    /// Change streams: each change makes every one of them look whether its key still works.
    pub(super) streams: Arc<Shares<OrganizationId>>,
    /// Ends answers that would go on for ever.
    pub(super) stop: CancellationToken,
    pub(super) observed: Observed,
    /// Every route there is, by method and path.
    pub(super) routes: &'static [(&'static str, &'static str)],
}

impl Api {
    /// The services, bound to the caller of a request, to who that caller says to be, and to its trace.
    pub(super) fn acting_for(&self, caller: Caller, request: &Parts) -> ActingEngine {
        let said = request.headers.get(PERSON_HEADER).map(|value| person_of_header(value.as_bytes()));
        let mut caller = caller.said_to_be(&said.unwrap_or_default());
        caller.actor.trace = trace::of(&request.headers);
        let peer = request.extensions.get::<Peer>();
        self.engine.acting_for(match peer {
            Some(Peer(address)) => caller.from_address(*address),
            None => caller,
        })
    }
}

impl FromRef<Api> for Observed {
    fn from_ref(api: &Api) -> Self {
        api.observed.clone()
    }
}

/// The connection that a request came by.
#[derive(Debug, Clone)]
pub(super) struct Connected {
    /// The address at its other end.
    pub(super) peer: IpAddr,
    pub(super) connection: Arc<HttpConnection>,
}

/// The client's address: the peer's, or what a trusted proxy says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// Largest head of a request, in bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// Largest body of a request, in bytes.
pub const MAX_BODY: usize = 64 * 1024;

/// Largest body of an import of alerts, in bytes.
pub const MAX_IMPORT: u64 = 64 * 1024 * 1024;

/// Largest body of a source's webhook, in bytes.
pub const MAX_SOURCE_BODY: usize = 1024 * 1024;

/// Requests for access tokens of a client from one address that may fail in a minute, where nothing else is set.
const TOKENS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("more than zero");

/// Configuration of the API.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    /// Names by which the API may be called beside those it is bound to: `desk.example.com`, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Requests that are worked on at once; more are turned away with 503. No organization gets all of these places.
    pub max_in_flight: usize,
    /// Change streams that are open at once; no organization gets all of them.
    pub max_streams: usize,
    /// Connections that are open at once; where there are more, the one that does least gives way.
    pub max_connections: usize,
    /// Connections of one address that are open at once, where it is no trusted proxy's; its own oldest idle one gives
    /// way.
    pub connections_per_address: usize,
    /// Proxies that are believed what `Forwarded` and `X-Forwarded-For` say.
    pub trusted_proxies: Vec<IpNet>,
    /// Requests for access tokens that may fail for a client from one address, at once and again in each minute; more
    /// are refused with 429.
    pub tokens_per_minute: NonZeroU32,
    /// Heartbeat of the webhook dispatcher, for readiness: when it last moved; closed when it has ended.
    pub dispatcher: Option<watch::Receiver<Instant>>,
    /// The metrics that are served at /metrics.
    pub metrics: Option<PrometheusHandle>,
    /// Longest time for the head of a request, and for an idle connection.
    pub head_timeout: Duration,
    /// Longest time for one list. Over it the read is cancelled, and the refusal names a filter to add.
    pub list_timeout: Duration,
    /// Longest time for the body of a request.
    pub body_timeout: Duration,
    /// The write timeout: how long a client may leave an answer unread.
    pub write_timeout: Duration,
    /// Longest time for requests under way to end once the API is told to stop.
    pub drain: Duration,
    /// The same of decisions that are with a network, where that is longer: they are answered, and whatever else hangs
    /// is cut with them.
    pub decision_drain: Duration,
}

impl Default for ApiOptions {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            max_in_flight: 512,
            max_streams: 256,
            max_connections: 4_096,
            connections_per_address: 1_024,
            trusted_proxies: Vec::new(),
            tokens_per_minute: TOKENS_PER_MINUTE,
            dispatcher: None,
            metrics: None,
            head_timeout: Duration::from_secs(30),
            list_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            decision_drain: Duration::from_secs(30),
        }
    }
}

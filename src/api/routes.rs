//! The table of routes, and the whole surface of the API made of it.

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, response::Response};
use governor::clock::DefaultClock;
use tokio_util::sync::CancellationToken;

use super::{
    alerts,
    concurrency_limit::{Shares, StrangersPlace},
    guard::{self, Guard, HostError},
    limit::TokenLimit,
    observe::{self, Observed},
    operator, problem, source_events,
    state::{Api, ApiOptions},
    token,
};
use crate::engine::Engine;

/// Bodies that are taken in at once, of all organizations: each holds a few thousand alerts in memory.
const MAX_IMPORTS: usize = 8;

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
    post "/inbound/{name}" => source_events::receive;
    get "/health" => observe::health;
    get "/ready" => observe::ready;
    get "/metrics" => observe::metrics;
    get "/openapi.json" => serve_openapi;
    get "/openapi-older.json" => serve_older_openapi;
    get "/operator/v1" => operator::index;
    post "/operator/v1/alerts" => operator::alerts::take_in;
    put "/operator/v1/alerts/{id}/refund" => operator::truth::keep_refund;
    get "/operator/v1/alerts/{id}/refund" => operator::truth::refund;
    get "/operator/v1/attempts" => operator::alerts::unfinished;
    post "/operator/v1/attempts/{id}/decision" => operator::alerts::decide;
    get "/operator/v1/audit" => operator::stats::audit;
    get "/operator/v1/changes" => operator::changes::stream;
    get "/operator/v1/clients" => operator::credentials::clients;
    post "/operator/v1/clients" => operator::credentials::create_client;
    delete "/operator/v1/clients/{id}" => operator::credentials::revoke_client;
    get "/operator/v1/companies" => operator::credentials::companies;
    get "/operator/v1/contradictions" => operator::truth::contradictions;
    delete "/operator/v1/contradictions/{id}" => operator::truth::dismiss;
    get "/operator/v1/counts" => operator::stats::counts;
    get "/operator/v1/deliveries" => operator::endpoints::deliveries;
    get "/operator/v1/deliveries/{id}" => operator::endpoints::delivery;
    post "/operator/v1/deliveries/{id}/redeliver" => operator::endpoints::redeliver_one;
    get "/operator/v1/duplicates" => operator::alerts::duplicates;
    get "/operator/v1/endpoints" => operator::endpoints::list;
    post "/operator/v1/endpoints" => operator::endpoints::add;
    get "/operator/v1/endpoints/{id}" => operator::endpoints::get;
    patch "/operator/v1/endpoints/{id}" => operator::endpoints::change;
    delete "/operator/v1/endpoints/{id}" => operator::endpoints::remove;
    post "/operator/v1/endpoints/{id}/redeliver" => operator::endpoints::redeliver;
    post "/operator/v1/endpoints/{id}/test" => operator::endpoints::test;
    post "/operator/v1/endpoints/{id}/secret" => operator::endpoints::rotate_secret;
    delete "/operator/v1/endpoints/{id}/secret" => operator::endpoints::remove_secret;
    get "/operator/v1/find" => operator::alerts::find;
    get "/operator/v1/held" => operator::truth::held;
    get "/operator/v1/insights" => operator::stats::insights;
    get "/operator/v1/refunds" => operator::truth::refunds;
    post "/operator/v1/reports" => operator::truth::record;
    get "/operator/v1/rules" => operator::rules::list;
    post "/operator/v1/rules/start" => operator::rules::start;
    post "/operator/v1/rules/stop" => operator::rules::stop;
    get "/operator/v1/sales" => operator::truth::sales;
    put "/operator/v1/sales" => operator::truth::enter_sales;
    get "/operator/v1/sources" => operator::stats::sources;
    get "/operator/v1/sums" => operator::stats::sums;
    get "/operator/v1/keys" => operator::credentials::keys;
    post "/operator/v1/keys" => operator::credentials::create_key;
    delete "/operator/v1/keys/{id}" => operator::credentials::revoke_key;
}

/// The whole surface of the API, for a listener that is bound to `bound`.
///
/// # Errors
/// When an allowed host is not a host name.
pub fn router(engine: Engine, bound: SocketAddr, options: &ApiOptions) -> Result<Router, HostError> {
    routes_until(CancellationToken::new(), engine, bound, options)
}

/// The same, with answers that go on for ever ended by `stop`.
pub(super) fn routes_until(
    stop: CancellationToken,
    engine: Engine,
    bound: SocketAddr,
    options: &ApiOptions,
) -> Result<Router, HostError> {
    let guard = Guard::new(bound, options)?;
    let observed = Observed::new(engine.clone(), options.dispatcher.clone(), options.metrics.clone());
    let token_limit = Arc::new(TokenLimit::new(options.tokens_per_minute, DefaultClock::default()));
    let source_limits = Arc::default();
    let (imports, streams) = (Shares::new(MAX_IMPORTS), Shares::new(options.max_streams));
    let (body_timeout, list_timeout) = (options.body_timeout, options.list_timeout);
    let api = Api {
        engine,
        body_timeout,
        list_timeout,
        token_limit,
        source_limits,
        imports,
        streams,
        stop,
        observed,
        routes: ROUTES,
    };
    let routes = all().with_state(api);
    Ok(guard::guarded(routes, Arc::new(guard)))
}

/// GET /openapi.json
pub(super) async fn serve_openapi(_: StrangersPlace) -> Response {
    problem::json(include_str!("../../assets/openapi.json"))
}

/// GET /openapi-older.json
pub(super) async fn serve_older_openapi(_: StrangersPlace) -> Response {
    problem::json(include_str!("../../assets/openapi-older.json"))
}

//! Handlers of the interface's routes. The dialect of an answer is the credential's.

use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
};

use super::{
    access::{Acting, IdempotencyKey, JsonContent, PathId, WholeBody},
    conditional::{tagged, tagged_by},
    list_budget::{add, missing_filter, within},
    problem::{Code, Problem, json},
    state::Api,
};
use crate::{
    domain::{Alert, AlertId, Resolution},
    service::{Alerts, ResolveRequest},
    wire::{body, query, write},
};

/// GET /api/v1/alerts
pub(super) async fn list(
    State(api): State<Api>,
    acting: Acting,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let wanted = query::read(raw.as_deref().unwrap_or_default(), acting.dialect);
    let wanted = wanted.map_err(|errors| Problem::of_fields(Code::InvalidQuery, errors))?;
    let page =
        within(api.list_timeout, &add(missing_filter(&wanted.filter)), acting.alerts.list_shared(&wanted)).await?;
    let (dialect, now) = (acting.dialect, api.engine.clock().now());
    let answer = tagged_by(&headers, write::page_digest(&page, dialect, now), || write::page(&page, dialect, now));
    Ok(recorded_here(answer, page.data.iter().map(|alert| &**alert)))
}

/// GET /api/v1/alerts/:id
pub(super) async fn get(
    State(api): State<Api>,
    acting: Acting,
    PathId(id): PathId<AlertId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let alert = acting.alerts.get_shared(id).await?;
    let (dialect, now) = (acting.dialect, api.engine.clock().now());
    let answer = tagged_by(&headers, write::alert_digest(&alert, dialect, now), || write::alert(&alert, dialect, now));
    Ok(recorded_here(answer, [&*alert]))
}

/// Names the alerts of an answer that are recorded here and reported to nobody, in its header.
pub(super) fn recorded_here<'a>(mut answer: Response, alerts: impl IntoIterator<Item = &'a Alert>) -> Response {
    let places = write::recorded_here(alerts).and_then(|places| HeaderValue::from_str(&places).ok());
    answer.headers_mut().extend(places.map(|places| (HeaderName::from_static(write::RECORDED_HERE), places)));
    answer
}

/// GET /api/v1/alerts/:id/outcome
pub(super) async fn outcome(
    acting: Acting,
    PathId(id): PathId<AlertId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let alert = acting.alerts.get(id).await?;
    let outcome =
        alert.outcome.ok_or_else(|| Problem::new(Code::OutcomeNotFound, format!("alert {id} has no outcome yet")))?;
    Ok(tagged(&headers, write::outcome(&outcome, acting.dialect)))
}

/// PUT /api/v1/alerts/:id/resolution
///
/// The order of the arguments is the order of the checks. Whether a stopped amount is within the alert's is the
/// engine's to say, which reads the alert.
pub(super) async fn resolve(
    State(api): State<Api>,
    acting: Acting,
    PathId(id): PathId<AlertId>,
    _: JsonContent,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    WholeBody(bytes): WholeBody,
) -> Result<Response, Problem> {
    let parts = body::read(&bytes, acting.dialect);
    let resolution = parts.and_then(|parts| Resolution::from_parts(parts, acting.dialect, None));
    let resolution = resolution.map_err(|errors| Problem::of_fields(Code::InvalidResolution, errors))?;
    let alert = acting.alerts.resolve(id, ResolveRequest { resolution, idempotency_key }).await?;
    Ok(recorded_here(json(write::alert(&alert, acting.dialect, api.engine.clock().now())), [&alert]))
}

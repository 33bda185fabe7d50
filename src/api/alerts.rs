//! The interface's three routes.

use axum::extract::{RawQuery, State};
use axum::response::Response;

use super::Api;
use super::access::{Acting, Id, IdempotencyKey, JsonContent, WholeBody};
use super::problem::{Code, Problem, json};
use crate::service::{AlertService, ResolveRequest};
use crate::wire::{Dialect, body, query, write};

/// GET /api/v1/alerts
pub(super) async fn list(State(api): State<Api>, Acting(alerts): Acting, RawQuery(raw): RawQuery) -> Result<Response, Problem> {
    let wanted = query::read(raw.as_deref().unwrap_or_default(), Dialect::Current);
    let wanted = wanted.map_err(|errors| Problem::of_fields(Code::InvalidQuery, errors))?;
    let page = alerts.list(&wanted).await?;
    Ok(json(write::page(&page, Dialect::Current, api.engine.clock().now())))
}

/// GET /api/v1/alerts/:id
pub(super) async fn get(State(api): State<Api>, Acting(alerts): Acting, Id(id): Id) -> Result<Response, Problem> {
    let alert = alerts.get(id).await?;
    Ok(json(write::alert(&alert, Dialect::Current, api.engine.clock().now())))
}

/// PUT /api/v1/alerts/:id/resolution
///
/// The order of the arguments is the order of the checks.
pub(super) async fn resolve(
    State(api): State<Api>,
    Acting(alerts): Acting,
    Id(id): Id,
    _: JsonContent,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    WholeBody(bytes): WholeBody,
) -> Result<Response, Problem> {
    let resolution = body::current(&bytes).and_then(|body| body.validate());
    let resolution = resolution.map_err(|errors| Problem::of_fields(Code::InvalidResolution, errors))?;
    let alert = alerts.resolve(id, ResolveRequest { resolution, idempotency_key }).await?;
    Ok(json(write::alert(&alert, Dialect::Current, api.engine.clock().now())))
}

//! Decisions whose fate is not settled, and a person's word on those that wait for one.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::{JsonBody, Operator, PathId, answer, invalid, shapes};
use crate::api::Api;
use crate::api::problem::{self, Problem};
use crate::domain::AttemptId;
use crate::service::Attempts;
use crate::wire::{Dialect, write};

/// GET /operator/v1/attempts
pub(in crate::api) async fn list(operator: Operator) -> Result<Response, Problem> {
    let attempts = operator.acting.unsettled().await?;
    Ok(answer(&json!({"data": attempts.iter().map(shapes::attempt).collect::<Vec<_>>()})))
}

/// POST /operator/v1/attempts/:id/decision
pub(in crate::api) async fn decide(
    State(api): State<Api>,
    operator: Operator,
    PathId(id): PathId<AttemptId>,
    JsonBody(mut fields): JsonBody,
) -> Result<Response, Problem> {
    let applied = fields.flag("applied");
    if applied.is_none() {
        fields.wrong("applied", "is required: whether the network applied the decision, true or false");
    }
    fields.finish().map_err(invalid)?;
    let alert = operator.acting.settle_parked(id, applied.unwrap_or_default()).await?;
    Ok(problem::json(write::alert(&alert, Dialect::Current, api.engine.clock().now())))
}

//! Decisions that are unfinished, and a person's word on those that wait for one.

use axum::extract::State;
use axum::response::Response;

use super::extract::{JsonBody, Operator, answer};
use crate::api::access::PathId;
use crate::api::problem::{self, Problem};
use crate::api::state::Api;
use crate::domain::AttemptId;
use crate::service::Attempts;
use crate::wire::operator::{AttemptDecisionJson, AttemptJson, ListJson};
use crate::wire::{Dialect, write};

/// GET /operator/v1/attempts
pub(in crate::api) async fn list(operator: Operator) -> Result<Response, Problem> {
    Ok(answer(&ListJson::<AttemptJson>::of(operator.acting.unfinished().await?)))
}

/// POST /operator/v1/attempts/:id/decision
pub(in crate::api) async fn decide(
    State(api): State<Api>,
    operator: Operator,
    PathId(id): PathId<AttemptId>,
    JsonBody(AttemptDecisionJson { applied }): JsonBody<AttemptDecisionJson>,
) -> Result<Response, Problem> {
    let alert = operator.acting.settle_parked(id, applied).await?;
    Ok(problem::json(write::alert(&alert, Dialect::Current, api.engine.clock().now())))
}

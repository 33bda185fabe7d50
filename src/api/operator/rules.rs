//! Rules that answer by themselves, and their stop.

use axum::{http::StatusCode, response::Response};

use super::extract::{Operator, answer};
use crate::{
    problem::Problem,
    service::Rules,
    wire::operator::{ListJson, RuleJson},
};

/// GET /operator/v1/rules
pub(crate) async fn list(operator: Operator) -> Result<Response, Problem> {
    Ok(answer(&ListJson::<RuleJson>::of(operator.acting.rules().await?)))
}

/// POST /operator/v1/rules/stop
pub(crate) async fn stop(operator: Operator) -> Result<StatusCode, Problem> {
    operator.acting.stop_rules().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// POST /operator/v1/rules/start
pub(crate) async fn start(operator: Operator) -> Result<StatusCode, Problem> {
    operator.acting.start_rules().await?;
    Ok(StatusCode::NO_CONTENT)
}

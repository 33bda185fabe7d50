//! The first route: which others there are.

use axum::extract::State;
use axum::response::Response;

use super::extract::{Operator, answer};
use crate::api::state::Api;
use crate::wire::operator::IndexJson;

/// GET /operator/v1
pub(in crate::api) async fn index(State(api): State<Api>, operator: Operator) -> Response {
    let organization = &operator.acting.caller().organization.organization;
    answer(&IndexJson::of(api.engine.settings().environment, organization, api.routes))
}

//! The first route: which others there are.

use axum::{extract::State, response::Response};

use super::extract::{Operator, answer};
use crate::{state::Api, wire::operator::IndexJson};

/// GET /operator/v1
pub(crate) async fn index(State(api): State<Api>, operator: Operator) -> Response {
    let organization = &operator.acting.caller().organization.organization;
    answer(&IndexJson::of(api.engine.settings().environment, organization, api.routes))
}

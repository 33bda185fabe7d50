//! The operator API, `/operator/v1`: for keys with the scope `operator` only.

use axum::{extract::State, response::Response};

use self::extract::{Operator, answer};
use crate::{state::Api, wire::operator::IndexJson};

pub(super) mod alerts;
pub(super) mod changes;
pub(super) mod credentials;
pub(super) mod endpoints;
mod extract;
pub(super) mod rules;
pub(super) mod stats;
pub(super) mod truth;

/// GET /operator/v1
pub(crate) async fn index(State(api): State<Api>, operator: Operator) -> Response {
    let organization = &operator.acting.caller().organization.organization;
    answer(&IndexJson::of(api.engine.settings().environment, organization, api.routes))
}

//! Full-text search over all fields of the caller's alerts.

use axum::extract::State;
use axum::response::Response;

use super::extract::{Operator, Parameters, page_size};
use crate::api::list_budget::within;
use crate::api::problem::{self, Code, Problem};
use crate::api::state::Api;
use crate::domain::{FieldError, FindQuery};
use crate::service::Find;
use crate::wire::write;

/// How many are found where nothing else is asked.
const FOUND: u32 = 20;

/// GET /operator/v1/find
pub(in crate::api) async fn find(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let (mut query, mut size) = (None, FOUND);
    parameters.read(&["q", "size"], |name, text| {
        match name {
            "q" => query = Some(FindQuery::parse(text)?),
            _ => size = page_size(text)?,
        }
        Ok(())
    })?;
    let Some(query) = query else {
        let missing = FieldError::new("q", "is missing: the words to look for, such as an order number");
        return Err(Problem::of_fields(Code::InvalidQuery, vec![missing]));
    };
    let found =
        within(api.list_timeout, "look for a longer word, or for more of them", operator.acting.find(&query, size))
            .await?;
    Ok(problem::json(write::found(&found, api.engine.clock().now())))
}

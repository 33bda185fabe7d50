//! The search for duplicates: the alerts on the payments of some of the caller's alerts.

use std::collections::HashSet;

use axum::extract::State;
use axum::response::Response;

use super::extract::{Operator, Parameters};
use crate::api::list_budget::within;
use crate::api::problem::{self, Code, Problem};
use crate::api::state::Api;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{AlertId, FieldError};
use crate::wire::write;

/// GET /operator/v1/duplicates
pub(in crate::api) async fn duplicates(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let mut ids = None;
    parameters.read(&["ids"], |_, text| {
        ids = Some(read_ids(text)?);
        Ok(())
    })?;
    let Some(ids) = ids else {
        let missing = FieldError::new("ids", "is missing: the ids of alerts, with commas between them");
        return Err(Problem::of_fields(Code::InvalidQuery, vec![missing]));
    };
    let found = within(api.list_timeout, "ask for fewer alerts", operator.acting.on_payments(ids)).await?;
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (alert, others) in found {
        all.extend(std::iter::once(alert).chain(others).filter(|alert| seen.insert(alert.id)));
    }
    Ok(problem::json(write::found(&all, api.engine.clock().now())))
}

fn read_ids(text: &str) -> Result<Vec<AlertId>, String> {
    let allowed = || format!("1 to {MAX_PAGE_SIZE} ids of alerts, which are UUIDs, with commas between them");
    let ids: Result<Vec<AlertId>, _> = text.split(',').map(|id| id.trim().parse()).collect();
    ids.ok().filter(|ids| ids.len() <= MAX_PAGE_SIZE as usize).ok_or_else(allowed)
}

//! Deliveries: lists, one with its attempts, sending again.

use axum::{extract::State, response::Response};

use super::extract::{Operator, Parameters, answer, page_size, uuid};
use crate::{
    access::PathId,
    domain::{
        DeliveryFilter, DeliveryId, DeliveryState, EventKind,
        time::{Timestamp, from_iso},
    },
    list_budget::{add, within},
    problem::Problem,
    service::Webhooks,
    state::Api,
    wire::operator::{DeliveryJson, DeliveryLogJson, DeliveryPageJson},
};

/// GET /operator/v1/deliveries
pub(crate) async fn list(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let mut filter = DeliveryFilter::default();
    parameters.read(&["state", "endpoint", "alert", "event", "from", "until", "after", "size"], |name, text| {
        match name {
            "state" => filter.states = text.split(',').map(state).collect::<Result<_, _>>()?,
            "endpoint" => filter.endpoint = uuid(text)?,
            "alert" => filter.alert = uuid(text)?,
            "event" => match kind(text) {
                Some(kind) => filter.kind = Some(kind),
                None => {
                    filter.event =
                        uuid(text).map_err(|_| "alert.created, alert.resolved, or the UUID of an event".to_owned())?;
                }
            },
            "from" => filter.from = Some(moment(text)?),
            "until" => filter.until = Some(moment(text)?),
            "after" => filter.after = uuid(text)?,
            _ => filter.size = page_size(text)?,
        }
        Ok(())
    })?;
    let missing = if filter.endpoint.is_none() { "endpoint" } else { "alert" };
    let page = within(api.list_timeout, &add(missing), operator.acting.deliveries(filter)).await?;
    Ok(answer(&DeliveryPageJson::from(page)))
}

/// GET /operator/v1/deliveries/:id
pub(crate) async fn get(operator: Operator, PathId(id): PathId<DeliveryId>) -> Result<Response, Problem> {
    Ok(answer(&DeliveryLogJson::from(operator.acting.delivery(id).await?)))
}

/// POST /operator/v1/deliveries/:id/redeliver
pub(crate) async fn redeliver(operator: Operator, PathId(id): PathId<DeliveryId>) -> Result<Response, Problem> {
    Ok(answer(&DeliveryJson::from(operator.acting.redeliver(id).await?)))
}

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::known(text.trim()).ok_or_else(|| DeliveryState::ALL.map(DeliveryState::as_str).join(", "))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    from_iso(text).ok_or_else(|| "a moment, such as 2026-03-10T12:00:00Z".to_owned())
}

fn kind(text: &str) -> Option<EventKind> {
    [EventKind::AlertCreated, EventKind::AlertResolved].into_iter().find(|kind| kind.as_str() == text)
}

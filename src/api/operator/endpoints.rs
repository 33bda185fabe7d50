//! Webhook endpoints. A credential goes in and never comes out.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use crate::{
    access::PathId,
    domain::{
        DeliveryFilter, DeliveryId, DeliveryState, EndpointChange, EndpointId, EventKind, SigningChange,
        time::{Timestamp, from_iso},
    },
    list_budget::{self, within},
    operator::extract::{JsonBody, Operator, Parameters, answer, invalid, page_size, uuid},
    problem::Problem,
    service::Webhooks,
    state::Api,
    wire::operator::{
        CreatedEndpointJson, DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointChangeJson, EndpointJson,
        ListJson, NewEndpointJson, NewSecretJson, RedeliveredJson,
    },
};

/// GET /operator/v1/endpoints
pub(crate) async fn list(operator: Operator) -> Result<Response, Problem> {
    Ok(answer(&ListJson::<EndpointJson>::of(operator.acting.endpoints().await?)))
}

/// POST /operator/v1/endpoints
pub(crate) async fn add(operator: Operator, JsonBody(new): JsonBody<NewEndpointJson>) -> Result<Response, Problem> {
    let (new, made) = new.into_domain().map_err(invalid)?;
    let endpoint = operator.acting.add_endpoint(new).await?;
    Ok((StatusCode::CREATED, answer(&CreatedEndpointJson::of(endpoint, made))).into_response())
}

/// GET /operator/v1/endpoints/:id
pub(crate) async fn get(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    Ok(answer(&EndpointJson::from(operator.acting.endpoint(id).await?)))
}

/// PATCH /operator/v1/endpoints/:id
pub(crate) async fn change(
    operator: Operator,
    PathId(id): PathId<EndpointId>,
    JsonBody(change): JsonBody<EndpointChangeJson>,
) -> Result<Response, Problem> {
    Ok(answer(&EndpointJson::from(operator.acting.change_endpoint(id, change.into_domain().map_err(invalid)?).await?)))
}

/// POST /operator/v1/endpoints/:id/secret
pub(crate) async fn rotate_secret(
    operator: Operator,
    PathId(id): PathId<EndpointId>,
    JsonBody(new): JsonBody<NewSecretJson>,
) -> Result<Response, Problem> {
    let (change, made) = new.into_domain();
    Ok(answer(&CreatedEndpointJson::of(operator.acting.change_endpoint(id, change).await?, made)))
}

/// DELETE /operator/v1/endpoints/:id/secret
pub(crate) async fn remove_secret(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    let change = EndpointChange { signing: Some(SigningChange::Stop), ..EndpointChange::default() };
    Ok(answer(&EndpointJson::from(operator.acting.change_endpoint(id, change).await?)))
}

/// DELETE /operator/v1/endpoints/:id
pub(crate) async fn remove(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    operator.acting.remove_endpoint(id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// POST /operator/v1/endpoints/:id/test
pub(crate) async fn test(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    Ok(answer(&DeliveryLogJson::from(operator.acting.test_endpoint(id).await?)))
}

/// POST /operator/v1/endpoints/:id/redeliver
pub(crate) async fn redeliver(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    Ok(answer(&RedeliveredJson { redelivered: operator.acting.redeliver_exhausted(id).await? }))
}

/// GET /operator/v1/deliveries
pub(crate) async fn deliveries(
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
            _ => filter.size = Some(page_size(text)?),
        }
        Ok(())
    })?;
    let missing = if filter.endpoint.is_none() { "endpoint" } else { "alert" };
    let page = within(api.list_timeout, &list_budget::add(missing), operator.acting.deliveries(filter)).await?;
    Ok(answer(&DeliveryPageJson::from(page)))
}

/// GET /operator/v1/deliveries/:id
pub(crate) async fn delivery(operator: Operator, PathId(id): PathId<DeliveryId>) -> Result<Response, Problem> {
    Ok(answer(&DeliveryLogJson::from(operator.acting.delivery(id).await?)))
}

/// POST /operator/v1/deliveries/:id/redeliver
pub(crate) async fn redeliver_one(operator: Operator, PathId(id): PathId<DeliveryId>) -> Result<Response, Problem> {
    Ok(answer(&DeliveryJson::from(operator.acting.redeliver(id).await?)))
}

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::known(text.trim()).ok_or_else(|| DeliveryState::ALL.map(DeliveryState::as_str).join(", "))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    from_iso(text).ok_or_else(|| "a moment, such as 2026-03-10T12:00:00Z".to_owned())
}

fn kind(text: &str) -> Option<EventKind> {
    EventKind::KNOWN.iter().find(|kind| kind.as_str() == text).cloned()
}

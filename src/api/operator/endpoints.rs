//! Webhook endpoints. A credential goes in and never comes out.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::extract::{JsonBody, Operator, answer, invalid};
use crate::{
    access::PathId,
    domain::{EndpointChange, EndpointId, SigningChange},
    problem::Problem,
    service::Webhooks,
    wire::operator::{
        CreatedEndpointJson, DeliveryLogJson, EndpointChangeJson, EndpointJson, ListJson, NewEndpointJson,
        NewSecretJson, RedeliveredJson,
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

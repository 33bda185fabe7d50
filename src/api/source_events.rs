//! `POST /inbound/NAME`: the webhooks of sources.
//!
//! Checked in this order: the source, the content type, how often its address asks, the body's size, its signature, and
//! how often the source asks. A right request is answered once its events are stored, whatever became of them.

use std::net::{IpAddr, Ipv4Addr};

use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts as _, Path, Request, State},
    response::{IntoResponse as _, Response},
};

use crate::{
    access::{BodyFault, JsonContent, whole_body},
    concurrency_limit::{Asker, STRANGERS_PATIENCE, enter},
    domain::{FieldError, SignatureScheme},
    engine::SignedRequest,
    inbound::{connections::network, signature::SourceHeaders},
    problem::{Code, Problem},
    state::{Api, MAX_SOURCE_BODY, Peer},
};

/// Answer that Adyen waits for.
const ACCEPTED: &str = "[accepted]";

/// POST /inbound/:name
pub(super) async fn receive(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let name = parts.extract::<Path<String>>().await.map_or_else(|_| String::new(), |Path(name)| name);
    let source = api.engine.source(&name);
    let source = source.ok_or_else(|| Problem::new(Code::NotFound, "no source of this name is set up"))?;
    JsonContent::from_request_parts(&mut parts, &api).await?;
    let (headers, extensions) = (parts.headers.clone(), parts.extensions.clone());
    let from = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(address)| *address);
    let too_often = |seconds| Problem::too_many("this source asks too often", seconds);
    api.source_limits.arrivals.count_key(&(name.clone(), network(from))).map_err(too_often)?;
    let place = tokio::time::timeout(STRANGERS_PATIENCE, api.source_limits.body_place(from)).await;
    let full = || Problem::new(Code::Overloaded, "too many bodies of sources come at once, try again");
    let place = place.ok().flatten().ok_or_else(full)?;
    let request = Request::from_parts(parts, body);
    let body = whole_body(request, api.body_timeout, MAX_SOURCE_BODY).await.map_err(|fault| match fault {
        BodyFault::Problem(problem) => problem,
        BodyFault::Broken(words) => Problem::of_fields(Code::InvalidBody, vec![FieldError::new("body", words)]),
    })?;

    enter(&extensions, Asker::Stranger).await?;
    let headers = SourceHeaders(&headers);
    let checked = source.check(headers, &body, api.engine.clock().now());
    api.source_limits.requests.count_key(&(name, checked.is_ok())).map_err(too_often)?;
    if let Err(fault) = checked {
        api.engine.reject(source).await;
        return Err(Problem::new(Code::InvalidSignature, fault.to_string()));
    }
    drop(place);
    api.engine.receive(source, SignedRequest { headers, body, from }).await?;
    let answer = if source.scheme == SignatureScheme::Adyen { ACCEPTED } else { "" };
    Ok(answer.into_response())
}

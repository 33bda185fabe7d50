//! The change stream (server-sent events): one for each newest change, whose id is its number.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderName},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::{Stream, StreamExt, stream};

use super::extract::Operator;
use crate::{
    concurrency_limit::Share,
    domain::{FieldError, KeyScope, OrganizationId},
    problem::{Code, Problem},
    service::Changes,
    state::Api,
    wire::operator::ChangeJson,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Interval of keep-alive comments while nothing changes: each side sees that the other is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// GET /operator/v1/changes
///
/// Several changes at once are one event with the newest number. Who comes back with `Last-Event-ID` hears at once
/// where something has changed since; who comes without it hears the newest number. The stream ends when the service
/// does, or the key no longer works.
pub(crate) async fn stream(
    State(api): State<Api>,
    operator: Operator,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let wrong = || {
        Problem::of_fields(
            Code::InvalidRequest,
            vec![FieldError::new("Last-Event-ID", "must be the id of an event: a number")],
        )
    };
    let seen = match headers.get(LAST_EVENT_ID) {
        None => 0,
        Some(given) => given.to_str().ok().and_then(|text| text.trim().parse().ok()).ok_or_else(wrong)?,
    };
    // A number that is not reached yet is from before the data were restored.
    let newest = *api.engine.store().changes().borrow();
    let seen = if seen > newest { 0 } else { seen };
    let place = api.streams.take(operator.acting.caller().organization.organization.id);
    let place =
        place.ok_or_else(|| Problem::new(Code::Overloaded, "too many change streams of this organization are open"))?;
    let stop = api.stop.clone();
    let events = changes(api, operator, place, seen).take_until(async move { stop.cancelled().await });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

fn changes(
    api: Api,
    operator: Operator,
    place: Share<OrganizationId>,
    seen: u64,
) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((api, operator, place, seen), |(api, operator, place, seen)| async move {
        let number = operator.acting.next_change(seen).await.ok()?;
        // Revoking a key is a change too, so a revoked one ends here at once.
        api.engine.authenticate(&operator.key, KeyScope::Operator).await.ok()?;
        let ChangeJson { id, event, data } = ChangeJson::of(number);
        Some((Ok(Event::default().id(id).event(event).data(data)), (api, operator, place, number)))
    })
}

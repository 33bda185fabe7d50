//! State that all handlers share, and the facts of a request that they extract.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{extract::FromRef, http::request::Parts};
use tokio_util::sync::CancellationToken;

use super::{concurrency_limit::Shares, limit::TokenLimit, observe::Observed};
use crate::{
    domain::{
        OrganizationId,
        person::{PERSON_HEADER, person_of_header},
    },
    engine::{ActingEngine, Caller, Engine},
    inbound::connections::Line,
};

/// The state that handlers share.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) engine: Engine,
    pub(super) body_timeout: Duration,
    pub(super) list_timeout: Duration,
    pub(super) token_limit: Arc<TokenLimit>,
    pub(super) imports: Arc<Shares<OrganizationId>>,
    /// Change streams: each change makes every one of them look whether its key still works.
    pub(super) streams: Arc<Shares<OrganizationId>>,
    /// Ends answers that would go on for ever.
    pub(super) stop: CancellationToken,
    pub(super) observed: Observed,
    /// Every route there is, by method and path.
    pub(super) routes: &'static [(&'static str, &'static str)],
}

impl Api {
    /// The services, bound to the caller of a request, and to who that caller says to be.
    pub(super) fn acting_for(&self, caller: Caller, request: &Parts) -> ActingEngine {
        let said = request.headers.get(PERSON_HEADER).map(|value| person_of_header(value.as_bytes()));
        let caller = caller.said_to_be(&said.unwrap_or_default());
        let peer = request.extensions.get::<Peer>();
        self.engine.acting_for(match peer {
            Some(Peer(address)) => caller.from_address(*address),
            None => caller,
        })
    }
}

impl FromRef<Api> for Observed {
    fn from_ref(api: &Api) -> Self {
        api.observed.clone()
    }
}

/// The connection that a request came by.
#[derive(Debug, Clone)]
pub(super) struct Connected {
    /// The address at its other end.
    pub(super) peer: IpAddr,
    pub(super) line: Arc<Line>,
}

/// The client's address: the peer's, or what a trusted proxy says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

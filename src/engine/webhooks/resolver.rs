//! The SSRF guard at the connection: what a name resolves to when the connection is made is what is checked.
//!
//! A check when the endpoint is added would not do: the name can resolve to something else later. So the resolver that
//! the connection uses leaves out what the policy does not allow. Addresses that stand literally in the URL, which no
//! resolver ever sees, are checked before the request.

use std::{sync::Arc, time::Duration};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::{
    domain::webhook::address::{AddressPolicy, Refused},
    outbound::names::look_up,
};

/// Longest time to resolve a name where nothing is sent yet.
const LOOK_UP: Duration = Duration::from_secs(1);

/// A DNS resolver with the SSRF guard behind it: what a name resolves to when the connection is made is what is
/// checked.
#[derive(Clone)]
pub struct GuardedResolver {
    policy: AddressPolicy,
    port: Option<u16>,
    names: Arc<dyn Resolve>,
}

impl GuardedResolver {
    /// The allowed ones of the addresses that this resolver finds, for connections to a port or to none that the policy
    /// names.
    pub fn new(policy: AddressPolicy, port: Option<u16>, names: Arc<dyn Resolve>) -> Self {
        Self { policy, port, names }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, port) = (self.policy.clone(), self.port);
        let found = self.names.resolve(name);
        Box::pin(async move {
            let allowed: Addrs = Box::new(policy.filter(found.await?, port)?.into_iter());
            Ok(allowed)
        })
    }
}

/// Checks that an endpoint may be at an address, as far as can be told now. A name that cannot be resolved now may be
/// later, and is checked at each connection.
pub async fn check(policy: &AddressPolicy, url: &Url) -> Result<(), Refused> {
    policy.check_literal(url)?;
    let (Some(Host::Domain(name)), Some(port)) = (url.host(), url.port_or_known_default()) else { return Ok(()) };
    match tokio::time::timeout(LOOK_UP, look_up(name, port)).await {
        Ok(Ok(found)) => policy.filter(found, Some(port)).map(drop),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

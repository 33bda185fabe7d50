//! The first route, which says what there is, in JSON.

use serde::{Deserialize, Serialize};

use super::{
    members::{json_type, stands_for},
    text::Text,
};
use crate::domain::{Environment, Organization, OrganizationId};

json_type! {
    /// The service and its routes.
    pub struct IndexJson {
        service: String,
        version: String,
        pub environment: Text<Environment>,
        pub organization: OrganizationJson,
        routes: Vec<RouteJson>,
    }
}

/// Name that every avert gives itself.
const SERVICE: &str = "avert";

json_type! {
    /// The organization of whoever asks.
    #[cfg_attr(test, schemars(inline))]
    pub struct OrganizationJson {
        id: Text<OrganizationId>,
        pub name: String,
    }
}

json_type! {
    #[cfg_attr(test, schemars(inline))]
    struct RouteJson {
        method: String,
        path: String,
    }
}

impl IndexJson {
    /// Of routes by method and path.
    pub fn of(environment: Environment, organization: &Organization, routes: &[(&str, &str)]) -> Self {
        let route =
            |(method, path): &(&str, &str)| RouteJson { method: method.to_uppercase(), path: (*path).to_owned() };
        Self {
            service: SERVICE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            environment: Text(environment),
            organization: OrganizationJson { id: Text(organization.id), name: organization.name.clone() },
            routes: routes.iter().map(route).collect(),
        }
    }

    /// Returns whether it has a route, by method in upper case and path.
    pub fn has(&self, method: &str, path: &str) -> bool {
        self.routes.iter().any(|route| route.method == method && route.path == path)
    }
}

//! The JSON of the operator's routes, `/operator/v1`: one type for each body and answer, written, read and described
//! (JSON Schema).
//!
//! The API writes answers and the client reads them; the client writes requests, and the API reads those by [`read`],
//! which tells what is wrong with one by the path of its field. A type says in `From` what it is in the terms of the
//! domain.

use serde::{Deserialize, Serialize};

use self::text::{Member, json_type, stands_for};
use crate::domain::{AuditEntry, Environment, Organization, OrganizationId, time::Timestamp};

pub use self::{
    credentials::{CreatedCredentialJson, CredentialJson},
    endpoints::{
        CreatedEndpointJson, DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointJson, RedeliveredJson,
        delivery_query,
    },
    intake::{AttemptJson, CompanyJson, IngestReportJson, MOST_TOLD, lines_of},
    requests::{AttemptDecisionJson, EndpointChangeJson, NewEndpointJson, NewKeyJson, NewSecretJson, read},
    rules::RuleJson,
    sources::SourceJson,
    stats::{CountsJson, CurrencySumJson, InsightsJson, MOST_HOURS},
    text::Text,
    truth::{
        AlertRefundJson, ContradictedAnswerJson, HeldCountJson, MOST_REPORTS, NewRefundJson, NewReportsJson,
        NewSalesJson, RefundProofJson, SalesCountJson, TruthCountsJson, TruthReportJson,
    },
};

mod credentials;
mod endpoints;
mod intake;
mod requests;
mod rules;
mod sources;
mod stats;
mod text;
mod truth;

/// Most rows of a page.
pub const MOST_ROWS: u32 = 100;

/// A whole list.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}List"))]
pub struct ListJson<T> {
    pub data: Vec<T>,
}

impl<T> ListJson<T> {
    /// A list of these, in their order.
    pub fn of<D: Into<T>>(items: Vec<D>) -> Self {
        Self { data: items.into_iter().map(Into::into).collect() }
    }

    /// Its items in the terms of the domain.
    pub fn items<D: From<T>>(self) -> Vec<D> {
        self.data.into_iter().map(D::from).collect()
    }
}

/// A page of a list. The next one is asked for with `next`; null on the last page.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}Page"))]
pub struct PageJson<T, N> {
    pub data: Vec<T>,
    pub next: Option<N>,
}

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
            service: "avert".to_owned(),
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

json_type! {
    /// An entry of the audit log.
    pub struct AuditEntryJson for AuditEntry {
        pub number: u64,
        at: Text<Timestamp>,
        /// Caller who did it.
        actor: String,
        /// From where.
        origin: String,
        /// Name that the caller gave in the header X-Avert-User; a claim that nobody has checked, and empty where
        /// nothing was said.
        #[serde(default)]
        person: String,
        /// Action, such as `key.revoked`.
        action: String,
        /// The id of what it was done to.
        subject: String,
        detail: String,
        /// SHA-256 of the entry before.
        previous: Text<[u8; 32]>,
        /// SHA-256 of this entry.
        hash: Text<[u8; 32]>,
    }
}

/// An event of the change stream.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeJson {
    /// The change number.
    pub id: String,
    pub event: &'static str,
    /// The number once more, as JSON.
    pub data: String,
}

impl ChangeJson {
    /// The change of this number.
    pub fn of(number: u64) -> Self {
        Self { id: number.to_string(), event: "change", data: format!("{{\"number\":{number}}}") }
    }

    /// The change number that a line of the stream tells, where it tells one.
    pub fn number_in(line: &str) -> Option<u64> {
        line.strip_prefix("id:")?.trim().parse().ok()
    }
}

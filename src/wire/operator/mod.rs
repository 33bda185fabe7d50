//! The JSON of the operator's routes, `/operator/v1`: one type for each body and answer, written, read and described
//! (JSON Schema).
//!
//! The API writes answers and the client reads them; the client writes requests, and the API reads those by [`read`],
//! which tells what is wrong with one by the path of its field. A type says in `From` what it is in the terms of the
//! domain.

use serde::{Deserialize, Serialize};

mod attempts;
mod audit;
mod credentials;
mod deliveries;
mod endpoints;
mod fields;
mod index;
mod insights;
mod intake;
mod members;
mod requests;
mod stats;
mod text;

pub use self::{
    attempts::AttemptJson,
    audit::{AuditEntryJson, ChangeJson},
    credentials::{ClientJson, CreatedClientJson, CreatedKeyJson, KeyJson},
    deliveries::{DeliveryJson, DeliveryLogJson, DeliveryPageJson, RedeliveredJson, delivery_query},
    endpoints::{CreatedEndpointJson, EndpointJson},
    fields::read,
    index::IndexJson,
    insights::InsightsJson,
    intake::{CompanyJson, IngestReportJson, MOST_TOLD, lines_of},
    requests::{AttemptDecisionJson, EndpointChangeJson, NewEndpointJson, NewKeyJson, NewSecretJson},
    stats::{CountsJson, CurrencySumJson, MOST_HOURS},
    text::Text,
};

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

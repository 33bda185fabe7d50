//! The JSON of the operator's routes, `/operator/v1`: one type for each body and answer, written, read and described
//! (JSON Schema).
//!
//! The API writes answers and the client reads them; the client writes requests, and the API reads those by [`read`],
//! which tells what is wrong with one by the path of its field. A type says in `From` what it is in the terms of the
//! domain.

mod attempts;
mod audit;
mod credentials;
mod deliveries;
mod endpoints;
mod fields;
mod index;
mod insights;
mod intake;
mod lists;
mod members;
mod requests;
mod stats;
mod text;

pub use self::attempts::AttemptJson;
pub use self::audit::{AuditEntryJson, ChangeJson};
pub use self::credentials::{ClientJson, CreatedClientJson, CreatedKeyJson, KeyJson};
pub use self::deliveries::{DeliveryJson, DeliveryLogJson, DeliveryPageJson, RedeliveredJson, delivery_query};
pub use self::endpoints::{CreatedEndpointJson, EndpointJson};
pub use self::fields::read;
pub use self::index::IndexJson;
pub use self::insights::InsightsJson;
pub use self::intake::{CompanyJson, IngestReportJson, MOST_TOLD, lines_of};
pub use self::lists::{ListJson, MOST_ROWS, PageJson};
pub use self::requests::{AttemptDecisionJson, EndpointChangeJson, NewEndpointJson, NewKeyJson, NewSecretJson};
pub use self::stats::{CountsJson, CurrencySumJson, MOST_HOURS};
pub use self::text::Text;

//! Words and rules of the alert field, pure: no async, no IO, no SQL, HTTP or terminal.
//!
//! Everything else in the crate speaks in these terms. [`resolution::decide`] is the transition table of the interface,
//! [`filter`] is the meaning of every list parameter, [`money`] keeps amounts exact.

pub mod alert;
pub mod card;
mod comparing;
pub mod endpoint;
pub mod event;
pub mod filter;
pub mod gateway;
pub mod ids;
pub mod money;
mod open_enum;
pub mod outcome;
pub mod resolution;
pub mod signing;
pub mod text;
pub mod time;

pub use alert::{Alert, AlertStatus, AlertType, Deadline, Provider};
pub use comparing::is_meant;
pub use event::{Event, EventKind};
pub use filter::{AlertFilter, AlertQuery, Page, PageRequest, Sort, SortField, SortOrder};
pub use ids::*;
pub use money::{Amount, Currency, Money};
pub use outcome::Outcome;
pub use resolution::{Dialect, FieldError, Resolution, Verdict, decide};
pub use time::Timestamp;

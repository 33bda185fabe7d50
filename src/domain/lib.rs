//! Words and rules of the alert field, pure: no async, no IO, no SQL, HTTP or terminal.
//!
//! All other crates use these types. [`resolution::decide`] is the transition table of the interface.
//! [`filter`] is the meaning of every list parameter, [`query`] the language in which people type one. [`money`] keeps
//! amounts exact.

#[doc(hidden)]
pub use serde;

pub mod advice;
pub mod alert;
pub mod attempt;
pub mod audit;
pub mod batch;
pub mod ca_certificates;
pub mod calendar;
pub mod card;
pub mod cause;
pub mod clock;
pub mod code_words;
pub mod count;
pub mod credential;
pub mod database;
pub mod duplicate;
pub mod event;
pub mod field;
pub mod filter;
pub mod find;
pub mod fold;
pub mod identity;
pub mod ids;
pub mod indeterminate;
pub mod insights;
pub mod intake;
pub mod link;
pub mod money;
pub mod monitoring;
pub mod order;
pub mod organization;
pub mod outcome;
pub mod pagination;
pub mod query;
pub mod redact;
pub mod resolution;
pub mod retention;
pub mod rule;
pub mod sanitize;
mod shared_alert;
pub mod snooze;
pub mod stats;
#[cfg(any(test, feature = "samples"))]
mod tests;
pub mod time;
pub mod url;
pub mod webhook;
mod word_enums;

pub use alert::{Alert, AlertStatus, AlertType, Deadline, Provider};
pub use attempt::{AttemptState, Holder, ResolutionAttempt};
pub use audit::{Actor, AuditEntry, AuditState};
pub use ca_certificates::CaCertificates;
pub use calendar::{Calendar, CalendarDay, QuietHours};
pub use clock::{MonotonicTime, Present};
pub use credential::{
    CreatedCredential, Credential, CredentialKind, CredentialList, Environment, KeyScope, Revoked, Secret,
};
pub use event::{Event, EventKind};
pub use filter::{AlertFilter, AlertQuery, Comparison, LocalConditions, Sort, SortField, SortOrder};
pub use find::{FindQuery, MatchGrade};
pub use ids::*;
pub use insights::{DayCount, Insights, KindCount, Lapsing, ResponseTime};
pub use intake::{AlertPatch, IngestOptions, IngestReport, IntakeTerms, RejectedRow, ResponseWindows, UnknownWords};
pub use link::{AlertLink, LinkTemplate, LinkTemplates};
pub use money::{Amount, Currency, Money};
pub use monitoring::{CardScheme, MonitoredCount, SalesMonth};
pub use order::{MatchConfidence, MerchantOrder, OrderAdvice, OrderEvidence, OrderField, OrderMatch, OrderState};
pub use organization::{Company, DEFAULT_ORGANIZATION, Organization};
pub use outcome::Outcome;
pub use pagination::{MAX_PAGE_SIZE, Page, PageRequest};
pub use resolution::{Dialect, FieldError, Resolution, ResolutionParts, Verdict, decide};
pub use retention::{CutOffs, Pruned, RetentionPolicy};
pub use sanitize::{BYTE_ORDER_MARK, without_mark};
pub use shared_alert::{SharedAlert, Written};
pub use stats::{AtRisk, Count, CurrencySum, WorkPace};
pub use time::Timestamp;
pub use webhook::{
    delivery::{Delivery, DeliveryAttempt, DeliveryFilter, DeliveryLog, DeliveryPage, DeliveryState, SentRequest},
    endpoint::{Endpoint, EndpointAuth, EndpointChange, NewEndpoint, SigningChange},
    schedule::NextStep,
    signing,
};

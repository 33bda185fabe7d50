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
pub mod caution;
pub mod clock;
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
pub mod money;
pub mod monitoring;
pub mod order;
pub mod organization;
pub mod origin;
pub mod outcome;
pub mod pagination;
pub mod query;
pub mod redact;
pub mod resolution;
pub mod retention;
pub mod rule;
pub mod sanitize;
mod shared_alert;
pub mod source;
pub mod stats;
#[cfg(any(test, feature = "samples"))]
mod tests;
pub mod time;
pub mod truth;
pub mod url;
pub mod webhook;
mod word_enums;

pub use alert::*;
pub use attempt::{AttemptState, Holder, ResolutionAttempt};
pub use audit::*;
pub use ca_certificates::*;
pub use calendar::*;
pub use clock::*;
pub use credential::*;
pub use event::*;
pub use filter::*;
pub use find::{FindQuery, MatchGrade};
pub use ids::*;
pub use insights::{DayCount, Insights, KindCount, Lapsing, ResponseTime};
pub use intake::{AlertPatch, IngestOptions, IngestReport, IntakeTerms, RejectedRow, ResponseWindows, UnknownWords};
pub use money::*;
pub use monitoring::*;
pub use order::*;
pub use organization::*;
pub use origin::*;
pub use outcome::*;
pub use pagination::*;
pub use resolution::*;
pub use retention::*;
pub use sanitize::{BYTE_ORDER_MARK, without_mark};
pub use shared_alert::*;
pub use source::{EventState, SignatureScheme, SourceKind};
pub use stats::*;
pub use time::*;
pub use truth::{
    AnswerKind, ContradictedAnswer, ContradictionKind, HeldCount, RefundProof, RefundState, TruthCounts, TruthKind,
    TruthReport,
};
pub use webhook::{delivery::*, endpoint::*, rendering::*, schedule::NextStep, signing, subscription::Subscription};

//! Parsing alerts as deployments and files hold them: every spelling, either form of a decimal, any letter case, fields
//! left out.
//!
//! The tables of the domain serve JSON and CSV. Unknown fields are remembered once each; a value of the wrong kind is
//! an error that names the field, what was given and what is allowed.

mod alert;
mod envelope;
mod forgiving;
mod record;
mod unknown;

pub(super) use alert::patch;
pub use alert::{answer, incoming};
pub use envelope::{ListAnswer, outcome, page};
pub(super) use record::{Record, Slot};
pub use unknown::UnknownNames;

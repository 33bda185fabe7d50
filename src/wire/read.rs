//! Parsing alerts as deployments and files hold them: every spelling, either form of a decimal, any letter case, fields
//! left out.
//!
//! The tables of the domain serve JSON and CSV. Unknown fields are remembered once each; a value of the wrong kind is
//! an error that names the field, what was given and what is allowed.

mod alerts;
mod forgiving;
mod record;
mod unknown;

pub(super) use alerts::patch;
pub use alerts::{ListAnswer, answer, incoming, outcome, page};
pub(super) use record::{Record, Slot};
pub use unknown::UnknownNames;

//! The audit log and the change stream in JSON.

use serde::{Deserialize, Serialize};

use super::{
    members::{Member, json_type, stands_for},
    text::Text,
};
use crate::domain::{AuditEntry, time::Timestamp};

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

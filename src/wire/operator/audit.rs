//! The audit log in JSON.

use serde::{Deserialize, Serialize};

use super::members::{Member, json_type, stands_for};
use super::text::Text;
use crate::domain::AuditEntry;
use crate::domain::time::Timestamp;

json_type! {
    /// An entry of the audit log.
    pub struct AuditEntryJson for AuditEntry {
        pub number: u64,
        at: Text<Timestamp>,
        /// Who did it.
        actor: String,
        /// From where.
        origin: String,
        /// Who the caller said to be, in the header X-Avert-User; a claim that nobody has checked, and empty where
        /// nothing was said.
        #[serde(default)]
        person: String,
        /// What was done, such as `key.revoked`.
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

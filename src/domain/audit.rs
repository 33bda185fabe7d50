//! The audit log: its entries and whether their hash chain is intact.

use super::time::Timestamp;

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place; later ones are larger.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// From where.
    pub origin: String,
    /// What, such as `key.revoked`.
    pub action: String,
    /// To what: an id.
    pub subject: String,
    /// More about it; never a secret.
    pub detail: String,
    /// SHA-256 of the entry before.
    pub previous: [u8; 32],
    /// SHA-256 of this entry.
    pub hash: [u8; 32],
}

/// Whether the audit log is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditState {
    /// Every entry follows from the one before.
    Whole {
        /// How many there are.
        entries: u64,
        /// The number of the newest one; 0 in a log that is still empty.
        newest: u64,
        /// Its SHA-256. Noted elsewhere, it proves later that nothing up to it was forged.
        hash: [u8; 32],
    },
    /// Something was altered, or is missing.
    Broken {
        /// The entry at which it shows.
        number: u64,
        /// What is wrong.
        what: String,
    },
}

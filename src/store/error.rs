//! Why a unit of work did not happen.

use super::cause::Cause;

/// Store error: why a unit of work did not happen. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened as it is (not a database, an altered schema, a wrong key); says what to do.
    #[error("{0}")]
    Unusable(String),
    /// A newer avert has written the database; says which.
    #[error("{0}")]
    Newer(String),
    /// The database cannot do the work now (busy, full, read-only, I/O error); it may later.
    #[error("the database cannot do this now: {0}")]
    Unavailable(String),
    /// What is stored breaks a rule that always holds.
    #[error("the database holds something that should not be there: {0}")]
    Corrupt(String),
    /// The database or the system refuses for a known cause; the text says what and where.
    #[error("{1}: {0}; {advice}", advice = .0.advice())]
    Refused(Cause, String),
    /// A name or id is taken already.
    #[error("{0} exists already")]
    Conflict(String),
}

/// Result of a unit of work.
pub type StoreResult<T> = Result<T, StoreError>;

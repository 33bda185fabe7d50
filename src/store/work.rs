//! Result of a part of a unit of work: the reason of a failure, and whether it may be done again.

use super::StoreError;

/// A failure of a unit of work.
#[derive(Debug)]
pub(super) enum WorkFault {
    /// It would fail again.
    Final(StoreError),
    /// Others worked on the same rows: nothing of it was kept, and it may be done again.
    Again(StoreError),
    /// The connection was lost: a unit of work that only reads may be done again on another one.
    Lost(StoreError),
    /// The connection may only read: nothing of it was kept, and one that is opened now may be allowed to write.
    ReadOnly(StoreError),
}

/// Result of a part of a unit of work.
pub(super) type Work<T> = Result<T, WorkFault>;

impl WorkFault {
    /// The same where nothing had been done yet.
    pub(super) fn before_anything(self) -> Self {
        match self {
            Self::Lost(error) => Self::Again(error),
            other => other,
        }
    }
}

impl From<StoreError> for WorkFault {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

impl From<WorkFault> for StoreError {
    fn from(fault: WorkFault) -> Self {
        match fault {
            WorkFault::Final(error) | WorkFault::Again(error) | WorkFault::Lost(error) | WorkFault::ReadOnly(error) => {
                error
            }
        }
    }
}

impl From<rusqlite::Error> for WorkFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Final(error.into())
    }
}

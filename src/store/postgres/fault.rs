//! Why a statement failed, and whether the same unit of work may succeed when it is done again.

use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// A failure of a unit of work.
#[derive(Debug)]
pub(super) enum WorkFault {
    /// It would fail again.
    Final(StoreError),
    /// Others were at work on the same rows: nothing of it was kept, and it may be done again.
    Again(StoreError),
}

/// Result of a part of a unit of work.
pub(super) type Work<T> = Result<T, WorkFault>;

impl From<StoreError> for WorkFault {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

impl From<WorkFault> for StoreError {
    fn from(fault: WorkFault) -> Self {
        match fault {
            WorkFault::Final(error) | WorkFault::Again(error) => error,
        }
    }
}

impl From<tokio_postgres::Error> for WorkFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            // What does not come from the server is either the connection or a value of a type that nobody stores.
            return Self::Final(if error.is_closed() || is_of_the_connection(&error) {
                StoreError::Unavailable(format!("the connection to it was lost ({error}{source})"))
            } else {
                StoreError::Corrupt(format!("{error}{source}"))
            });
        };
        let message = told.message();
        match told.code() {
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => {
                Self::Again(StoreError::Unavailable(format!("too many work on the same rows at once ({message}); try again")))
            }
            &SqlState::DISK_FULL => Self::Final(StoreError::Unavailable("the disk is full; make room, nothing else is needed".to_owned())),
            &SqlState::READ_ONLY_SQL_TRANSACTION => Self::Final(StoreError::Unavailable(format!("it cannot be written: {message}"))),
            &SqlState::QUERY_CANCELED => Self::Final(StoreError::Unavailable(format!("it took too long: {message}"))),
            // Integrity constraints, wrong data, and what is missing in the schema.
            code if ["23", "22", "42", "XX", "P0"].iter().any(|class| code.code().starts_with(class)) => {
                Self::Final(StoreError::Corrupt(message.to_owned()))
            }
            _ => Self::Final(StoreError::Unavailable(message.to_owned())),
        }
    }
}

/// Whether an error that the server did not tell comes from the connection.
fn is_of_the_connection(error: &tokio_postgres::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<std::io::Error>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// Whether the error is a broken UNIQUE rule.
pub(super) fn is_duplicate(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
}

//! Why a statement failed, and whether the same unit of work may succeed when it is done again.

use tokio_postgres::error::{Severity, SqlState};

use crate::store::StoreError;

/// A failure of a unit of work.
#[derive(Debug)]
pub(super) enum WorkFault {
    /// It would fail again.
    Final(StoreError),
    /// Others were at work on the same rows: nothing of it was kept, and it may be done again.
    Again(StoreError),
    /// The connection was lost: what only reads may be done again on another one.
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
            WorkFault::Final(error) | WorkFault::Again(error) | WorkFault::Lost(error) | WorkFault::ReadOnly(error) => error,
        }
    }
}

impl From<tokio_postgres::Error> for WorkFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            let words = in_words(&error);
            // What does not come from the server is either the connection or a value of a type that nobody stores.
            let of_a_value = VALUE_ERRORS.iter().any(|beginning| words.starts_with(beginning));
            return if of_a_value {
                Self::Final(StoreError::Corrupt(words))
            } else {
                Self::Lost(StoreError::Unavailable(format!("the connection to it was lost ({words})")))
            };
        };
        let message = told.message();
        if ends_the_connection(&error) {
            return Self::Lost(StoreError::Unavailable(message.to_owned()));
        }
        match told.code() {
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => {
                Self::Again(StoreError::Unavailable(format!("too many work on the same rows at once ({message}); try again")))
            }
            &SqlState::DISK_FULL => Self::Final(StoreError::Unavailable("the disk is full; make room, nothing else is needed".to_owned())),
            &SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly(StoreError::Unavailable(format!("it cannot be written: {message}"))),
            &SqlState::INSUFFICIENT_PRIVILEGE => Self::Final(StoreError::Unavailable(format!("{message}: {GRANT}"))),
            &SqlState::QUERY_CANCELED => Self::Final(StoreError::Unavailable(format!("it took too long: {message}"))),
            // Integrity constraints, wrong data, and what is missing in the schema.
            code if ["23", "22", "42", "XX", "P0"].iter().any(|class| code.code().starts_with(class)) => {
                Self::Final(StoreError::Corrupt(message.to_owned()))
            }
            _ => Self::Final(StoreError::Unavailable(message.to_owned())),
        }
    }
}

/// What to do where the server says that this user may not.
const GRANT: &str = "this user needs a grant; make it the owner of the database, or have its owner run \
    GRANT USAGE, CREATE ON SCHEMA public TO this user, before the first `avert migrate`";

/// How errors begin that come from a value or a column, and not from the connection.
const VALUE_ERRORS: [&str; 4] = ["error serializing", "error deserializing", "invalid column", "expected"];

/// Whether a connection is of no use after an error: it is lost, or the server has said that it ends it.
pub(super) fn ends_the_connection(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(|told| matches!(told.parsed_severity(), Some(Severity::Fatal | Severity::Panic)))
}

/// Whether the server takes no writes: it is a standby, or its operator has set the database read-only.
pub(super) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// An error that the server did not tell, with what is behind it.
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}

/// Why a server cannot be reached, or does not let this user in.
pub(super) fn unreachable(error: &tokio_postgres::Error) -> StoreError {
    StoreError::Unavailable(match error.as_db_error() {
        Some(told) => told.message().to_owned(),
        None => format!("it cannot be reached ({})", in_words(error)),
    })
}

/// Whether the error is a broken UNIQUE rule.
pub(super) fn is_duplicate(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
}

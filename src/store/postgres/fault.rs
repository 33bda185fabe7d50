//! Causes of a failed statement, and the cases in which the same unit of work may be done again.

use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::{RefusalCause, StoreError, error::WorkFault};

impl From<tokio_postgres::Error> for WorkFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            let words = in_words(&error);
            // An error that is not from the server comes from the connection, or from a value of a type that nobody
            // stores.
            let of_a_value = VALUE_ERRORS.iter().any(|beginning| words.starts_with(beginning));
            return if of_a_value {
                Self::Final(StoreError::Corrupt(words))
            } else {
                Self::Lost(StoreError::Unavailable(format!("the connection to it was lost ({words})")))
            };
        };
        match told.code() {
            _ if ends_the_connection(&error) => Self::Lost(refusal(told)),
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => {
                let message = told.message();
                let words = format!("too many writes to the same rows at once ({message}); try again");
                Self::Again(StoreError::Unavailable(words))
            }
            &SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly(refusal(told)),
            _ => Self::Final(refusal(told)),
        }
    }
}

/// Returns the error by its cause, where it is one that has advice, or else in words.
fn refusal(told: &DbError) -> StoreError {
    let message = told.message();
    let cause = match *told.code() {
        SqlState::DISK_FULL => RefusalCause::DiskFull,
        SqlState::TOO_MANY_CONNECTIONS => RefusalCause::Connections,
        SqlState::LOCK_NOT_AVAILABLE => RefusalCause::Locked,
        SqlState::READ_ONLY_SQL_TRANSACTION => RefusalCause::ReadOnly,
        SqlState::DUPLICATE_PSTATEMENT | SqlState::INVALID_SQL_STATEMENT_NAME => RefusalCause::Pooler,
        SqlState::UNTRANSLATABLE_CHARACTER | SqlState::CHARACTER_NOT_IN_REPERTOIRE => RefusalCause::Encoding,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => RefusalCause::Damaged,
        SqlState::INSUFFICIENT_PRIVILEGE => {
            return StoreError::Unavailable(format!(
                "{message}: this user needs a grant; `avert help postgresql` has those that are needed"
            ));
        }
        SqlState::QUERY_CANCELED => return StoreError::Unavailable(format!("it took too long: {message}")),
        SqlState::UNDEFINED_TABLE
        | SqlState::UNDEFINED_COLUMN
        | SqlState::UNDEFINED_FUNCTION
        | SqlState::UNDEFINED_OBJECT => {
            return StoreError::Unusable(format!(
                "its schema is not what avert made ({message}); `avert doctor` names what is missing"
            ));
        }
        _ => return StoreError::Unavailable(message.to_owned()),
    };
    StoreError::Refused(cause, message.to_owned())
}

/// Beginnings of errors that come from a value or a column, and not from the connection.
const VALUE_ERRORS: [&str; 4] = ["error serializing", "error deserializing", "invalid column", "expected"];

/// Returns whether a connection is of no use after an error: it is lost, or the server has said that it ends it.
pub(super) fn ends_the_connection(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(|told| matches!(told.parsed_severity(), Some(Severity::Fatal | Severity::Panic)))
}

/// Returns whether the server takes no writes: it is a standby, or its operator has set the database read-only.
pub(super) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// Returns whether the server, the database or the role has no connection left.
pub(super) fn is_full(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
}

/// Describes an error that the server did not report, with its source.
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{source}")
}

/// Reason for which a server cannot be reached, or does not let this user in.
pub(super) fn unreachable(error: &tokio_postgres::Error) -> StoreError {
    error
        .as_db_error()
        .map_or_else(|| StoreError::Unavailable(format!("it cannot be reached ({})", in_words(error))), refusal)
}

//! Store errors: reasons of a unit of work that did not happen.

use std::{io, path::Path};

use super::cause::{beside, place};
use crate::domain::cause::RefusalCause;

/// Store error: the reason of a unit of work that did not happen. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened as it is (not a database, an altered schema, a wrong key); says what to do.
    #[error("{0}")]
    Unusable(String),
    /// A newer avert has written the database; says which.
    #[error("{0}")]
    Newer(String),
    /// The database cannot do the work now (busy, full, read-only, I/O error); it may be able later.
    #[error("the database cannot do this now: {0}")]
    Unavailable(String),
    /// Stored data break a rule that always holds.
    #[error("the database holds something that should not be there: {0}")]
    Corrupt(String),
    /// The database or the system refuses for a known cause; the text says what and where.
    #[error("{1}: {0}; {advice}", advice = .0.advice())]
    Refused(RefusalCause, String),
    /// A name or id is taken already.
    #[error("{0} exists already")]
    Conflict(String),
}

/// Subject of a refusal before its place is known.
const SOMEWHERE: &str = "the database";

impl StoreError {
    /// A refusal by SQLite, whose place is not known yet.
    pub(super) fn somewhere(cause: RefusalCause, what: &impl std::fmt::Display) -> Self {
        match cause {
            RefusalCause::Damaged | RefusalCause::Failing => Self::Refused(cause, format!("{SOMEWHERE} ({what})")),
            _ => Self::Refused(cause, SOMEWHERE.to_owned()),
        }
    }

    /// The same error with its place. Where SQLite does not report the cause, it is looked for there.
    pub(super) fn at(self, database: &Path) -> Self {
        let Self::Refused(cause, what) = self else { return self };
        let Some(more) = what.strip_prefix(SOMEWHERE) else { return Self::Refused(cause, what) };
        let found = if cause == RefusalCause::Failing { beside(database).unwrap_or(cause) } else { cause };
        Self::Refused(found, format!("{}{}", place(found, database), if found == cause { more } else { "" }))
    }

    /// The same error with its subject before its words.
    pub(super) fn of(self, subject: &impl std::fmt::Display) -> Self {
        match self {
            Self::Unusable(words) => Self::Unusable(format!("{subject}: {words}")),
            Self::Newer(words) => Self::Newer(format!("{subject}: {words}")),
            other => other,
        }
    }

    /// A file that cannot be used: by its cause where that is a known one, else in the system's words.
    pub(super) fn of_file(file: &Path, what: &str, error: &io::Error) -> Self {
        match RefusalCause::of_io(error) {
            Some(cause) => Self::Refused(cause, format!("{} {what}", place(cause, file))),
            None => Self::Unusable(format!("{}: {what}: {error}", file.display())),
        }
    }
}

/// Result of a unit of work.
pub type StoreResult<T> = Result<T, StoreError>;

//! The mark of an unfinished copy: it is in the target before any row comes, and gone with the last commit. Meanwhile
//! every other process that opens the database refuses it.

use super::{Finding, SchemaState, StoreError, StoreResult};

/// The table with the mark: it is there as long as the copy is not finished.
pub(super) const UNFINISHED_COPY: &str = "unfinished_copy";

/// A copy that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyMark {
    /// The source's address, without a password.
    pub(super) source: String,
    /// The id of the desk; empty where the source has none yet.
    pub(super) desk: Vec<u8>,
}

/// Name of the fact that tells one desk from another.
pub(super) const DESK: &str = "database";

impl CopyMark {
    /// Reason of the refusal, with the way out.
    pub(super) fn refusal(&self) -> String {
        format!("{}; {}", self.words(), Self::ADVICE)
    }

    /// The same as a finding of the doctor.
    pub(super) fn finding(&self, place: &str) -> Finding {
        Finding::wrong("database", format!("{place}: {}", self.words()), Self::ADVICE)
    }

    const ADVICE: &str = "run the same `avert copy` again, or remove it";

    fn words(&self) -> String {
        format!("is an unfinished copy of {}", self.source)
    }
}

/// Content of the database that is copied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Occupant {
    Nobody,
    /// An unfinished copy of an earlier run.
    Copy(CopyMark),
    /// A desk, by its id.
    Desk(Vec<u8>),
}

impl Occupant {
    /// Determines the content of a database with this schema, mark and desk.
    pub(super) fn of(schema: &SchemaState, mark: Option<CopyMark>, desk: Option<Vec<u8>>) -> StoreResult<Self> {
        match (schema, mark) {
            (_, Some(mark)) => Ok(Self::Copy(mark)),
            (SchemaState::Waiting(_), None) => {
                let words = "holds another desk, of an older avert; name an empty database";
                Err(StoreError::Unusable(words.to_owned()))
            }
            (_, None) => Ok(desk.map_or(Self::Nobody, Self::Desk)),
        }
    }
}

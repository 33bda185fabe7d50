//! Findings of a database examination, and their severity.

use crate::{StoreError, domain::closed_enum};

closed_enum! {
    /// The severity of a finding.
    #[derive(PartialOrd, Ord)]
    pub enum Grade {
        /// As it should be.
        Fine = "ok",
        /// Works, but needs attention.
        Notice = "notice",
        /// Does not work, or soon will not.
        Wrong = "wrong",
    }
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: &'static str,
    pub grade: Grade,
    /// Description of the finding.
    pub found: String,
    /// Advice; empty where nothing is to be done.
    pub advice: String,
}

impl Finding {
    /// A finding that all is well.
    pub fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, grade: Grade::Fine, found: found.into(), advice: String::new() }
    }

    /// A finding that needs attention.
    pub fn notice(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, grade: Grade::Notice, found: found.into(), advice: advice.into() }
    }

    /// A check that could not be made: its cause and the way out of it, or else this advice.
    pub(super) fn refused(check: &'static str, error: &StoreError, advice: &str) -> Self {
        match error {
            StoreError::Refused(cause, what) => Self::wrong(check, format!("{what}: {cause}"), cause.advice()),
            other => Self::wrong(check, other.to_string(), advice),
        }
    }

    /// Something does not work.
    pub fn wrong(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, grade: Grade::Wrong, found: found.into(), advice: advice.into() }
    }
}

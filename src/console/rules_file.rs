//! The file of rules, as a console reads it again.

use std::path::PathBuf;

use crate::domain::rule::DecisionRule;

/// Rules as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRules {
    pub rules: Vec<DecisionRule>,
    /// Where they are, in words.
    pub place: String,
}

/// Where the rules of a console are.
pub trait RulesFile: Send + Sync {
    /// Reads them.
    ///
    /// # Errors
    /// The trouble, in words; then the rules that were read before stay.
    fn read(&self) -> Result<ReadRules, String>;

    /// The file that it reads, where there can be one.
    fn files(&self) -> Vec<PathBuf>;
}

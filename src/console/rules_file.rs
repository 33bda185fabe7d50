//! The file of rules, as a console reads it again.

use crate::domain::rule::DecisionRule;

/// Where the rules of a console are.
pub trait RulesFile: Send + Sync {
    /// Where they are, in words.
    fn place(&self) -> String;

    /// Reads them.
    ///
    /// # Errors
    /// What is wrong, in words; then the rules that were read before stay.
    fn read(&self) -> Result<Vec<DecisionRule>, String>;
}

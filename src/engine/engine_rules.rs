//! Rules of an engine as their file has them now, and the limits of those that answer by themselves.

use std::{fmt, sync::Arc};

use crate::domain::rule::{
    DecisionRule,
    automatic::{AutomaticRule, RuleLimits},
};

/// Reader of the rules file.
type ReadRules = dyn Fn() -> Result<Vec<DecisionRule>, String> + Send + Sync;

/// Rules of an engine: their file, and the limits of those that answer by themselves.
#[derive(Clone)]
pub struct EngineRules {
    limits: Arc<[(String, RuleLimits)]>,
    read: Arc<ReadRules>,
}

/// No rule answers by itself.
impl Default for EngineRules {
    fn default() -> Self {
        Self::new(Vec::new(), Arc::new(|| Ok(Vec::new())))
    }
}

impl fmt::Debug for EngineRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineRules").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Rules as their file has them now.
#[derive(Debug)]
pub(super) struct CurrentRules {
    pub(super) all: Vec<DecisionRule>,
    pub(super) automatic: Vec<AutomaticRule>,
}

impl EngineRules {
    /// Builds them with the limits of the automatic ones by name.
    pub fn new(limits: Vec<(String, RuleLimits)>, read: Arc<ReadRules>) -> Self {
        Self { limits: limits.into(), read }
    }

    /// Checks that each automatic rule is there and can be automatic.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        self.current().map(drop)
    }

    /// Returns whether no rule answers by itself.
    pub(super) fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    pub(super) fn current(&self) -> Result<CurrentRules, String> {
        if self.is_empty() {
            return Ok(CurrentRules { all: Vec::new(), automatic: Vec::new() });
        }
        let all = (self.read)()?;
        let automatic = |(name, limits): &(String, RuleLimits)| {
            let rule = all.iter().find(|rule| rule.name.eq_ignore_ascii_case(name));
            let missing = || format!("there is no rule {name}, which is to be automatic");
            AutomaticRule::new(rule.ok_or_else(missing)?.clone(), limits.clone())
        };
        let automatic = self.limits.iter().map(automatic).collect::<Result<_, _>>()?;
        Ok(CurrentRules { all, automatic })
    }
}

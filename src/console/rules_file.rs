//! The file of rules, as a console reads it again.

use std::path::PathBuf;

use super::app::App;
use super::text::counted;
use super::{Message, Orders, Tone};
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
    /// What is wrong, in words; then the rules that were read before stay.
    fn read(&self) -> Result<ReadRules, String>;

    /// The file that it reads, where there can be one.
    fn files(&self) -> Vec<PathBuf>;
}

impl App {
    /// Takes in what the file of rules says by now; where something is wrong with it, the rules of before stay.
    pub(super) fn take_rules(&mut self, answer: Result<ReadRules, String>) -> Orders {
        let cx = &mut self.cx;
        match answer {
            Ok(ReadRules { rules, place }) => {
                cx.notify(
                    Tone::Good,
                    format!("Read again: {}.", counted(rules.len() as u64, "desk rule", "desk rules")),
                );
                (cx.settings.rules, cx.settings.rules_in) = (rules.into(), Some(place));
                cx.rules_read_at = cx.now;
                vec![Message::RulesTaken.into()]
            }
            Err(why) => {
                cx.notify(Tone::Bad, format!("The desk rules of before stay: {why}"));
                Vec::new()
            }
        }
    }
}

//! The file of rules: where it is, and what it says.

use std::{io, path::PathBuf, sync::Arc};

use super::{context::Context, process::variable};
use crate::{
    config::Settings,
    console::setting::{ReadRules, RulesFile},
    domain::{rule::parse_rules, without_mark},
    engine::EngineRules,
};

/// Environment variable that names another file of rules.
pub(super) const RULES: &str = "AVERT_RULES";

/// File of rules.
#[derive(Debug, Clone)]
pub(super) struct RulesText {
    /// Path of the file; `None` where there is no directory for it, and in the demo.
    pub(super) file: Option<PathBuf>,
    /// True where the file was named, so that it has to exist.
    is_named: bool,
    /// Rules of the demo.
    built_in: &'static str,
}

impl RulesText {
    /// Returns the file that was named, else the one beside the settings.
    pub(super) fn of(context: &Context) -> Self {
        let named = variable(RULES).map(PathBuf::from);
        let is_named = named.is_some();
        let file = named.or_else(|| context.settings_dir.as_ref().map(|directory| directory.join("rules.txt")));
        Self { file, is_named, built_in: "" }
    }

    /// Returns the rules of an engine, with the limits of those that answer by themselves.
    pub(super) fn engine_rules(self, settings: &Settings) -> EngineRules {
        EngineRules::new(settings.rules.automatic(), Arc::new(move || self.read().map(|read| read.rules)))
    }

    /// Returns rules without a file.
    pub(super) fn built_in(rules: &'static str) -> Self {
        Self { file: None, is_named: false, built_in: rules }
    }
}

impl RulesFile for RulesText {
    fn read(&self) -> Result<ReadRules, String> {
        let place = self.file.as_ref().map_or_else(|| "the demo".to_owned(), |file| file.display().to_string());
        let text = match self.file.as_ref().map(std::fs::read_to_string) {
            Some(Ok(text)) => without_mark(&text).to_owned(),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound && !self.is_named => String::new(),
            Some(Err(error)) => return Err(format!("the rules in {place} cannot be read: {error}")),
            None => self.built_in.to_owned(),
        };
        let rules = parse_rules(&text).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("the rules in {place}: {}", lines.join("\n"))
        })?;
        Ok(ReadRules { rules, place })
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().collect()
    }
}

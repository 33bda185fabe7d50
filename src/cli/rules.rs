//! `avert rules`: the desk rules that suggest answers, and a test of them on past alerts.

use std::{io, path::PathBuf};

use chrono::Duration;
use serde_json::json;

use super::{
    alerts::read_whole_list,
    args::{RehearseArgs, RulesCommand},
    context::Context,
    failure::Misused,
    output::{ListColumns, Report},
    process::variable,
    source::MeantAlerts,
};
use crate::{
    console::setting::{ReadRules, RulesFile},
    desk::rehearsing::{RehearsalSink, alerts_since},
    domain::{
        count::counted,
        resolution::InvalidReason,
        rule::{DecisionRule, Rehearsal, RehearsedRule, parse_rules},
        without_mark,
    },
};

/// Environment variable that names another file of rules.
const RULES: &str = "AVERT_RULES";

pub(super) async fn run(context: Context, command: RulesCommand) -> anyhow::Result<()> {
    let (rules, place) = read(&context)?;
    match command {
        RulesCommand::List => context.output.print(&listing(&rules, &place)),
        RulesCommand::Rehearse(args) => {
            if rules.is_empty() {
                say!("there is no rule in {place}");
            }
            rehearse(&context, &args, &rules).await
        }
    }
}

/// File of rules.
#[derive(Debug, Clone)]
pub(super) struct RulesText {
    /// Path of the file; `None` where there is no directory for it, and in the demo.
    file: Option<PathBuf>,
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

/// Reads the rules for a command, and their location. A missing file is no rules, unless it was named.
fn read(context: &Context) -> anyhow::Result<(Vec<DecisionRule>, String)> {
    let file = RulesText::of(context);
    if file.file.is_none() {
        let nowhere = format!("there is no home directory for rules: name their file in {RULES}");
        return Err(Misused(nowhere).into());
    }
    let read = file.read().map_err(Misused)?;
    Ok((read.rules, read.place))
}

fn listing(rules: &[DecisionRule], place: &str) -> Report {
    let columns = ListColumns::new()
        .both("rule", "RULE", |rule: &DecisionRule| json!(rule.name))
        .member("line", |rule| json!(rule.line))
        .both("query", "QUERY", |rule| json!(rule.text))
        .shown("SUGGESTS", |rule| rule.decision.words())
        .member("refunded", |rule| json!(rule.decision.refunded()))
        .member("resolution", |rule| json!(rule.decision.reason().map(InvalidReason::as_str)))
        .both("comments", "COMMENT", |rule| json!(rule.comments));
    let note = match rules.len() {
        0 => format!(
            "there is no rule in {place}; a line of it is NAME: QUERY -> refunded|not-refunded|invalid REASON \
                [\"comment\"]"
        ),
        1 => format!("1 rule, from {place}"),
        more => format!("{more} rules, from {place}; the first that matches wins"),
    };
    columns.report(rules, Some(note))
}

async fn rehearse(context: &Context, args: &RehearseArgs, rules: &[DecisionRule]) -> anyhow::Result<()> {
    let source = MeantAlerts::of(context, &args.remote)?.open(context).await?;
    let now = source.now();
    let since = now - Duration::days(args.days.into());
    let mut query = alerts_since(since);
    let mut rehearsed = RehearsalSink::new(rules, since, now);
    let short = read_whole_list(&source, &mut query, &mut rehearsed).await?;
    source.close();
    context.output.print(&report(&rehearsed.rehearsal, args.days))?;
    // The counts are printed first, and then the error that they are not of all alerts.
    short.map_or(Ok(()), |why| Err(anyhow::anyhow!("{why}")))
}

fn report(rehearsal: &Rehearsal<'_>, days: u32) -> Report {
    let counts: Vec<_> = rehearsal.counts().collect();
    let columns = ListColumns::new()
        .both("rule", "RULE", |(rule, _): &(&DecisionRule, RehearsedRule)| json!(rule.name))
        .shown("SUGGESTS", |(rule, _)| rule.decision.words())
        .both("matched", "MATCHED", |(_, count)| json!(count.matched))
        .both("agreed", "AGREED", |(_, count)| json!(count.agreed))
        .both("disagreed", "DISAGREED", |(_, count)| json!(count.disagreed))
        .both("undecided", "UNDECIDED", |(_, count)| json!(count.undecided));
    let alerts = counted(rehearsal.alerts, "alert", "alerts");
    let note =
        format!("{alerts} of the last {days} days; no rule matches {} of them. Nothing was sent.", rehearsal.unmatched);
    columns.report(&counts, Some(note))
}

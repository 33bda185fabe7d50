//! `avert rules`: the rules that suggest answers, a test of them on past alerts, and those that answer by themselves.

use std::{io, path::PathBuf, sync::Arc};

use anyhow::anyhow;
use chrono::Duration;
use serde_json::{Value, json};

use super::{
    alerts::read_whole_list,
    args::{RehearseArgs, RemoteArgs, RulesCommand},
    context::Context,
    failure::Misused,
    local::Local,
    output::{ListColumns, Report},
    process::variable,
    source::MeantAlerts,
};
use crate::{
    config::Settings,
    console::setting::{ReadRules, RulesFile},
    desk::rehearsing::{RehearsalSink, alerts_since},
    domain::{
        count::counted,
        resolution::InvalidReason,
        rule::{DecisionRule, Rehearsal, RehearsedRule, automatic::RuleStatus, parse_rules},
        time::to_iso,
        without_mark,
    },
    engine::EngineRules,
    service::Rules as _,
};

/// Environment variable that names another file of rules.
const RULES: &str = "AVERT_RULES";

pub(super) async fn run(context: Context, command: RulesCommand) -> anyhow::Result<()> {
    match command {
        RulesCommand::List(remote) if remote.is_given() => at_engine(&context, &remote, Asked::List).await,
        RulesCommand::Stop(remote) => at_engine(&context, &remote, Asked::Stop).await,
        RulesCommand::Start(remote) => at_engine(&context, &remote, Asked::Start).await,
        RulesCommand::List(_) => {
            let (rules, place) = read(&context)?;
            let is_kept = !context.settings.rules.automatic.is_empty() && context.home.require_data().is_ok();
            let states = if is_kept { Local::existing_for(&context).await?.1.rules().await? } else { Vec::new() };
            context.output.print(&listing(&rules, &states, &place))
        }
        RulesCommand::Rehearse(args) => {
            let (rules, place) = read(&context)?;
            if rules.is_empty() {
                say!("there is no rule in {place}");
            }
            rehearse(&context, &args, &rules).await
        }
    }
}

/// Request for the automatic rules of an engine.
#[derive(Clone, Copy)]
enum Asked {
    List,
    Stop,
    Start,
}

/// Stops or starts the rules of an engine, and prints them.
async fn at_engine(context: &Context, remote: &RemoteArgs, asked: Asked) -> anyhow::Result<()> {
    let source = MeantAlerts::of(context, remote)?.open_as_operator(context).await?;
    let missing = || anyhow!("not available here: automatic rules are an avert's, with an operator's key");
    let rules = source.deployment.rules.clone().ok_or_else(missing)?;
    match asked {
        Asked::List => {}
        Asked::Stop => rules.stop_rules().await?,
        Asked::Start => rules.start_rules().await?,
    }
    let states = rules.rules().await?;
    source.close();
    let note = states.is_empty().then(|| "no rule answers by itself here".to_owned());
    let columns = ListColumns::new()
        .both("rule", "RULE", |rule: &RuleStatus| json!(rule.name))
        .both("query", "QUERY", |rule| json!(rule.query))
        .both("answer", "ANSWER", |rule| json!(rule.answer));
    context.output.print(&with_states(columns, &states, |rule| &rule.name).report(&states, note))
}

/// Adds the columns of the states of automatic rules.
fn with_states<'a, T: 'a>(
    columns: ListColumns<'a, T>,
    states: &'a [RuleStatus],
    name: fn(&T) -> &str,
) -> ListColumns<'a, T> {
    let value = move |member: fn(&RuleStatus) -> Value| {
        move |row: &T| states.iter().find(|rule| rule.name == name(row)).map_or(Value::Null, member)
    };
    columns
        .both("state", "STATE", value(|rule| json!(rule.state)))
        .both("since", "SINCE", value(|rule| json!(to_iso(rule.since))))
        .both("reason", "REASON", value(|rule| json!(rule.reason)))
        .both("answeredToday", "TODAY", value(|rule| json!(rule.today.answered)))
        .member("amountToday", value(|rule| json!(rule.today.amount.to_string())))
        .both("wouldHaveAnswered", "WOULD HAVE", value(|rule| json!(rule.would_have_answered)))
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

/// Lists the rules of the file, with the states of those that answer by themselves where there are some.
fn listing(rules: &[DecisionRule], states: &[RuleStatus], place: &str) -> Report {
    let mut columns = ListColumns::new()
        .both("rule", "RULE", |rule: &DecisionRule| json!(rule.name))
        .member("line", |rule| json!(rule.line))
        .both("query", "QUERY", |rule| json!(rule.text))
        .shown("SUGGESTS", |rule| rule.decision.words())
        .member("refunded", |rule| json!(rule.decision.refunded()))
        .member("resolution", |rule| json!(rule.decision.reason().map(InvalidReason::as_str)))
        .both("comments", "COMMENT", |rule| json!(rule.comments));
    if !states.is_empty() {
        columns = with_states(columns, states, |rule| &rule.name);
    }
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

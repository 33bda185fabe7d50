//! `avert rules`: the rules that suggest answers, a test of them on past alerts, and those that answer by themselves.

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
    rules_file::{RULES, RulesText},
    source::MeantAlerts,
};
use crate::{
    console::setting::RulesFile as _,
    desk::rehearsing::{RehearsalSink, alerts_since},
    domain::{
        count::counted,
        resolution::InvalidReason,
        rule::{DecisionRule, Rehearsal, RehearsedRule, automatic::RuleStatus},
        time::to_iso,
    },
    service::Rules as _,
};

pub(super) async fn run(context: Context, command: RulesCommand) -> anyhow::Result<()> {
    match &command {
        RulesCommand::List(remote) if remote.is_given() => at_engine(&context, remote, &command).await,
        RulesCommand::Stop(remote) | RulesCommand::Start(remote) => at_engine(&context, remote, &command).await,
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
            rehearse(&context, args, &rules).await
        }
    }
}

/// Stops or starts the rules of an engine, and prints them.
async fn at_engine(context: &Context, remote: &RemoteArgs, command: &RulesCommand) -> anyhow::Result<()> {
    let source = MeantAlerts::of(context, remote)?.open_as_operator(context).await?;
    let missing = || anyhow!("not available here: automatic rules are an avert's, with an operator's key");
    let rules = source.deployment.rules.clone().ok_or_else(missing)?;
    match command {
        RulesCommand::Stop(_) => {
            rules.stop_rules().await?;
            say!("all automatic rules are stopped");
        }
        RulesCommand::Start(_) => {
            rules.start_rules().await?;
            say!("all automatic rules are started");
        }
        RulesCommand::List(_) | RulesCommand::Rehearse(_) => {}
    }
    let states = match rules.rules().await {
        // They are stopped, whatever is wrong with their file.
        Err(error) if matches!(command, RulesCommand::Stop(_)) => {
            say!("their states cannot be told: {error}");
            return Ok(());
        }
        states => states?,
    };
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
    short.map_or(Ok(()), |why| Err(anyhow!(why)))
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

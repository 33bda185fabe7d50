//! `avert journal`: the decisions of a desk on this machine, read from its files alone.

use std::{collections::BTreeMap, io, path::Path};

use anyhow::Context as _;
use clap::ValueEnum as _;
use serde_json::json;

use super::{
    args::{Format, JournalExportArgs, SinceWhen},
    context::Context,
    failure::SaidAlready,
    output::{ListColumns, Output, Report},
};
use crate::{
    desk::{
        AnswerStep, DecisionRecord, History, JournalAlert, NotificationRecord,
        ledger::files::{FILE, read_history},
        write_new,
    },
    domain::{
        Currency, Timestamp,
        count::counted,
        time::{Clock as _, SystemClock, to_iso},
    },
};

pub(super) fn run(context: &Context, args: &JournalExportArgs) -> anyhow::Result<()> {
    let desk = args.desk.remote().desk(context)?;
    let now = SystemClock.now();
    let since = since(args, now);
    let (history, unreadable) = read_history(&desk, now)?;
    let report =
        if args.notifications { notifications(&history, since) } else { decisions(&history, since, args.open) };
    match &args.to {
        None => context.output.print(&report)?,
        Some(to) => write_file(as_named(context.output, to), to, &report)?,
    }
    if unreadable.is_empty() {
        return Ok(());
    }
    say!("{}: {}; what stands there is not in this export", desk.join(FILE).display(), cannot_be_read(&unreadable));
    Err(SaidAlready.into())
}

/// Most line numbers that are named.
const NAMED: usize = 20;

/// Describes the lines that cannot be read: `lines 3, 17 cannot be read`.
pub(super) fn cannot_be_read(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if lines.len() > NAMED { format!(" and {} more", lines.len() - NAMED) } else { String::new() };
    format!("{} {}{more} cannot be read", if lines.len() == 1 { "line" } else { "lines" }, named.join(", "))
}

fn since(args: &JournalExportArgs, now: Timestamp) -> Timestamp {
    let days = args.days.map(|days| SinceWhen::Ago(chrono::Duration::days(days.into())));
    args.since.or(days).map_or_else(Timestamp::default, |since| since.moment(now))
}

/// Returns the format by the file's extension, where none was asked for.
fn as_named(output: Output, file: &Path) -> Output {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let named = Format::value_variants().iter().find(|format| {
        **format != Format::Table && format.to_possible_value().is_some_and(|value| value.matches(extension, true))
    });
    match (output.asked(), named) {
        (None, Some(format)) => output.with(*format),
        _ => output,
    }
}

/// Writes a file that is there whole or not at all, for its owner alone.
fn write_file(output: Output, to: &Path, report: &Report) -> anyhow::Result<()> {
    match write_new(to, |mut file| output.write_to(&mut file, report)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            refuse!("{} is there already: name another file, or remove it", to.display());
        }
        written => written.with_context(|| format!("{} cannot be written", to.display()))?,
    }
    say!("{} written to {}", counted(report.records.len() as u64, "entry", "entries"), to.display());
    Ok(())
}

/// Returns whether a decision needs a person: its fate is open, and it is neither dismissed nor superseded.
fn is_open(history: &History, record: &DecisionRecord) -> bool {
    record.needs_attention() && !record.dismissed && !history.is_superseded(record)
}

fn decisions(history: &History, since: Timestamp, open: bool) -> Report {
    let meant = |record: &&DecisionRecord| record.last().0 >= since && (!open || is_open(history, record));
    let mut records: Vec<&DecisionRecord> = history.records().iter().filter(meant).collect();
    records.sort_by_key(|record| record.made_at);
    let other = history.records().iter().filter(|record| record.last().0 >= since).count();
    let note = Some(if records.is_empty() && other > 0 {
        format!("{} of that time, and none needs anybody", counted(other as u64, "decision", "decisions"))
    } else {
        summary(history, &records)
    });
    decision_columns().report(&records, note)
}

fn decision_columns<'a>() -> ListColumns<'a, &'a DecisionRecord> {
    ListColumns::new()
        .member("decision", |record: &&DecisionRecord| json!(record.key))
        .both("madeAt", "MADE", |record| json!(to_iso(record.made_at)))
        .member("user", |record| json!(record.user))
        .member("rule", |record| json!(record.rule))
        .shown("WHO", |record| who(record))
        .shown("DECISION", |record| decision(record))
        .member("place", |record| json!(record.place))
        .member("session", |record| json!(record.session.to_string()))
        .member("alertId", |record| json!(record.said.alert.id.to_string()))
        .member("provider", |record| json!(record.said.alert.provider))
        .member("providerId", |record| json!(record.said.alert.provider_id))
        .shown("ALERT", |record| [&*record.said.alert.provider, &record.said.alert.provider_id].join(" "))
        .member("amount", |record| json!(record.said.alert.amount))
        .member("currency", |record| json!(record.said.alert.currency))
        .member("cardLastFour", |record| {
            json!(Some(&record.said.alert.card_last_four).filter(|digits| !digits.is_empty()))
        })
        .member("orderId", |record| json!(record.said.alert.order))
        .member("refunded", |record| json!(record.said.refunded))
        .member("resolution", |record| json!(record.said.resolution))
        .member("amountStopped", |record| json!(record.said.amount_stopped))
        .member("comments", |record| json!(record.said.comments))
        .member("fate", |record| json!(record.step().as_str()))
        .member("status", |record| json!(record.step().status()))
        .member("reason", |record| json!(record.step().reason()))
        .member("sentAt", |record| json!(record.sent_at().map(to_iso)))
        .member("fateAt", |record| json!(to_iso(record.last().0)))
        .shown("WHAT BECAME OF IT", |record| outcome(record))
        .member("dismissed", |record| json!(record.dismissed))
        .member("run", |record| json!(record.together.as_ref().map(|run| &run.first)))
        .member("unlooked", |record| json!(record.unlooked))
        .member("settledBy", |record| json!(record.settled_by))
}

fn who(record: &DecisionRecord) -> String {
    let rule = record.rule.as_ref().map(|rule| format!("by desk rule {rule}"));
    record.user.clone().into_iter().chain(rule).collect::<Vec<_>>().join(", ")
}

fn decision(record: &DecisionRecord) -> String {
    let reason = record.said.resolution.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
    format!("{}{reason} {}", record.said.refunded, money(&record.said.alert))
}

fn outcome(record: &DecisionRecord) -> String {
    let (at, step) = record.last();
    let by = if matches!(step, AnswerStep::AsDecided(_)) { ", by whom is not known" } else { "" };
    let more = step.status().or(step.reason()).map(|more| format!(": {more}{by}")).unwrap_or_default();
    let word = record.on_whose_word().map(|word| format!(", {word}")).unwrap_or_default();
    let unlooked =
        record.unlooked.as_ref().map(|why| format!(", duplicates not checked again: {why}")).unwrap_or_default();
    let seen_to = if record.dismissed { ", seen to" } else { "" };
    format!("{} {}{more}{word}{unlooked}{seen_to}", words(step.as_str()), at.format("%H:%M:%S"))
}

/// Splits a name into words: `neverLeft` as `never left`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

fn money(alert: &JournalAlert) -> String {
    let Some(amount) = &alert.amount else { return String::new() };
    match amount.parse() {
        Ok(amount) => crate::domain::Money { amount, currency: Currency::new(alert.currency.as_str()) }.to_string(),
        Err(_) => format!("{amount} {}", alert.currency),
    }
}

/// Summarizes the decisions: `3 decisions: 2 recorded, 1 refused; 1 still has to be seen to`.
fn summary(history: &History, records: &[&DecisionRecord]) -> String {
    if records.is_empty() {
        return "no decision is in the journal for that time".to_owned();
    }
    let mut fates: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        *fates.entry(record.step().as_str()).or_default() += 1;
    }
    let fates: Vec<String> = fates.iter().map(|(fate, count)| format!("{count} {}", words(fate))).collect();
    let open = match records.iter().filter(|record| is_open(history, record)).count() as u64 {
        0 => String::new(),
        open => format!("; {} to be seen to", counted(open, "still has", "still have")),
    };
    format!("{}: {}{open}", counted(records.len() as u64, "decision", "decisions"), fates.join(", "))
}

fn notifications(history: &History, since: Timestamp) -> Report {
    let told: Vec<&NotificationRecord> = history.notifications().iter().filter(|told| told.at >= since).collect();
    let columns = ListColumns::new()
        .both("at", "AT", |told: &&NotificationRecord| json!(to_iso(told.at)))
        .both("user", "WHO", |told| json!(told.user))
        .member("place", |told| json!(told.place))
        .member("session", |told| json!(told.session.to_string()))
        .member("tone", |told| json!(told.tone))
        .both("words", "WHAT WAS TOLD", |told| json!(told.words))
        .member("alertId", |told| json!(told.alert.as_ref().map(|alert| alert.id.to_string())));
    let note = told.is_empty().then(|| "nothing was told in that time".to_owned());
    columns.report(&told, note)
}

//! `avert journal`: the decisions of a desk on this machine, read from its files alone.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    args::JournalExportArgs,
    context::Context,
    failure::SaidAlready,
    output::{ListColumns, Report},
};
use crate::{
    desk::{
        DecisionRecord, History, JournalAlert, JournalStep,
        ledger::files::{FILE, read_history},
    },
    domain::{
        Timestamp,
        count::counted,
        time::{Clock as _, SystemClock, to_iso},
    },
};

pub(super) fn run(context: &Context, args: &JournalExportArgs) -> anyhow::Result<()> {
    let desk = args.remote.desk(context)?;
    let now = SystemClock.now();
    let since = args.since.unwrap_or_default();
    let (history, unreadable) = read_history(&desk, now)?;
    context.output.print(&decisions(&history, since, args.open))?;
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

/// Returns whether a decision needs a person: its fate is open, and it is neither dismissed nor superseded.
fn is_open(history: &History, record: &DecisionRecord) -> bool {
    record.needs_attention() && !record.dismissed && !history.is_superseded(record)
}

fn decisions(history: &History, since: Timestamp, open: bool) -> Report {
    let meant = |record: &&DecisionRecord| record.changed_at() >= since && (!open || is_open(history, record));
    let mut records: Vec<&DecisionRecord> = history.records().iter().filter(meant).collect();
    records.sort_by_key(|record| record.made_at);
    decision_columns().report(&records, Some(summary(history, &records)))
}

fn decision_columns<'a>() -> ListColumns<'a, &'a DecisionRecord> {
    ListColumns::new()
        .member("decision", |record: &&DecisionRecord| json!(record.key))
        .both("madeAt", "MADE", |record| json!(to_iso(record.made_at)))
        .both("user", "WHO", |record| json!(record.user))
        .member("rule", |record| json!(record.rule))
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
        .member("fate", |record| json!(record.step_name()))
        .member("status", |record| json!(record.status()))
        .member("reason", |record| json!(record.step().and_then(JournalStep::reason)))
        .member("sentAt", |record| json!(record.sent_at().map(to_iso)))
        .member("fateAt", |record| json!(to_iso(record.changed_at())))
        .shown("WHAT BECAME OF IT", |record| outcome(record))
        .member("dismissed", |record| json!(record.dismissed))
        .member("run", |record| json!(record.together.as_ref().map(|run| &run.first)))
        .member("unlooked", |record| json!(record.unlooked))
        .member("settledBy", |record| json!(record.result_set_by))
}

fn decision(record: &DecisionRecord) -> String {
    let reason = record.said.resolution.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
    let JournalAlert { amount, currency, .. } = &record.said.alert;
    format!("{}{reason} {} {currency}", record.said.refunded, amount.as_deref().unwrap_or_default())
}

fn outcome(record: &DecisionRecord) -> String {
    let more = record.status().or_else(|| record.step()?.reason()).map(|more| format!(": {more}")).unwrap_or_default();
    format!("{} {}{more}", record.step_name(), record.changed_at().format("%H:%M:%S"))
}

/// Summarizes the decisions: `3 decisions: 2 recorded, 1 refused; 1 still has to be seen to`.
fn summary(history: &History, records: &[&DecisionRecord]) -> String {
    if records.is_empty() {
        return "no decision is in the journal for that time".to_owned();
    }
    let mut fates: BTreeMap<String, usize> = BTreeMap::new();
    for record in records {
        *fates.entry(record.step_name()).or_default() += 1;
    }
    let fates: Vec<String> = fates.iter().map(|(fate, count)| format!("{count} {fate}")).collect();
    let open = match records.iter().filter(|record| is_open(history, record)).count() as u64 {
        0 => String::new(),
        open => format!("; {} to be seen to", counted(open, "still has", "still have")),
    };
    format!("{}: {}{open}", counted(records.len() as u64, "decision", "decisions"), fates.join(", "))
}

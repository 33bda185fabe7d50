//! `avert disputes`, `avert refunds`, `avert held` and `avert sales`: what becomes known after the answer, at the
//! engine that has the alerts.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::anyhow;
use serde_json::json;

use super::{
    args::{DisputesCommand, HeldArgs, NamedColumn, RefundsCommand, RemoteArgs, ReportFileArgs, SalesCommand},
    context::Context,
    failure::SaidAlready,
    import::{Input, Rejects, bytes_read, open, print_counts},
    output::{ListColumns, Report, record},
    source::{AlertAccess, MeantAlerts},
};
use crate::{
    console::text::count,
    desk::{Desk, sales::entered_sales},
    domain::{HeldCount, TruthCounts, TruthKind},
    service::Truth,
    wire::{import::ReportImporter, operator::SalesCountJson},
};

/// Number of reports that are recorded at once.
const AT_ONCE: usize = 1_000;

/// Opens the deployment, and what it knows after the answer.
async fn open_truth(context: &Context, remote: &RemoteArgs) -> anyhow::Result<(AlertAccess, Arc<dyn Truth>)> {
    let source = MeantAlerts::of(context, remote)?.open_as_operator(context).await?;
    let missing = || anyhow!("not available here: disputes and refunds are kept by an avert, with an operator's key");
    let truth = source.deployment.truth.clone().ok_or_else(missing)?;
    Ok((source, truth))
}

pub(super) async fn disputes(context: Context, DisputesCommand::Import(args): DisputesCommand) -> anyhow::Result<()> {
    import(context, TruthKind::Dispute, &args.file, &args.map).await
}

pub(super) async fn refunds(context: Context, RefundsCommand::Import(args): RefundsCommand) -> anyhow::Result<()> {
    import(context, TruthKind::Refund, &args.file, &args.map).await
}

async fn import(context: Context, kind: TruthKind, args: &ReportFileArgs, map: &[NamedColumn]) -> anyhow::Result<()> {
    let Input { reader, again, size } = open(&args.file)?;
    let unusable = |why: String| anyhow::Error::from(misused!("{}: {why}", args.file.display()));
    let mut rejects = Rejects::new(args.rejects.as_deref(), &args.file)?;
    let mut counts = TruthCounts::default();
    let Some(mut importer) = ReportImporter::open(kind, reader, again).map_err(unusable)? else {
        say!("{} is empty: nothing to import", args.file.display());
        return print_counts(context.output, counts, 0);
    };
    let named = map.iter().filter_map(|(field, header)| Some((field.clone(), header.clone()?)));
    importer.lay_out(&named.collect::<Vec<_>>(), args.reading.conventions()).map_err(unusable)?;
    let ignored: Vec<String> = importer.ignored().map(|header| format!("{header:?}")).collect();
    if !ignored.is_empty() {
        say!("ignored columns: {}", ignored.join(", "));
    }
    let (source, truth) = open_truth(&context, &args.remote).await?;
    source.require_writable()?;
    let bar = bytes_read(size);
    let mut goes_on = true;
    while goes_on {
        let mut batch = Vec::with_capacity(AT_ONCE);
        while goes_on && batch.len() < AT_ONCE {
            match importer.next() {
                Some(Ok(report)) => batch.push(report),
                Some(Err(row)) => bar.suspend(|| rejects.put(&row)),
                None => goes_on = false,
            }
        }
        let recorded = truth.record_truth(batch).await;
        counts.add(recorded.map_err(|error| {
            anyhow::Error::new(error).context("the import stopped; earlier rows are kept, and it can be repeated")
        })?);
        bar.set_position(importer.bytes_read());
    }
    bar.finish_and_clear();
    source.close();
    let rejected = rejects.finish()?;
    print_counts(context.output, counts, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

pub(super) async fn held(context: Context, args: HeldArgs) -> anyhow::Result<()> {
    let (source, truth) = open_truth(&context, &args.remote).await?;
    let counts = truth.held(args.days).await?;
    source.close();
    let mut held: BTreeMap<(String, &str), [u64; 2]> = BTreeMap::new();
    for count in counts {
        let [answered, disputed] = held.entry((count.network.to_string(), count.answer.as_str())).or_default();
        *answered += count.answered;
        *disputed += count.disputed;
    }
    let rows: Vec<_> = held.into_iter().collect();
    let rate = |[answered, disputed]: [u64; 2]| HeldCount::rate(answered, disputed);
    let columns = ListColumns::new()
        .both("network", "NETWORK", |((network, _), _): &((String, &str), [u64; 2])| json!(network))
        .both("answer", "ANSWER", |((_, answer), _)| json!(answer))
        .both("answered", "ANSWERED", |(_, [answered, _])| json!(answered))
        .both("disputed", "DISPUTED", |(_, [_, disputed])| json!(disputed))
        .member("rate", |(_, counts)| json!(rate(*counts)))
        .shown("RATE", |(_, counts)| format!("{:.1} %", 100.0 * rate(*counts)))
        .right();
    let note = rows.is_empty().then(|| format!("no answers in the last {} days", args.days));
    context.output.print(&columns.report(&rows, note))
}

pub(super) async fn sales(context: Context, SalesCommand::Set(args): SalesCommand) -> anyhow::Result<()> {
    let (source, truth) = open_truth(&context, &args.remote).await?;
    source.require_writable()?;
    // What an older version kept on the desk is not lost, and not newer.
    entered_sales(&*truth, Some(Desk::open(args.remote.desk(&context)?)?.sales())).await?;
    let entered = truth.enter_sales(args.month, args.network, args.count).await?;
    source.close();
    let said =
        format!("sales of {} on {} cards: {}", entered.month.words(), entered.scheme.words(), count(entered.count));
    context.output.print(&Report::one(record(SalesCountJson::from(entered)), said))
}

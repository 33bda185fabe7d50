//! `avert alerts export`: every alert of a filter as a stream of records with the same fields.

use std::{
    io::{self, BufWriter},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use serde_json::json;

use super::answer::{self, refund_columns};
use crate::{
    cli::{
        args::{AlertExportArgs, Format},
        context::Context,
        output::{Output, progress},
        source::{AlertAccess, MeantAlerts},
    },
    desk::{
        export::{self, AlertRecords, AlertSink, ListReadError, RefundedAlerts},
        export_part::{ExportPart, is_whole},
        records::{RecordFormat, RecordWriter},
        whole_list::PageWalk,
    },
    domain::{Alert, AlertQuery, MAX_PAGE_SIZE, RefundProof, count::counted, query, time::SharedClock},
    service::{Alerts, Deployment},
    wire::{self, operator::RefundProofJson},
};

pub(super) async fn run(context: &Context, args: AlertExportArgs) -> anyhow::Result<()> {
    let format = match context.output.asked() {
        None | Some(Format::Ndjson) => RecordFormat::Ndjson,
        Some(Format::Json) => RecordFormat::Json,
        Some(Format::Csv) => RecordFormat::Csv,
        Some(Format::Table) => {
            refuse!("an export is for programs: --output json, ndjson or csv");
        }
    };
    if let Some(to) = args.to.as_ref().filter(|to| args.resume && is_whole(to)) {
        say!("{} is there and whole: nothing is left to go on with", to.display());
        return Ok(());
    }
    let meant = MeantAlerts::of(context, &args.remote)?;
    let mut query = answer::query(args.query.as_deref(), args.filter.parameters(), meant.dialect, meant.vocabulary())?;
    let source = meant.open(context).await?;
    query.page.size = MAX_PAGE_SIZE;
    let records = alert_records(&source.clock, &source.deployment);
    let alerts = RefundedAlerts::of(&source.deployment, &records);
    let (columns, record) = (records.columns.clone(), |alert: &Alert| alerts.record(alert));
    let count = match &args.to {
        None => {
            let stdout = BufWriter::new(io::stdout());
            let mut writer = RecordWriter::new(format, columns, Output::cells(), stdout)?;
            let mut sink = RecordSink { record: &record, put: |record: &str| writer.put(record), count: 0 };
            let short = read_all(&alerts, &mut query, args.details, PageWalk::start(), &mut sink).await?;
            // The records are well-formed, and the error that the list is not whole follows.
            let (count, _) = writer.finish()?;
            whole(short)?;
            count
        }
        Some(to) => {
            let about = format!("{} {} {}", source.place, asked_words(&query), args.details);
            let (mut part, met) = ExportPart::open(to, args.resume, &about)?;
            let mut sink = RecordSink { record: &record, put: |record: &str| part.put(record), count: 0 };
            let short = read_all(&alerts, &mut query, args.details, PageWalk::begun(met), &mut sink).await?;
            whole(short).with_context(|| format!("what was read is in {}", part.path().display()))?;
            part.finish(format, columns)?
        }
    };
    source.close();
    let place = args.to.as_ref().map_or_else(String::new, |to| format!(" to {}", to.display()));
    say!("{} exported{place}", counted(count, "alert", "alerts"));
    Ok(())
}

/// Describes a query, distinct from every other query.
fn asked_words(query: &AlertQuery) -> String {
    match wire::query::write(query, wire::query::COMPANY_PARAMETER) {
        Ok(written) => written,
        // No parameter says it all.
        Err(_) => query::render(&query.filter, query.sort),
    }
}

/// Returns the format of alerts as records: every field of either dialect, as of the time of writing.
pub(in crate::cli) fn alert_records(clock: &SharedClock, deployment: &Deployment) -> AlertRecords {
    let mut columns = wire::write::paths();
    // The one field that the current dialect does not have.
    columns.push("outcome.amountStopped".to_owned());
    if deployment.truth.is_some() {
        columns.extend(refund_columns());
    }
    let clock = Arc::clone(clock);
    let record = move |alert: &Alert, refund: Option<RefundProof>| {
        let record = wire::write::record(alert, clock.now());
        let Some(proof) = refund else { return record };
        let refund = json!({"refund": RefundProofJson::from(proof)}).to_string();
        // Both are objects: one goes on where the other ends.
        format!("{},{}", record.strip_suffix('}').unwrap_or_default(), refund.strip_prefix('{').unwrap_or_default())
    };
    AlertRecords { columns, record: Arc::new(record) }
}

/// Returns the error of a list that is not whole.
fn whole(short: Option<String>) -> anyhow::Result<()> {
    short.map_or(Ok(()), |why| bail!("{why}"))
}

/// Reads a list to its end for another use than an export. Returns the reason where it is not whole.
pub(in crate::cli) async fn read_whole_list(
    source: &AlertAccess,
    query: &mut AlertQuery,
    sink: &mut impl AlertSink,
) -> anyhow::Result<Option<String>> {
    read_all(&*source.alerts, query, false, PageWalk::start(), sink).await
}

/// Reads a list to its end, each alert once, with a progress bar. Returns the reason where it is not whole.
async fn read_all(
    alerts: &dyn Alerts,
    query: &mut AlertQuery,
    details: bool,
    walk: PageWalk,
    sink: &mut impl AlertSink,
) -> anyhow::Result<Option<String>> {
    let bar = progress(None, "{bar:30} {pos} of {len} alerts, {per_sec}");
    let mut shown = Shown { sink, bar };
    let read = export::read_whole_list(alerts, query, details, walk, &mut shown).await;
    shown.bar.finish_and_clear();
    read.map_err(|error| match error {
        ListReadError::Service(error) => error.into(),
        ListReadError::Write(error) => error.into(),
    })
}

/// Sink with a progress bar.
struct Shown<'s, S> {
    sink: &'s mut S,
    bar: ProgressBar,
}

impl<S: AlertSink> AlertSink for Shown<'_, S> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.sink.put(alert)
    }

    fn end_page(&mut self, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(self.sink.count());
        self.sink.end_page(total);
    }

    fn count(&self) -> u64 {
        self.sink.count()
    }
}

/// Sink of alerts as records.
struct RecordSink<'r, P> {
    record: &'r (dyn Fn(&Alert) -> String + Send + Sync),
    put: P,
    count: u64,
}

impl<P: FnMut(&str) -> io::Result<()>> AlertSink for RecordSink<'_, P> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.count += 1;
        (self.put)(&(self.record)(alert))
    }

    fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::desk::records::Cells;
    use crate::domain::time::SystemClock;
    use crate::domain::{AlertId, AlertType, Outcome, Provider};
    use crate::service::{ServiceError, listing::Lists};

    fn written(format: RecordFormat, count: usize) -> String {
        let clock: SharedClock = Arc::new(SystemClock);
        let there = Deployment::plain(Arc::new(Lists(|_: &AlertQuery| Err(ServiceError::ReadOnly))));
        let records = alert_records(&clock, &there);
        let mut writer = RecordWriter::new(format, records.columns, Cells::default(), Vec::new()).unwrap();
        let mut sink = RecordSink {
            record: &|alert: &Alert| (records.record)(alert, None),
            put: |record: &str| writer.put(record),
            count: 0,
        };
        for _ in 0..count {
            let mut alert = Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute);
            alert.outcome =
                Some(Outcome { amount_stopped: Some("5.50".parse().unwrap()), ..Outcome::sample(alert.id) });
            sink.put(&alert).unwrap();
        }
        let (written, out) = writer.finish().unwrap();
        assert_eq!(written, count as u64);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_is_one_array_however_many_alerts_there_are() {
        for count in [0, 1, 3] {
            let array: Value = serde_json::from_str(&written(RecordFormat::Json, count)).unwrap();

            assert_eq!(array.as_array().map(Vec::len), Some(count));
        }
    }

    #[test]
    fn what_is_exported_is_told_from_what_has_other_conditions() {
        let asked = |text: &str| {
            let (filter, sort) = query::parse(text, query::Vocabulary::Desk).unwrap();
            asked_words(&AlertQuery { filter, sort, ..AlertQuery::default() })
        };

        let words: Vec<String> = ["mcc:1", "mcc:2", "mcc:1 status:open", "status:open"].map(asked).into();

        assert_eq!(words[..3], ["mcc:1", "mcc:2", "status:open mcc:1"]);
        assert!(words[3].contains("status=OPEN"), "{}", words[3]);
    }

    #[test]
    fn the_stopped_amount_is_there_in_every_form() {
        let line: Value = serde_json::from_str(&written(RecordFormat::Ndjson, 1)).unwrap();
        let csv = written(RecordFormat::Csv, 1);

        assert_eq!(line["outcome"]["amountStopped"], "5.50");
        assert!(csv.lines().next().unwrap().ends_with("outcome.amountStopped") && csv.contains("5.50"), "{csv}");
    }
}

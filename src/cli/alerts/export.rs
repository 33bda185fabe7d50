//! `avert alerts export`: every alert of a filter as a stream of records with the same fields.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::args::{AlertExportArgs, Format};
use super::super::context::Context;
use super::super::failure::{Misused, say};
use super::super::output::{cell, escaped};
use super::super::source::AlertAccess;
use super::answer::query;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{Alert, AlertId, Timestamp};
use crate::wire;

/// How often the list is read again when it changed while it was read.
const MOST_PASSES: usize = 3;

pub(super) async fn run(context: &Context, args: AlertExportArgs) -> anyhow::Result<()> {
    let format = match context.output.asked() {
        None => Format::Ndjson,
        Some(Format::Table) => return Err(Misused("an export is for programs: --output json, ndjson or csv".to_owned()).into()),
        Some(format) => format,
    };
    let asked = |dialect| query(args.filter.parameters(), dialect);
    let (source, mut query) = AlertAccess::open_for(context, &args.remote, &args.organization, asked).await?;
    query.page.size = MAX_PAGE_SIZE;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos} of {len} alerts, {per_sec}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut written = Written::new(format, BufWriter::new(io::stdout()))?;
    let mut total = 0;
    for _ in 0..MOST_PASSES {
        let mut changed = false;
        let mut known = None;
        query.page.page = 0;
        loop {
            let page = source.alerts.list(&query).await?;
            changed |= known.is_some_and(|known| known != page.total);
            known = Some(page.total);
            total = page.total;
            bar.set_length(total);
            let rows = page.data.len();
            for alert in page.data {
                if written.is_new(alert.id) {
                    let alert = if args.details { source.alerts.get(alert.id).await? } else { alert };
                    written.put(&alert, source.now())?;
                }
            }
            bar.set_position(written.count());
            query.page.page += 1;
            // A service may give smaller pages than it was asked for; then the next one begins where this one ended.
            if rows == 0 || query.page.page.saturating_mul(page.size.into()) >= total {
                break;
            }
        }
        // Alerts that came or went while the list was read have moved others from page to page.
        if !changed {
            break;
        }
    }
    source.close();
    bar.finish_and_clear();
    let count = written.finish()?;
    say(&match count {
        1 => "1 alert exported".to_owned(),
        count if count < total => format!("{count} alerts exported; the service counts {total}: some changed while they were read"),
        count => format!("{count} alerts exported"),
    });
    Ok(())
}

/// What has been written so far.
struct Written<W: Write> {
    out: Out<W>,
    columns: Vec<String>,
    seen: HashSet<AlertId>,
    count: u64,
}

enum Out<W: Write> {
    Json(W),
    Ndjson(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Written<W> {
    fn new(format: Format, mut out: W) -> anyhow::Result<Self> {
        let mut columns = wire::write::paths();
        // The one field that the current dialect does not have.
        columns.push("outcome.amountStopped".to_owned());
        let out = match format {
            Format::Json => {
                out.write_all(b"[")?;
                Out::Json(out)
            }
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(&columns)?;
                Out::Csv(Box::new(csv))
            }
            Format::Ndjson | Format::Table => Out::Ndjson(out),
        };
        Ok(Self { out, columns, seen: HashSet::new(), count: 0 })
    }

    fn is_new(&mut self, id: AlertId) -> bool {
        self.seen.insert(id)
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn put(&mut self, alert: &Alert, now: Timestamp) -> anyhow::Result<()> {
        let record = wire::write::record(alert, now);
        match &mut self.out {
            Out::Json(out) => {
                out.write_all(if self.count == 0 { b"\n" } else { b",\n" })?;
                out.write_all(escaped(record).as_bytes())?;
            }
            Out::Ndjson(out) => writeln!(out, "{}", escaped(record))?,
            Out::Csv(csv) => {
                let record = serde_json::from_str(&record)?;
                csv.write_record(self.columns.iter().map(|column| cell(&record, column)))?;
            }
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self) -> anyhow::Result<u64> {
        match self.out {
            Out::Json(mut out) => {
                out.write_all(b"\n]\n")?;
                out.flush()?;
            }
            Out::Ndjson(mut out) => out.flush()?,
            Out::Csv(mut csv) => csv.flush()?,
        }
        Ok(self.count)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::domain::{AlertType, Outcome, Provider};

    fn written(format: Format, count: usize) -> String {
        let mut out = Vec::new();
        let mut written = Written::new(format, &mut out).unwrap();
        for _ in 0..count {
            let mut alert = Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute);
            alert.outcome = Some(Outcome { amount_stopped: Some("5.50".parse().unwrap()), ..Outcome::sample(alert.id) });
            written.put(&alert, Timestamp::UNIX_EPOCH).unwrap();
        }
        assert_eq!(written.finish().unwrap(), count as u64);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_is_one_array_however_many_alerts_there_are() {
        for count in [0, 1, 3] {
            let array: Value = serde_json::from_str(&written(Format::Json, count)).unwrap();

            assert_eq!(array.as_array().map(Vec::len), Some(count));
        }
    }

    #[test]
    fn the_stopped_amount_is_there_in_every_form() {
        let line: Value = serde_json::from_str(&written(Format::Ndjson, 1)).unwrap();
        let csv = written(Format::Csv, 1);

        assert_eq!(line["outcome"]["amountStopped"], "5.50");
        assert!(csv.lines().next().unwrap().ends_with("outcome.amountStopped") && csv.contains("5.50"), "{csv}");
    }
}

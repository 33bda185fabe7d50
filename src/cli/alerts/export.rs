//! `avert alerts export`: every alert of a filter as a stream of records with the same fields.

use std::io::{self, BufWriter, Write};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::args::{AlertExportArgs, Format};
use super::super::context::Context;
use super::super::failure::{Misused, say};
use super::super::output::Cells;
use super::super::source::AlertAccess;
use super::answer::query;
use super::export_part::{ExportPart, PageMark};
use super::whole_list::{Next, PageFacts, PageWalk};
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::sanitize;
use crate::domain::{Alert, AlertQuery, Timestamp};
use crate::wire;

pub(super) async fn run(context: &Context, args: AlertExportArgs) -> anyhow::Result<()> {
    let format = match context.output.asked() {
        None => Format::Ndjson,
        Some(Format::Table) => return Err(Misused("an export is for programs: --output json, ndjson or csv".to_owned()).into()),
        Some(format) => format,
    };
    let asked = |dialect| query(args.query.as_deref(), args.filter.parameters(), dialect);
    let (source, mut query) = AlertAccess::open_for(context, &args.remote, &args.organization, asked).await?;
    query.page.size = MAX_PAGE_SIZE;
    let count = match &args.to {
        None => {
            let mut written = Written::new(format, context.output.cells(), BufWriter::new(io::stdout()))?;
            let short = read_all(&source, &mut query, args.details, PageWalk::new(), &mut written).await?;
            // What was read is well-formed, and then it is said that it is not all.
            let (count, _) = written.finish()?;
            whole(short)?;
            count
        }
        Some(to) => {
            let asked = wire::query::write(&query, wire::query::COMPANY_PARAMETER);
            let about = format!("{} {asked} {}", source.place, args.details);
            let (mut part, walk) = ExportPart::open(to, args.resume, &about)?;
            let short = read_all(&source, &mut query, args.details, walk, &mut part).await?;
            whole(short).with_context(|| format!("what was read is in {}", part.path().display()))?;
            let mut written = Written::new(format, context.output.cells_of_a_file(), part.target()?)?;
            part.records(|record| written.put_record(record))?;
            let (count, target) = written.finish()?;
            part.replace(target)?;
            count
        }
    };
    source.close();
    let place = args.to.as_ref().map_or_else(String::new, |to| format!(" to {}", to.display()));
    say(&if count == 1 { format!("1 alert exported{place}") } else { format!("{count} alerts exported{place}") });
    Ok(())
}

/// A sink for the alerts of a whole list.
pub(in crate::cli) trait AlertSink {
    fn put(&mut self, alert: &Alert, now: Timestamp) -> anyhow::Result<()>;

    /// A page is over.
    fn end_page(&mut self, _: PageMark) -> anyhow::Result<()> {
        Ok(())
    }

    /// How many were taken.
    fn count(&self) -> u64;
}

/// Why a list is not whole: the error, in words.
fn whole(short: Option<String>) -> anyhow::Result<()> {
    short.map_or(Ok(()), |why| bail!("{why}"))
}

/// Reads a list to its end for something else than an export. Where it is not whole: why.
pub(in crate::cli) async fn read_whole_list(
    source: &AlertAccess,
    query: &mut AlertQuery,
    sink: &mut impl AlertSink,
) -> anyhow::Result<Option<String>> {
    read_all(source, query, false, PageWalk::new(), sink).await
}

/// Reads a list to its end, each alert once. Where it is not whole: why.
async fn read_all(
    source: &AlertAccess,
    query: &mut AlertQuery,
    details: bool,
    mut walk: PageWalk,
    sink: &mut impl AlertSink,
) -> anyhow::Result<Option<String>> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos} of {len} alerts, {per_sec}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    query.page.page = walk.page();
    let short = loop {
        let number = query.page.page;
        let page = source.alerts.list(query).await?;
        let (before, facts) = (walk.found(), PageFacts::of(&page));
        bar.set_length(page.total);
        for alert in page.data {
            if walk.meet(alert.id) {
                let alert = if details { source.alerts.get(alert.id).await? } else { alert };
                sink.put(&alert, source.now())?;
            }
        }
        bar.set_position(sink.count());
        let next = walk.follow(before, facts);
        sink.end_page(PageMark { page: number, total: facts.total, steady: walk.is_steady(next) })?;
        match next {
            Next::Page(number) => query.page.page = number,
            Next::Done => break None,
            Next::Short(why) => break Some(why.words(walk.seen(), walk.total())),
        }
    };
    bar.finish_and_clear();
    Ok(short)
}

/// What has been written so far.
struct Written<W: Write> {
    out: Out<W>,
    columns: Vec<String>,
    cells: Cells,
    count: u64,
}

enum Out<W: Write> {
    Json(W),
    Ndjson(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Written<W> {
    fn new(format: Format, cells: Cells, mut out: W) -> anyhow::Result<Self> {
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
        Ok(Self { out, columns, cells, count: 0 })
    }

    fn put_record(&mut self, record: &str) -> anyhow::Result<()> {
        match &mut self.out {
            Out::Json(out) => {
                out.write_all(if self.count == 0 { b"\n" } else { b",\n" })?;
                out.write_all(sanitize::json(record).as_bytes())?;
            }
            Out::Ndjson(out) => writeln!(out, "{}", sanitize::json(record))?,
            Out::Csv(csv) => {
                let record = serde_json::from_str(record)?;
                csv.write_record(self.columns.iter().map(|column| self.cells.cell(&record, column)))?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// How many there are, and where they are.
    fn finish(self) -> anyhow::Result<(u64, W)> {
        let mut out = match self.out {
            Out::Json(mut out) => {
                out.write_all(b"\n]\n")?;
                out
            }
            Out::Ndjson(out) => out,
            Out::Csv(csv) => csv.into_inner().map_err(csv::IntoInnerError::into_error)?,
        };
        out.flush()?;
        Ok((self.count, out))
    }
}

impl<W: Write> AlertSink for Written<W> {
    fn put(&mut self, alert: &Alert, now: Timestamp) -> anyhow::Result<()> {
        self.put_record(&wire::write::record(alert, now))
    }

    fn count(&self) -> u64 {
        self.count
    }
}

impl AlertSink for ExportPart {
    fn put(&mut self, alert: &Alert, now: Timestamp) -> anyhow::Result<()> {
        self.put_record(&wire::write::record(alert, now))
    }

    fn end_page(&mut self, mark: PageMark) -> anyhow::Result<()> {
        self.mark(mark)
    }

    fn count(&self) -> u64 {
        self.written()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::domain::{AlertId, AlertType, Outcome, Provider};

    fn written(format: Format, count: usize) -> String {
        let mut out = Vec::new();
        let mut written = Written::new(format, Cells::default(), &mut out).unwrap();
        for _ in 0..count {
            let mut alert = Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute);
            alert.outcome = Some(Outcome { amount_stopped: Some("5.50".parse().unwrap()), ..Outcome::sample(alert.id) });
            written.put(&alert, Timestamp::UNIX_EPOCH).unwrap();
        }
        assert_eq!(written.finish().unwrap().0, count as u64);
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

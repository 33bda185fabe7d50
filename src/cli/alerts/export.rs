//! `avert alerts export`: every alert of a filter as a stream of records with the same fields. One to a file keeps the
//! part that it has: records a line each, with a mark behind each page, from the last of which it can be resumed.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use serde::Deserialize;
use tempfile::NamedTempFile;

use super::{answer, run_file};
use crate::{
    cli::{
        args::{AlertExportArgs, Format},
        context::Context,
        output::progress,
        source::AlertAccess,
    },
    desk::{
        directory_of,
        export::{self, AlertRecords, AlertSink, ListReadError, PageMark},
        records::{RecordFormat, RecordWriter},
        whole_list::PageWalk,
    },
    domain::{Alert, AlertId, AlertQuery, MAX_PAGE_SIZE, count::counted, query, time::SharedClock},
    wire,
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
    let asked =
        |dialect, vocabulary| answer::query(args.query.as_deref(), args.filter.parameters(), dialect, vocabulary);
    let (source, mut query) = AlertAccess::open_for(context, &args.source, asked).await?;
    query.page.size = MAX_PAGE_SIZE;
    let records = alert_records(&source.clock);
    let record = &*records.record;
    let count = match &args.to {
        None => {
            let writer =
                RecordWriter::new(format, records.columns, context.output.cells(), BufWriter::new(io::stdout()))?;
            let mut written = Written { writer, record };
            let short = read_all(&source, &mut query, args.details, PageWalk::start(), &mut written).await?;
            // The records are well-formed, and the error that the list is not whole follows.
            let (count, _) = written.writer.finish()?;
            whole(short)?;
            count
        }
        Some(to) => {
            let about = format!("{} {} {}", source.place, asked_words(&query), args.details);
            let (part, walk) = ExportPart::open(to, args.resume, &about)?;
            let mut kept = Kept { part, record };
            let short = read_all(&source, &mut query, args.details, walk, &mut kept).await?;
            let mut part = kept.part;
            whole(short).with_context(|| format!("what was read is in {}", part.path().display()))?;
            let mut written =
                RecordWriter::new(format, records.columns, context.output.cells_of_a_file(), part.target()?)?;
            part.records(|record| written.put(record))?;
            let (count, target) = written.finish()?;
            part.replace(target)?;
            count
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
pub(in crate::cli) fn alert_records(clock: &SharedClock) -> AlertRecords {
    let mut columns = wire::write::paths();
    // The one field that the current dialect does not have.
    columns.push("outcome.amountStopped".to_owned());
    let clock = Arc::clone(clock);
    AlertRecords { columns, record: Arc::new(move |alert| wire::write::record(alert, clock.now())) }
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
    read_all(source, query, false, PageWalk::start(), sink).await
}

/// Reads a list to its end, each alert once, with a progress bar. Returns the reason where it is not whole.
async fn read_all(
    source: &AlertAccess,
    query: &mut AlertQuery,
    details: bool,
    walk: PageWalk,
    sink: &mut impl AlertSink,
) -> anyhow::Result<Option<String>> {
    let bar = progress(None, "{bar:30} {pos} of {len} alerts, {per_sec}");
    let mut shown = Shown { sink, bar };
    let read = export::read_whole_list(&*source.alerts, query, details, walk, &mut shown).await;
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
    fn counted(&mut self, total: u64) {
        self.bar.set_length(total);
        self.sink.counted(total);
    }

    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.sink.put(alert)
    }

    fn end_page(&mut self, mark: PageMark) -> io::Result<()> {
        self.bar.set_position(self.sink.count());
        self.sink.end_page(mark)
    }

    fn count(&self) -> u64 {
        self.sink.count()
    }
}

/// Sink that writes the export itself.
struct Written<'r, W: Write> {
    writer: RecordWriter<W>,
    record: &'r (dyn Fn(&Alert) -> String + Send + Sync),
}

impl<W: Write> AlertSink for Written<'_, W> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.writer.put(&(self.record)(alert))
    }

    fn count(&self) -> u64 {
        self.writer.count()
    }
}

/// Sink that writes the part of an export to the disk.
struct Kept<'r> {
    part: ExportPart,
    record: &'r (dyn Fn(&Alert) -> String + Send + Sync),
}

impl AlertSink for Kept<'_> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.part.put_record(&(self.record)(alert))
    }

    fn end_page(&mut self, mark: PageMark) -> io::Result<()> {
        self.part.mark(mark)
    }

    fn count(&self) -> u64 {
        self.part.written()
    }
}

/// Part of an export: a file beside the target, `FILE.part`, held by one export at a time.
pub(super) struct ExportPart {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
}

/// Line of the part: the head, a record, or a mark.
#[derive(Deserialize)]
struct PartLine {
    export: Option<String>,
    id: Option<AlertIdText>,
    #[serde(flatten)]
    mark: Option<PageMark>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct AlertIdText(String);

/// Returns whether an export is whole: its file exists, and no part is beside it. An export takes its file's name only
/// at its end.
pub(super) fn is_whole(target: &Path) -> bool {
    target.is_file() && !part_of(target).exists()
}

/// Returns the path of the part of an export.
fn part_of(target: &Path) -> PathBuf {
    run_file::beside(target, ".part")
}

impl ExportPart {
    /// Opens the part of an export, and the page walk as of its last mark. `about` describes the export: a part of
    /// another one is refused.
    pub(super) fn open(target: &Path, resume: bool, about: &str) -> anyhow::Result<(Self, PageWalk)> {
        let path = part_of(target);
        if target.exists() {
            refuse!("{}: is there already: name another file, or remove it", target.display());
        }
        let file = run_file::open(&path, "{\"export\":", "export")?;
        if file.metadata()?.len() > 0 && !resume {
            return Err(run_file::left_behind(&path, "export").into());
        }
        // The alerts in it, and the last mark with the number of alerts before it.
        let (mut met, mut mark): (Vec<AlertId>, _) = (Vec::new(), None);
        run_file::read(&file, &path, |line| {
            let read: PartLine =
                serde_json::from_slice(line).map_err(|error| format!("is no part of an export: {error}"))?;
            match read {
                PartLine { export: Some(known), .. } if known != about => {
                    return Err("is the part of an export of something else: of another place, by another filter or \
                        with other details"
                        .to_owned());
                }
                PartLine { id: Some(AlertIdText(id)), .. } => {
                    met.push(id.parse().map_err(|_| "holds an alert without an id")?);
                }
                PartLine { mark: newest, .. } => mark = newest.map(|newest| (newest, met.len())).or(mark.take()),
            }
            Ok(())
        })?;
        let is_new = file.metadata()?.len() == 0;
        let written = met.len() as u64;
        let mut part = Self { target: target.to_owned(), path, file: BufWriter::new(file), written };
        if is_new {
            part.line(&serde_json::json!({ "export": about }).to_string())?;
        }
        let walk = match mark {
            Some((PageMark { page, total, steady: true }, marked)) => {
                let behind = met.split_off(marked);
                PageWalk::resumed(met, behind, page, total)
            }
            _ => PageWalk::begun(met),
        };
        Ok((part, walk))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of alerts in it.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes a record, given as JSON.
    pub(super) fn put_record(&mut self, record: &str) -> io::Result<()> {
        self.written += 1;
        self.line(record)
    }

    /// Marks a page as whole, and syncs it to the disk.
    pub(super) fn mark(&mut self, mark: PageMark) -> io::Result<()> {
        self.line(&serde_json::to_string(&mark)?)?;
        self.file.flush().and_then(|()| self.file.get_ref().sync_data()).map_err(|error| self.unwritable(&error))
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{text}").map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{} cannot be written: {error}", self.path.display()))
    }

    /// Passes on each record in it, in the order in which they came.
    pub(super) fn records(&mut self, mut give: impl FnMut(&str) -> io::Result<()>) -> anyhow::Result<()> {
        self.file.flush()?;
        for line in BufReader::new(File::open(&self.path)?).lines() {
            let line = line?;
            if serde_json::from_str::<PartLine>(&line)?.id.is_some() {
                give(&line)?;
            }
        }
        Ok(())
    }

    /// Opens a temporary file beside the target, which takes its name when it is whole.
    pub(super) fn target(&self) -> anyhow::Result<BufWriter<NamedTempFile>> {
        let directory = directory_of(&self.target);
        Ok(BufWriter::new(NamedTempFile::new_in(directory)?))
    }

    /// Gives the whole export its name, and removes the part.
    pub(super) fn replace(self, whole: BufWriter<NamedTempFile>) -> anyhow::Result<()> {
        let whole = whole.into_inner().map_err(io::IntoInnerError::into_error)?;
        whole.as_file().sync_all()?;
        whole
            .persist_noclobber(&self.target)
            .with_context(|| format!("{} cannot be written", self.target.display()))?;
        std::fs::remove_file(&self.path).with_context(|| format!("{} cannot be removed", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::desk::records::Cells;
    use crate::domain::time::SystemClock;
    use crate::domain::{AlertId, AlertType, Outcome, Provider};

    fn written(format: RecordFormat, count: usize) -> String {
        let clock: SharedClock = Arc::new(SystemClock);
        let records = alert_records(&clock);
        let writer = RecordWriter::new(format, records.columns, Cells::default(), Vec::new()).unwrap();
        let mut written = Written { writer, record: &*records.record };
        for _ in 0..count {
            let mut alert = Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute);
            alert.outcome =
                Some(Outcome { amount_stopped: Some("5.50".parse().unwrap()), ..Outcome::sample(alert.id) });
            written.put(&alert).unwrap();
        }
        let (written, out) = written.writer.finish().unwrap();
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

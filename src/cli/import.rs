//! `avert import`: alerts from a file, in batches, each row kept or rejected by itself.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tokio::sync::mpsc;

use super::args::{Format, ImportArgs, ImportFormat};
use super::context::Context;
use super::failure::{Misused, SaidAlready, say};
use super::local::Local;
use super::output::{Answer, Output, Rows, columns_of};
use crate::domain::{IncomingAlert, IngestOptions, IngestReport, Provider, RejectedRow};
use crate::service::Intake;
use crate::wire::import::{self, Importer};

/// Rows taken in with one commit.
const BATCH: usize = 10_000;

/// Batches that may wait while one is stored: enough to keep reading, few enough to stay small.
const AHEAD: usize = 1;

/// So many unknown networks are told of by name; a hostile file makes no more.
const MOST_STRANGERS: usize = 100;

/// Some rows of the file.
#[derive(Default)]
struct Batch {
    rows: Vec<IncomingAlert>,
    unreadable: Vec<RejectedRow>,
    /// Names of fields nobody knows that came up for the first time.
    unknown: Vec<String>,
    /// The same of networks.
    strangers: Vec<String>,
    /// How far the file has been read, in bytes.
    read: u64,
}

pub(super) async fn run(context: Context, args: ImportArgs) -> anyhow::Result<()> {
    let (input, size) = open(&args.file)?;
    let local = Local::making(&context.home, &context.settings).await?;
    let acting = local.acting(context.organization(&args.organization)).await?;
    let options = IngestOptions { events: !args.no_events };
    let format = args.format.map(|format| match format {
        ImportFormat::Json => import::Format::Json,
        ImportFormat::Ndjson => import::Format::Ndjson,
        ImportFormat::Csv => import::Format::Csv,
    });

    let (sender, mut batches) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || read(Importer::new(input, format), &sender));
    let bar = progress(size);
    let mut total = IngestReport::default();
    let mut rejected: u64 = 0;
    while let Some(batch) = batches.recv().await {
        let mut report = acting.ingest(batch.rows, options).await.context("the import stopped; what came before is kept")?;
        let mut refused = std::mem::take(&mut report.rejected);
        refused.extend(batch.unreadable);
        refused.sort_by_key(|row| row.line);
        rejected += refused.len() as u64;
        // Not kept: a file of a million bad rows must not fill the memory.
        bar.suspend(|| {
            batch.unknown.iter().for_each(|name| say(&format!("warning: nobody knows the field {name:?}; it is ignored")));
            batch.strangers.iter().for_each(|name| say(&format!("warning: nobody knows the provider {name:?}; its alerts are taken in")));
            refused.iter().for_each(|row| say(&in_words(row)));
        });
        total.add(report);
        bar.set_position(batch.read);
        bar.set_message(format!("{} alerts", total.created + total.updated + total.unchanged));
    }
    bar.finish_and_clear();
    reading.await.context("reading the file failed")?;

    if rejected + total.created + total.updated + total.unchanged == 0 {
        // A day without alerts is no failure.
        say(&format!("nothing to import in {}", if args.file.as_os_str() == "-" { "stdin".into() } else { args.file.to_string_lossy() }));
    }
    print(context.output, &total, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

/// The file, or stdin for `-`, and its size where it has one.
fn open(path: &Path) -> anyhow::Result<(Box<dyn BufRead + Send>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufReader::with_capacity(256 * 1024, io::stdin())), None));
    }
    let unusable = |what: String| Misused(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| unusable(format!("cannot be opened: {error}")))?;
    let metadata = file.metadata().map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(unusable("is a directory: a file of alerts is needed (JSON, NDJSON or CSV)".to_owned()).into());
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(256 * 1024, file)), size))
}

/// Reads the whole source in batches; ends early when nobody takes them any more.
fn read<R: Read + BufRead>(mut importer: Importer<R>, batches: &mpsc::Sender<Batch>) {
    let mut told = 0;
    let mut strangers = BTreeSet::new();
    loop {
        let mut batch = Batch::default();
        let mut taken = 0;
        while taken < BATCH {
            match importer.next() {
                None => break,
                Some(Ok(row)) => {
                    if let Provider::Other(name) = &row.alert.provider
                        && strangers.len() < MOST_STRANGERS
                        && strangers.insert(name.clone())
                    {
                        batch.strangers.push(name.chars().take(60).collect());
                    }
                    batch.rows.push(row);
                }
                Some(Err(row)) => batch.unreadable.push(row),
            }
            taken += 1;
        }
        let unknown = importer.unknown_fields();
        batch.unknown = unknown.get(told..).unwrap_or_default().to_vec();
        told = unknown.len();
        batch.read = importer.bytes_read();
        let ended = taken < BATCH;
        if batches.blocking_send(batch).is_err() || ended {
            return;
        }
    }
}

fn in_words(row: &RejectedRow) -> String {
    let RejectedRow { line, error } = row;
    match error.field.as_str() {
        "" => format!("line {line}: {}", error.message),
        field => format!("line {line}: {field} {}", error.message),
    }
}

/// A bar on stderr where that is a terminal, else nothing.
fn progress(size: Option<u64>) -> ProgressBar {
    let bar = match size {
        Some(size) => ProgressBar::new(size).with_style(style("{bar:32} {bytes}/{total_bytes}  {msg}  {eta} left")),
        None => ProgressBar::new_spinner().with_style(style("{spinner} {bytes}  {msg}")),
    };
    bar.set_draw_target(if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The counts: JSON wherever a program may read them, words for people.
fn print(output: Output, total: &IngestReport, rejected: u64) -> io::Result<()> {
    let IngestReport { created, updated, unchanged, .. } = total;
    let record = json!({"created": created, "updated": updated, "unchanged": unchanged, "rejected": rejected});
    let words = format!("{created} created, {updated} updated, {unchanged} unchanged, {rejected} rejected");
    let answer = Answer {
        table: Rows { note: Some(words), ..Rows::default() },
        columns: columns_of(&record),
        document: record.clone(),
        records: vec![record],
    };
    match output.asked() {
        None if !io::stdout().is_terminal() => output.with(Format::Ndjson).print(&answer),
        _ => output.print(&answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::FieldError;

    #[test]
    fn a_rejected_row_is_told_with_its_line_and_field() {
        let row = |field: &str| RejectedRow { line: 17, error: FieldError::new(field, "is required") };

        assert_eq!(in_words(&row("amount")), "line 17: amount is required");
        assert_eq!(in_words(&row("")), "line 17: is required");
    }

    #[test]
    fn a_source_is_read_to_its_end_in_batches() {
        let text: String = (0..BATCH + 5).map(|_| "{\"amount\": true}\n").collect();
        let (sender, mut batches) = mpsc::channel(4);

        read(Importer::new(io::Cursor::new(text), Some(import::Format::Ndjson)), &sender);

        let sizes: Vec<usize> =
            std::iter::from_fn(|| batches.try_recv().ok()).map(|batch| batch.rows.len() + batch.unreadable.len()).collect();
        assert_eq!(sizes, [BATCH, 5]);
    }
}

//! `avert import`: alerts from a file, in batches, each row kept or rejected by itself.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::args::{Format, ImportArgs, ImportFormat};
use super::context::Context;
use super::failure::{Misused, SaidAlready, say};
use super::local::Local;
use super::output::{Output, Report, json};
use crate::domain::{AlertType, IngestOptions, IngestReport, Provider, RejectedRow};
use crate::engine::intake::{self, IntakeError, Taken};
use crate::wire::import;

/// Most rejected rows that are told on stderr.
const MOST_TOLD: u64 = 100;

pub(super) async fn run(context: Context, args: ImportArgs) -> anyhow::Result<()> {
    let (input, size) = open(&args.file, "a file of alerts (JSON, NDJSON or CSV)")?;
    if let Some(rejects) = args.rejects.as_deref().filter(|rejects| same_file(rejects, &args.file)) {
        return Err(Misused(format!("--rejects {}: is the file that is read: name another one", rejects.display())).into());
    }
    let mut rejects = Rejects::new(args.rejects.as_deref())?;
    let local = Local::making(&context).await?;
    let acting = local.acting(context.organization(&args.organization)).await?;
    let options = IngestOptions { events: !args.no_events };
    let format = args.format.map(|format| match format {
        ImportFormat::Json => import::FileFormat::Json,
        ImportFormat::Ndjson => import::FileFormat::Ndjson,
        ImportFormat::Csv => import::FileFormat::Csv,
    });

    let bar = progress(size);
    let mut total = IngestReport::default();
    let told = |mut taken: Taken| {
        // Not kept: a file of a million bad rows must not fill the memory.
        let refused = std::mem::take(&mut taken.report.rejected);
        bar.suspend(|| {
            taken.unknown.fields.iter().for_each(|name| say(&format!("warning: nobody knows the field {name:?}; it is ignored")));
            let strangers = taken.unknown.providers.iter();
            let known = joined(Provider::KNOWN.iter().map(Provider::as_str));
            strangers
                .for_each(|name| say(&format!("warning: nobody knows the provider {name:?}; its alerts are taken in (known: {known})")));
            let types = taken.unknown.types.iter();
            let known = joined(AlertType::KNOWN.iter().map(AlertType::as_str));
            types.for_each(|name| say(&format!("warning: nobody knows the alert type {name:?}; its alerts are taken in (known: {known})")));
            for money in &taken.fractions {
                let (code, number) = (&money.currency, money.number());
                say(&format!("warning: {code} has no decimals, and an amount is {number} {code}; such amounts are taken in as they came"));
            }
            refused.iter().for_each(|row| rejects.put(row));
        });
        total.add(taken.report);
        bar.set_position(taken.read);
        bar.set_message(format!("{} alerts", total.created + total.updated + total.unchanged));
    };
    intake::take_in(&acting, input, format, options, told).await.map_err(|error| match error {
        IntakeError::Service(error) => anyhow::Error::new(error).context("the import stopped; what came before is kept"),
        IntakeError::Reading(error) => anyhow::Error::new(error).context("reading the file failed"),
    })?;
    bar.finish_and_clear();

    let rejected = rejects.finish()?;
    if rejected + total.created + total.updated + total.unchanged == 0 {
        // A day without alerts is no failure.
        say(&format!("nothing to import in {}", if args.file.as_os_str() == "-" { "stdin".into() } else { args.file.to_string_lossy() }));
    }
    print(context.output, &total, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

/// Rejected rows: the first ones on stderr, all of them in a file where one is named.
pub(super) struct Rejects {
    count: u64,
    file: Option<(PathBuf, BufWriter<File>)>,
    /// Why the file cannot be written, once it could not; the import goes on.
    broken: Option<io::Error>,
}

impl Rejects {
    pub(super) fn new(file: Option<&Path>) -> Result<Self, Misused> {
        let open = |path: &Path| {
            let made = private(OpenOptions::new().write(true).create(true).truncate(true)).open(path);
            let file = made.map_err(|error| Misused(format!("--rejects {}: cannot be written: {error}", path.display())))?;
            Ok((path.to_owned(), BufWriter::new(file)))
        };
        Ok(Self { count: 0, file: file.map(open).transpose()?, broken: None })
    }

    pub(super) fn put(&mut self, row: &RejectedRow) {
        self.count += 1;
        if self.count <= MOST_TOLD {
            say(&in_words(row));
        }
        let RejectedRow { line, error } = row;
        if let (Some((_, file)), None) = (&mut self.file, &self.broken) {
            let record = json!({"line": line, "field": error.field, "reason": error.message});
            self.broken = json(&record).map_err(io::Error::from).and_then(|line| writeln!(file, "{line}")).err();
        }
    }

    /// How many there were, when all of them are in the file.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        let more = self.count.saturating_sub(MOST_TOLD);
        let elsewhere = match &self.file {
            Some((path, _)) => format!("all are in {}", path.display()),
            None => "--rejects FILE writes all of them".to_owned(),
        };
        if more > 0 {
            say(&format!("and {more} more rejected rows; {elsewhere}"));
        }
        if let Some((path, file)) = &mut self.file {
            let written = self.broken.take().map_or_else(|| file.flush(), Err);
            written.with_context(|| format!("the rejected rows cannot be written to {}; what was taken in is kept", path.display()))?;
        }
        Ok(self.count)
    }
}

pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Of a new file: nobody else may read it.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// The file, or stdin for `-`, and its size where it has one.
pub(super) fn open(path: &Path, wanted: &str) -> anyhow::Result<(Box<dyn BufRead + Send>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufReader::with_capacity(256 * 1024, io::stdin())), None));
    }
    let unusable = |what: String| Misused(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| unusable(format!("cannot be opened: {error}")))?;
    let metadata = file.metadata().map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(unusable(format!("is a directory: {wanted} is needed")).into());
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(256 * 1024, file)), size))
}

fn in_words(row: &RejectedRow) -> String {
    let RejectedRow { line, error } = row;
    match error.field.as_str() {
        "" => format!("line {line}: {}", error.message),
        field => format!("line {line}: {field} {}", error.message),
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// A bar on stderr where that is a terminal, else nothing.
pub(super) fn progress(size: Option<u64>) -> ProgressBar {
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
pub(super) fn print(output: Output, total: &IngestReport, rejected: u64) -> anyhow::Result<()> {
    let IngestReport { created, updated, unchanged, .. } = total;
    let record = json!({"created": created, "updated": updated, "unchanged": unchanged, "rejected": rejected});
    let words = format!("{created} created, {updated} updated, {unchanged} unchanged, {rejected} rejected");
    let answer = Report::one(record, words);
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
}

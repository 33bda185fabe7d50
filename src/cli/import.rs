//! `avert import`: ingests alerts from a file, in batches, each row kept or rejected by itself.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{
    args::{Format, ImportArgs, NamedColumn},
    context::Context,
    failure::{Misused, SaidAlready, say},
    local::Local,
    output::{Output, Report, json, progress},
};
use crate::{
    desk::{Desk, DeskError, OrderDatabase, begins_with, open_own},
    domain::{IngestOptions, IngestReport, RejectedRow, TruthCounts, UnknownWords},
    engine::intake::{self, IntakeError, Taken},
    wire::import,
};

/// Most rejected rows that are printed on stderr.
const MOST_TOLD: u64 = 100;

pub(super) async fn run(context: Context, args: ImportArgs) -> anyhow::Result<()> {
    let Input { reader, again, size } = open(&args.file)?;
    let mut rejects = Rejects::new(args.rejects.as_deref(), &args.file)?;
    let local = Local::making(&context).await?;
    let acting = local.acting(context.organization()).await?;
    let options = IngestOptions { events: !args.no_events };
    let mut importer = spawn_blocking(move || import::Importer::open(reader, again, args.format)).await?;
    let said = args.reading.conventions();
    let first_row = importer.headers().map(<[String]>::to_vec);
    if let Some(first_row) = &first_row {
        let owner = local.order_owner(acting.caller().organization.organization.id).await?;
        let desk = Desk::open(context.home.desk())?.with_orders_of(Some(owner));
        // A desk that cannot be read gives no headers, and stops no import.
        let names = ColumnNames::of(first_row, &args.map, desk.orders().ok().flatten().as_ref())?;
        if !args.map.is_empty() {
            names.keep(&mut desk.make_orders()?)?;
        }
        importer = spawn_blocking(move || {
            importer.lay_out(&names.all, said);
            importer
        })
        .await?;
    }

    let bar = bytes_read(size);
    let mut total = IngestReport::default();
    let told = |mut taken: Taken| {
        // Not kept: a file of a million bad rows must not fill the memory.
        let refused = std::mem::take(&mut taken.report.rejected);
        bar.suspend(|| {
            let UnknownWords { fields, providers, types } = &taken.unknown;
            fields.iter().for_each(|name| say!("warning: unknown field {name:?}; it is ignored"));
            for (what, names) in [("provider", providers), ("alert type", types)] {
                names.iter().for_each(|name| say!("warning: unknown {what} {name:?}; its alerts are imported"));
            }
            for money in &taken.fractions {
                let (code, number) = (&money.currency, money.number());
                say!(
                    "warning: {code} has no decimals, and an amount is {number} {code}; such amounts are taken in as \
                        they came"
                );
            }
            refused.iter().for_each(|row| rejects.put(row));
        });
        total.add(taken.report);
        bar.set_position(taken.read);
        bar.set_message(format!("{} alerts", total.created + total.updated + total.unchanged));
    };
    intake::take_in(&acting, move || importer, options, told).await.map_err(|error| match error {
        IntakeError::Service(error) => anyhow::Error::new(error).context("the import stopped; earlier rows are kept"),
        IntakeError::Reading(error) => anyhow::Error::new(error).context("reading the file failed"),
    })?;
    bar.finish_and_clear();

    let rejected = rejects.finish()?;
    if rejected + total.created + total.updated + total.unchanged == 0 {
        // An empty file is no failure.
        let named = if args.file.as_os_str() == "-" { "stdin".into() } else { args.file.to_string_lossy() };
        say!("{named} holds no alerts");
    }
    print(context.output, &total, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

/// Headers of columns in a file: of the flags, else of an earlier file with the same first row.
pub(super) struct ColumnNames {
    first_row: Vec<String>,
    given: Vec<NamedColumn>,
    /// Fields with their headers.
    pub(super) all: Vec<(String, String)>,
}

impl ColumnNames {
    /// Collects the headers, and says which of them come from an earlier file.
    pub(super) fn of(
        first_row: &[String],
        given: &[NamedColumn],
        kept: Option<&OrderDatabase>,
    ) -> Result<Self, DeskError> {
        let mut all = kept.map_or_else(|| Ok(BTreeMap::new()), |kept| kept.headers(first_row))?;
        all.retain(|field, _| !given.iter().any(|(named, _)| named == field));
        for (field, header) in &all {
            say!("{field} is the column {header:?}, as named before; --map {field}= takes that back");
        }
        all.extend(given.iter().filter_map(|(field, header)| Some((field.clone(), header.clone()?))));
        Ok(Self { first_row: first_row.to_vec(), given: given.to_vec(), all: all.into_iter().collect() })
    }

    /// Keeps the flags' headers that the file has, for the next file.
    pub(super) fn keep(&self, database: &mut OrderDatabase) -> Result<(), DeskError> {
        let is_there = |header: &Option<String>| {
            header.as_ref().is_none_or(|header| import::place_of(header, &self.first_row).is_some())
        };
        let given: Vec<NamedColumn> = self.given.iter().filter(|(_, header)| is_there(header)).cloned().collect();
        database.keep_headers(&self.first_row, &given)
    }
}

/// Rejected rows: the first ones go to stderr, all of them to a file where one is named.
pub(super) struct Rejects {
    count: u64,
    file: Option<(PathBuf, BufWriter<File>)>,
    /// Error of writing the file, after which the import goes on.
    broken: Option<io::Error>,
}

impl Rejects {
    /// Opens the file for the rejected rows of another file.
    pub(super) fn new(file: Option<&Path>, of: &Path) -> Result<Self, Misused> {
        let open = |path: &Path| {
            if path.canonicalize().is_ok_and(|path| of.canonicalize().is_ok_and(|of| path == of)) {
                return Err(misused!("--rejects {}: is the file that is read: name another one", path.display()));
            }
            let ours = open_own(path, false, |first| begins_with(first, "{\"line\":"));
            let emptied = ours
                .and_then(|file| if file.metadata()?.is_file() { file.set_len(0).map(|()| file) } else { Ok(file) });
            let file = emptied.map_err(|error| misused!("--rejects {}: cannot be written: {error}", path.display()))?;
            Ok((path.to_owned(), BufWriter::new(file)))
        };
        Ok(Self { count: 0, file: file.map(open).transpose()?, broken: None })
    }

    pub(super) fn put(&mut self, row: &RejectedRow) {
        self.count += 1;
        if self.count <= MOST_TOLD {
            say(&import::row_in_words(row));
        }
        let RejectedRow { line, error } = row;
        if let (Some((_, file)), None) = (&mut self.file, &self.broken) {
            let record = json!({"line": line, "field": error.field, "reason": error.message});
            self.broken = json(&record).map_err(io::Error::from).and_then(|line| writeln!(file, "{line}")).err();
        }
    }

    /// Returns the number of rejected rows, once all of them are in the file.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        let more = self.count.saturating_sub(MOST_TOLD);
        let elsewhere = match &self.file {
            Some((path, _)) => format!("all are in {}", path.display()),
            None => "--rejects FILE writes all of them".to_owned(),
        };
        if more > 0 {
            say!("and {more} more rejected rows; {elsewhere}");
        }
        if let Some((path, file)) = &mut self.file {
            let written = self.broken.take().map_or_else(|| file.flush(), Err);
            written.with_context(|| {
                format!("the rejected rows cannot be written to {}; what was imported is kept", path.display())
            })?;
        }
        Ok(self.count)
    }
}

/// Input: a file or stdin.
pub(super) struct Input {
    pub(super) reader: Box<dyn BufRead + Send>,
    /// Second handle on the input, where it is a file.
    pub(super) again: Option<File>,
    pub(super) size: Option<u64>,
}

/// Opens a file, or stdin for `-`.
pub(super) fn open(path: &Path) -> Result<Input, Misused> {
    if path.as_os_str() == "-" {
        return Ok(Input { reader: Box::new(BufReader::new(io::stdin())), again: None, size: None });
    }
    let open = || File::open(path).map_err(|error| misused!("{}: cannot be opened: {error}", path.display()));
    let file = open()?;
    let metadata = file.metadata().map_err(|error| misused!("{}: cannot be read: {error}", path.display()))?;
    if metadata.is_dir() {
        refuse!("{}: is a directory: a file is needed", path.display());
    }
    // A pipe can be read only once.
    let again = metadata.is_file().then(open).transpose()?;
    let size = metadata.is_file().then_some(metadata.len());
    Ok(Input { reader: Box::new(BufReader::with_capacity(256 * 1024, file)), again, size })
}

pub(super) fn bytes_read(size: Option<u64>) -> ProgressBar {
    let of_all = "{bar:32} {bytes}/{total_bytes}  {msg}  {eta} left";
    progress(size, if size.is_some() { of_all } else { "{spinner} {bytes}  {msg}" })
}

/// Prints the counts: as JSON for programs, as a sentence for people.
pub(super) fn print(output: Output, total: &IngestReport, rejected: u64) -> anyhow::Result<()> {
    let IngestReport { created, updated, unchanged, .. } = total;
    let record = json!({"created": created, "updated": updated, "unchanged": unchanged, "rejected": rejected});
    let words = format!("{created} created, {updated} updated, {unchanged} unchanged, {rejected} rejected");
    print_record(output, record, words)
}

/// The same of reports, with those that match an alert.
pub(super) fn print_counts(output: Output, counts: TruthCounts, rejected: u64) -> anyhow::Result<()> {
    let TruthCounts { created, updated, unchanged, matched } = counts;
    let record = json!({"created": created, "updated": updated, "unchanged": unchanged, "rejected": rejected,
        "matched": matched});
    let words =
        format!("{created} created, {updated} updated, {unchanged} unchanged, {rejected} rejected, {matched} matched");
    print_record(output, record, words)
}

fn print_record(output: Output, record: Value, words: String) -> anyhow::Result<()> {
    let answer = Report::one(record, words);
    match output.asked() {
        None if !io::stdout().is_terminal() => output.with(Format::Ndjson).print(&answer),
        _ => output.print(&answer),
    }
}

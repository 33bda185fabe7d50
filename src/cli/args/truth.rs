//! The commands on what becomes known after the answer: `avert disputes`, `refunds`, `held`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    remote::RemoteArgs,
    shared::{NamedColumn, ReadingArgs, named_column},
};
use crate::{
    domain::{TruthKind, truth::HELD_DAYS},
    wire::import::report_columns,
};

/// `avert disputes`.
#[derive(Debug, Subcommand)]
pub(crate) enum DisputesCommand {
    /// Bring disputes in from a CSV and match them to alerts; what is there is brought up to date
    Import(Box<DisputeImportArgs>),
}

/// `avert refunds`.
#[derive(Debug, Subcommand)]
pub(crate) enum RefundsCommand {
    /// Bring refunds in from a CSV and match them to alerts; what is there is brought up to date
    Import(Box<RefundImportArgs>),
}

/// `avert disputes import`.
#[derive(Debug, Args)]
pub(crate) struct DisputeImportArgs {
    /// The header of a column in this file, such as dispute_id=Case; may be given again
    #[arg(long, value_name = "COLUMN=HEADER", value_parser = dispute_header)]
    pub(crate) map: Vec<NamedColumn>,
    #[command(flatten)]
    pub(crate) file: ReportFileArgs,
}

/// `avert refunds import`.
#[derive(Debug, Args)]
pub(crate) struct RefundImportArgs {
    /// The header of a column in this file, such as refund_id=Id; may be given again
    #[arg(long, value_name = "COLUMN=HEADER", value_parser = refund_header)]
    pub(crate) map: Vec<NamedColumn>,
    #[command(flatten)]
    pub(crate) file: ReportFileArgs,
}

/// The file of an import of reports.
#[derive(Debug, Args)]
pub(crate) struct ReportFileArgs {
    /// The file to read, with a header line; - for stdin
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Write every rejected row there too, as NDJSON: line, field, reason. On stderr are the first 100
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// `avert held`.
#[derive(Debug, Args)]
pub(crate) struct HeldArgs {
    /// Over how many days, back from now
    #[arg(long, value_name = "N", default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(HELD_DAYS)))]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

fn dispute_header(text: &str) -> Result<NamedColumn, String> {
    header(TruthKind::Dispute, text)
}

fn refund_header(text: &str) -> Result<NamedColumn, String> {
    header(TruthKind::Refund, text)
}

fn header(kind: TruthKind, text: &str) -> Result<NamedColumn, String> {
    named_column(text, |column| {
        let known: Vec<&str> = report_columns(kind).collect();
        let found = known.iter().find(|name| name.eq_ignore_ascii_case(column)).map(|name| (*name).to_owned());
        found.ok_or_else(|| format!("there is no column {column:?}: {} are there", known.join(", ")))
    })
}

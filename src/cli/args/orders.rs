//! `avert orders`: its verbs and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::remote::{DeskArgs, RemoteArgs};
use super::shared::{NamedColumn, OrganizationArgs, ReadingArgs, named_column};
use crate::domain::OrderField;
use crate::wire::import::OrderPreset;

/// `avert orders`.
#[derive(Debug, Subcommand)]
pub(crate) enum OrdersCommand {
    /// Bring the shop's orders in from a CSV, so that the console shows which order an alert is on; what is there is
    /// brought up to date
    #[command(after_help = COLUMNS)]
    Import(OrderImportArgs),
}

/// What a file of orders holds.
const COLUMNS: &str = "ListColumns: order_id (required), transaction_id, arn, auth_code, card_bin, card_last_four, \
    amount, currency, paid_at, \
                       descriptor, state (paid, shipped, delivered, refunded, cancelled), state_at, refunded_amount. \
                       An empty cell leaves \
                       what is known. Of a card the first six digits and the last four are kept, whatever the file \
                       holds.";

/// `avert orders import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OrderImportArgs {
    /// The file to read, with a header line: a shop's export or any CSV; - for stdin
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: PathBuf,
    /// The header of a column in this file, such as order_id=Name; may be given again. Kept for files with the same
    /// first row, and order_id= takes it back
    #[arg(long, value_name = "COLUMN=HEADER", value_parser = header)]
    pub(crate) map: Vec<NamedColumn>,
    /// Whose export it is: shopify, woocommerce or stripe. Default: what the first row shows
    #[arg(long, value_name = "NAME", value_parser = preset)]
    pub(crate) preset: Option<&'static OrderPreset>,
    /// Show the first five orders as they are understood, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Write every rejected row there too, as NDJSON: line, field, reason. On stderr are the first 100
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) organization: OrganizationArgs,
    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

impl OrdersCommand {
    /// Takes over the flags that stood before the command.
    pub(crate) fn take_remote(&mut self, before: RemoteArgs) {
        let Self::Import(args) = self;
        args.desk = std::mem::take(&mut args.desk).or(before);
    }
}

fn header(text: &str) -> Result<NamedColumn, String> {
    named_column(text, |column| {
        let known: Vec<&str> = OrderField::ALL.iter().map(|field| field.as_str()).collect();
        let found = OrderField::known(column).map(|field| field.as_str().to_owned());
        found.ok_or_else(|| format!("there is no column {column:?}: {} are there", known.join(", ")))
    })
}

fn preset(text: &str) -> Result<&'static OrderPreset, String> {
    let known = || OrderPreset::all().iter().map(|preset| preset.name.as_str()).collect::<Vec<_>>().join(", ");
    OrderPreset::named(text).ok_or_else(|| format!("there is no preset of that name: {} are there", known()))
}

//! The commands that work on the files of a desk: `avert journal`, `orders`, `rules`; and `sales`.

use std::path::PathBuf;

use chrono::{Duration, NaiveDate, NaiveTime};
use clap::{Args, Subcommand};

use super::{
    remote::RemoteArgs,
    shared::{NamedColumn, ReadingArgs, named_column, word_of},
};
use crate::{
    domain::{
        CardScheme, MOST_SALES, MerchantOrder, SalesMonth, Timestamp,
        time::{Clock as _, SystemClock, from_iso},
    },
    wire::import::OrderPreset,
};

/// `avert journal`.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Export the answers given on this machine with their results, for a hand-over
    Export(JournalExportArgs),
}

/// `avert journal export`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JournalExportArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Answers since then: 8h, 2d, 2026-11-23 or 2026-11-23T06:00:00Z. Default: all that is kept, 90 days
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
    /// Only what failed or is not known, and nobody has seen to yet
    #[arg(long)]
    pub(crate) open: bool,
}

/// Reads a moment, or an age before now.
fn moment_or_age(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let ago = |unit: char, minutes: i64| {
        let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
        now.checked_sub_signed(Duration::try_minutes(i64::from(number) * minutes)?)
    };
    let day = || text.parse::<NaiveDate>().ok().map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let found = ago('h', 60).or_else(|| ago('d', 24 * 60)).or_else(|| from_iso(text)).or_else(day);
    found.ok_or_else(|| {
        "8h, 2d, a date such as 2026-11-23 (from midnight UTC), or a moment such as 2026-11-23T06:00:00Z".to_owned()
    })
}

fn since(text: &str) -> Result<Timestamp, String> {
    moment_or_age(text, SystemClock.now())
}

/// `avert orders`.
#[derive(Debug, Subcommand)]
pub(crate) enum OrdersCommand {
    /// Bring the shop's orders in from a CSV, so that the console shows which order an alert is on; what is there is
    /// brought up to date
    Import(OrderImportArgs),
}

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
    /// Origin of the export: shopify, woocommerce or stripe. Default: by the first row
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
    pub(crate) remote: RemoteArgs,
}

fn header(text: &str) -> Result<NamedColumn, String> {
    named_column(text, |column| {
        let known: Vec<&str> = MerchantOrder::FIELDS.iter().map(|field| field.name).collect();
        let found = known.iter().find(|name| name.eq_ignore_ascii_case(column)).map(|name| (*name).to_owned());
        found.ok_or_else(|| format!("there is no column {column:?}: {} are there", known.join(", ")))
    })
}

fn preset(text: &str) -> Result<&'static OrderPreset, String> {
    let known = || OrderPreset::all().iter().map(|preset| preset.name.as_str()).collect::<Vec<_>>().join(", ");
    OrderPreset::named(text).ok_or_else(|| format!("there is no preset of that name: {} are there", known()))
}

/// `avert rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// The rules there are, in the order in which they are asked, with the state of those that answer by themselves.
    /// With the flags of another deployment: the automatic ones of its engine
    List(Box<RemoteArgs>),
    /// Stop all rules that answer by themselves, on every node at once, until they are started
    Stop(Box<RemoteArgs>),
    /// Start them again
    Start(Box<RemoteArgs>),
    /// Say what the rules would have suggested for the alerts of the last days, against the answers given. Nothing is
    /// sent
    Rehearse(Box<RehearseArgs>),
}

/// `avert rules rehearse`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RehearseArgs {
    /// Over how many days, back from now
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3_650))]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// `avert sales`.
#[derive(Debug, Subcommand)]
pub(crate) enum SalesCommand {
    /// Enter the sales of a month, in place of what was entered for it before
    Set(Box<SalesSetArgs>),
}

/// `avert sales set`.
#[derive(Debug, Args)]
pub(crate) struct SalesSetArgs {
    /// The month: 2026-11
    #[arg(value_name = "MONTH")]
    pub(crate) month: SalesMonth,
    /// On whose cards: VAMP measures by the sales of the same month, ECP by those of the month before
    #[arg(long, value_parser = word_of(CardScheme::ALL, CardScheme::as_str))]
    pub(crate) network: CardScheme,
    /// Number of its card-not-present sales
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=MOST_SALES))]
    pub(crate) count: u64,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("8h", "2026-11-23T04:00:00Z")]
    #[case("2d", "2026-11-21T12:00:00Z")]
    #[case("2026-11-23", "2026-11-23T00:00:00Z")]
    #[case("2026-11-23T06:00:00Z", "2026-11-23T06:00:00Z")]
    #[case("2026-11-23T06:00:00+02:00", "2026-11-23T04:00:00Z")]
    fn a_moment_is_fixed_or_so_long_ago(#[case] text: &str, #[case] moment: &str) {
        let now = from_iso("2026-11-23T12:00:00Z").unwrap();

        assert_eq!(moment_or_age(text, now), Ok(from_iso(moment).unwrap()));
    }

    #[rstest]
    #[case("")]
    #[case("h")]
    #[case("-8h")]
    #[case("8")]
    #[case("yesterday")]
    #[case("2026-13-01")]
    fn other_texts_are_refused_with_what_is_allowed(#[case] text: &str) {
        assert!(since(text).is_err_and(|why| why.contains("8h, 2d")));
    }
}

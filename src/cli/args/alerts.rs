//! `avert alerts`: its verbs, and the parameters of the interface as flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{remote::RemoteArgs, shared::ReadingArgs};
use crate::domain::find::MOST_FOUND;

/// `avert alerts`.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertsCommand {
    /// A page of alerts
    List(Box<AlertListArgs>),
    /// One alert with its outcome
    Show(Box<AlertShowArgs>),
    /// Alerts by words in any field: order number, reference, amount, code, card, name, comment; best first
    Find(Box<AlertFindArgs>),
    /// Answer an alert, or many from a file. Final; asks first
    Resolve(Box<AlertResolveArgs>),
    /// Every alert of a filter to stdout or a file, for programs: NDJSON, or --output json, csv
    Export(Box<AlertExportArgs>),
}

/// Flags of `avert alerts show`.
#[derive(Debug, Args)]
pub(crate) struct AlertShowArgs {
    /// The alert's id: its own, or the one that its network gave it
    pub(crate) id: String,
    /// Network of the id, where several have the same: ETHOCA, VERIFI, CDRN
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Flags of `avert alerts find`.
#[derive(Debug, Args)]
pub(crate) struct AlertFindArgs {
    /// The words: all of them have to match, each in any field
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Results at most, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_FOUND)))]
    pub(crate) size: u32,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// `avert alerts list`: every parameter of the interface's list operation.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AlertListArgs {
    /// Filter, as typed in the console: 'status:open provider:ethoca,verifi expires:6 sort:-amount free text'
    #[arg(value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Number of the page, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) page: Option<String>,
    /// Alerts a page, 1 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) size: Option<String>,
    #[command(flatten)]
    pub(crate) filter: AlertFilterArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

impl AlertListArgs {
    /// Returns the interface's parameters with the values given for them.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, &str)> {
        let page = [("page", &self.page), ("size", &self.size)];
        page.into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
            .chain(self.filter.parameters())
            .collect()
    }
}

/// `avert alerts resolve`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AlertResolveArgs {
    /// The alert's id: its own, or the one that its network gave it
    #[arg(required_unless_present = "from")]
    pub(crate) id: Option<String>,
    /// Network of the id, where several have the same: ETHOCA, VERIFI, CDRN
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// refunded, not-refunded or invalid (older dialect: refunded, not-refunded or not-settled)
    #[arg(long, value_name = "WORD", required_unless_present = "from")]
    pub(crate) refunded: Option<String>,
    /// The reason of an invalid alert, such as not-refunded-duplicate (older dialect: what was done, such as stopped)
    #[arg(long, value_name = "WORD")]
    pub(crate) resolution: Option<String>,
    /// Free text, at most 250 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) comments: Option<String>,
    /// The stopped amount, with --resolution partially-stopped (older dialect)
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) amount_stopped: Option<String>,
    /// The refund's id or reference at the payment provider, kept beside an answer refunded (an avert only)
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) refund_reference: Option<String>,
    /// Many answers from a file instead, NDJSON or CSV: id (or provider and providerId), refunded, resolution,
    /// comments. The result of each is printed and written to FILE.results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "provider", "refunded", "resolution", "comments",
        "amount_stopped", "refund_reference"])]
    pub(crate) from: Option<PathBuf>,
    /// With --from: read every alert and say what would be sent, and send nothing
    #[arg(long, requires = "from", conflicts_with_all = ["yes", "resume"])]
    pub(crate) dry_run: bool,
    /// With --from: go on where an earlier run ended, by FILE.results. What was recorded is not sent again, what is
    /// unknown is read
    #[arg(long, requires = "from")]
    pub(crate) resume: bool,
    /// Send it without being asked
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// `avert alerts export`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AlertExportArgs {
    /// Filter, as typed in the console: 'status:open provider:ethoca,verifi from:2026-01-01'
    #[arg(value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Write it to this file, which must not be there yet; until it is whole it is FILE.part
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// With --to: go on with FILE.part where an earlier export broke off
    #[arg(long, requires = "to")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) filter: AlertFilterArgs,
    /// Read each alert by itself: for deployments whose lists leave fields out
    #[arg(long)]
    pub(crate) details: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Filter and order: the interface's parameters.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AlertFilterArgs {
    /// Alert date on or after this UTC day, YYYY-MM-DD
    #[arg(long)]
    pub(crate) start_date: Option<String>,
    /// Alert date on or before this UTC day, YYYY-MM-DD
    #[arg(long)]
    pub(crate) end_date: Option<String>,
    /// Transaction date on or after this UTC day, YYYY-MM-DD
    #[arg(long)]
    pub(crate) transaction_start_date: Option<String>,
    /// Transaction date on or before this UTC day, YYYY-MM-DD
    #[arg(long)]
    pub(crate) transaction_end_date: Option<String>,
    /// ETHOCA, VERIFI, CDRN; several with commas
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Alert types; several with commas
    #[arg(long = "type")]
    pub(crate) alert_type: Option<String>,
    /// OPEN, RESOLVED, REFUNDED, CHARGEBACK, EXPIRED, INVALID; several with commas
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// The merchant descriptor begins with this
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) descriptor: Option<String>,
    /// Stored outcomes such as resolved; several with commas
    #[arg(long)]
    pub(crate) outcome: Option<String>,
    /// Expired or not: true or false
    #[arg(long)]
    pub(crate) expired: Option<String>,
    /// Open, and due within so many hours
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) expires_in: Option<String>,
    /// Company ids; several with commas
    #[arg(long)]
    pub(crate) company_ids: Option<String>,
    /// Property to sort by, such as alertTimeStamp, hoursLeft or amount
    #[arg(long)]
    pub(crate) sort_field: Option<String>,
    /// ASC or DESC
    #[arg(long)]
    pub(crate) sort_order: Option<String>,
    /// Part of a provider id, descriptor, BIN or last four
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) q: Option<String>,
}

impl AlertFilterArgs {
    /// Returns the interface's parameters with the values given for them.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("startDate", &self.start_date),
            ("endDate", &self.end_date),
            ("transactionStartDate", &self.transaction_start_date),
            ("transactionEndDate", &self.transaction_end_date),
            ("provider", &self.provider),
            ("type", &self.alert_type),
            ("status", &self.status),
            ("descriptor", &self.descriptor),
            ("outcome", &self.outcome),
            ("expired", &self.expired),
            ("expiresIn", &self.expires_in),
            ("companyIds", &self.company_ids),
            ("sortField", &self.sort_field),
            ("sortOrder", &self.sort_order),
            ("q", &self.q),
        ];
        all.into_iter().filter_map(|(name, value)| value.as_deref().map(|value| (name, value))).collect()
    }
}

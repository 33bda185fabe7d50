//! `avert sales`: its verbs and their flags.

use clap::{Args, Subcommand, ValueEnum};

use super::remote::RemoteArgs;
use crate::desk::sales::MOST_SALES;
use crate::domain::{CardScheme, SalesMonth};

/// `avert sales`.
#[derive(Debug, Subcommand)]
pub(crate) enum SalesCommand {
    /// Enter the sales of a month, in place of what was entered for it before
    Set(Box<SalesSetArgs>),
    /// What was entered, the newest month first
    List(Box<SalesListArgs>),
}

/// `avert sales set`.
#[derive(Debug, Args)]
pub(crate) struct SalesSetArgs {
    /// The month: 2026-11
    #[arg(value_name = "MONTH")]
    pub(crate) month: SalesMonth,
    /// On whose cards
    #[arg(long, value_enum)]
    pub(crate) network: SchemeName,
    /// How many card-not-present sales it had
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=MOST_SALES))]
    pub(crate) count: u64,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// `avert sales list`.
#[derive(Debug, Args)]
pub(crate) struct SalesListArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// The card schemes with a monitoring programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    /// VAMP: measured by the sales of the same month
    Visa,
    /// ECP: measured by the sales of the month before
    Mastercard,
}

impl From<SchemeName> for CardScheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Visa => Self::Visa,
            SchemeName::Mastercard => Self::Mastercard,
        }
    }
}

impl SalesCommand {
    /// Takes over the flags that stood before the command.
    pub(crate) fn take_remote(&mut self, before: RemoteArgs) {
        let remote = match self {
            Self::Set(args) => &mut args.remote,
            Self::List(args) => &mut args.remote,
        };
        *remote = std::mem::take(remote).or(before);
    }
}

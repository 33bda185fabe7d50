//! `avert attempts`: its verbs and their flags.

use clap::{Args, Subcommand};

use super::shared::OrganizationArgs;

/// `avert attempts`.
#[derive(Debug, Subcommand)]
pub(crate) enum AttemptsCommand {
    /// The decisions that are on their way, unknown or parked
    List {
        #[command(flatten)]
        organization: OrganizationArgs,
    },
    /// Say what became of a parked decision, when the network has been asked. Final; asks first
    Settle(SettleArgs),
}

/// `avert attempts settle`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettleArgs {
    /// The attempt's id, as `avert attempts list` shows it
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) word: Word,
    /// Settle it without being asked
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) organization: OrganizationArgs,
}

/// What the network says of the decision: exactly one of the two.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Word {
    /// The network holds the decision: it becomes the alert's outcome
    #[arg(long)]
    pub(crate) applied: bool,
    /// The network does not hold it and never will: the alert can be answered anew
    #[arg(long)]
    pub(crate) not_applied: bool,
}

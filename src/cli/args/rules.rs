//! `avert rules`: its verbs and their flags.

use clap::{Args, Subcommand};

use super::remote::{DeskArgs, RemoteArgs};
use super::shared::OrganizationArgs;

/// `avert rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// The rules there are, in the order in which they are asked, and which of them stage by themselves
    List(RulesListArgs),
    /// Say what the rules would have suggested for the alerts of the last days, against what was decided. Nothing is
    /// sent
    Rehearse(Box<RehearseArgs>),
}

/// `avert rules list`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RulesListArgs {
    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

/// `avert rules rehearse`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RehearseArgs {
    /// Over how many days, back from now
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3_650))]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) organization: OrganizationArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

impl RulesCommand {
    /// Takes over the flags that stood before the command.
    pub(crate) fn take_remote(&mut self, before: RemoteArgs) {
        match self {
            Self::List(args) => args.desk = std::mem::take(&mut args.desk).or(before),
            Self::Rehearse(args) => args.remote = std::mem::take(&mut args.remote).or(before),
        }
    }
}

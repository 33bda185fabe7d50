//! The clap tree: every command and flag there is.

mod alerts;
mod desk;
mod remote;
mod shared;
mod sources;
mod truth;
mod webhooks;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, parser::ValueSource};

pub(super) use self::alerts::{AlertExportArgs, AlertResolveArgs, AlertsCommand};
#[cfg(test)]
pub(super) use self::alerts::{AlertFilterArgs, AlertListArgs};
#[cfg(test)]
pub(super) use self::remote::AccessArgs;
use self::shared::{ReadingArgs, named_column, word_of};
pub(super) use self::{
    desk::{
        JournalCommand, JournalExportArgs, OrderImportArgs, OrdersCommand, RehearseArgs, RulesCommand, SalesCommand,
    },
    remote::{LoginArgs, LogoutArgs, ProfileAddArgs, ProfilesCommand, RemoteArgs},
    shared::{ConsoleArgs, Everywhere, Format, NamedColumn},
    sources::SourcesCommand,
    truth::{DisputesCommand, HeldArgs, RefundsCommand, ReportFileArgs},
    webhooks::{
        CredentialArgs, WebhookAddArgs, WebhookDeliveriesArgs, WebhookListenArgs, WebhookRedeliverArgs,
        WebhookReplayArgs, WebhookUpdateArgs, WebhooksCommand,
    },
};
use super::failure::Misused;
use crate::{
    config::{Listen, SimulatorFault},
    domain::KeyScope,
    wire::import::{FileFormat, alert_column},
};

/// Chargeback alerts, answered before they become chargebacks.
///
/// Without a command, avert opens the console on the current profile's deployment, else on this machine's own alerts,
/// or with --url on another deployment's. `avert demo` shows everything on alerts that are made up.
#[derive(Debug, Parser)]
#[command(name = "avert", version = env!("AVERT_VERSION"), disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub(super) console: ConsoleArgs,
    #[command(flatten)]
    pub(super) remote: RemoteArgs,
    #[command(flatten)]
    pub(super) everywhere: Everywhere,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

impl Cli {
    /// Returns the clap tree.
    pub(super) fn tree() -> clap::Command {
        Self::command().after_help("Pages of the reference: avert help")
    }

    /// Reads a command line; the error is the help, the version, or a usage error.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = Self::tree().try_get_matches_from(line)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.everywhere.data_dir_by_flag = matches.value_source("data_dir") == Some(ValueSource::CommandLine);
        Ok(cli)
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The console on test alerts that keep coming; nothing is stored
    Demo(DemoArgs),
    /// The console on a profile's deployment, another one's or this machine's own alerts; the same as no command
    Open(Box<OpenArgs>),
    /// The engine and its HTTP interface without a console
    Serve(ServeArgs),
    /// Bring alerts in from a file: JSON, NDJSON or CSV
    Import(ImportArgs),
    /// Made-up alerts by a seed, for a desk that is to be measured or tried at size
    Generate(GenerateArgs),
    /// Organizations: each has its own alerts, keys, clients and webhooks
    #[command(subcommand)]
    Organizations(OrganizationsCommand),
    /// API keys for the HTTP interface
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Client credentials, which get access tokens for the HTTP interface
    #[command(subcommand)]
    Clients(ClientsCommand),
    /// Addresses that are told of new and resolved alerts
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Others whose webhooks become alerts
    #[command(subcommand)]
    Sources(SourcesCommand),
    /// Alerts without a screen: read, answer, export
    #[command(subcommand)]
    Alerts(AlertsCommand),
    /// Deployments by name, with their credentials in the system's keyring
    #[command(subcommand)]
    Profiles(ProfilesCommand),
    /// Save the credential of a profile, once the deployment has accepted it; without a file or a variable it is asked
    /// for
    Login(LoginArgs),
    /// Remove the credentials of a profile from this machine
    Logout(LogoutArgs),
    /// Sales a month by card scheme, which VAMP and ECP are measured by: kept by the engine
    #[command(subcommand)]
    Sales(SalesCommand),
    /// Answers given on this machine, and their results
    #[command(subcommand)]
    Journal(JournalCommand),
    /// The shop's orders, so that the console shows which one an alert is on
    #[command(subcommand)]
    Orders(OrdersCommand),
    /// Disputes that came after alerts
    #[command(subcommand)]
    Disputes(DisputesCommand),
    /// Refunds, as the payment provider tells what became of them
    #[command(subcommand)]
    Refunds(RefundsCommand),
    /// Which answers held: answered alerts, and those disputed afterwards
    Held(Box<HeldArgs>),
    /// The rules that suggest answers or answer by themselves, and what they would have suggested
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Copy everything into one file, verified, also while others work here
    Backup(BackupArgs),
    /// Put a backup in the place of the database; what was there is kept under another name
    Restore(RestoreArgs),
    /// Bring the schema of the database up to date; needed on PostgreSQL before a new version works on it
    Migrate(MigrateArgs),
    /// Copy everything from one database into another, empty one, of either kind
    Copy(CopyArgs),
    /// The keys that avert keeps for itself
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Say what is wrong here and what to do. Exit code 1 where something is
    Doctor(DoctorArgs),
    /// Print the completions of a shell, to be read by it, or install them
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands into a directory, or install them
    Man(ManArgs),
    /// Print a page of the reference
    Help(HelpArgs),
}

impl Command {
    /// Takes the flags of another deployment that stood before the command.
    pub(super) fn take_remote(&mut self, before: RemoteArgs) -> Result<(), Misused> {
        if !before.is_given() {
            return Ok(());
        }
        let remote = match self {
            Self::Open(args) => &mut args.remote,
            Self::Alerts(AlertsCommand::List(args)) => &mut args.remote,
            Self::Alerts(AlertsCommand::Show(args)) => &mut args.remote,
            Self::Alerts(AlertsCommand::Find(args)) => &mut args.remote,
            Self::Alerts(AlertsCommand::Resolve(args)) => &mut args.remote,
            Self::Alerts(AlertsCommand::Export(args)) => &mut args.remote,
            Self::Rules(RulesCommand::Rehearse(args)) => &mut args.remote,
            Self::Rules(RulesCommand::List(args) | RulesCommand::Stop(args) | RulesCommand::Start(args)) => args,
            Self::Sales(SalesCommand::Set(args)) => &mut args.remote,
            Self::Journal(JournalCommand::Export(args)) => &mut args.remote,
            Self::Orders(OrdersCommand::Import(args)) => &mut args.remote,
            Self::Disputes(DisputesCommand::Import(args)) => &mut args.file.remote,
            Self::Refunds(RefundsCommand::Import(args)) => &mut args.file.remote,
            Self::Held(args) => &mut args.remote,
            Self::Login(LoginArgs { profile, .. }) | Self::Logout(LogoutArgs { profile })
                if profile.is_none() && before.is_profile_alone() =>
            {
                *profile = before.profile;
                return Ok(());
            }
            _ => refuse!("the flags of another deployment are none of this command's"),
        };
        if remote.is_given() {
            refuse!("the flags of a deployment stand before the command and behind it: say them at one place");
        }
        *remote = before;
        Ok(())
    }
}

/// `avert backup`.
#[derive(Debug, Clone, Args)]
pub(super) struct BackupArgs {
    /// The file to write. Its checksum goes to FILE.sha256, the key that its secrets are encrypted with to FILE.key
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Replace a file that is there already
    #[arg(long)]
    pub(super) force: bool,
    /// Do not write FILE.key; keep secret.key by other means
    #[arg(long)]
    pub(super) no_key: bool,
}

/// `avert restore`.
#[derive(Debug, Clone, Args)]
pub(super) struct RestoreArgs {
    /// The file that `avert backup` wrote. It is held to the checksum in FILE.sha256
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The key that belongs to it. Default: FILE.key where there is one, else the key that is in place
    #[arg(long, value_name = "KEYFILE")]
    pub(super) key: Option<PathBuf>,
}

/// `avert migrate`.
#[derive(Debug, Clone, Args)]
pub(super) struct MigrateArgs {
    /// Only look. Exit code 0 where nothing waits, 1 where steps do, 4 where the schema is of a newer version
    #[arg(long)]
    pub(super) check: bool,
}

/// `avert copy`.
#[derive(Debug, Clone, Args)]
pub(super) struct CopyArgs {
    /// The database to copy; no avert may be at work on it
    // Read by the command: an error of clap's would repeat the password in it.
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub(super) from: String,
    /// The database to copy to, with nothing in it
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub(super) to: String,
    /// Seal the secrets of the copy with the key in this file, which is made where there is none. Default: the key of
    /// the source
    #[arg(long, value_name = "KEYFILE")]
    pub(super) to_secret_key_file: Option<PathBuf>,
}

/// `avert doctor`.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct DoctorArgs {
    /// First remove what commands that were killed have left
    #[arg(long)]
    pub(super) clean: bool,
}

/// `avert completions`.
#[derive(Debug, Clone, Args)]
pub(super) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
    /// Write them where the shell finds them, below this user's data directory
    #[arg(long)]
    pub(super) install: bool,
}

/// `avert man`.
#[derive(Debug, Clone, Args)]
pub(super) struct ManArgs {
    /// Directory for the pages of all commands
    #[arg(value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Write them where man finds them, below this user's data directory
    #[arg(long, conflicts_with = "directory")]
    pub(super) install: bool,
}

/// `avert help`.
#[derive(Debug, Clone, Args)]
pub(super) struct HelpArgs {
    /// A page of the reference. Default: which pages there are
    #[arg(value_name = "TOPIC")]
    pub(super) topic: Option<String>,
}

/// `avert demo`.
#[derive(Debug, Clone, Args)]
pub(super) struct DemoArgs {
    #[command(flatten)]
    pub(super) console: ConsoleArgs,
    /// Alerts at the start, a quarter of them open
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = clap::value_parser!(u32).range(0..=200_000))]
    pub(super) alerts: u32,
    /// Another seed makes other alerts; the same one the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Rate of new alerts: N/min; 0 for none
    #[arg(long, value_name = "N/min", default_value = "12/min", value_parser = rate)]
    pub(super) rate: f64,
    /// Faults of the networks
    #[arg(long, value_enum, default_value = "slow-cdrn")]
    pub(super) fault: SimulatorFault,
    /// Also answer over HTTP at this address, with a key that is shown
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<Listen>,
}

/// `avert open`.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct OpenArgs {
    /// The profile of a deployment; local for this machine's own alerts. Default: the current one
    #[arg(value_name = "PROFILE", conflicts_with = "profile")]
    pub(super) wanted: Option<String>,
    #[command(flatten)]
    pub(super) console: ConsoleArgs,
    #[command(flatten)]
    pub(super) remote: RemoteArgs,
}

/// `avert serve`.
#[derive(Debug, Clone, Args)]
pub(super) struct ServeArgs {
    /// Address to listen on; port 0 picks a free one. Default: 127.0.0.1:7317 [env: AVERT_LISTEN]
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<Listen>,
    /// The database. Default: avert.db in the data directory [env: AVERT_DATABASE]
    // Read by the command: an error of clap's would repeat the password in it.
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub(super) database: Option<String>,
    /// A further name that requests may carry in their Host header; may be given again [env: AVERT_ALLOW_HOST]
    #[arg(long, value_name = "NAME")]
    pub(super) allow_host: Vec<String>,
    /// Answer in plain HTTP beyond this machine, where others can read keys and alerts on the way
    #[arg(long)]
    pub(super) insecure_http: bool,
}

/// `avert import`.
#[derive(Debug, Clone, Args)]
pub(super) struct ImportArgs {
    /// The file to read; - for stdin
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Format of the file: alerts as the interface writes them, one a line, or a table with the fields' names in its
    /// first line. Default: found out from its beginning
    #[arg(long, value_parser = word_of(FileFormat::ALL, FileFormat::as_str))]
    pub(super) format: Option<FileFormat>,
    /// Write every rejected row there too, as NDJSON: line, field, reason. On stderr are the first 100
    #[arg(long, value_name = "FILE")]
    pub(super) rejects: Option<PathBuf>,
    /// Send no alert.created for what is new
    #[arg(long)]
    pub(super) no_events: bool,
    /// The header of a field in this CSV, such as providerId=Case; may be given again. Kept for files with the same
    /// first row, and providerId= takes it back
    #[arg(long, value_name = "FIELD=HEADER", value_parser = field_header)]
    pub(super) map: Vec<NamedColumn>,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
}

fn field_header(text: &str) -> Result<NamedColumn, String> {
    named_column(text, |field| {
        alert_column(field).ok_or_else(|| format!("there is no field {field:?}: `avert help import` lists them"))
    })
}

/// `avert generate`.
#[derive(Debug, Clone, Args)]
pub(super) struct GenerateArgs {
    /// Alerts of the first organization; every other one gets 6 for each 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=20_000_000))]
    pub(super) alerts: u64,
    /// Number of organizations
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) organizations: u32,
    /// Over how many years the alerts came
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(super) years: u32,
    /// Another seed makes other alerts; the same one the same, but for the day
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
}

/// `avert keys`.
#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a key; it is shown this once
    Create {
        /// Scopes of the key
        #[arg(long, default_value = "alerts", value_parser = scope, value_name = "alerts|operator|alerts,operator")]
        scope: KeyScope,
    },
    /// The keys there are, revoked ones too
    List,
    /// End a key at once
    Revoke {
        /// The key's id, as `avert keys list` shows it
        id: String,
    },
}

/// `avert secrets`.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Put a new key in the place of one, without a stop
    #[command(subcommand)]
    Rotate(RotateCommand),
}

/// `avert secrets rotate`.
#[derive(Debug, Subcommand)]
pub(super) enum RotateCommand {
    /// The key that access tokens are signed with. Tokens of the one before are accepted for 600 s more
    Signing,
    /// The key that credentials, secrets and addresses in the database are encrypted with. Backups made before need the
    /// one before
    Data {
        /// The file with the new key, made where there is none. Needed on PostgreSQL, where every machine has to have
        /// it
        #[arg(long, value_name = "KEYFILE")]
        new_key_file: Option<PathBuf>,
    },
}

/// `avert organizations`.
#[derive(Debug, Subcommand)]
pub(super) enum OrganizationsCommand {
    /// Make an organization
    Create {
        /// Its name, which no other one has
        name: String,
    },
    /// The organizations there are
    List,
}

/// `avert clients`.
#[derive(Debug, Subcommand)]
pub(super) enum ClientsCommand {
    /// Make client credentials; the secret is shown this once
    Create,
    /// The clients there are, revoked ones too
    List,
    /// End a client and every token it has, at once
    Revoke {
        /// The client id, as `avert clients list` shows it
        id: String,
    },
}

fn scope(text: &str) -> Result<KeyScope, String> {
    // Both may be named in either order.
    let both = text.split_once(',').is_some_and(|pair| matches!(pair, ("alerts", "operator") | ("operator", "alerts")));
    match KeyScope::parse(text) {
        _ if both => Ok(KeyScope::Both),
        Some(scope) => Ok(scope),
        None => Err("alerts, operator or alerts,operator is needed".to_owned()),
    }
}

/// Reads the rate at which alerts arrive: a number a minute.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.strip_suffix("/min").unwrap_or(text).trim().parse();
    let rate = rate.ok().filter(|rate| (0.0..=60_000.0).contains(rate));
    rate.ok_or_else(|| "N/min is needed, at most 60000/min".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn read(line: &str) -> Result<Cli, clap::Error> {
        Cli::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_tree_holds_together() {
        Cli::command().debug_assert();
    }

    #[rstest]
    #[case("12/min", 12.0)]
    #[case("12", 12.0)]
    #[case("0", 0.0)]
    #[case("0.5/min", 0.5)]
    fn a_rate_is_a_number_a_minute(#[case] text: &str, #[case] per_minute: f64) {
        assert_eq!(rate(text), Ok(per_minute));
    }

    #[rstest]
    #[case("")]
    #[case("-1/min")]
    #[case("12/hour")]
    #[case("NaN")]
    #[case("inf")]
    #[case("60001/min")]
    #[case("2/s")]
    fn other_texts_are_no_rate(#[case] text: &str) {
        assert!(rate(text).is_err());
    }

    #[test]
    fn a_data_directory_of_the_command_line_is_told_from_one_of_the_environment() {
        for line in ["avert --data-dir d keys list", "avert keys list --data-dir d"] {
            assert!(read(line).unwrap().everywhere.data_dir_by_flag, "{line}");
        }
        assert!(!read("avert keys list").unwrap().everywhere.data_dir_by_flag);
    }

    #[test]
    fn an_endpoint_has_one_credential() {
        let error = read("avert webhooks add http://localhost/ --basic a:b --header-file f").unwrap_err();

        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict);
    }

    #[test]
    fn what_every_command_has_may_stand_before_or_behind_it() {
        assert_eq!(read("avert --output json keys list").unwrap().everywhere.output, Some(Format::Json));
        assert_eq!(read("avert keys list --output json").unwrap().everywhere.output, Some(Format::Json));
    }
}

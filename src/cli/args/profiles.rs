//! `avert profiles`: its verbs and their flags.

use clap::{Args, Subcommand};

use super::{
    connection::{AccessArgs, TlsArgs},
    shared::word_of,
};
use crate::{
    desk::profiles::REFRESH_SECONDS,
    domain::{Dialect, Environment, MAX_PAGE_SIZE},
};

/// `avert profiles`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// Add a deployment under a name; without --url it asks step by step
    Add(Box<ProfileAddArgs>),
    /// The profiles there are
    List,
    /// One profile
    Show {
        /// Its name. Default: the current one
        name: Option<String>,
    },
    /// Say step by step what works with a deployment. Exit code 1 where something does not
    Test {
        /// Its name. Default: the current one
        name: Option<String>,
    },
    /// Make a profile the one that is meant where none is named
    Use {
        /// Its name; local for this machine's own desk
        name: String,
    },
    /// Remove a profile, and its credentials wherever they are
    Remove {
        /// Its name
        name: String,
    },
}

/// `avert profiles add`.
#[derive(Debug, Clone, Default, Args)]
#[command(
    mut_arg("api_key_file", |arg| arg.help("File with its API key, which is read this once and kept in the system's \
        keyring")),
    mut_arg("client_id", |arg| arg.requires("client_secret_file")),
    mut_arg("client_secret_file", |arg| {
        arg.requires("client_id").help("File with the client secret, which is read this once and kept in the system's \
            keyring")
    }),
    mut_arg("operator_key_file", |arg| {
        arg.help("File with a key of scope operator, where it is an avert, kept beside the other credential")
    }),
    mut_arg("client_key", |arg| arg.requires("client_certificate"))
)]
pub(crate) struct ProfileAddArgs {
    /// The name it goes by: letters, digits, -, _ and .
    pub(crate) name: Option<String>,
    /// Its base URL, without /api/v1
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Sandbox or production. Default: what the prefix of an avert's own key or client says, else the console
    /// asks once
    #[arg(long, value_parser = word_of(Environment::ALL, Environment::as_str))]
    pub(crate) environment: Option<Environment>,
    /// The variant of the interface it speaks. Default: current with an API key, older with client credentials
    #[arg(long, value_parser = word_of(Dialect::ALL, Dialect::as_str))]
    pub(crate) dialect: Option<Dialect>,
    /// Nothing can be sent or changed by way of this profile
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Its name for the company filter. Default: companyIds
    #[arg(long, value_name = "NAME")]
    pub(crate) company_parameter: Option<String>,
    /// Alerts that the console asks for at once. Default: 100, the interface's most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PAGE_SIZE)))]
    pub(crate) page_size: Option<u32>,
    /// Seconds between readings of the console's list. Default: by the work, 5 to 60
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32)
            .range(i64::from(*REFRESH_SECONDS.start())..=i64::from(*REFRESH_SECONDS.end())))]
    pub(crate) refresh_seconds: Option<u32>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// Speak plain http to it beyond this machine, where others can read credentials and alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Keep credentials as plain text in secrets.toml, which only you can read, instead of the system's keyring
    #[arg(long)]
    pub(crate) plain_secrets: bool,
}

/// `avert login`.
#[derive(Debug, Clone, Default, Args)]
#[command(
    mut_arg("api_key_file", |arg| {
        arg.help("File with the API key. Without a file it comes from AVERT_API_KEY, else it is asked for")
    }),
    mut_arg("client_id", |arg| arg.help("Client id, for bearer tokens. Default: the profile's")),
    mut_arg("client_secret_file", |arg| {
        arg.help("File with the client secret. Without a file it comes from AVERT_CLIENT_SECRET, else it is asked for")
    }),
    mut_arg("operator_key_file", |arg| {
        arg.help("File with the operator's key. Without a file it comes from AVERT_OPERATOR_KEY, else it is asked for")
    })
)]
pub(crate) struct LoginArgs {
    /// The profile. Default: the current one
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Keep a key of scope operator beside the credential, where the deployment is an avert
    #[arg(long)]
    pub(crate) operator: bool,
    /// Keep it as plain text in secrets.toml, which only you can read, instead of the system's keyring
    #[arg(long)]
    pub(crate) plain_secrets: bool,
}

/// `avert logout`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LogoutArgs {
    /// The profile. Default: the current one
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
}

//! `avert profiles`: its verbs and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::remote::DialectName;
use crate::config::EnvironmentName;
use crate::desk::profiles::REFRESH_SECONDS;
use crate::domain::filter::MAX_PAGE_SIZE;

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
pub(crate) struct ProfileAddArgs {
    /// The name it goes by: letters, digits, -, _ and .
    pub(crate) name: Option<String>,
    /// Its base URL, without /api/v1
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Which of the two worlds it is. Default: what the prefix of an avert's own key or client says, else the console asks once
    #[arg(long, value_enum)]
    pub(crate) environment: Option<EnvironmentName>,
    /// The variant of the interface it speaks. Default: current with an API key, older with client credentials
    #[arg(long, value_enum)]
    pub(crate) dialect: Option<DialectName>,
    /// Nothing can be sent or changed by way of this profile
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Its name for the company filter. Default: companyIds
    #[arg(long, value_name = "NAME")]
    pub(crate) company_parameter: Option<String>,
    /// How many alerts the console asks for at once. Default: 100, the most that the interface gives
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PAGE_SIZE)))]
    pub(crate) page_size: Option<u32>,
    /// How often the console reads its list again. Default: by the work, every 5 to 60 seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(i64::from(*REFRESH_SECONDS.start())..=i64::from(*REFRESH_SECONDS.end())))]
    pub(crate) refresh_seconds: Option<u32>,
    /// File with the certificates (PEM) of the authorities that are trusted with it. Default: those of this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// File with the client certificate (PEM) that it asks for; its private key may be in the same file
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// File with the private key (PEM) of the client certificate
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    pub(crate) client_key: Option<PathBuf>,
    /// Speak plain http to it beyond this machine, where others can read credentials and alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// File with its API key, which is read this once and kept in the system's keyring
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "client_secret_file"])]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Client id, for bearer tokens
    #[arg(long, value_name = "ID", requires = "client_secret_file")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret, which is read this once and kept in the system's keyring
    #[arg(long, value_name = "FILE", requires = "client_id")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// File with a key of scope operator, where it is an avert, kept beside the other credential
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_key_file: Option<PathBuf>,
    /// Keep credentials as plain text in secrets.toml, which only you can read, instead of the system's keyring
    #[arg(long)]
    pub(crate) plain_secrets: bool,
}

/// `avert login`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LoginArgs {
    /// The profile. Default: the current one
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// File with the API key. Without a file it comes from AVERT_API_KEY, else it is asked for
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "client_secret_file"])]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Client id, for bearer tokens. Default: the profile's
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret. Without a file it comes from AVERT_CLIENT_SECRET, else it is asked for
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Keep a key of scope operator beside the credential, where the deployment is an avert
    #[arg(long)]
    pub(crate) operator: bool,
    /// File with that key. Without a file it comes from AVERT_OPERATOR_KEY, else it is asked for
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_key_file: Option<PathBuf>,
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

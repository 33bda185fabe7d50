//! The flags that name another deployment, and those of `avert profiles` and `avert login`, which keep it by a name.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::shared::word_of;
use crate::{
    desk::profiles::REFRESH_SECONDS,
    domain::{Dialect, Environment, MAX_PAGE_SIZE},
    outbound::tls::TlsFiles,
};

/// Deployment other than this machine's own alerts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Another deployment")]
pub(crate) struct RemoteArgs {
    /// The profile of a deployment; local for this machine's own alerts. Default: the current one [env: AVERT_PROFILE]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Its base URL, without /api/v1. Default: this machine's own alerts [env: AVERT_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The variant of the interface it speaks. Default: current with an API key, older with client credentials [env:
    /// AVERT_DIALECT]
    #[arg(long, value_parser = word_of(Dialect::ALL, Dialect::as_str))]
    pub(crate) dialect: Option<Dialect>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Its name for the company filter. Default: companyIds
    #[arg(long, value_name = "NAME")]
    pub(crate) company_parameter: Option<String>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// It is production: the console says so. Default: what the prefix of an avert's own key or client says, else
    /// nothing is claimed
    #[arg(long)]
    pub(crate) production: bool,
    /// Speak plain http to it beyond this machine, where others can read credentials and alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
}

impl RemoteArgs {
    /// Returns whether no other flag than a profile was given.
    pub(crate) fn is_profile_alone(&self) -> bool {
        *self == Self { profile: self.profile.clone(), ..Self::default() }
    }

    /// Returns whether any of these flags was given.
    pub(crate) fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// Credentials for a deployment: an API key or a client, and an operator's key beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct AccessArgs {
    /// File with the API key [env: AVERT_API_KEY_FILE; AVERT_API_KEY holds the key itself]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "client_secret_file"])]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Client id, for bearer tokens [env: AVERT_CLIENT_ID]
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret [env: AVERT_CLIENT_SECRET_FILE; AVERT_CLIENT_SECRET holds the secret itself]
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// File with a key of scope operator, where it is an avert: the console then shows all that it has [env:
    /// AVERT_OPERATOR_KEY_FILE; AVERT_OPERATOR_KEY holds the key itself]
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_key_file: Option<PathBuf>,
}

impl AccessArgs {
    /// Returns the file with the API key, or with the client secret.
    pub(crate) fn credential_file(&self) -> Option<&Path> {
        self.api_key_file.as_deref().or(self.client_secret_file.as_deref())
    }

    /// Returns whether they name a credential, or a part of one, beside the operator's key.
    pub(crate) fn names_credential(&self) -> bool {
        self.credential_file().is_some() || self.client_id.is_some()
    }
}

/// Whom to trust, and which certificate to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct TlsArgs {
    /// File with the certificates (PEM) that are trusted for it, of authorities or its own, and no others. Default:
    /// this machine's authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// File with the client certificate (PEM) that it asks for; its private key may be in the same file
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// File with the private key (PEM) of the client certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,
}

impl TlsArgs {
    /// Returns the TLS files that they name.
    pub(crate) fn files(&self) -> TlsFiles {
        let Self { ca_file, client_certificate, client_key } = self.clone();
        TlsFiles { ca_file, client_certificate, client_key }
    }
}

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
    mut_arg("client_id", |arg| arg.requires("client_secret_file")),
    mut_arg("client_secret_file", |arg| arg.requires("client_id")),
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

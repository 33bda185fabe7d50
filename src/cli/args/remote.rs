//! The flags that name another deployment.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::outbound::tls::TlsFiles;
use crate::wire::Dialect;

/// Which deployment to work on, where it is not this machine's own alerts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Another deployment")]
pub(crate) struct RemoteArgs {
    /// The profile of a deployment; local for this machine's own alerts. Default: the current one [env: AVERT_PROFILE]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Its base URL, without /api/v1. Default: this machine's own alerts [env: AVERT_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The variant of the interface it speaks. Default: current with an API key, older with client credentials [env: AVERT_DIALECT]
    #[arg(long, value_enum)]
    pub(crate) dialect: Option<DialectName>,
    /// File with the API key [env: AVERT_API_KEY holds the key itself]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "client_secret_file"])]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Client id, for bearer tokens [env: AVERT_CLIENT_ID]
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret [env: AVERT_CLIENT_SECRET holds the secret itself]
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// File with a key of scope operator, where it is an avert: the console then shows all that it has [env: AVERT_OPERATOR_KEY holds the
    /// key itself]
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_key_file: Option<PathBuf>,
    /// Its name for the company filter. Default: companyIds
    #[arg(long, value_name = "NAME")]
    pub(crate) company_parameter: Option<String>,
    /// File with the certificates (PEM) of the authorities that are trusted for it, and no others. Default: this machine's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// File with the client certificate (PEM) that it asks for; its private key may be in the same file
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// File with the private key (PEM) of the client certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,
    /// It is production: the console says so. Default: what the prefix of an avert's own key or client says, else nothing is claimed
    #[arg(long)]
    pub(crate) production: bool,
    /// Speak plain http to it beyond this machine, where others can read credentials and alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
}

/// The interface's two variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectName {
    /// API keys, decimals as strings
    Current,
    /// Bearer tokens, decimals as numbers
    Older,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Current => Self::Current,
            DialectName::Older => Self::Older,
        }
    }
}

impl RemoteArgs {
    /// These, and the other ones where these say nothing: flags may stand before the command and behind it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            profile: self.profile.or(other.profile),
            url: self.url.or(other.url),
            dialect: self.dialect.or(other.dialect),
            api_key_file: self.api_key_file.or(other.api_key_file),
            client_id: self.client_id.or(other.client_id),
            client_secret_file: self.client_secret_file.or(other.client_secret_file),
            operator_key_file: self.operator_key_file.or(other.operator_key_file),
            company_parameter: self.company_parameter.or(other.company_parameter),
            ca_file: self.ca_file.or(other.ca_file),
            client_certificate: self.client_certificate.or(other.client_certificate),
            client_key: self.client_key.or(other.client_key),
            production: self.production || other.production,
            insecure_http: self.insecure_http || other.insecure_http,
        }
    }

    /// The files of TLS that they name.
    pub(crate) fn tls_files(&self) -> TlsFiles {
        TlsFiles { ca_file: self.ca_file.clone(), client_certificate: self.client_certificate.clone(), client_key: self.client_key.clone() }
    }

    /// The first of these flags that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.profile.is_some(), "--profile"),
            (self.url.is_some(), "--url"),
            (self.dialect.is_some(), "--dialect"),
            (self.api_key_file.is_some(), "--api-key-file"),
            (self.client_id.is_some(), "--client-id"),
            (self.client_secret_file.is_some(), "--client-secret-file"),
            (self.operator_key_file.is_some(), "--operator-key-file"),
            (self.company_parameter.is_some(), "--company-parameter"),
            (self.ca_file.is_some(), "--ca-file"),
            (self.client_certificate.is_some(), "--client-certificate"),
            (self.client_key.is_some(), "--client-key"),
            (self.production, "--production"),
            (self.insecure_http, "--insecure-http"),
        ];
        given.into_iter().find_map(|(given, flag)| given.then_some(flag))
    }
}

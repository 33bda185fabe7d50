//! The flags that name another deployment.

use clap::Args;

use super::{
    connection::{AccessArgs, TlsArgs},
    shared::{OrganizationArgs, word_of},
};
use crate::wire::Dialect;

/// Help of `--operator-key-file`.
const OPERATOR_KEY_FILE: &str = "File with a key of scope operator, where it is an avert: the console then shows all \
    that it has [env: \
                                 AVERT_OPERATOR_KEY holds the key itself]";

/// Deployment other than this machine's own alerts.
#[derive(Debug, Clone, Default, Args)]
#[command(
    next_help_heading = "Another deployment",
    mut_arg("api_key_file", |arg| arg.help("File with the API key [env: AVERT_API_KEY holds the key itself]")),
    mut_arg("client_id", |arg| arg.help("Client id, for bearer tokens [env: AVERT_CLIENT_ID]")),
    mut_arg("client_secret_file", |arg| arg.help("File with the client secret [env: AVERT_CLIENT_SECRET holds the \
        secret itself]")),
    mut_arg("operator_key_file", |arg| arg.help(OPERATOR_KEY_FILE))
)]
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
    /// Merges these flags with others, which fill in what these leave out: flags may stand before the command and
    /// behind it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            profile: self.profile.or(other.profile),
            url: self.url.or(other.url),
            dialect: self.dialect.or(other.dialect),
            access: self.access.or(other.access),
            company_parameter: self.company_parameter.or(other.company_parameter),
            tls: self.tls.or(other.tls),
            production: self.production || other.production,
            insecure_http: self.insecure_http || other.insecure_http,
        }
    }

    /// Returns the first of these flags that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let Self { access, tls, .. } = self;
        let given = [
            (self.profile.is_some(), "--profile"),
            (self.url.is_some(), "--url"),
            (self.dialect.is_some(), "--dialect"),
            (access.api_key_file.is_some(), "--api-key-file"),
            (access.client_id.is_some(), "--client-id"),
            (access.client_secret_file.is_some(), "--client-secret-file"),
            (access.operator_key_file.is_some(), "--operator-key-file"),
            (self.company_parameter.is_some(), "--company-parameter"),
            (tls.ca_file.is_some(), "--ca-file"),
            (tls.client_certificate.is_some(), "--client-certificate"),
            (tls.client_key.is_some(), "--client-key"),
            (self.production, "--production"),
            (self.insecure_http, "--insecure-http"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
    }
}

/// Alerts that a command works on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) organization: OrganizationArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Desk that a command works on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DeskArgs {
    /// The profile whose desk is meant; local for this machine's own. Default: the current one [env: AVERT_PROFILE]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The base URL of a deployment without a profile, whose desk is meant [env: AVERT_URL]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl DeskArgs {
    /// Merges in the deployment of the flags before the command, where these name none.
    pub(crate) fn or(self, before: RemoteArgs) -> Self {
        Self { profile: self.profile.or(before.profile), url: self.url.or(before.url) }
    }

    /// Returns the flags of the deployment whose desk it is.
    pub(crate) fn remote(&self) -> RemoteArgs {
        RemoteArgs { profile: self.profile.clone(), url: self.url.clone(), ..RemoteArgs::default() }
    }
}

//! Another deployment to work on: which one the flags and the environment name, and a client of it.

use clap::ValueEnum as _;

use super::args::{DialectName, RemoteArgs};
use super::credential_file::read_credential;
use super::failure::Misused;
use crate::client::{AccessCredential, Client, ClientOptions};
use crate::domain::time::SharedClock;
use crate::domain::url::{BaseUrl, PlainHttp};
use crate::domain::{Environment, Secret};
use crate::wire::Dialect;
use crate::wire::query::COMPANY_PARAMETER;

const URL: &str = "AVERT_URL";
const DIALECT: &str = "AVERT_DIALECT";
const API_KEY: &str = "AVERT_API_KEY";
const OPERATOR_KEY: &str = "AVERT_OPERATOR_KEY";
const CLIENT_ID: &str = "AVERT_CLIENT_ID";
const CLIENT_SECRET: &str = "AVERT_CLIENT_SECRET";

/// A remote target: a deployment with its credential.
#[derive(Debug, Clone)]
pub(super) struct RemoteTarget {
    url: BaseUrl,
    pub(super) dialect: Dialect,
    /// What is known of which world it is: a flag says it, or the prefix of an avert's own credential.
    pub(super) environment: Option<Environment>,
    credential: AccessCredential,
    operator_key: Option<Secret>,
    company_parameter: String,
}

impl RemoteArgs {
    /// The deployment that the flags name, else the environment; none means this machine's own alerts.
    pub(super) fn target(&self, lookup: impl Fn(&str) -> Option<String>) -> anyhow::Result<Option<RemoteTarget>> {
        // An empty variable is one that is not set.
        let lookup = |name: &str| lookup(name).filter(|text| !text.is_empty());
        let Some(url) = self.url.clone().or_else(|| lookup(URL)) else {
            let local = Self { dialect: None, ..self.clone() };
            return match local.first_given() {
                Some(flag) => {
                    Err(Misused(format!("{flag} goes with --url (or {URL}): without it this machine's own alerts are meant")).into())
                }
                None => Ok(None),
            };
        };
        let credential = self.credential(lookup)?;
        let operator_key = match &self.operator_key_file {
            Some(file) => Some(read_credential(file)?),
            None => lookup(OPERATOR_KEY),
        };
        let spoken = match self.dialect {
            Some(name) => Some(name),
            None => lookup(DIALECT).map(|text| dialect(&text)).transpose()?,
        };
        let by_credential = match credential {
            AccessCredential::ApiKey(_) => Dialect::Current,
            AccessCredential::ClientCredentials { .. } => Dialect::Older,
        };
        Ok(Some(RemoteTarget {
            url: BaseUrl::parse(&url, PlainHttp::when(self.insecure_http, "say --insecure-http"))
                .map_err(|error| Misused(format!("the base URL {error}")))?,
            dialect: spoken.map_or(by_credential, Dialect::from),
            environment: if self.production { Some(Environment::Production) } else { told_by(&credential) },
            credential,
            operator_key: operator_key.map(|key| Secret::new(key.trim())),
            company_parameter: self.company_parameter.clone().unwrap_or_else(|| COMPANY_PARAMETER.to_owned()),
        }))
    }

    /// The credential of the flags, else of the environment. No error repeats it.
    fn credential(&self, lookup: impl Fn(&str) -> Option<String>) -> anyhow::Result<AccessCredential> {
        let key = match &self.api_key_file {
            Some(file) => Some(read_credential(file)?),
            None if self.client_id.is_some() || self.client_secret_file.is_some() => None,
            None => lookup(API_KEY),
        };
        let (id, secret) = match (&self.api_key_file, &self.client_secret_file) {
            (Some(_), _) => (None, None),
            (None, Some(file)) => (self.client_id.clone().or_else(|| lookup(CLIENT_ID)), Some(read_credential(file)?)),
            (None, None) => (self.client_id.clone().or_else(|| lookup(CLIENT_ID)), lookup(CLIENT_SECRET)),
        };
        match (key, id, secret) {
            (Some(key), None, _) => Ok(AccessCredential::ApiKey(Secret::new(key.trim()))),
            (None, Some(id), Some(secret)) => Ok(AccessCredential::ClientCredentials { id, secret: Secret::new(secret.trim()) }),
            (Some(_), Some(_), _) => Err(Misused(format!("{API_KEY} and {CLIENT_ID} are both set: name one credential by a flag")).into()),
            (None, Some(_), None) => Err(Misused(format!("the client secret is missing: --client-secret-file or {CLIENT_SECRET}")).into()),
            (None, None, Some(_)) => Err(Misused(format!("the client id is missing: --client-id or {CLIENT_ID}")).into()),
            (None, None, None) => Err(Misused(format!(
                "the deployment needs a credential: --api-key-file or {API_KEY}, or --client-id and --client-secret-file (or {CLIENT_ID} and {CLIENT_SECRET})"
            ))
            .into()),
        }
    }
}

impl RemoteTarget {
    /// A client of the deployment. Nothing is sent yet.
    pub(super) fn connect(self, clock: SharedClock) -> anyhow::Result<Client> {
        let options = ClientOptions {
            operator_key: self.operator_key,
            company_parameter: self.company_parameter,
            ..ClientOptions::new(self.url, self.dialect, self.credential, clock)
        };
        Client::new(options).map_err(|error| Misused(error.to_string()).into())
    }
}

/// Which world a credential was made for, where it is one of an avert's: its prefix says so.
fn told_by(credential: &AccessCredential) -> Option<Environment> {
    let text = match credential {
        AccessCredential::ApiKey(key) => key.reveal(),
        AccessCredential::ClientCredentials { id, .. } => id,
    };
    let made_for = |world: &str| ["avk", "avc"].iter().any(|kind| text.starts_with(&format!("{kind}_{world}_")));
    match (made_for("live"), made_for("test")) {
        (true, _) => Some(Environment::Production),
        (_, true) => Some(Environment::Sandbox),
        _ => None,
    }
}

/// An environment variable.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn dialect(text: &str) -> Result<DialectName, Misused> {
    DialectName::from_str(text, true).map_err(|_| Misused(format!("{DIALECT}: {text:?} is not allowed: one of current, older")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn at(url: &str) -> RemoteArgs {
        RemoteArgs { url: Some(url.to_owned()), ..RemoteArgs::default() }
    }

    #[test]
    fn without_an_address_this_machines_own_alerts_are_meant() {
        assert!(RemoteArgs::default().target(none).unwrap().is_none());
        assert!(RemoteArgs::default().target(environment(&[(URL, ""), (API_KEY, "k")])).unwrap().is_none());
    }

    #[test]
    fn the_environment_names_a_deployment_and_its_credential() {
        let target = RemoteArgs::default().target(environment(&[(URL, "https://a.example"), (API_KEY, "k")])).unwrap().unwrap();

        assert!(matches!(&target.credential, AccessCredential::ApiKey(key) if key.reveal() == "k"));
        assert_eq!((target.url.as_str(), target.dialect, target.environment), ("https://a.example", Dialect::Current, None));
    }

    #[rstest]
    #[case(&[(API_KEY, "k")], Dialect::Current)]
    #[case(&[(CLIENT_ID, "i"), (CLIENT_SECRET, "s")], Dialect::Older)]
    #[case(&[(API_KEY, "k"), (DIALECT, "older")], Dialect::Older)]
    #[case(&[(CLIENT_ID, "i"), (CLIENT_SECRET, "s"), (DIALECT, "Current")], Dialect::Current)]
    fn the_dialect_follows_the_credential_unless_it_is_named(#[case] variables: &[(&str, &str)], #[case] dialect: Dialect) {
        assert_eq!(at("https://a.example").target(environment(variables)).unwrap().unwrap().dialect, dialect);
    }

    #[rstest]
    #[case(&[(API_KEY, "k")], false, None)]
    #[case(&[(API_KEY, "avk_live_0_s")], false, Some(Environment::Production))]
    #[case(&[(API_KEY, "avk_test_0_s")], false, Some(Environment::Sandbox))]
    #[case(&[(CLIENT_ID, "avc_live_0"), (CLIENT_SECRET, "s")], false, Some(Environment::Production))]
    #[case(&[(CLIENT_ID, "avc_test_0"), (CLIENT_SECRET, "s")], false, Some(Environment::Sandbox))]
    #[case(&[(CLIENT_ID, "i"), (CLIENT_SECRET, "s")], false, None)]
    #[case(&[(API_KEY, "k")], true, Some(Environment::Production))]
    fn which_world_it_is_is_known_by_the_flag_or_the_credential_alone(
        #[case] variables: &[(&str, &str)],
        #[case] production: bool,
        #[case] known: Option<Environment>,
    ) {
        let args = RemoteArgs { production, ..at("https://a.example") };

        assert_eq!(args.target(environment(variables)).unwrap().unwrap().environment, known);
    }

    #[test]
    fn a_flag_is_stronger_than_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, "from the file\n").unwrap();
        let args = RemoteArgs { api_key_file: Some(file), dialect: Some(DialectName::Older), ..at("https://flag.example") };
        let variables = [(URL, "https://env.example"), (API_KEY, "k"), (CLIENT_ID, "i"), (CLIENT_SECRET, "s"), (DIALECT, "current")];

        let target = args.target(environment(&variables)).unwrap().unwrap();

        assert!(matches!(&target.credential, AccessCredential::ApiKey(key) if key.reveal() == "from the file"));
        assert_eq!((target.url.as_str(), target.dialect), ("https://flag.example", Dialect::Older));
    }

    #[rstest]
    #[case(at("https://a.example"), &[], "needs a credential")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (CLIENT_ID, "i")], "both set")]
    #[case(at("https://a.example"), &[(CLIENT_ID, "i")], "secret is missing")]
    #[case(at("https://a.example"), &[(CLIENT_SECRET, "s3cret")], "id is missing")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (DIALECT, "new")], "one of current, older")]
    #[case(RemoteArgs { production: true, ..RemoteArgs::default() }, &[], "--production goes with --url")]
    #[case(RemoteArgs { client_id: Some("i".into()), ..RemoteArgs::default() }, &[], "--client-id goes with --url")]
    fn what_does_not_name_one_deployment_is_refused_without_the_secret(
        #[case] args: RemoteArgs,
        #[case] variables: &[(&str, &str)],
        #[case] words: &str,
    ) {
        let error = args.target(environment(variables)).unwrap_err().to_string();

        assert!(error.contains(words) && !error.contains("s3cret"), "{error}");
    }
}

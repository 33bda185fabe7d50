//! Another deployment to work on: which one the flags and the environment name, and a client of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum as _;

use super::args::{DialectName, RemoteArgs};
use super::context::Context;
use super::credential_file::{credential_in, read_credential};
use super::failure::Misused;
use super::profile_access::{NamedProfile, PROFILE, ProfileAccess, Withheld};
use crate::client::{AccessCredential, Client, ClientOptions, OperatorProbe};
use crate::desk::{Profile, ProfileName, SecretStorage};
use crate::domain::time::{SharedClock, SystemClock};
use crate::domain::url::{BaseUrl, PlainHttp};
use crate::domain::{AlertQuery, Environment, PageRequest, Secret};
use crate::outbound::tls::TlsFiles;
use crate::service::Deployment;
use crate::wire::Dialect;
use crate::wire::query::COMPANY_PARAMETER;

pub(super) const URL: &str = "AVERT_URL";
const DIALECT: &str = "AVERT_DIALECT";
pub(super) const API_KEY: &str = "AVERT_API_KEY";
pub(super) const OPERATOR_KEY: &str = "AVERT_OPERATOR_KEY";
const CLIENT_ID: &str = "AVERT_CLIENT_ID";
pub(super) const CLIENT_SECRET: &str = "AVERT_CLIENT_SECRET";

/// The variables that name a credential for whatever deployment is meant.
pub(super) const CREDENTIAL_VARIABLES: [&str; 4] = [API_KEY, OPERATOR_KEY, CLIENT_ID, CLIENT_SECRET];

/// The variable that names a credential here, which would go to every deployment that is opened.
pub(super) fn credential_variable() -> Option<&'static str> {
    CREDENTIAL_VARIABLES.into_iter().find(|name| variable(name).is_some_and(|text| !text.is_empty()))
}

/// A remote target: a deployment with its credential.
#[derive(Debug, Clone)]
pub(super) struct RemoteTarget {
    /// The profile that names it.
    pub(super) profile: Option<ProfileName>,
    pub(super) url: BaseUrl,
    pub(super) dialect: Dialect,
    /// What is known of which world it is: a flag or a profile says it, or the prefix of an avert's own credential.
    pub(super) environment: Option<Environment>,
    /// Whether nothing may be sent or changed there.
    pub(super) read_only: bool,
    /// How many alerts the console asks for at once, where the profile says it.
    pub(super) page_size: Option<u32>,
    /// How often the console reads its list again, where the profile says it.
    pub(super) refresh: Option<Duration>,
    /// The rules that stage by themselves in its console, where the profile names any.
    pub(super) auto_rules: Vec<String>,
    /// Where the credential came from.
    pub(super) credential_source: CredentialSource,
    credential: AccessCredential,
    operator_key: Option<Secret>,
    company_parameter: String,
    tls: TlsFiles,
    /// Who works here, told to an avert.
    person: Option<String>,
}

/// Where the credential of a remote target came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CredentialSource {
    /// A file that a flag names.
    Flag,
    Environment,
    /// It is kept with the profile.
    Kept(SecretStorage),
    /// It was typed, and is kept nowhere.
    Typed,
}

/// Where a command works.
enum Meant {
    ThisMachine,
    Address(String),
    Profile(NamedProfile),
}

impl RemoteArgs {
    /// The deployment that the flags name, else the environment, else the current profile; none means this machine's
    /// own alerts.
    pub(super) fn target(
        &self,
        access: Option<&ProfileAccess>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<RemoteTarget>> {
        // An empty variable is one that is not set.
        let lookup = |name: &str| lookup(name).filter(|text| !text.is_empty());
        let profile = self.meant_profile(access, &lookup)?;
        let url = match &profile {
            Meant::Profile(named) => named.profile.url.clone(),
            Meant::Address(url) => url.clone(),
            Meant::ThisMachine => {
                let local = Self { dialect: None, profile: None, ..self.clone() };
                return match local.first_given() {
                    Some(flag) => Err(misused!(
                        "{flag} goes with --url (or {URL}) or a profile: without them this machine's own alerts are \
                            meant"
                    )
                    .into()),
                    None => Ok(None),
                };
            }
        };
        let (name, profile) = match profile {
            Meant::Profile(named) => (Some(named.name), named.profile),
            _ => (None, Profile::default()),
        };
        let by_flag =
            if self.access.names_credential() { CredentialSource::Flag } else { CredentialSource::Environment };
        let (credential, credential_source) =
            match (self.credential(profile.client_id.as_deref(), lookup)?, &name, access) {
                (Some(credential), ..) => (credential, by_flag),
                (None, Some(name), Some(access)) => {
                    let (secret, storage) = access.credential(name, &profile)?;
                    (
                        access_credential(profile.client_id.clone(), secret),
                        storage.map_or(CredentialSource::Typed, CredentialSource::Kept),
                    )
                }
                (None, ..) => return Err(no_credential()),
            };
        let operator_key = match &self.access.operator_key_file {
            Some(file) => Some(credential_in(file)?),
            None => lookup(OPERATOR_KEY).map(|key| Secret::new(key.trim())),
        };
        let spoken = match self.dialect {
            Some(name) => Some(name),
            None => lookup(DIALECT).map(|text| dialect(&text)).transpose()?,
        };
        let prefix = told([Some(name_in(&credential)), operator_key.as_ref().map(Secret::reveal)]);
        // A flag and the environment are stronger than the profile.
        let profile = Profile {
            insecure_http: self.insecure_http || profile.insecure_http,
            dialect: spoken.map(Dialect::from).or(profile.dialect),
            environment: match (self.production, prefix) {
                (true, _) | (_, Some(Environment::Production)) => Some(Environment::Production),
                (false, prefix) => profile.environment.or(prefix),
            },
            company_parameter: self.company_parameter.clone().or(profile.company_parameter),
            ..profile
        };
        let target = RemoteTarget::new(&url, name, profile, credential, credential_source)?;
        let tls = self.tls.files().or(target.tls.clone());
        Ok(Some(RemoteTarget { operator_key, tls, ..target }))
    }

    /// Whether this machine's own alerts are meant.
    pub(super) fn means_this_machine(
        &self,
        context: &Context,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<bool> {
        let lookup = |name: &str| lookup(name).filter(|text| !text.is_empty());
        Ok(matches!(self.meant_profile(context.profiles.as_ref(), &lookup)?, Meant::ThisMachine))
    }

    /// The desk of the deployment that is meant. Nothing is asked of that, and so no credential is needed.
    pub(super) fn desk(&self, context: &Context, lookup: impl Fn(&str) -> Option<String>) -> anyhow::Result<PathBuf> {
        let lookup = |name: &str| lookup(name).filter(|text| !text.is_empty());
        let (name, url) = match self.meant_profile(context.profiles.as_ref(), &lookup)? {
            Meant::ThisMachine => return Ok(context.desk()),
            Meant::Address(url) => (None, url),
            Meant::Profile(named) => (Some(named.name), named.profile.url),
        };
        // Nothing is sent there.
        let url = BaseUrl::parse(&url, PlainHttp::Allowed).map_err(|error| misused!("the base URL {error}"))?;
        Ok(context.desk_of_deployment(name.as_ref(), &url))
    }

    /// The names of the rules that stage by themselves on the deployment's alerts, as a console on it would take them,
    /// and who names them.
    pub(super) fn acting_rules(
        &self,
        context: &Context,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<(Vec<String>, String)> {
        let lookup = |name: &str| lookup(name).filter(|text| !text.is_empty());
        Ok(match self.meant_profile(context.profiles.as_ref(), &lookup)? {
            Meant::ThisMachine => (context.settings.console.auto_rules.clone(), "auto_rules in [console]".to_owned()),
            Meant::Address(_) => Default::default(),
            // Nothing is staged where nothing may be sent.
            Meant::Profile(named) if named.profile.read_only => Default::default(),
            Meant::Profile(named) => (named.profile.auto_rules, format!("auto_rules of profile {}", named.name)),
        })
    }

    /// What is meant: a flag is stronger than the environment, and that is stronger than the current profile.
    fn meant_profile(
        &self,
        access: Option<&ProfileAccess>,
        lookup: &impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Meant> {
        let by_variable = || lookup(PROFILE).filter(|_| self.profile.is_none());
        let named = match (&self.profile, &self.url) {
            (Some(_), Some(_)) => {
                refuse!("--profile and --url name a deployment each: say one of them");
            }
            (Some(name), None) => Some(name.clone()),
            (None, url) => match by_variable() {
                Some(_) if url.is_some() || lookup(URL).is_some() => {
                    let other = if url.is_some() { "--url" } else { URL };
                    refuse!("{PROFILE} and {other} name a deployment each: say one of them");
                }
                named => named,
            },
        };
        let found = match (named, self.url.clone().or_else(|| lookup(URL))) {
            (Some(name), _) => match access {
                Some(access) => access.named(&name)?,
                None => refuse!("there is no home directory, and so no profile {name}"),
            },
            (None, Some(url)) => return Ok(Meant::Address(url)),
            (None, None) => access.map_or(Ok(None), ProfileAccess::current)?,
        };
        Ok(found.map_or(Meant::ThisMachine, Meant::Profile))
    }

    /// The credential of the flags, else of the environment, if they name one. No error repeats it.
    fn credential(
        &self,
        client_id: Option<&str>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<AccessCredential>> {
        let key = match &self.access.api_key_file {
            Some(file) => Some(read_credential(file)?),
            None if self.access.names_credential() => None,
            None => lookup(API_KEY),
        };
        let (id, secret) = match (&self.access.api_key_file, &self.access.client_secret_file) {
            (Some(_), _) => (None, None),
            (None, Some(file)) => {
                (self.access.client_id.clone().or_else(|| lookup(CLIENT_ID)), Some(read_credential(file)?))
            }
            (None, None) => (self.access.client_id.clone().or_else(|| lookup(CLIENT_ID)), lookup(CLIENT_SECRET)),
        };
        // A secret alone goes with the client of the profile.
        let id = id.or_else(|| client_id.filter(|_| secret.is_some()).map(str::to_owned));
        match (key, id, secret) {
            (Some(key), None, _) => Ok(Some(AccessCredential::ApiKey(Secret::new(key.trim())))),
            (None, Some(id), Some(secret)) => Ok(Some(access_credential(Some(id), Secret::new(secret.trim())))),
            (Some(_), Some(_), _) => {
                Err(misused!("{API_KEY} and {CLIENT_ID} are both set: name one credential by a flag").into())
            }
            (None, Some(_), None) => {
                Err(misused!("the client secret is missing: --client-secret-file or {CLIENT_SECRET}").into())
            }
            (None, None, Some(_)) => Err(misused!("the client id is missing: --client-id or {CLIENT_ID}").into()),
            (None, None, None) => Ok(None),
        }
    }
}

impl RemoteTarget {
    /// The deployment of a profile, with a credential that is not kept yet.
    pub(super) fn of_profile(NamedProfile { name, profile }: &NamedProfile, secret: Secret) -> anyhow::Result<Self> {
        let credential = access_credential(profile.client_id.clone(), secret);
        Self::new(&profile.url, Some(name.clone()), profile.clone(), credential, CredentialSource::Typed)
    }

    /// The deployment at an address, set up as a profile says, which is an empty one where none is meant.
    fn new(
        url: &str,
        name: Option<ProfileName>,
        profile: Profile,
        credential: AccessCredential,
        credential_source: CredentialSource,
    ) -> anyhow::Result<Self> {
        let plain_http = PlainHttp::when(profile.insecure_http, "say --insecure-http");
        let by_credential = match credential {
            AccessCredential::ApiKey(_) => Dialect::Current,
            AccessCredential::ClientCredentials { .. } => Dialect::Older,
        };
        Ok(Self {
            profile: name,
            url: BaseUrl::parse(url, plain_http).map_err(|error| misused!("the base URL {error}"))?,
            dialect: profile.dialect.unwrap_or(by_credential),
            environment: profile.environment,
            read_only: profile.read_only,
            page_size: profile.page_size,
            refresh: profile.refresh_seconds.map(|seconds| Duration::from_secs(seconds.into())),
            tls: TlsFiles {
                ca_file: profile.ca_file,
                client_certificate: profile.client_certificate,
                client_key: profile.client_key,
            },
            auto_rules: profile.auto_rules,
            credential_source,
            credential,
            operator_key: None,
            company_parameter: profile.company_parameter.unwrap_or_else(|| COMPANY_PARAMETER.to_owned()),
            person: None,
        })
    }

    /// What it is called in the head of the console and in the journal.
    pub(super) fn name(&self) -> String {
        self.profile.as_ref().map_or_else(|| self.url.host(), ToString::to_string)
    }

    /// Which deployment it is, and by whose credential: `https://shop.example as profile shop`.
    pub(super) fn place(&self) -> String {
        match &self.profile {
            Some(name) => format!("{} as profile {name}", self.url),
            None => self.url.to_string(),
        }
    }

    /// The same with the operator's key that is kept for its profile, where none was named; and why it is not known
    /// whether one is kept.
    pub(super) fn with_kept_operator_key(
        mut self,
        access: Option<&ProfileAccess>,
    ) -> anyhow::Result<(Self, Option<Withheld>)> {
        let (None, Some(name), Some(access)) = (&self.operator_key, &self.profile, access) else {
            return Ok((self, None));
        };
        match access.operator_key(name) {
            Ok(found) => self.operator_key = found,
            Err(error) => return error.downcast().map(|withheld| (self, Some(withheld))),
        }
        Ok((self, None))
    }

    /// The same with an operator's key.
    pub(super) fn with_operator_key(self, key: Secret) -> Self {
        Self { operator_key: Some(key), ..self }
    }

    /// The same with its API key as the operator's too, which it may be where none was named. A key that is none of an
    /// avert's goes nowhere but to the interface's own routes.
    pub(super) fn by_one_key(&self) -> Option<Self> {
        let AccessCredential::ApiKey(key) = &self.credential else { return None };
        let may_be_both = self.operator_key.is_none() && told([Some(key.reveal())]).is_some();
        may_be_both.then(|| self.clone().with_operator_key(key.clone()))
    }

    /// The same with its API key as the operator's too, where the deployment is an avert that takes it as one.
    pub(super) async fn with_key_of_both_scopes(self) -> anyhow::Result<Self> {
        let Some(both) = self.by_one_key() else { return Ok(self) };
        let (client, _) = both.clone().connect(Arc::new(SystemClock))?;
        match client.probe_operator().await {
            Ok(OperatorProbe::Operator { .. }) => Ok(both),
            Ok(OperatorProbe::Refused(_) | OperatorProbe::Absent) | Err(_) => Ok(self),
        }
    }

    /// The same, who says to be this person where it is an avert.
    pub(super) fn by_person(self, person: Option<String>) -> Self {
        Self { person, ..self }
    }

    /// A client of the deployment, and the deployment as it may be used. Nothing is sent yet.
    pub(super) fn connect(self, clock: SharedClock) -> anyhow::Result<(Client, Deployment)> {
        let options = ClientOptions {
            operator_key: self.operator_key,
            person: self.person,
            company_parameter: self.company_parameter,
            tls: self.tls,
            ..ClientOptions::new(self.url, self.dialect, self.credential, clock)
        };
        let client = Client::new(options).map_err(|error| Misused(error.to_string()))?;
        let deployment = client.deployment();
        Ok((client, if self.read_only { deployment.read_only() } else { deployment }))
    }

    /// Asks the deployment for what only an operator is told: whose it is.
    pub(super) async fn try_operator_key(self) -> anyhow::Result<String> {
        let (_, deployment) = self.connect(Arc::new(SystemClock))?;
        match deployment.credentials {
            Some(credentials) => Ok(credentials.credentials().await?.organization),
            None => Err(misused!("there is no operator's key to try").into()),
        }
    }

    /// Asks the deployment for one alert: how many it has, or why it does not say.
    pub(super) async fn try_out(self) -> anyhow::Result<u64> {
        let (_, deployment) = self.connect(Arc::new(SystemClock))?;
        let query = AlertQuery { page: PageRequest { page: 0, size: 1 }, ..AlertQuery::default() };
        Ok(deployment.alerts.list(&query).await?.total)
    }
}

/// A credential by its kind: with a client id it is the secret of that client, else an API key.
fn access_credential(client_id: Option<String>, secret: Secret) -> AccessCredential {
    match client_id {
        Some(id) => AccessCredential::ClientCredentials { id, secret },
        None => AccessCredential::ApiKey(secret),
    }
}

/// The part of a credential whose prefix tells what it was made for.
fn name_in(credential: &AccessCredential) -> &str {
    match credential {
        AccessCredential::ApiKey(key) => key.reveal(),
        AccessCredential::ClientCredentials { id, .. } => id,
    }
}

/// Which world credentials were made for, where they are an avert's: their prefix says so. One of production is enough.
pub(super) fn told<const N: usize>(credentials: [Option<&str>; N]) -> Option<Environment> {
    let made_for = |environment: Environment| {
        let prefixes = ["avk", "avc"].map(|kind| format!("{kind}_{}_", environment.in_credentials()));
        credentials.iter().flatten().any(|text| prefixes.iter().any(|prefix| text.starts_with(prefix)))
    };
    [Environment::Production, Environment::Sandbox].into_iter().find(|environment| made_for(*environment))
}

/// Refuses a credential of the other world than the one that was named.
pub(super) fn check_world(said: Option<Environment>, told: Option<Environment>) -> Result<(), Misused> {
    match (said, told) {
        (Some(said), Some(told)) if said != told => {
            let (said, told) = (said.as_str(), told.as_str());
            Err(misused!("the environment is said to be {said}, and the prefix of the credential says {told}"))
        }
        _ => Ok(()),
    }
}

/// Whether the environment names a credential for this profile, which beats one that is kept.
pub(super) fn names_credential(profile: &Profile, lookup: &impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| lookup(name).is_some_and(|text| !text.is_empty());
    set(API_KEY) || set(CLIENT_SECRET) && (set(CLIENT_ID) || profile.client_id.is_some())
}

fn no_credential() -> anyhow::Error {
    misused!(
        "the deployment needs a credential: --api-key-file or {API_KEY}, or --client-id and --client-secret-file (or \
            {CLIENT_ID} and {CLIENT_SECRET})"
    )
    .into()
}

/// An environment variable.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn dialect(text: &str) -> Result<DialectName, Misused> {
    DialectName::from_str(text, true).map_err(|_| misused!("{DIALECT}: {text:?} is not allowed: one of current, older"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::cli::args::AccessArgs;
    use crate::desk::{ProfileList, Profiles, Secrets};

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
        assert!(RemoteArgs::default().target(None, none).unwrap().is_none());
        assert!(RemoteArgs::default().target(None, environment(&[(URL, ""), (API_KEY, "k")])).unwrap().is_none());
    }

    #[test]
    fn the_environment_names_a_deployment_and_its_credential() {
        let target = RemoteArgs::default()
            .target(None, environment(&[(URL, "https://a.example"), (API_KEY, "k")]))
            .unwrap()
            .unwrap();

        assert!(matches!(&target.credential, AccessCredential::ApiKey(key) if key.reveal() == "k"));
        assert_eq!(
            (target.url.as_str(), target.dialect, target.environment),
            ("https://a.example", Dialect::Current, None)
        );
    }

    #[rstest]
    #[case(&[(API_KEY, "k")], Dialect::Current)]
    #[case(&[(CLIENT_ID, "i"), (CLIENT_SECRET, "s")], Dialect::Older)]
    #[case(&[(API_KEY, "k"), (DIALECT, "older")], Dialect::Older)]
    #[case(&[(CLIENT_ID, "i"), (CLIENT_SECRET, "s"), (DIALECT, "Current")], Dialect::Current)]
    fn the_dialect_follows_the_credential_unless_it_is_named(
        #[case] variables: &[(&str, &str)],
        #[case] dialect: Dialect,
    ) {
        assert_eq!(at("https://a.example").target(None, environment(variables)).unwrap().unwrap().dialect, dialect);
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

        assert_eq!(args.target(None, environment(variables)).unwrap().unwrap().environment, known);
    }

    #[test]
    fn a_flag_is_stronger_than_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, "from the file\n").unwrap();
        let args = RemoteArgs {
            access: AccessArgs { api_key_file: Some(file), ..AccessArgs::default() },
            dialect: Some(DialectName::Older),
            ..at("https://flag.example")
        };
        let variables = [
            (URL, "https://env.example"),
            (API_KEY, "k"),
            (CLIENT_ID, "i"),
            (CLIENT_SECRET, "s"),
            (DIALECT, "current"),
        ];

        let target = args.target(None, environment(&variables)).unwrap().unwrap();

        assert!(matches!(&target.credential, AccessCredential::ApiKey(key) if key.reveal() == "from the file"));
        assert_eq!((target.url.as_str(), target.dialect), ("https://flag.example", Dialect::Older));
    }

    #[test]
    fn a_profile_says_how_often_its_list_is_read_and_how_much_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let (profiles, secrets) = (Profiles::of(directory.path()), Secrets::of(directory.path()));
        let access = ProfileAccess { profiles, secrets, sets_current_aside: false, asks: false };
        let profile = Profile {
            url: "https://a.example".to_owned(),
            refresh_seconds: Some(5),
            page_size: Some(25),
            ..Profile::default()
        };
        let keep = |list: &mut ProfileList| {
            list.all.insert("shop".parse().unwrap(), profile);
            Ok::<_, anyhow::Error>(())
        };
        access.profiles.change(keep).unwrap();
        let args = RemoteArgs { profile: Some("shop".to_owned()), ..RemoteArgs::default() };

        let target = args.target(Some(&access), environment(&[(API_KEY, "k")])).unwrap().unwrap();

        assert_eq!((target.refresh, target.page_size), (Some(Duration::from_secs(5)), Some(25)));
    }

    #[rstest]
    #[case(at("https://a.example"), &[], "needs a credential")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (CLIENT_ID, "i")], "both set")]
    #[case(at("https://a.example"), &[(CLIENT_ID, "i")], "secret is missing")]
    #[case(at("https://a.example"), &[(CLIENT_SECRET, "s3cret")], "id is missing")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (DIALECT, "new")], "one of current, older")]
    #[case(RemoteArgs { production: true, ..RemoteArgs::default() }, &[], "--production goes with --url")]
    #[case(RemoteArgs { access: AccessArgs { client_id: Some("i".into()), ..AccessArgs::default() },
        ..RemoteArgs::default() }, &[], "--client-id goes with --url")]
    fn what_does_not_name_one_deployment_is_refused_without_the_secret(
        #[case] args: RemoteArgs,
        #[case] variables: &[(&str, &str)],
        #[case] words: &str,
    ) {
        let error = args.target(None, environment(variables)).unwrap_err().to_string();

        assert!(error.contains(words) && !error.contains("s3cret"), "{error}");
    }
}

//! Remote target: the deployment that flags and environment name, and its client.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    args::RemoteArgs,
    ask::{credential_in, read_credential},
    context::Context,
    failure::Misused,
    process::{variable, without_empty},
    profile_access::{NamedProfile, PROFILE, ProfileAccess},
    secret_variables::{API_KEY, CLIENT_SECRET, OPERATOR_KEY, SecretVariable},
};
use crate::{
    client::{AccessCredential, Client, ClientOptions, OperatorProbe},
    desk::{Profile, ProfileName, SecretStorage},
    domain::{
        AlertQuery, Environment, PageRequest, Secret,
        time::{SharedClock, SystemClock},
        url::{BaseUrl, PlainHttp},
    },
    outbound::tls::TlsFiles,
    service::Deployment,
    wire::{Dialect, query::COMPANY_PARAMETER},
};

pub(super) const URL: &str = "AVERT_URL";
const DIALECT: &str = "AVERT_DIALECT";
const CLIENT_ID: &str = "AVERT_CLIENT_ID";

/// Origin of a credential that was typed.
const TYPED: &str = "typed and kept nowhere: `avert login` keeps it";

/// Longest wait for a deployment to say whether a key is an operator's.
const ASKED_FOR: Duration = Duration::from_secs(2);

/// Returns the variable that names a credential here, which would go to every deployment that is opened.
pub(super) fn credential_variable() -> Option<&'static str> {
    let secret = [API_KEY, OPERATOR_KEY, CLIENT_SECRET].into_iter().find_map(SecretVariable::set);
    secret.or_else(|| Some(CLIENT_ID).filter(|name| variable(name).is_some()))
}

/// Remote target: a deployment with its credential.
#[derive(Debug, Clone)]
pub(super) struct RemoteTarget {
    /// Name of its profile; `None` for an address.
    pub(super) named: Option<ProfileName>,
    pub(super) url: BaseUrl,
    pub(super) dialect: Dialect,
    /// Profile, overridden by flags and environment; an otherwise empty one for an address.
    pub(super) profile: Profile,
    /// Origin of the credential, in words.
    pub(super) credential_origin: &'static str,
    credential: AccessCredential,
    operator_key: Option<Secret>,
}

/// Target of a command.
enum Meant {
    ThisMachine,
    Address(String),
    Profile(NamedProfile),
}

impl RemoteArgs {
    /// Returns the deployment that the flags name, else the environment, else the current profile. `None` means this
    /// machine's own alerts.
    pub(super) fn target(
        &self,
        access: Option<&ProfileAccess>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<RemoteTarget>> {
        let lookup = without_empty(lookup);
        let (name, profile) = match self.meant_profile(access, &lookup)? {
            Meant::Profile(named) => (Some(named.name), named.profile),
            Meant::Address(url) => (None, Profile { url, ..Profile::default() }),
            Meant::ThisMachine => {
                if (Self { dialect: None, profile: None, ..self.clone() }).is_given() {
                    refuse!("the flags of another deployment go with --url (or {URL}) or a profile");
                }
                return Ok(None);
            }
        };
        let (credential, origin) = match (self.credential(profile.client_id.as_deref(), &lookup)?, &name, access) {
            (Some(credential), ..) if self.access.names_credential() => {
                (credential, "read from the file that a flag names")
            }
            (Some(credential), ..) => (credential, "read from the environment"),
            (None, Some(name), Some(access)) => {
                let (secret, storage) = access.credential(name, &profile)?;
                let origin = match storage {
                    Some(SecretStorage::Keyring) => "kept in the system's keyring",
                    Some(SecretStorage::PlainFile) => "kept as plain text in secrets.toml, which only you can read",
                    None => TYPED,
                };
                (access_credential(profile.client_id.clone(), secret), origin)
            }
            (None, ..) => refuse!(
                "the deployment needs a credential: --api-key-file or {API_KEY}, or --client-id and \
                    --client-secret-file (or {CLIENT_ID} and {CLIENT_SECRET})"
            ),
        };
        let operator_key = match &self.access.operator_key_file {
            Some(file) => Some(credential_in(file)?),
            None => OPERATOR_KEY.read(&lookup)?.map(|key| Secret::new(key.trim())),
        };
        let dialect = match self.dialect {
            Some(name) => Some(name),
            None => lookup(DIALECT).map(|text| dialect(&text)).transpose()?,
        };
        let by_prefix = told([Some(name_in(&credential)), operator_key.as_ref().map(Secret::reveal)]);
        // A flag and the environment override the profile.
        let TlsFiles { ca_file, client_certificate, client_key } = self.tls.files().or(tls_of(&profile));
        let profile = Profile {
            insecure_http: self.insecure_http || profile.insecure_http,
            dialect: dialect.or(profile.dialect),
            environment: match by_prefix {
                _ if self.production => Some(Environment::Production),
                Some(Environment::Production) => by_prefix,
                _ => profile.environment.or(by_prefix),
            },
            company_parameter: self.company_parameter.clone().or(profile.company_parameter),
            ca_file,
            client_certificate,
            client_key,
            ..profile
        };
        let target = RemoteTarget::new(name, profile, credential, origin)?;
        Ok(Some(RemoteTarget { operator_key, ..target }))
    }

    /// Returns whether this machine's own alerts are meant.
    pub(super) fn means_this_machine(&self, context: &Context) -> anyhow::Result<bool> {
        Ok(matches!(self.meant_profile(context.profiles.as_ref(), &variable)?, Meant::ThisMachine))
    }

    /// Returns the desk of the deployment that is meant. Nothing is sent to it, and so no credential is needed.
    pub(super) fn desk(&self, context: &Context) -> anyhow::Result<PathBuf> {
        let (name, url) = match self.meant_profile(context.profiles.as_ref(), &variable)? {
            Meant::ThisMachine => return Ok(context.home.desk()),
            Meant::Address(url) => (None, url),
            Meant::Profile(named) => (Some(named.name), named.profile.url),
        };
        // Nothing is sent there.
        Ok(context.desk_of_deployment(name.as_ref(), &base_url(&url, PlainHttp::Allowed)?))
    }

    /// Returns the target: of a flag, else of the environment, else of the current profile.
    fn meant_profile(
        &self,
        access: Option<&ProfileAccess>,
        lookup: &impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Meant> {
        let by_variable = lookup(PROFILE).filter(|_| self.profile.is_none());
        let url = self.url.clone().or_else(|| lookup(URL).filter(|_| self.profile.is_none()));
        let found = match (self.profile.clone().or(by_variable), url) {
            (Some(_), Some(_)) => refuse!(
                "{} and {} name a deployment each: say one of them",
                if self.profile.is_some() { "--profile" } else { PROFILE },
                if self.url.is_some() { "--url" } else { URL }
            ),
            (Some(name), None) => match access {
                Some(access) => access.named(&name)?,
                None => refuse!("there is no home directory, and so no profile {name}"),
            },
            (None, Some(url)) => return Ok(Meant::Address(url)),
            (None, None) => access.map_or(Ok(None), ProfileAccess::current)?,
        };
        Ok(found.map_or(Meant::ThisMachine, Meant::Profile))
    }

    /// Returns the credential of the flags, else of the environment; `None` where they name none. No error repeats it.
    fn credential(
        &self,
        client_id: Option<&str>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<AccessCredential>> {
        let access = &self.access;
        if let Some(file) = &access.api_key_file {
            return Ok(Some(AccessCredential::ApiKey(credential_in(file)?)));
        }
        let key = if access.names_credential() { None } else { API_KEY.read(&lookup)? };
        let secret = match &access.client_secret_file {
            Some(file) => Some(read_credential(file)?),
            None => CLIENT_SECRET.read(&lookup)?,
        };
        // A secret alone goes with the client of the profile.
        let id = access.client_id.clone().or_else(|| lookup(CLIENT_ID));
        let id = id.or_else(|| client_id.filter(|_| secret.is_some()).map(str::to_owned));
        match (key, id, secret) {
            (None, None, None) => Ok(None),
            (Some(key), None, _) => Ok(Some(access_credential(None, Secret::new(key.trim())))),
            (None, Some(id), Some(secret)) => Ok(Some(access_credential(Some(id), Secret::new(secret.trim())))),
            (Some(_), Some(_), _) => refuse!("{API_KEY} and {CLIENT_ID} are both set: name one credential by a flag"),
            (None, ..) => refuse!(
                "a client needs its id (--client-id or {CLIENT_ID}) and its secret (--client-secret-file or \
                    {CLIENT_SECRET})"
            ),
        }
    }
}

impl RemoteTarget {
    /// Returns the target of a profile, with a credential that is not kept yet.
    pub(super) fn of_profile(NamedProfile { name, profile }: &NamedProfile, secret: Secret) -> anyhow::Result<Self> {
        let credential = access_credential(profile.client_id.clone(), secret);
        Self::new(Some(name.clone()), profile.clone(), credential, TYPED)
    }

    /// Makes a target of a profile, which has no name where an address is meant.
    fn new(
        named: Option<ProfileName>,
        profile: Profile,
        credential: AccessCredential,
        credential_origin: &'static str,
    ) -> anyhow::Result<Self> {
        let url = base_url(&profile.url, PlainHttp::when(profile.insecure_http, "say --insecure-http"))?;
        let by_credential = match credential {
            AccessCredential::ApiKey(_) => Dialect::Current,
            AccessCredential::ClientCredentials { .. } => Dialect::Older,
        };
        let dialect = profile.dialect.unwrap_or(by_credential);
        Ok(Self { named, url, dialect, profile, credential_origin, credential, operator_key: None })
    }

    /// Returns its name in the console's head and in the journal.
    pub(super) fn name(&self) -> String {
        self.named.as_ref().map_or_else(|| self.url.host(), ToString::to_string)
    }

    /// Describes its address and profile: `https://shop.example as profile shop`.
    pub(super) fn place(&self) -> String {
        match &self.named {
            Some(name) => format!("{} as profile {name}", self.url),
            None => self.url.to_string(),
        }
    }

    /// Returns the command that reads an alert of this id here, without the credential: a variable names that.
    pub(super) fn curl(&self, alert: &str) -> String {
        let header = match &self.credential {
            AccessCredential::ApiKey(_) => "X-API-KEY: $AVERT_API_KEY",
            AccessCredential::ClientCredentials { .. } => "Authorization: Bearer $TOKEN",
        };
        let base = self.url.as_str().trim_end_matches('/').trim_end_matches("/api/v1").replace('\'', "%27");
        format!("curl -H \"{header}\" '{base}/api/v1/alerts/{alert}'")
    }

    /// Adds an operator's key, where none was named: the one that is kept for its profile, else its API key.
    pub(super) async fn for_operator(self, access: Option<&ProfileAccess>) -> anyhow::Result<Self> {
        self.with_kept_operator_key(access)?.with_key_of_both_scopes().await
    }

    /// Adds the operator's key that is kept for its profile, where none was named.
    pub(super) fn with_kept_operator_key(self, access: Option<&ProfileAccess>) -> anyhow::Result<Self> {
        let (None, Some(name), Some(access)) = (&self.operator_key, &self.named, access) else { return Ok(self) };
        Ok(Self { operator_key: access.operator_key(name)?, ..self })
    }

    /// Adds an operator's key.
    pub(super) fn with_operator_key(self, key: Secret) -> Self {
        Self { operator_key: Some(key), ..self }
    }

    /// Adds its API key as the operator's key, which it may be where none was named. Only an avert's key is sent beyond
    /// the interface's own routes.
    pub(super) fn by_one_key(&self) -> Option<Self> {
        let AccessCredential::ApiKey(key) = &self.credential else { return None };
        let may_be_both = self.operator_key.is_none() && told([Some(key.reveal())]).is_some();
        may_be_both.then(|| self.clone().with_operator_key(key.clone()))
    }

    /// Adds its API key as the operator's key, where the deployment is an avert that accepts it as one in time.
    async fn with_key_of_both_scopes(self) -> anyhow::Result<Self> {
        let Some(both) = self.by_one_key() else { return Ok(self) };
        let (client, _) = both.clone().connect(Arc::new(SystemClock), None)?;
        match timeout(ASKED_FOR, client.probe_operator()).await {
            Ok(Ok(OperatorProbe::Operator { .. })) => Ok(both),
            Ok(_) => Ok(self),
            Err(_) => {
                let host = self.url.host();
                say!("{host} does not say whether the key is an operator's: opened with what the interface has");
                Ok(self)
            }
        }
    }

    /// Makes a client for a user, and the deployment with the writes that its profile allows. Nothing is sent yet.
    pub(super) fn connect(self, clock: SharedClock, person: Option<String>) -> anyhow::Result<(Client, Deployment)> {
        let tls = tls_of(&self.profile);
        let options = ClientOptions {
            operator_key: self.operator_key,
            person,
            company_parameter: self.profile.company_parameter.unwrap_or_else(|| COMPANY_PARAMETER.to_owned()),
            tls,
            ..ClientOptions::new(self.url, self.dialect, self.credential, clock)
        };
        let client = Client::new(options).map_err(|error| Misused(error.to_string()))?;
        let deployment = client.deployment();
        Ok((client, if self.profile.read_only { deployment.read_only() } else { deployment }))
    }

    /// Tests the operator's key, and returns the organization that it belongs to.
    pub(super) async fn try_operator_key(self) -> anyhow::Result<String> {
        let (_, deployment) = self.connect(Arc::new(SystemClock), None)?;
        match deployment.credentials {
            Some(credentials) => Ok(credentials.credentials().await?.organization),
            None => refuse!("there is no operator's key to try"),
        }
    }

    /// Tests the credential with a list of one alert, and returns the total.
    pub(super) async fn try_out(self) -> anyhow::Result<u64> {
        let (_, deployment) = self.connect(Arc::new(SystemClock), None)?;
        let query = AlertQuery { page: PageRequest { page: 0, size: 1 }, ..AlertQuery::default() };
        Ok(deployment.alerts.list(&query).await?.total)
    }
}

/// Reads the base URL of a deployment.
pub(super) fn base_url(url: &str, plain_http: PlainHttp) -> Result<BaseUrl, Misused> {
    BaseUrl::parse(url, plain_http).map_err(|error| misused!("the base URL {error}"))
}

/// Makes a credential of its kind: a client secret with a client id, else an API key.
fn access_credential(client_id: Option<String>, secret: Secret) -> AccessCredential {
    match client_id {
        Some(id) => AccessCredential::ClientCredentials { id, secret },
        None => AccessCredential::ApiKey(secret),
    }
}

/// Returns the part of a credential whose prefix names its environment.
fn name_in(credential: &AccessCredential) -> &str {
    match credential {
        AccessCredential::ApiKey(key) => key.reveal(),
        AccessCredential::ClientCredentials { id, .. } => id,
    }
}

fn tls_of(profile: &Profile) -> TlsFiles {
    let Profile { ca_file, client_certificate, client_key, .. } = profile.clone();
    TlsFiles { ca_file, client_certificate, client_key }
}

/// Returns the environment of an avert's credentials, which their prefix names. One of production is enough.
pub(super) fn told<const N: usize>(credentials: [Option<&str>; N]) -> Option<Environment> {
    let made_for = |environment: &Environment| {
        let prefixes = ["avk", "avc"].map(|kind| format!("{kind}_{}_", environment.words()));
        credentials.iter().flatten().any(|text| prefixes.iter().any(|prefix| text.starts_with(prefix)))
    };
    [Environment::Production, Environment::Sandbox].into_iter().find(made_for)
}

/// Refuses a credential of another environment than the one that was named.
pub(super) fn check_world(said: Option<Environment>, told: Option<Environment>) -> Result<(), Misused> {
    match (said, told) {
        (Some(said), Some(told)) if said != told => {
            let (said, told) = (said.as_str(), told.as_str());
            Err(misused!("the environment is said to be {said}, and the prefix of the credential says {told}"))
        }
        _ => Ok(()),
    }
}

/// Returns whether the environment names a credential for this profile, which goes before a kept one.
pub(super) fn names_credential(profile: &Profile) -> bool {
    let has_id = || variable(CLIENT_ID).is_some() || profile.client_id.is_some();
    API_KEY.set().is_some() || CLIENT_SECRET.set().is_some() && has_id()
}

fn dialect(text: &str) -> Result<Dialect, Misused> {
    Dialect::known(text).ok_or_else(|| misused!("{DIALECT}: {text:?} is not allowed: one of current, older"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::cli::args::AccessArgs;
    use crate::desk::{ProfileList, Profiles, Secrets};

    const API_KEY: &str = super::API_KEY.name;
    const CLIENT_SECRET: &str = super::CLIENT_SECRET.name;

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
            (target.url.as_str(), target.dialect, target.profile.environment),
            ("https://a.example", Dialect::Current, None)
        );
        assert_eq!(
            target.curl("7"),
            "curl -H \"X-API-KEY: $AVERT_API_KEY\" 'https://a.example/api/v1/alerts/7'",
            "the key is named and never told"
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

        assert_eq!(args.target(None, environment(variables)).unwrap().unwrap().profile.environment, known);
    }

    #[test]
    fn a_flag_is_stronger_than_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, "from the file\n").unwrap();
        let args = RemoteArgs {
            access: AccessArgs { api_key_file: Some(file), ..AccessArgs::default() },
            dialect: Some(Dialect::Older),
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

        assert_eq!((target.profile.refresh_seconds, target.profile.page_size), (Some(5), Some(25)));
    }

    #[rstest]
    #[case(at("https://a.example"), &[], "needs a credential")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (CLIENT_ID, "i")], "both set")]
    #[case(at("https://a.example"), &[(CLIENT_ID, "i")], "and its secret")]
    #[case(at("https://a.example"), &[(CLIENT_SECRET, "s3cret")], "needs its id")]
    #[case(at("https://a.example"), &[(API_KEY, "s3cret"), (DIALECT, "new")], "one of current, older")]
    #[case(RemoteArgs { production: true, ..RemoteArgs::default() }, &[], "deployment go with --url")]
    #[case(RemoteArgs { access: AccessArgs { client_id: Some("i".into()), ..AccessArgs::default() },
        ..RemoteArgs::default() }, &[], "deployment go with --url")]
    fn what_does_not_name_one_deployment_is_refused_without_the_secret(
        #[case] args: RemoteArgs,
        #[case] variables: &[(&str, &str)],
        #[case] words: &str,
    ) {
        let error = args.target(None, environment(variables)).unwrap_err().to_string();

        assert!(error.contains(words) && !error.contains("s3cret"), "{error}");
    }
}

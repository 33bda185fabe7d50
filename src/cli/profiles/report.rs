//! Profiles as commands print them and the console's Settings screen lists them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};

use super::super::{
    context::Context,
    output::{ListColumns, Report},
    profile_access::{NamedProfile, ProfileAccess, unusable},
    secret_variables::OPERATOR_KEY,
    target::{credential_variable, names_credential},
};
use crate::{
    console::setting::{CredentialPlace, ListedProfile, ProfileDirectory},
    desk::{DeskError, Profile, ProfileName, SecretError, SecretKind, SecretStorage, profiles::LOCAL},
    domain::{
        Environment,
        url::{BaseUrl, PlainHttp},
    },
};

/// Word for no credential, as far as is known.
const NONE: &str = "none";

/// Describes a profile: `production at https://alerts.example, read-only`.
pub(super) fn in_words(profile: &Profile) -> String {
    let environment = profile.environment.map_or("", Environment::as_str);
    let at = if environment.is_empty() { "at" } else { " at" };
    let read_only = if profile.read_only { ", read-only" } else { "" };
    format!("{environment}{at} {}{read_only}", profile.url)
}

pub(super) fn list(access: &ProfileAccess) -> anyhow::Result<Report> {
    let rows = listed(access).map_err(unusable)?;
    let shown = |listed: &Listed| match listed.credential {
        CredentialPlace::Unknown => "not known".to_owned(),
        known => word(known).to_owned(),
    };
    let columns = Listed::columns()
        .shown("", |listed| if listed.profile.read_only { "read-only".to_owned() } else { String::new() })
        .shown("CREDENTIAL", shown);
    let note = rows.is_empty().then(|| "there is no profile; `avert profiles add` makes one".to_owned());
    Ok(columns.report(&rows, note))
}

/// Profile with the place of its credential.
struct Listed {
    name: ProfileName,
    profile: Profile,
    current: bool,
    credential: CredentialPlace,
}

/// Returns all profiles.
fn listed(access: &ProfileAccess) -> Result<Vec<Listed>, DeskError> {
    let list = access.profiles.list()?;
    let mut storage = Storage { access, is_silent: false };
    let mut rows = Vec::new();
    for (name, profile) in list.all {
        let credential = storage.of(&name, SecretKind::Access, names_credential(&profile))?;
        rows.push(Listed { current: list.current.as_ref() == Some(&name), credential, name, profile });
    }
    Ok(rows)
}

impl Listed {
    fn columns<'c>() -> ListColumns<'c, Self> {
        ListColumns::new()
            .shown("", |listed: &Self| if listed.current { "*".to_owned() } else { String::new() })
            .both("name", "NAME", |listed| json!(listed.name.as_str()))
            .both("url", "URL", |listed| json!(listed.profile.url))
            .both("environment", "ENVIRONMENT", |listed| json!(listed.profile.environment.map(Environment::as_str)))
            .both("dialect", "DIALECT", |listed| json!(listed.profile.spoken_dialect().as_str()))
            .member("readOnly", |listed| json!(listed.profile.read_only))
            .member("current", |listed| json!(listed.current))
            .member("credential", |listed| json!(word(listed.credential)))
    }
}

pub(super) fn one(access: &ProfileAccess, NamedProfile { name, profile }: &NamedProfile) -> anyhow::Result<Report> {
    let current = access.profiles.list().map_err(unusable)?.current.as_ref() == Some(name);
    let mut storage = Storage { access, is_silent: false };
    let credential = storage.of(name, SecretKind::Access, names_credential(profile)).map_err(unusable)?;
    let by_variable = OPERATOR_KEY.set().is_some();
    let operator_key = word(storage.of(name, SecretKind::Operator, by_variable).map_err(unusable)?);
    let mut record = record(name, profile, current, credential);
    record["operatorKey"] = operator_key.into();
    record["clientId"] = profile.client_id.clone().into();
    Ok(Report::of_record(record))
}

/// Returns the report of a new profile.
pub(super) fn added(
    NamedProfile { name, profile }: &NamedProfile,
    current: bool,
    storage: Option<SecretStorage>,
) -> Report {
    let kept = match storage {
        Some(SecretStorage::Keyring) => "its credential is in the system's keyring".to_owned(),
        Some(SecretStorage::PlainFile) => "its credential is saved as plain text".to_owned(),
        None => format!("it has no credential yet: `avert login {name}` gives it one"),
    };
    let said = format!("profile {name} added: {}; {kept}", in_words(profile));
    Report::one(record(name, profile, current, storage.map_or(CredentialPlace::Nowhere, Into::into)), said)
}

fn record(name: &ProfileName, profile: &Profile, current: bool, credential: CredentialPlace) -> Value {
    Listed::columns().record(&Listed { name: name.clone(), profile: profile.clone(), current, credential })
}

fn word(place: CredentialPlace) -> &'static str {
    match place {
        CredentialPlace::Keyring => "keyring",
        CredentialPlace::PlainFile => "file",
        CredentialPlace::Environment => "environment",
        CredentialPlace::Nowhere | CredentialPlace::Unknown | CredentialPlace::NotNeeded => NONE,
    }
}

/// Storage of credentials, read from a keyring that may not reply; then it is not asked again.
struct Storage<'a> {
    access: &'a ProfileAccess,
    is_silent: bool,
}

impl Storage<'_> {
    /// Returns the place of a credential of this kind; one of the environment goes before it.
    fn of(&mut self, name: &ProfileName, kind: SecretKind, in_environment: bool) -> Result<CredentialPlace, DeskError> {
        if in_environment {
            return Ok(CredentialPlace::Environment);
        }
        if self.is_silent && !self.access.secrets.is_plain(name, kind)? {
            return Ok(CredentialPlace::Unknown);
        }
        match self.access.secrets.get(name, kind) {
            Ok(found) => Ok(found.map_or(CredentialPlace::Nowhere, |(_, storage)| storage.into())),
            Err(SecretError::File(error)) => Err(error),
            Err(SecretError::Keyring(_)) => {
                self.is_silent = true;
                Ok(CredentialPlace::Unknown)
            }
        }
    }
}

/// Profiles of this user, and this machine's own desk.
struct ConsoleProfiles {
    access: ProfileAccess,
    /// Name of this console's own profile.
    here: Option<String>,
    /// Environment of this machine's own desk; `None` where there is no such desk.
    own: Option<Environment>,
}

/// Returns the profiles for a console on the profile `here`, where it is on one; `None` where this user can have none.
pub(in super::super) fn for_console(context: &Context, here: Option<&str>) -> Option<Arc<dyn ProfileDirectory>> {
    let access = context.profiles.clone()?;
    let has_desk = here == Some(LOCAL) || context.home.require_data().is_ok();
    let own = has_desk.then_some(context.settings.environment);
    Some(Arc::new(ConsoleProfiles { access, here: here.map(str::to_owned), own }))
}

impl ProfileDirectory for ConsoleProfiles {
    fn list(&self) -> Result<Vec<ListedProfile>, String> {
        let is_here = |name: &str| self.here.as_deref() == Some(name);
        let barred_by = credential_variable();
        let all = listed(&self.access).map_err(|error| error.to_string())?;
        let is_any_current = all.iter().any(|listed| listed.current);
        let row = |Listed { name, profile, current, credential }: Listed| ListedProfile {
            here: is_here(name.as_str()),
            name: name.into(),
            address: BaseUrl::parse(&profile.url, PlainHttp::Allowed)
                .map_or_else(|_| profile.url.clone(), |url| url.host()),
            environment: profile.environment,
            read_only: profile.read_only,
            current,
            credential,
            barred_by,
        };
        let mut rows: Vec<ListedProfile> = all.into_iter().map(row).collect();
        // Without another profile there is nothing to choose from.
        if let Some(environment) = self.own.filter(|_| !rows.is_empty()) {
            rows.push(ListedProfile {
                name: LOCAL.to_owned(),
                address: "this machine".to_owned(),
                environment: Some(environment),
                read_only: false,
                current: !is_any_current,
                here: is_here(LOCAL),
                credential: CredentialPlace::NotNeeded,
                barred_by,
            });
        }
        Ok(rows)
    }

    fn files(&self) -> Vec<PathBuf> {
        [self.access.profiles.path(), self.access.secrets.path()].map(Path::to_owned).into()
    }
}

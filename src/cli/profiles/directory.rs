//! The profiles as the console's Settings screen lists them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::context::Context;
use super::super::profile_access::ProfileAccess;
use super::super::target::{credential_variable, variable};
use super::report::Storage;
use crate::console::profile_directory::{CredentialPlace, ListedProfile, ProfileDirectory};
use crate::desk::profiles::LOCAL;
use crate::domain::Environment;
use crate::domain::url::{BaseUrl, PlainHttp};

/// What the console is opened on, beside the profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum OpenedOn<'a> {
    /// This machine's own desk.
    ThisMachine,
    /// The profile of this name.
    Profile(&'a str),
    /// An address that no profile names.
    Address,
}

/// The profiles of this user, and this machine's own desk.
struct ConsoleProfiles {
    access: ProfileAccess,
    /// The name of what this console is on.
    here: Option<String>,
    /// Which world this machine's own desk is; none where there is no such desk.
    own: Option<Environment>,
}

/// The profiles for a console; none where this user can have none.
pub(in super::super) fn for_console(context: &Context, opened_on: OpenedOn<'_>) -> Option<Arc<dyn ProfileDirectory>> {
    let access = context.profiles.clone()?;
    let here = match opened_on {
        OpenedOn::ThisMachine => Some(LOCAL.to_owned()),
        OpenedOn::Profile(name) => Some(name.to_owned()),
        OpenedOn::Address => None,
    };
    let has_desk = opened_on == OpenedOn::ThisMachine || context.home.require_data().is_ok();
    let own = has_desk.then(|| Environment::from(context.settings.environment));
    Some(Arc::new(ConsoleProfiles { access, here, own }))
}

impl ProfileDirectory for ConsoleProfiles {
    fn list(&self) -> Result<Vec<ListedProfile>, String> {
        let list = self.access.profiles.list().map_err(|error| error.to_string())?;
        let is_here = |name: &str| self.here.as_deref() == Some(name);
        let mut storage = Storage::of_all(&self.access);
        let mut rows = Vec::new();
        let barred_by = credential_variable();
        for (name, profile) in &list.all {
            let credential = storage.of(name, profile, &variable).map_err(|error| error.to_string())?;
            rows.push(ListedProfile {
                name: name.to_string(),
                address: BaseUrl::parse(&profile.url, PlainHttp::Allowed)
                    .map_or_else(|_| profile.url.clone(), |url| url.host()),
                environment: profile.environment,
                read_only: profile.read_only,
                current: list.current.as_ref() == Some(name),
                here: is_here(name.as_str()),
                credential,
                barred_by,
            });
        }
        // Where nothing else is known, there is nothing to choose from.
        if let Some(environment) = self.own.filter(|_| !rows.is_empty()) {
            rows.push(ListedProfile {
                name: LOCAL.to_owned(),
                address: "this machine".to_owned(),
                environment: Some(environment),
                read_only: false,
                current: list.current.is_none(),
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

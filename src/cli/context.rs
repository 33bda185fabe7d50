//! Context of every command: the settings, the home of this machine's desk with its database, the output format, the
//! log of a console.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use directories::ProjectDirs;
use tracing::level_filters::LevelFilter;

use super::{
    args::Everywhere,
    failure::{Misused, NotFound},
    output::Output,
    process::variable,
    profile_access::ProfileAccess,
};
use crate::{
    config::{ConfigError, LogFormat, Settings},
    desk::{ProfileName, Profiles, Secrets, directory_of},
    domain::{database::DatabaseLocation, url::BaseUrl},
    store::sqlite::backup::is_pending,
    telemetry,
};

/// Most characters of a user's name that are kept.
const USER_CHARS: usize = 64;

/// Context of a command.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub(super) settings: Settings,
    pub(super) home: Home,
    pub(super) output: Output,
    /// Profiles; `None` where this user has no place for them.
    pub(super) profiles: Option<ProfileAccess>,
    organization_flag: Option<String>,
    verbose: u8,
    /// Directory of the settings file, also where there is no file.
    pub(super) settings_dir: Option<PathBuf>,
    /// Settings file, which need not exist; `None` where there is no place for one.
    pub(super) settings_file: Option<PathBuf>,
}

impl Context {
    pub(super) fn new(everywhere: &Everywhere, demo: bool) -> anyhow::Result<Self> {
        let (context, wrong_settings) = Self::read(everywhere, demo)?;
        match wrong_settings {
            None => Ok(context),
            Some(error) => Err(error.into()),
        }
    }

    /// Reads the context. Where the settings cannot be used it has the defaults, and the error is returned with it.
    pub(super) fn read(everywhere: &Everywhere, demo: bool) -> anyhow::Result<(Self, Option<ConfigError>)> {
        let directories = ProjectDirs::from("", "", "avert");
        let usual = || directories.as_ref().map(|directories| directories.config_dir().join("config.toml"));
        let settings_file = everywhere.config.clone().or_else(usual);
        // A file that was named has to exist.
        let file = settings_file.as_deref().filter(|file| everywhere.config.is_some() || file.exists());
        let (settings, wrong_settings) = match Settings::load(file, variable) {
            Ok(settings) => (settings, None),
            Err(error) => (Settings::default(), Some(error)),
        };
        let data_dir = everywhere.data_dir.clone().or_else(|| Some(directories.as_ref()?.data_local_dir().to_owned()));
        let home = match data_dir {
            Some(empty) if empty.as_os_str().is_empty() => refuse!("--data-dir is empty: a directory is needed"),
            Some(data_dir) => Home::at(data_dir),
            // The demo keeps nothing, so it needs no home.
            None if demo => Home::at(PathBuf::new()),
            None => refuse!("there is no home directory for the data: name one with --data-dir or AVERT_DATA_DIR"),
        };
        let database = settings.database.address.clone().unwrap_or_else(|| home.database.clone());
        let password_file = everywhere.database_password_file.clone().filter(|file| !file.as_os_str().is_empty());
        let home = Home { database, password_file, ..home };
        let settings_dir = settings_file.as_deref().map(|file| directory_of(file).to_owned());
        let profiles = settings_dir.as_deref().map(|directory| ProfileAccess {
            profiles: Profiles::of(directory),
            secrets: Secrets::of(directory),
            sets_current_aside: everywhere.data_dir_by_flag,
            asks: true,
        });
        let output = Output::new(everywhere.output, everywhere.no_color);
        let context = Self {
            settings,
            home,
            output,
            profiles,
            organization_flag: everywhere.organization.clone(),
            verbose: everywhere.verbose,
            settings_dir,
            settings_file,
        };
        Ok((context, wrong_settings))
    }

    /// Returns the same context with the settings read again.
    pub(super) fn with_settings_of_now(&self) -> Result<Self, ConfigError> {
        let file = self.settings_file.as_deref().filter(|file| file.exists());
        let settings = Settings::load(file, variable)?;
        Ok(Self { settings: Settings { database: self.settings.database.clone(), ..settings }, ..self.clone() })
    }

    /// Returns the profiles, for a command about them.
    pub(super) fn require_profiles(&self) -> Result<&ProfileAccess, Misused> {
        let nowhere = || {
            misused!(
                "there is no home directory for profiles: name a settings file with --config, they are kept beside it"
            )
        };
        self.profiles.as_ref().ok_or_else(nowhere)
    }

    /// Returns the directory of a profile's desks, one for each base URL that it has had.
    pub(super) fn desks_of_profile(&self, name: &ProfileName) -> PathBuf {
        self.desks().join("profiles").join(name.as_str())
    }

    /// Returns the desk of a console on another deployment. Each address has its own, also where a profile's name is
    /// the same.
    pub(super) fn desk_of_deployment(&self, profile: Option<&ProfileName>, url: &BaseUrl) -> PathBuf {
        let desks = profile.map_or_else(|| self.desks().join("hosts"), |name| self.desks_of_profile(name));
        let text = url.as_str();
        desks.join(file_name_of(text.split_once("://").map_or(text, |(_, rest)| rest)))
    }

    /// Returns the name of the user: from the settings, else from the login.
    pub(super) fn user(&self) -> Option<String> {
        let said = Some(self.settings.console.user.clone()).filter(|name| !name.trim().is_empty());
        let login = || whoami::username().ok().filter(|name| !name.trim().is_empty());
        said.or_else(login).map(|name| name.trim().chars().take(USER_CHARS).collect())
    }

    fn desks(&self) -> PathBuf {
        self.home.data_dir.join("desk")
    }

    /// Logs to stderr for a command without a screen: at this level, or more with `-v`.
    pub(super) fn log_to_stderr(&self, level: LevelFilter) {
        telemetry::to_stderr(self.raised(level), self.output.color(), self.logs_json());
    }

    fn logs_json(&self) -> bool {
        self.settings.log.format == LogFormat::Json
    }

    pub(super) fn raised(&self, level: LevelFilter) -> LevelFilter {
        match self.verbose {
            0 => level,
            1 => level.max(LevelFilter::DEBUG),
            _ => LevelFilter::TRACE,
        }
    }

    /// Returns the directory for reports of avert's own faults.
    pub(super) fn reports(&self) -> PathBuf {
        self.home.data_dir.join("reports")
    }

    /// Returns the organization to act for: the flag's, else the settings'.
    pub(super) fn organization(&self) -> Option<&str> {
        self.organization_flag.as_deref().or(Some(self.settings.organization.as_str()).filter(|name| !name.is_empty()))
    }

    /// Returns the same context for an organization.
    pub(super) fn with_organization(&self, name: Option<String>) -> Self {
        Self { organization_flag: name, ..self.clone() }
    }

    /// Refuses an organization where another deployment is meant.
    pub(super) fn refuse_organization(&self) -> Result<(), Misused> {
        match self.organization_flag {
            None => Ok(()),
            Some(_) => Err(misused!(
                "--organization is for this machine's own alerts: a credential is tied to its organization"
            )),
        }
    }
}

/// Reason for which this process writes no log. The first console decides its directory, however many are opened one
/// after the other.
static TROUBLE: OnceLock<Option<String>> = OnceLock::new();

/// Starts logging for a console, into a file of this directory. Where none can be written the console opens all the
/// same; returns why.
pub(super) fn start(context: &Context, data_dir: &Path) -> Option<String> {
    log_in(context.raised(context.settings.log.level), &data_dir.join("logs"), context.logs_json())
}

fn log_in(level: LevelFilter, logs: &Path, is_json: bool) -> Option<String> {
    let begin = || telemetry::to_file(level, logs, is_json).err().map(|error| format!("{}: {error}", logs.display()));
    TROUBLE.get_or_init(begin).clone()
}

/// Home of this machine's desk.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Directory of logs, consoles' files, and a SQLite database with its key.
    pub(super) data_dir: PathBuf,
    /// Location of the alerts.
    pub(super) database: DatabaseLocation,
    /// File with the password of a database on a server.
    pub(super) password_file: Option<PathBuf>,
}

impl Home {
    /// Returns the home of a data directory.
    pub(super) fn at(data_dir: PathBuf) -> Self {
        Self { database: DatabaseLocation::Sqlite(data_dir.join("avert.db")), data_dir, password_file: None }
    }

    /// Returns the same home with another database.
    pub(super) fn with_database(self, database: DatabaseLocation) -> Self {
        Self { database, ..self }
    }

    /// Refuses a location without data: most likely it is mistyped. A database on a server is checked when it is
    /// opened.
    pub(super) fn require_data(&self) -> Result<(), NotFound> {
        match &self.database {
            // A file that exists and cannot be read is reported when it is opened.
            DatabaseLocation::Sqlite(file) if is_absent(file) => Err(NotFound(format!(
                "there is no avert data in {}; name another place with --data-dir, or make it with `avert serve`, \
                    `avert import` or \
                 `avert organizations create`",
                directory_of(file).display()
            ))),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => Ok(()),
        }
    }

    /// Returns the directory in which the next command would create a SQLite file, where there is none yet.
    pub(super) fn missing_directory(&self) -> Option<&Path> {
        match &self.database {
            DatabaseLocation::Sqlite(file) if is_absent(file) => Some(directory_of(file)),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => None,
        }
    }

    /// Returns the SQLite file, for commands that work on files alone; else refuses with this message.
    pub(super) fn require_file(&self, otherwise: &str) -> Result<&Path, Misused> {
        match &self.database {
            DatabaseLocation::Sqlite(file) => Ok(file),
            DatabaseLocation::Postgres(address) => Err(misused!("{address}: {otherwise}")),
        }
    }

    /// Returns the directory that has to be writable: the one of the database file, else the data directory.
    pub(super) fn directory(&self) -> &Path {
        match &self.database {
            DatabaseLocation::Sqlite(file) => directory_of(file),
            DatabaseLocation::Postgres(_) => &self.data_dir,
        }
    }

    /// Describes the location of the alerts.
    pub(super) fn place(&self) -> String {
        match &self.database {
            DatabaseLocation::Sqlite(_) => self.data_dir.display().to_string(),
            DatabaseLocation::Postgres(address) => address.to_string(),
        }
    }

    /// Returns the directory for views, drafts and journal of consoles on these alerts. Each database has its own.
    pub(super) fn desk(&self) -> PathBuf {
        let desk = self.data_dir.join("desk");
        match &self.database {
            DatabaseLocation::Sqlite(_) => desk,
            DatabaseLocation::Postgres(address) => desk
                .join("databases")
                .join(file_name_of(&format!("{}:{}/{}", address.host, address.port, address.name))),
        }
    }
}

pub(super) fn is_absent(file: &Path) -> bool {
    matches!(file.try_exists(), Ok(false)) && !is_pending(file)
}

/// Encodes an address as the name of a directory: `shop.example:8443/alerts` as `shop.example_8443%2falerts`.
pub(super) fn file_name_of(address: &str) -> String {
    let mut name = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => name.push(byte.into()),
            b':' => name.push('_'),
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://shop.example/", "shop.example")]
    #[case("https://shop.example:8443", "shop.example_8443")]
    #[case("https://shop.example/sandbox", "shop.example%2fsandbox")]
    #[case("https://shop.example/a_b", "shop.example%2fa%5fb")]
    #[case("https://[::1]:9/..", "%5b__1%5d_9")]
    fn a_base_url_has_a_directory_of_its_own(#[case] url: &str, #[case] name: &str) {
        let (context, _) = Context::read(&Everywhere::default(), true).unwrap();

        assert!(context.desk_of_deployment(None, &url.parse().unwrap()).ends_with(format!("desk/hosts/{name}")));
    }

    #[test]
    fn the_first_console_of_a_process_decides_whether_the_log_is_in_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        std::fs::write(&file, "a file where a directory must be").unwrap();

        let first = log_in(LevelFilter::OFF, &directory.path().join("logs"), false);
        let second = log_in(LevelFilter::OFF, &file.join("logs"), false);

        assert_eq!([first, second], [None, None]);
    }
}

//! The command line: the clap tree and a file per command; the only place that picks an engine or a client.
//!
//! [`Cli::read`] reads the line, [`run`] does what it says, [`failure`] turns an error into words and an exit code.

mod alerts;
mod args;
mod attempts;
mod backup;
mod clients;
pub mod demo;
mod doctor;
pub mod failure;
mod import;
mod keys;
mod local;
mod networks;
mod open;
mod organizations;
mod output;
mod pages;
mod remote;
mod serve;
mod signals;
mod webhooks;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use directories::ProjectDirs;
use tracing::level_filters::LevelFilter;

pub use args::Cli;

use crate::config::{ConfigError, Settings};
use crate::telemetry;
use args::{Command, Everywhere};
use failure::Misused;
use local::Home;
use output::Output;

/// How long threads that still read or wait may hold up the end of the process.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What every command is given.
#[derive(Debug, Clone)]
struct Context {
    settings: Settings,
    home: Home,
    output: Output,
    verbose: u8,
    /// Where the settings file is, or would be.
    settings_dir: Option<PathBuf>,
}

/// Runs a command line to its end.
pub fn run(line: Cli) -> anyhow::Result<()> {
    let Cli { everywhere, console, remote, command } = line;
    if let (Some(flag), false) = (remote.first_given(), matches!(command, None | Some(Command::Open(_) | Command::Alerts(_)))) {
        bail!(Misused(format!("{flag} before the command is for `avert open` and `avert alerts`")));
    }
    match &command {
        // These need no settings and no home.
        Some(Command::Completions(args)) => return pages::completions(args),
        Some(Command::Man(args)) => return pages::man(args),
        _ => {}
    }
    let demo = matches!(command, Some(Command::Demo(_)));
    if let Some(Command::Doctor) = command {
        let (context, wrong_settings) = Context::for_doctor(&everywhere)?;
        context.log_to_stderr(LevelFilter::ERROR);
        return doctor::run(&context, wrong_settings.as_ref());
    }
    let context = Context::new(&everywhere, demo)?;
    telemetry::report_panics(if demo { std::env::temp_dir() } else { context.reports() });
    match command.unwrap_or_else(|| Command::Open(Box::default())) {
        Command::Demo(mut args) => {
            args.console = args.console.or(console);
            block_on(demo::run(context, args))
        }
        Command::Open(mut args) => {
            args.console = args.console.or(console);
            args.remote = args.remote.or(remote);
            block_on(open::run(context, *args))
        }
        Command::Serve(args) => {
            context.log_to_stderr(context.settings.log.level.filter());
            block_on(serve::run(context, args))
        }
        Command::Import(args) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(import::run(context, args))
        }
        Command::Organizations(command) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(organizations::run(context, command))
        }
        Command::Clients(command) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(clients::run(context, command))
        }
        Command::Keys(command) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(keys::run(context, command))
        }
        Command::Webhooks(command) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(webhooks::run(context, command))
        }
        Command::Alerts(mut command) => {
            context.log_to_stderr(LevelFilter::WARN);
            command.take_remote(remote);
            block_on(alerts::run(context, command))
        }
        Command::Attempts(command) => {
            context.log_to_stderr(LevelFilter::WARN);
            block_on(attempts::run(context, command))
        }
        Command::Backup(args) => {
            context.log_to_stderr(LevelFilter::WARN);
            backup::run_backup(&context, args)
        }
        Command::Restore(args) => {
            context.log_to_stderr(LevelFilter::WARN);
            backup::run_restore(&context, args)
        }
        Command::Doctor | Command::Completions(_) | Command::Man(_) => Ok(()),
    }
}

fn block_on(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("threads cannot be started")?;
    let result = runtime.block_on(work);
    // A thread that waits for stdin never ends by itself.
    runtime.shutdown_timeout(LAST_WAIT);
    result
}

impl Context {
    fn new(everywhere: &Everywhere, demo: bool) -> anyhow::Result<Self> {
        let (context, wrong_settings) = Self::read(everywhere, demo)?;
        match wrong_settings {
            None => Ok(context),
            Some(error) => Err(error.into()),
        }
    }

    /// The context, with the defaults and the reason where the settings cannot be used.
    fn for_doctor(everywhere: &Everywhere) -> anyhow::Result<(Self, Option<ConfigError>)> {
        Self::read(everywhere, false)
    }

    fn read(everywhere: &Everywhere, demo: bool) -> anyhow::Result<(Self, Option<ConfigError>)> {
        let directories = ProjectDirs::from("", "", "avert");
        let file = match (&everywhere.config, &directories) {
            (Some(named), _) => Some(named.clone()),
            (None, Some(directories)) => Some(directories.config_dir().join("config.toml")).filter(|file| file.exists()),
            (None, None) => None,
        };
        let settings = Settings::load(file.as_deref(), |name| std::env::var_os(name).map(|text| text.to_string_lossy().into_owned()));
        let (settings, wrong_settings) = match settings {
            Ok(settings) => (settings, None),
            Err(error) => (Settings::default(), Some(error)),
        };
        let home = match (&everywhere.data_dir, &directories) {
            (Some(named), _) if named.as_os_str().is_empty() => bail!(Misused("--data-dir is empty: a directory is needed".to_owned())),
            (Some(named), _) => Home::at(named.clone()),
            (None, Some(directories)) => Home::at(directories.data_local_dir().to_owned()),
            // The demo keeps nothing, so it needs no home.
            (None, None) if demo => Home::at(PathBuf::new()),
            (None, None) => {
                bail!(Misused("there is no home directory for the data: name one with --data-dir or AVERT_DATA_DIR".to_owned()))
            }
        };
        let settings_dir = match (&everywhere.config, &directories) {
            (Some(named), _) => named.parent().map(Path::to_owned),
            (None, directories) => directories.as_ref().map(|directories| directories.config_dir().to_owned()),
        };
        let output = Output::new(everywhere.output, everywhere.no_color);
        Ok((Self { settings, home, output, verbose: everywhere.verbose, settings_dir }, wrong_settings))
    }

    /// Logs of a command without a screen: at least this much, more with `-v`.
    fn log_to_stderr(&self, level: LevelFilter) {
        telemetry::to_stderr(self.raised(level), self.output.color());
    }

    fn raised(&self, level: LevelFilter) -> LevelFilter {
        match self.verbose {
            0 => level,
            1 => level.max(LevelFilter::DEBUG),
            _ => LevelFilter::TRACE,
        }
    }

    /// Where reports of avert's own faults are kept.
    fn reports(&self) -> PathBuf {
        self.home.data_dir.join("reports")
    }

    /// The organization to act for: the flag's, else the settings'.
    fn organization<'a>(&'a self, args: &'a args::OrganizationArgs) -> Option<&'a str> {
        args.organization.as_deref().or_else(|| self.settled_organization())
    }

    /// The organization that the settings name, if they name one.
    fn settled_organization(&self) -> Option<&str> {
        Some(self.settings.organization.as_str()).filter(|name| !name.is_empty())
    }
}

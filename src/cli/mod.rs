//! The command line: the clap tree and a file per command; the only place that picks an engine or a client.
//!
//! [`Cli::read`] parses the line, [`run`] runs it, [`failure`] turns an error into a message and an exit code.

#[macro_use]
pub mod failure;

mod alerts;
mod args;
mod ask;
mod backup;
mod complete;
mod context;
mod copy;
mod credentials;
mod database;
pub mod demo;
mod doctor;
mod generate;
mod import;
mod journal;
mod local;
mod login;
mod migrate;
mod networks;
mod open;
mod orders;
mod output;
mod pages;
mod process;
mod profile_access;
mod profiles;
mod rules;
mod rules_file;
mod secret_variables;
mod serve;
mod settings_file;
mod source;
mod source_settings;
mod sources;
mod target;
mod topics;
mod truth;
mod webhooks;

use std::{future::Future, pin::Pin, time::Duration};

use anyhow::Context as _;
use tracing::level_filters::LevelFilter;

use crate::telemetry;
pub use args::Cli;
use args::{Command, JournalCommand, OpenArgs, RemoteArgs, WebhooksCommand};
pub use complete::complete;
use context::Context;
use process::variable;
use profile_access::PROFILE;
use target::URL;

/// Longest wait for threads that still read or wait when the process ends.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Runs a command line to its end.
pub fn run(line: Cli) -> anyhow::Result<()> {
    let Cli { everywhere, console, remote, mut command } = line;
    if let Some(command) = &mut command {
        command.take_remote(remote.clone())?;
    }
    match &command {
        // These need no settings and no home.
        Some(Command::Completions(args)) => return pages::completions(args),
        Some(Command::Man(args)) => return pages::man(args),
        Some(Command::Help(args)) => return pages::help(args),
        _ => {}
    }
    let demo = matches!(command, Some(Command::Demo(_)));
    if let Some(Command::Doctor(args)) = command {
        let (context, wrong_settings) = Context::read(&everywhere, false)?;
        context.log_to_stderr(LevelFilter::ERROR);
        return block_on(doctor::run(&context, wrong_settings.as_ref(), args));
    }
    let context = Context::new(&everywhere, demo)?;
    telemetry::report_panics(if demo { std::env::temp_dir() } else { context.reports() });
    let command = match command {
        Some(command) => command,
        None => match plain_avert(&context, &remote)? {
            Some(mut command) => {
                if matches!(command, Command::Open(_)) {
                    command.take_remote(remote)?;
                }
                command
            }
            None => return Ok(()),
        },
    };
    match &command {
        // With a console the log goes to a file.
        Command::Demo(_) | Command::Open(_) => {}
        Command::Serve(_) | Command::Webhooks(WebhooksCommand::Listen(_)) => {
            context.log_to_stderr(context.settings.log.level);
        }
        _ => context.log_to_stderr(LevelFilter::WARN),
    }
    match command {
        Command::Demo(mut args) => {
            args.console = args.console.or(console);
            block_on(demo::run(context, args))
        }
        Command::Open(mut args) => {
            args.console = args.console.or(console);
            args.remote.profile = args.wanted.take().or(args.remote.profile);
            block_on(open::run(context, *args))
        }
        Command::Serve(args) => block_on(serve::run(context, args)),
        Command::Import(args) => block_on(import::run(context, args)),
        Command::Generate(args) => block_on(generate::run(context, args)),
        Command::Organizations(command) => block_on(credentials::organizations(context, command)),
        Command::Clients(command) => block_on(credentials::clients(context, command)),
        Command::Keys(command) => block_on(credentials::keys(context, command)),
        Command::Sources(command) => block_on(sources::run(context, command)),
        Command::Webhooks(command) => block_on(webhooks::run(context, command)),
        Command::Alerts(command) => block_on(alerts::run(context, command)),
        Command::Profiles(command) => block_on(profiles::run(context, command)),
        Command::Login(args) => block_on(login::login(context, args)),
        Command::Logout(args) => login::logout(&context, &args),
        Command::Sales(command) => block_on(truth::sales(context, command)),
        Command::Journal(JournalCommand::Export(args)) => journal::run(&context, &args),
        Command::Orders(command) => block_on(orders::run(context, command)),
        Command::Rules(command) => block_on(rules::run(context, command)),
        Command::Disputes(command) => block_on(truth::disputes(context, command)),
        Command::Refunds(command) => block_on(truth::refunds(context, command)),
        Command::Held(args) => block_on(truth::held(context, *args)),
        Command::Backup(args) => backup::run_backup(&context, args),
        Command::Restore(args) => backup::run_restore(&context, args),
        Command::Copy(args) => block_on(copy::run(context, args)),
        Command::Secrets(command) => block_on(credentials::secrets(context, command)),
        Command::Migrate(args) => block_on(migrate::run(context, args)),
        Command::Doctor(_) | Command::Completions(_) | Command::Man(_) | Command::Help(_) => Ok(()),
    }
}

/// Returns the command of `avert` alone: the console, or the choice of the first page where nothing is set up.
fn plain_avert(context: &Context, remote: &RemoteArgs) -> anyhow::Result<Option<Command>> {
    open::require_terminal()?;
    if !needs_first_page(context, remote) {
        return Ok(Some(Command::Open(Box::default())));
    }
    say!("{PAGE}");
    let chosen = ask::until("d, l, c or q: ", |answer| match answer {
        "d" | "l" | "c" | "q" => Ok(answer.to_owned()),
        _ => Err("one of the four letters is needed".to_owned()),
    })?;
    match &*chosen {
        "d" => Ok(Cli::read(["avert", "demo"].map(Into::into))?.command),
        "l" => Ok(Some(Command::Open(Box::default()))),
        "c" => {
            let mut name = None;
            block_on(async {
                name = Some(profiles::connect(context).await?.to_string());
                Ok(())
            })?;
            Ok(Some(Command::Open(Box::new(OpenArgs { wanted: name, ..OpenArgs::default() }))))
        }
        _ => Ok(None),
    }
}

const PAGE: &str = "\
avert: chargeback alerts, answered before they become chargebacks.

Nothing is set up here yet. How do you want to start?

  d   demo: generated alerts that keep coming; nothing is kept
  l   local: alerts on this computer, by `avert import` or HTTP
  c   connection: its address and key are asked step by step
  q   quit
";

/// Returns whether there is nothing that a console could open, and nothing was named.
fn needs_first_page(context: &Context, remote: &RemoteArgs) -> bool {
    let named = |name: &str| variable(name).is_some();
    let has_profiles =
        context.profiles.as_ref().is_some_and(|access| access.sets_current_aside || access.profiles.path().exists());
    !has_profiles && !remote.is_given() && !named(PROFILE) && !named(URL) && context.home.require_data().is_err()
}

/// Runs a command. Boxed, or the runtime is compiled once for each.
fn block_on<'w>(work: impl Future<Output = anyhow::Result<()>> + 'w) -> anyhow::Result<()> {
    on_runtime(Box::pin(work))
}

fn on_runtime(work: Pin<Box<dyn Future<Output = anyhow::Result<()>> + '_>>) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("threads cannot be started")?;
    let result = runtime.block_on(work);
    // A thread that reads stdin never ends by itself.
    runtime.shutdown_timeout(LAST_WAIT);
    result
}

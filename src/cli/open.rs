//! `avert` and `avert open`: the console on this machine's own alerts.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::Context;
use super::args::{ConsoleArgs, OpenArgs};
use super::failure::{Misused, SaidAlready};
use super::local::Local;
use super::signals::Signals;
use crate::config;
use crate::console::theme::ThemeName;
use crate::console::{self, AlertJson, ConsoleError, ConsoleSettings, Place, Session};
use crate::service::Environment;
use crate::telemetry;
use crate::webhooks::AddressPolicy;
use crate::wire::{self, Dialect};

/// How long a console may take to give the terminal back once it was asked to end.
const LAST_FRAME: Duration = Duration::from_secs(5);

/// How long resolutions on their way may take to end; their fate is on record either way.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long deliveries on their way may hold up the end.
const DRAIN: Duration = Duration::from_secs(1);

pub(super) async fn run(context: Context, args: OpenArgs) -> anyhow::Result<()> {
    require_terminal()?;
    let logs = context.home.data_dir.join("logs");
    let local = Local::open(&context.home, &context.settings).await?;
    telemetry::to_file(context.raised(context.settings.log.level.filter()), &logs)
        .with_context(|| format!("the log in {} cannot be written", logs.display()))?;
    let caller = local.engine.local_caller(context.organization(&args.organization)).await?;
    let place = Place {
        name: caller.organization.organization.name.clone(),
        environment: Environment::from(context.settings.environment),
        ..Place::default()
    };
    let running = local.start(AddressPolicy::LOOPBACK, DRAIN)?;
    let session = Session {
        deployment: local.engine.deployment(caller),
        clock: local.clock.clone(),
        place,
        settings: console_settings(&context, &args.console, context.reports()),
        desk_dir: Some(context.home.data_dir.join("desk")),
        alert_json: alert_json(),
    };
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let result = attend(session, &mut signals).await;
    running.stop(PATIENCE).await;
    local.close();
    result
}

/// Runs the console until it ends by itself or a signal asks the process to.
pub(super) async fn attend(session: Session, signals: &mut Signals) -> anyhow::Result<()> {
    let console = console::run(session);
    tokio::pin!(console);
    let ended = tokio::select! {
        ended = &mut console => ended,
        signal = signals.next() => {
            tracing::info!(signal, "asked to end");
            // The console hears the same signal and gives the terminal back by itself; this is for one that hangs.
            tokio::time::timeout(LAST_FRAME, &mut console).await.unwrap_or(Err(ConsoleError::Terminated { signal, unsent: 0 }))
        }
    };
    ended.map_err(|error| match error {
        ConsoleError::NoTerminal => no_terminal().into(),
        // The console has given the terminal back and named the report.
        ConsoleError::Crashed => SaidAlready.into(),
        other => other.into(),
    })
}

/// What the console is set to: by flags, else by the settings.
pub(super) fn console_settings(context: &Context, args: &ConsoleArgs, reports: PathBuf) -> ConsoleSettings {
    let settings = &context.settings.console;
    let theme = match args.theme.unwrap_or(settings.theme) {
        config::Theme::Auto => (!context.output.color()).then_some(ThemeName::NoColor),
        config::Theme::Dark => Some(ThemeName::Dark),
        config::Theme::Light => Some(ThemeName::Light),
        config::Theme::HighContrast => Some(ThemeName::HighContrast),
        config::Theme::Ansi => Some(ThemeName::Ansi),
    };
    let grace = Duration::from_secs(settings.grace_seconds.0.into());
    ConsoleSettings { theme, grace, mouse: settings.mouse, reports, ..ConsoleSettings::default() }
}

/// Writes an alert as the interface does, for copying it.
pub(super) fn alert_json() -> AlertJson {
    Arc::new(|alert, now| String::from_utf8_lossy(&wire::write::alert(alert, Dialect::Current, now)).into_owned())
}

/// Refuses to open a console where there is no terminal.
pub(super) fn require_terminal() -> Result<(), Misused> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Ok(());
    }
    Err(no_terminal())
}

fn no_terminal() -> Misused {
    Misused("the console needs a terminal; without one there are `avert serve`, `avert alerts list` and `avert import`".to_owned())
}

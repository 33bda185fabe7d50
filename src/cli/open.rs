//! `avert` and `avert open`: the console, on this machine's alerts or another deployment's.

use std::{
    io::{self, IsTerminal},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use directories::BaseDirs;
use futures::FutureExt as _;
use tokio::time::timeout;

use super::{
    alerts::alert_records,
    args::{ConsoleArgs, OpenArgs, RemoteArgs},
    context::{self, Context},
    database::{OpenedBy, key_file},
    failure::{Misused, SaidAlready, Signalled},
    local::Local,
    networks::{self, Known},
    process::{Signals, variable},
    profiles::for_console,
    rules_file::RulesText,
    settings_file::SettingsFile,
    target::{RemoteTarget, credential_variable},
};
use crate::{
    config,
    console::{
        self, ConsoleError, NextConsole, Preferences, Session, SessionInfo,
        keymap::Keymap,
        reminders::{DesktopSequence, ReminderSettings},
        setting::{ReadRules, RulesFile as _, SettingOverride, SettingsKeeper},
        theme::ThemeName,
        user_settings::{USER_SETTINGS, UserSetting},
    },
    desk::{Profile, ProfileName, links::LinkTemplates, profiles::LOCAL},
    domain::{
        sanitize,
        time::{SharedClock, SystemClock},
        without_mark,
    },
    service::Deployment,
    wire,
};

/// Longest wait for a console to restore the terminal once it was asked to end.
const LAST_FRAME: Duration = Duration::from_secs(5);

/// Longest wait for resolutions that are sending; their result is recorded either way.
const PATIENCE: Duration = Duration::from_secs(15);

/// Longest wait for deliveries that are under way.
const DRAIN: Duration = Duration::from_secs(1);

pub(super) async fn run(mut context: Context, mut args: OpenArgs) -> anyhow::Result<()> {
    require_terminal()?;
    let here = context.clone();
    // Begun by the first console, after its questions, and kept: a signal between two consoles ends the program before
    // the next one opens.
    let mut signals = None;
    let mut next = open_once(&context, &args, &mut signals).await?;
    while let Some(chosen) = next {
        let whose = match chosen {
            NextConsole::Profile(name) => {
                // On this machine it is the organization that was asked for.
                context = if name == LOCAL { here.clone() } else { context.with_organization(None) };
                args.remote = RemoteArgs { profile: Some(name.clone()), ..RemoteArgs::default() };
                format!("profile {name}")
            }
            NextConsole::Organization(name) => {
                context = context.with_organization(Some(name.clone()));
                format!("organization {name}")
            }
        };
        // Each console reads the settings again: another one may have changed them.
        context = context.with_settings_of_now()?;
        next = open_once(&context, &args, &mut signals).await.with_context(|| format!("the console of {whose}"))?;
    }
    Ok(())
}

/// Opens one console and returns the next one that is wanted.
async fn open_once(
    context: &Context,
    args: &OpenArgs,
    signals: &mut Option<Signals>,
) -> anyhow::Result<Option<NextConsole>> {
    let mut settings = console_settings(context, args.console)?;
    settings.kept_in.clone_from(&context.settings_file);
    if let Some(target) = args.remote.target(context.profiles.as_ref(), variable)? {
        context.refuse_organization()?;
        return elsewhere(context, args.console, target, settings, signals).await;
    }
    if args.remote.dialect.is_some() {
        refuse!("--dialect goes with --url: the console speaks the current dialect on this machine");
    }
    let rules = RulesText::of(context);
    let settings = with_rules(settings, &rules)?;
    let local = Local::making_for(context, OpenedBy::Console).await?;
    let log_trouble = context::start(context, &context.home.data_dir);
    let caller = local.caller(context.organization()).await?.said_to_be(&context.user().unwrap_or_default());
    let known = local.engine.store().gateways().await?;
    let own = caller.organization.organization.clone();
    let all = local.engine.organizations().await?.into_iter().map(|record| record.organization);
    let place = SessionInfo {
        name: networks::place_of(&own.name, &context.settings, &known),
        environment: Some(context.settings.environment),
        facts: local_facts(context, &known),
        user: context.user(),
        profiles: other_profiles(context, Some(LOCAL)),
        organizations: all.filter(|one| one.id != own.id).map(|one| one.name).collect(),
        order_owner: Some(local.order_owner(own.id).await?),
        ..SessionInfo::default()
    };
    let running = local.start(DRAIN)?;
    let session = Session {
        desk_dir: Some(context.home.desk()),
        log_trouble,
        rules: Some(Arc::new(rules)),
        profiles: for_console(context, Some(LOCAL)),
        keeper: settings_keeper(context, args.console),
        ..session(local.engine.deployment(caller), &local.clock, place, settings)
    };
    let result = stay(session, signals).await;
    running.stop(local.engine.settings().longest_decision()).await;
    local.close();
    result
}

/// Runs the console on another deployment. It has everything of the interface, and nothing that only a local engine
/// offers.
async fn elsewhere(
    context: &Context,
    args: ConsoleArgs,
    target: RemoteTarget,
    settings: Preferences,
    signals: &mut Option<Signals>,
) -> anyhow::Result<Option<NextConsole>> {
    let rules = RulesText::of(context);
    let settings = with_rules(settings, &rules)?;
    if let (Some(name), false) = (&target.named, target.profile.auto_rules.is_empty()) {
        say!("auto_rules of profile {name} is ignored: rules only suggest");
    }
    let target = target.for_operator(context.profiles.as_ref()).await?;
    let Profile { environment, read_only, refresh_seconds, page_size, .. } = target.profile;
    let (name, dialect, profile) = (target.name(), target.dialect, target.named.clone());
    let desk = context.desk_of_deployment(profile.as_ref(), &target.url);
    let kept = format!("this console's own is {}", target.credential_origin);
    let curl = Some(target.curl("{id}"));
    let settings = Preferences {
        refresh: refresh_seconds.map(|seconds| Duration::from_secs(seconds.into())),
        page_size: page_size.unwrap_or(settings.page_size),
        ..settings
    };
    let clock: SharedClock = Arc::new(SystemClock);
    let (client, deployment) = target.connect(Arc::clone(&clock), context.user())?;
    let here = profile.as_ref().map(ProfileName::as_str);
    let place = SessionInfo {
        name,
        environment,
        remote: true,
        dialect,
        read_only,
        facts: vec![
            ("service", format!("another deployment at {}, {} dialect", client.host(), dialect.as_str())),
            ("credentials", kept),
            desk_fact(&desk),
        ],
        user: context.user(),
        profiles: other_profiles(context, here),
        curl,
        ..SessionInfo::default()
    };
    let session = Session {
        desk_dir: Some(desk),
        log_trouble: context::start(context, &context.home.data_dir),
        rules: Some(Arc::new(rules)),
        profiles: for_console(context, here),
        keeper: settings_keeper(context, args),
        ..session(deployment, &clock, place, settings)
    };
    let result = stay(session, signals).await;
    client.finish(PATIENCE).await;
    result
}

/// Returns a session without the files of this computer.
pub(super) fn session(
    deployment: Deployment,
    clock: &SharedClock,
    place: SessionInfo,
    settings: Preferences,
) -> Session {
    let dialect = place.dialect;
    let alert_records = alert_records(clock, &deployment);
    Session {
        deployment,
        clock: Arc::clone(clock),
        place,
        settings,
        // In the deployment's dialect, for copying.
        alert_json: Arc::new(move |alert, now| {
            sanitize::json(&String::from_utf8_lossy(&wire::write::alert(alert, dialect, now))).into_owned()
        }),
        alert_records,
        desk_dir: None,
        log_trouble: None,
        rules: None,
        profiles: None,
        keeper: None,
    }
}

/// Runs the console until it ends. The first one begins to listen to signals.
async fn stay(session: Session, signals: &mut Option<Signals>) -> anyhow::Result<Option<NextConsole>> {
    let signals = match signals {
        Some(kept) => kept,
        None => signals.insert(Signals::listen()?),
    };
    if let Some(signal) = signals.next().now_or_never() {
        return Err(Signalled(signal).into());
    }
    attend(session, signals).await
}

/// Returns the profiles that this console can switch to. None where the environment names a credential, which would go
/// to every one of them.
fn other_profiles(context: &Context, here: Option<&str>) -> Vec<String> {
    let Some(access) = context.profiles.as_ref().filter(|_| credential_variable().is_none()) else { return Vec::new() };
    let named = access.profiles.list().unwrap_or_default().all.into_keys().map(String::from);
    let local = context.home.require_data().is_ok().then(|| LOCAL.to_owned());
    named.chain(local).filter(|name| Some(name.as_str()) != here).collect()
}

/// Returns the keeper of a console's settings, which writes and reads them again.
fn settings_keeper(context: &Context, args: ConsoleArgs) -> Option<Arc<dyn SettingsKeeper>> {
    let (file, context) = (context.settings_file.clone()?, context.clone());
    let read = move || console_settings(&context.with_settings_of_now()?, args);
    Some(Arc::new(SettingsFile::at(file, read)))
}

/// Returns the facts for the Settings screen of a console on this machine's alerts.
fn local_facts(context: &Context, known: &[Known]) -> Vec<(&'static str, String)> {
    let key = key_file(&context.home, &context.settings).unwrap_or_default();
    let mut facts = vec![
        ("service", "the engine in this process".to_owned()),
        ("data", context.home.database.to_string()),
        (
            "secrets",
            format!("keys and client secrets as SHA-256 only; webhook credentials encrypted with {}", key.display()),
        ),
        desk_fact(&context.home.desk()),
    ];
    let closed = networks::closed(&context.settings, known);
    facts.extend(closed.into_iter().map(|closed| ("networks", networks::closed_words(closed))));
    facts
}

fn desk_fact(desk: &Path) -> (&'static str, String) {
    ("desk", format!("views, drafts and journal in {}", desk.display()))
}

/// Runs the console until it ends by itself or a signal asks the process to.
pub(super) async fn attend(session: Session, signals: &mut Signals) -> anyhow::Result<Option<NextConsole>> {
    let console = console::run(session);
    tokio::pin!(console);
    let ended = tokio::select! {
        ended = &mut console => ended,
        signal = signals.next() => {
            tracing::info!(signal, "asked to end");
            // The console gets the same signal and restores the terminal by itself; this is for one that hangs.
            timeout(LAST_FRAME, &mut console).await.unwrap_or(Err(ConsoleError::Terminated { signal,
                lost: String::new() }))
        }
    };
    ended.map_err(|error| match error {
        ConsoleError::NoTerminal => no_terminal().into(),
        // The console has restored the terminal and named the report.
        ConsoleError::Crashed => SaidAlready.into(),
        other => other.into(),
    })
}

/// Returns the preferences of the console: from flags, else from the settings.
pub(super) fn console_settings(context: &Context, args: ConsoleArgs) -> anyhow::Result<Preferences> {
    let settings = &context.settings.console;
    Ok(Preferences {
        theme: match args.theme.unwrap_or(settings.theme) {
            config::ThemeSetting::Auto => (!context.output.color()).then_some(ThemeName::NoColor),
            config::ThemeSetting::Dark => Some(ThemeName::Dark),
            config::ThemeSetting::Light => Some(ThemeName::Light),
            config::ThemeSetting::HighContrast => Some(ThemeName::HighContrast),
            config::ThemeSetting::Ansi => Some(ThemeName::Ansi),
        },
        plain: args.plain || settings.plain,
        utc: settings.times == config::TimesSetting::Utc,
        undo_window: Duration::from_secs(settings.grace_seconds.0.into()),
        mouse: settings.mouse,
        keymap: keymap(&settings.keymap, context.settings_dir.as_deref())?,
        reminders: reminders(&context.settings.notices),
        links: links(&context.settings.links),
        browses: can_browse(variable),
        files: std::env::current_dir().unwrap_or_default(),
        home: BaseDirs::new().map(|directories| directories.home_dir().to_owned()),
        overrides: overrides(args),
        ..Preferences::default()
    })
}

/// Adds the rules.
pub(super) fn with_rules(settings: Preferences, rules: &RulesText) -> Result<Preferences, Misused> {
    let ReadRules { rules, place } = rules.read().map_err(Misused)?;
    Ok(Preferences { rules: rules.into(), rules_in: Some(place), ..settings })
}

/// Returns the reminders of the settings.
fn reminders(settings: &config::Notices) -> ReminderSettings {
    ReminderSettings {
        bell: settings.bell,
        title: settings.title,
        desktop: match settings.desktop {
            config::DesktopSetting::Off => None,
            config::DesktopSetting::Osc9 => Some(DesktopSequence::Osc9),
            config::DesktopSetting::Osc777 => Some(DesktopSequence::Osc777),
        },
        before: chrono::Duration::minutes(settings.before_minutes.0.into()),
        quiet: settings.quiet,
    }
}

fn links(settings: &config::Links) -> LinkTemplates {
    let config::Links { order, payment, ethoca, verifi, cdrn } = settings.clone();
    LinkTemplates { order, payment, ethoca, verifi, cdrn }
}

/// Returns whether a browser would open on the user's own screen: not behind SSH, and only with a desktop.
fn can_browse(lookup: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| lookup(name).is_some();
    let far = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].into_iter().any(is_set);
    !far && (cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Returns the settings that a flag or the environment overrides for this console.
fn overrides(args: ConsoleArgs) -> Vec<SettingOverride> {
    let by = |setting: &UserSetting| match setting.key {
        "theme" if args.theme.is_some() => Some("--theme"),
        key => config::Settings::variable_of(setting.table, key).filter(|name| variable(name).is_some()),
    };
    let stronger = |setting: &UserSetting| Some(SettingOverride { key: setting.key, by: by(setting)?.to_owned() });
    USER_SETTINGS.iter().filter_map(stronger).collect()
}

/// Reads the keys: the built-in ones, changed by the file that the settings name, else by `keymap.toml` beside them.
fn keymap(named: &Path, settings_dir: Option<&Path>) -> Result<Keymap, Misused> {
    let file = match settings_dir {
        _ if !named.as_os_str().is_empty() => named.to_owned(),
        Some(directory) => directory.join("keymap.toml"),
        None => return Ok(Keymap::default()),
    };
    let wrong = |what: String| misused!("the keys in {}{what}", file.display());
    match std::fs::read_to_string(&file) {
        Ok(text) => Keymap::default()
            .with_user_file(without_mark(&text))
            .map_err(|error| wrong(format!(":{}: {}", error.line, error.message))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.as_os_str().is_empty() => Ok(Keymap::default()),
        Err(error) => Err(wrong(format!(": they cannot be read: {error}"))),
    }
}

/// Refuses to open a console without a terminal.
pub(super) fn require_terminal() -> Result<(), Misused> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(no_terminal());
    }
    Ok(())
}

fn no_terminal() -> Misused {
    misused!(
        "the console needs a terminal; without one there are `avert serve`, `avert alerts list` and `avert import`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::keymap::Action;

    #[test]
    fn keys_beside_the_settings_are_taken_and_a_wrong_line_is_told_with_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keymap.toml");
        let read = || keymap(Path::new(""), Some(directory.path()));

        assert_eq!(read(), Ok(Keymap::default()));
        std::fs::write(&file, "refund = \"R\"\n").unwrap();
        assert_eq!(read().map(|keymap| keymap.key_of(Action::Refund)), Ok("R".to_owned()));
        std::fs::write(&file, "refund = \"R\"\nrefnud = \"x\"\n").unwrap();
        let Misused(words) = read().unwrap_err();
        assert!(words.contains("keymap.toml:2: "), "{words}");
    }

    #[rstest::rstest]
    #[case::a_desktop(&["DISPLAY"], true)]
    #[case::another_desktop(&["WAYLAND_DISPLAY"], true)]
    #[case::no_desktop(&[], false)]
    #[case::far_away(&["DISPLAY", "SSH_CONNECTION"], false)]
    #[cfg(target_os = "linux")]
    fn a_browser_is_opened_where_whoever_sits_there_would_see_it(#[case] set: &[&str], #[case] can: bool) {
        assert_eq!(can_browse(|name| set.contains(&name).then(|| "1".to_owned())), can);
    }

    #[test]
    fn a_keymap_that_is_named_has_to_be_there() {
        assert!(keymap(Path::new("/nowhere/keys.toml"), None).is_err());
    }
}

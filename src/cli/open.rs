//! `avert` and `avert open`: the console, on this machine's alerts or another deployment's.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use directories::BaseDirs;
use futures::FutureExt as _;
use tokio::time::timeout;

use super::alerts::alert_records;
use super::args::{ConsoleArgs, OpenArgs, OrganizationArgs, RemoteArgs};
use super::context::Context;
use super::database::{OpenedBy, key_file};
use super::failure::{Misused, SaidAlready, Signalled};
use super::listener::ConsoleListener;
use super::local::Local;
use super::networks::{self, Known};
use super::profiles::directory::{OpenedOn, for_console};
use super::program_log;
use super::rules::RulesText;
use super::settings_file::SettingsFile;
use super::signals::Signals;
use super::target::{CredentialSource, RemoteTarget, credential_variable, variable};
use crate::config;
use crate::console::keymap::Keymap;
use crate::console::notices::{DesktopSequence, NoticeSettings};
use crate::console::profile_directory::ProfileDirectory;
use crate::console::program_log::ProgramLog;
use crate::console::rules_file::{ReadRules, RulesFile};
use crate::console::setting::{SettingOverride, SettingsKeeper};
use crate::console::theme::ThemeName;
use crate::console::times::ShownClocks;
use crate::console::user_settings::{USER_SETTINGS, UserSetting};
use crate::console::{self, AlertJson, ConsoleError, LostAtEnd, NextConsole, Preferences, Session, SessionInfo};
use crate::desk::profiles::LOCAL;
use crate::desk::{ProfileName, SecretStorage};
use crate::domain::sanitize;
use crate::domain::time::{SharedClock, SystemClock};
use crate::domain::{Environment, LinkTemplates, without_mark};
use crate::service::Deployment;
use crate::wire::{self, Dialect};

/// How long a console may take to give the terminal back once it was asked to end.
const LAST_FRAME: Duration = Duration::from_secs(5);

/// How long resolutions on their way may take to end; their fate is on record either way.
const PATIENCE: Duration = Duration::from_secs(15);

/// Whoever opens a console on a deployment is told so soon that it is waited for, and waits so long.
const SAID_AFTER: Duration = Duration::from_millis(300);
const ASKED_FOR: Duration = Duration::from_millis(1_700);

/// How long deliveries on their way may hold up the end.
const DRAIN: Duration = Duration::from_secs(1);

pub(super) async fn run(context: Context, mut args: OpenArgs) -> anyhow::Result<()> {
    require_terminal()?;
    let here = args.organization.clone();
    // Begun by the first console, after what is asked before it, and kept: one that comes between two consoles ends the
    // program before the next one opens.
    let mut signals = None;
    let mut next = open_once(&context, &args, &mut signals).await?;
    while let Some(chosen) = next {
        let whose = match chosen {
            NextConsole::Profile(name) => {
                let remote = RemoteArgs { profile: Some(name.clone()), ..RemoteArgs::default() };
                // On this machine it is the organization that was asked for.
                let organization = if name == LOCAL { here.clone() } else { OrganizationArgs::default() };
                args = OpenArgs { console: args.console, remote, organization, ..OpenArgs::default() };
                format!("profile {name}")
            }
            NextConsole::Organization(name) => {
                args.organization.organization = Some(name.clone());
                format!("organization {name}")
            }
        };
        // Each one reads the settings as they are by then: another console may have changed them.
        let context = context.with_settings_of_now()?;
        next = open_once(&context, &args, &mut signals).await.with_context(|| format!("the console of {whose}"))?;
    }
    Ok(())
}

/// Opens one console; the one that is wanted next, where one is.
async fn open_once(
    context: &Context,
    args: &OpenArgs,
    signals: &mut Option<Signals>,
) -> anyhow::Result<Option<NextConsole>> {
    let mut settings = console_settings(context, &args.console, context.reports())?;
    settings.kept_in.clone_from(&context.settings_file);
    let rules = RulesText::of(context);
    if let Some(target) = args.remote.target(context.profiles.as_ref(), variable)? {
        return elsewhere(context, args, target, settings, rules, signals).await;
    }
    if args.remote.dialect.is_some() {
        refuse!("--dialect goes with --url: the console speaks the current dialect on this machine");
    }
    let rules = rules.acting(context.settings.console.auto_rules.clone(), "auto_rules in [console]".to_owned());
    let settings = with_rules(settings, &rules)?;
    let local = Local::making_for(context, OpenedBy::Console).await?;
    let log = program_log::start(context, &context.home.data_dir);
    let organization = local.chosen(context.organization(&args.organization)).await?;
    let caller = local.caller(organization.as_deref()).await?.said_to_be(&context.user().unwrap_or_default());
    let known = local.engine.store().gateways().await?;
    let own = caller.organization.organization.id;
    let all = local.engine.organizations().await?.into_iter().map(|record| record.organization);
    let order_owner = Some(local.order_owner(own).await?);
    let organizations =
        all.filter(|organization| organization.id != own).map(|organization| organization.name).collect();
    let place = SessionInfo {
        name: networks::place_of(&caller.organization.organization.name, &context.settings, &known),
        environment: Some(Environment::from(context.settings.environment)),
        facts: local_facts(context, &known),
        user: context.user(),
        profiles: other_profiles(context, None),
        organizations,
        order_owner,
        ..SessionInfo::default()
    };
    let running = local.start(DRAIN)?;
    let (deployment, clock) = (local.engine.deployment(caller), local.clock.clone());
    let profiles = for_console(context, OpenedOn::ThisMachine);
    let keeper = settings_keeper(context, args.console);
    let result = stay(
        deployment,
        clock,
        place,
        settings,
        rules,
        Beside { desk: context.desk(), log, profiles, keeper },
        signals,
    )
    .await;
    running.stop(local.engine.settings().longest_decision()).await;
    local.close();
    result
}

/// The console on another deployment: everything that the interface has, and nothing of what only an engine of one's
/// own offers.
async fn elsewhere(
    context: &Context,
    args: &OpenArgs,
    target: RemoteTarget,
    settings: Preferences,
    rules: RulesText,
    signals: &mut Option<Signals>,
) -> anyhow::Result<Option<NextConsole>> {
    args.organization.refuse_elsewhere()?;
    let by = target.profile.as_ref().map_or_else(String::new, |name| format!("auto_rules of profile {name}"));
    let rules = rules.acting(target.auto_rules.clone(), by);
    let settings = with_rules(settings, &rules)?;
    let clock: SharedClock = Arc::new(SystemClock);
    let (mut target, withheld) = target.with_kept_operator_key(context.profiles.as_ref())?;
    if let (Some(why), Some(name)) = (withheld, &target.profile) {
        say!("opened without an operator's key of profile {name}: {why}");
    }
    if let (None, Some(name), Some(access)) = (target.environment, &target.profile, &context.profiles) {
        say!(
            "Nothing says yet which world the deployment of profile {name} is ({}); it is asked this once.",
            target.url.host()
        );
        target.environment = Some(access.ask_environment(name)?);
    }
    let target = as_operator(target).await?;
    let name = target.name();
    let (environment, dialect, read_only, profile) =
        (target.environment, target.dialect, target.read_only, target.profile.clone());
    let (url, source) = (target.url.clone(), target.credential_source);
    let settings =
        Preferences { refresh: target.refresh, page_size: target.page_size.unwrap_or(settings.page_size), ..settings };
    let (client, deployment) = target.by_person(context.user()).connect(Arc::clone(&clock))?;
    let log = program_log::start(context, &context.home.data_dir);
    let desk = context.desk_of_deployment(profile.as_ref(), &url);
    let opened_on = profile.as_ref().map_or(OpenedOn::Address, |name| OpenedOn::Profile(name.as_str()));
    let directory = for_console(context, opened_on);
    let kept = where_kept(context, source, profile.as_ref());
    let facts = vec![
        ("service", format!("another deployment at {}, {} dialect", client.host(), dialect.as_str())),
        ("credentials", kept),
        ("desk", format!("views, drafts and journal in {}", desk.display())),
    ];
    let profiles = other_profiles(context, Some(profile.as_ref()));
    let user = context.user();
    let place = SessionInfo {
        name,
        environment,
        remote: true,
        dialect,
        read_only,
        facts,
        user,
        profiles,
        ..SessionInfo::default()
    };
    let keeper = settings_keeper(context, args.console);
    let result =
        stay(deployment, clock, place, settings, rules, Beside { desk, log, profiles: directory, keeper }, signals)
            .await;
    client.finish(PATIENCE).await;
    result
}

/// The same deployment with its key as the operator's too, where it says so in time: one that is slow is opened by the
/// interface alone.
async fn as_operator(target: RemoteTarget) -> anyhow::Result<RemoteTarget> {
    let mut asked = pin!(target.clone().with_key_of_both_scopes());
    if let Ok(answer) = timeout(SAID_AFTER, &mut asked).await {
        return answer;
    }
    let host = target.url.host();
    say!("asking {host} what this key may do");
    match timeout(ASKED_FOR, asked).await {
        Ok(answer) => answer,
        Err(_) => {
            say!(
                "{host} does not say whether the key is an operator's: opened with what the interface has; opened \
                    again, it is asked again"
            );
            Ok(target)
        }
    }
}

/// Where this console's own credential is kept.
fn where_kept(context: &Context, source: CredentialSource, profile: Option<&ProfileName>) -> String {
    let name = profile.map_or("", ProfileName::as_str);
    match source {
        CredentialSource::Flag => {
            "this console's own came from a file that a flag named; it keeps it nowhere".to_owned()
        }
        CredentialSource::Environment => {
            "this console's own came from a variable of the environment; it keeps it nowhere".to_owned()
        }
        CredentialSource::Kept(SecretStorage::Keyring) => {
            format!("this console's own is kept in the system's keyring (avert, {name})")
        }
        CredentialSource::Kept(SecretStorage::PlainFile) => {
            let file = context
                .profiles
                .as_ref()
                .map_or_else(String::new, |access| access.secrets.path().display().to_string());
            format!("this console's own is kept as plain text in {file}, which only you can read")
        }
        CredentialSource::Typed => {
            format!("this console's own was typed and is kept nowhere: `avert login {name}` keeps it")
        }
    }
}

/// This computer's own things that a console works with.
struct Beside {
    desk: PathBuf,
    log: Arc<dyn ProgramLog>,
    profiles: Option<Arc<dyn ProfileDirectory>>,
    keeper: Option<Arc<dyn SettingsKeeper>>,
}

/// Opens the console on a deployment and stays in it until it ends.
async fn stay(
    deployment: Deployment,
    clock: SharedClock,
    place: SessionInfo,
    settings: Preferences,
    rules: RulesText,
    Beside { desk, log, profiles, keeper }: Beside,
    signals: &mut Option<Signals>,
) -> anyhow::Result<Option<NextConsole>> {
    let signals = match signals {
        Some(kept) => kept,
        None => signals.insert(Signals::listen().context("signals cannot be listened to")?),
    };
    if let Some(signal) = signals.next().now_or_never() {
        return Err(Signalled(signal).into());
    }
    let desk_dir = Some(desk);
    let alert_json = alert_json(place.dialect);
    let (listener, alert_records) = (Some(ConsoleListener::shared(&clock)), alert_records(&clock));
    let (log, rules) = (Some(log), Some(Arc::new(rules) as Arc<dyn RulesFile>));
    let session = Session {
        deployment,
        clock,
        place,
        settings,
        desk_dir,
        alert_json,
        alert_records,
        listener,
        log,
        rules,
        profiles,
        keeper,
    };
    attend(session, signals).await
}

/// The profiles that a console can be opened on from another one's: of a profile, or of an address (`Some(None)`), or
/// of this machine. None where the environment names a credential, which would go to every one of them.
fn other_profiles(context: &Context, elsewhere: Option<Option<&ProfileName>>) -> Vec<String> {
    let Some(access) = context.profiles.as_ref().filter(|_| credential_variable().is_none()) else { return Vec::new() };
    let current = elsewhere.flatten();
    let named = access
        .profiles
        .list()
        .unwrap_or_default()
        .all
        .into_keys()
        .filter(|name| Some(name) != current)
        .map(String::from);
    let local = (elsewhere.is_some() && context.home.require_data().is_ok()).then(|| LOCAL.to_owned());
    named.chain(local).collect()
}

/// Whoever keeps the settings of a console, and reads them again.
fn settings_keeper(context: &Context, args: ConsoleArgs) -> Option<Arc<dyn SettingsKeeper>> {
    let (file, context) = (context.settings_file.clone()?, context.clone());
    let read = move || console_settings(&context.with_settings_of_now()?, &args, context.reports());
    Some(Arc::new(SettingsFile::at(file, read)))
}

/// What the Settings screen tells of a console on this machine's own alerts.
fn local_facts(context: &Context, known: &[Known]) -> Vec<(&'static str, String)> {
    let key = key_file(&context.home, &context.settings).unwrap_or_default();
    let mut facts = vec![
        ("service", "the engine in this process".to_owned()),
        ("data", context.home.database.to_string()),
        (
            "secrets",
            format!("keys and client secrets as SHA-256 only; webhook credentials encrypted with {}", key.display()),
        ),
        ("desk", format!("views, drafts and journal in {}", context.desk().display())),
    ];
    let closed = networks::closed(&context.settings, known);
    facts.extend(closed.into_iter().map(|closed| ("networks", networks::closed_words(closed))));
    facts
}

/// Runs the console until it ends by itself or a signal asks the process to.
pub(super) async fn attend(session: Session, signals: &mut Signals) -> anyhow::Result<Option<NextConsole>> {
    let console = console::run(session);
    tokio::pin!(console);
    let ended = tokio::select! {
        ended = &mut console => ended,
        signal = signals.next() => {
            tracing::info!(signal, "asked to end");
            // The console hears the same signal and gives the terminal back by itself; this is for one that hangs.
            timeout(LAST_FRAME, &mut console).await.unwrap_or(Err(ConsoleError::Terminated { signal,
                lost: LostAtEnd::default() }))
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
pub(super) fn console_settings(context: &Context, args: &ConsoleArgs, reports: PathBuf) -> anyhow::Result<Preferences> {
    let settings = &context.settings.console;
    let theme = match args.theme.unwrap_or(settings.theme) {
        config::ThemeSetting::Auto => (!context.output.color()).then_some(ThemeName::NoColor),
        config::ThemeSetting::Dark => Some(ThemeName::Dark),
        config::ThemeSetting::Light => Some(ThemeName::Light),
        config::ThemeSetting::HighContrast => Some(ThemeName::HighContrast),
        config::ThemeSetting::Ansi => Some(ThemeName::Ansi),
    };
    let clocks = match settings.times {
        config::TimesSetting::Both => ShownClocks::Both,
        config::TimesSetting::Utc => ShownClocks::Utc,
        config::TimesSetting::Local => ShownClocks::Local,
    };
    let grace = Duration::from_secs(settings.grace_seconds.0.into());
    let keymap = keymap(&settings.keymap, context.settings_dir.as_deref())?;
    let notices = notices(&context.settings.notices);
    let links = links(&context.settings.links);
    let browses = can_browse(variable);
    let files = std::env::current_dir().unwrap_or_default();
    let home = BaseDirs::new().map(|directories| directories.home_dir().to_owned());
    let (mouse, plain) = (settings.mouse, args.plain || settings.plain);
    let overrides = overrides(args, variable);
    Ok(Preferences {
        theme,
        plain,
        motion: settings.motion,
        clocks,
        grace,
        mouse,
        keymap,
        notices,
        links,
        browses,
        files,
        home,
        reports,
        overrides,
        ..Preferences::default()
    })
}

/// The same with rules, and those of them that stage by themselves.
pub(super) fn with_rules(settings: Preferences, rules: &RulesText) -> Result<Preferences, Misused> {
    let (ReadRules { rules, place }, auto_rules) = rules.for_console()?;
    Ok(Preferences { rules: rules.into(), auto_rules, rules_in: Some(place), ..settings })
}

/// How the console calls, by the settings.
fn notices(settings: &config::Notices) -> NoticeSettings {
    NoticeSettings {
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

/// The link templates of the settings.
fn links(settings: &config::Links) -> LinkTemplates {
    let config::Links { order, payment, ethoca, verifi, cdrn } = settings.clone();
    LinkTemplates { order, payment, ethoca, verifi, cdrn }
}

/// Whether a browser would open before whoever sits at the terminal: not behind SSH, and only where there is a desktop.
fn can_browse(lookup: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let far = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].into_iter().any(is_set);
    !far && (cfg!(any(target_os = "macos", windows)) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// The settings that a flag or the environment says for this console, whatever the file does.
fn overrides(args: &ConsoleArgs, lookup: impl Fn(&str) -> Option<String>) -> Vec<SettingOverride> {
    let by_variable = |setting: &UserSetting| {
        let variable = config::Settings::variable_of(setting.table, setting.key)?;
        lookup(variable).filter(|text| !text.is_empty()).map(|_| variable.to_owned())
    };
    let by_flag = |setting: &UserSetting| match setting.key {
        "theme" if args.theme.is_some() => Some("--theme".to_owned()),
        "plain" if args.plain => Some("--plain".to_owned()),
        _ => None,
    };
    let stronger = |setting: &UserSetting| {
        Some(SettingOverride { key: setting.key, by: by_flag(setting).or_else(|| by_variable(setting))? })
    };
    USER_SETTINGS.iter().filter_map(stronger).collect()
}

/// The keys: those built in, changed by the file that the settings name, or else by `keymap.toml` beside them.
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

/// Writes an alert as the dialect does, for copying it.
pub(super) fn alert_json(dialect: Dialect) -> AlertJson {
    Arc::new(move |alert, now| {
        sanitize::json(&String::from_utf8_lossy(&wire::write::alert(alert, dialect, now))).into_owned()
    })
}

/// What there is where no console can be.
const INSTEAD: &str = "without one there are `avert serve`, `avert alerts list` and `avert import`";

/// Refuses to open a console where there is no terminal, or one that can only write line after line.
pub(super) fn require_terminal() -> Result<(), Misused> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(no_terminal());
    }
    if std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        refuse!(
            "the console needs a terminal that can place its cursor, and TERM=dumb says that this one cannot; {INSTEAD}"
        );
    }
    Ok(())
}

fn no_terminal() -> Misused {
    misused!("the console needs a terminal; {INSTEAD}")
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

//! Draws the Settings screen: one sheet of keys and clients, profiles, rules, and what this console is set to.

use ratatui::{buffer::Buffer, layout::Rect, text::Span};

use super::state::SettingsScreen;
use crate::{
    Action, AppContext,
    domain::{Credential, CredentialKind, Environment, Timestamp, rule::DecisionRule},
    screens::loading::{has_rows, say_absent},
    setting::{CredentialPlace, ListedProfile},
    text::sanitize,
    times,
    ui::{
        sheet::Sheet,
        table::{self, TableColumn},
    },
    user_settings::{USER_SETTINGS, UserSetting},
};

/// Columns of the labels of settings, and of their values.
const LABEL: u16 = 14;
const VALUE: u16 = 13;

/// Draws everything below the header and above the notes.
pub fn draw(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    settings.targets.clear();
    let mut sheet = Sheet::new(&cx.theme, table::room(area));
    put_credentials(settings, cx, &mut sheet);
    put_profiles(settings, cx, &mut sheet);
    put_rules(cx, &mut sheet);
    put_settings(cx, &mut sheet);
    sheet.gap();
    for (label, text) in &cx.place.facts {
        sheet.fact(label, text, cx.theme.plain);
    }
    sheet.draw(&settings.window, settings.at(), buffer, area, |area, row| settings.targets.push(area, row));
}

fn put_credentials(settings: &SettingsScreen, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let quiet = cx.theme.quiet;
    if !settings.offered {
        return say_absent("Keys and clients", sheet);
    }
    let list = settings.list.loaded().filter(|list| !list.credentials.is_empty());
    let in_force = list.map(|list| {
        let works = list.credentials.iter().filter(|credential| credential.revoked_at.is_none()).count();
        format!("{works} of {} in force", list.credentials.len())
    });
    let creating = settings.creating.map(|_| "creating one…".to_owned());
    match (settings.list.stale_words(cx), creating.or(in_force)) {
        (Some(stale), _) => sheet.title("Keys and clients", &stale, cx.theme.warning),
        (None, words) => sheet.title("Keys and clients", &words.unwrap_or_default(), quiet),
    }
    if let Some(list) = list {
        let world = if list.environment == Environment::Production { "live" } else { "test" };
        let (organization, environment) = (&list.organization, list.environment.as_str());
        sheet.say(&format!("organization {organization}, {environment} (avk_{world}_…)"), quiet);
    }
    let empty = format!("None yet. {} creates one.", cx.key(Action::CredentialCreate));
    let words = ["Keys and clients", &empty];
    if has_rows(&settings.list.data, |list| list.credentials.is_empty(), words, cx, sheet) {
        sheet.table(credential_columns(settings, cx), &settings.credentials());
    }
}

fn put_profiles(settings: &SettingsScreen, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let theme = &cx.theme;
    sheet.title("Profiles", "", theme.quiet);
    match &settings.profiles {
        Some(Ok(rows)) if !rows.is_empty() => sheet.table(profile_columns(cx), rows),
        _ if cx.place.demo => sheet.say("Not available in the demo.", theme.plain),
        None => sheet.say("Loading…", theme.quiet),
        Some(Err(why)) => sheet.say(&format!("Not available: {why}"), theme.danger),
        Some(Ok(_)) => sheet.say("None yet: avert profiles add NAME --url URL", theme.plain),
    }
}

fn put_rules(cx: &AppContext, sheet: &mut Sheet<'_>) {
    let (theme, rules) = (&cx.theme, &cx.settings.rules[..]);
    let file = cx.settings.rules_in.as_deref().unwrap_or("rules.txt beside the settings, or AVERT_RULES");
    sheet.title("Rules", file, theme.quiet);
    if rules.is_empty() {
        sheet.say("None yet. A rule is a query and the answer that it suggests, a line each:", theme.quiet);
        return sheet.say("small: amount<25 currency:EUR,USD -> refunded", theme.quiet);
    }
    let text = |text: &str, style| Span::styled(sanitize(text).into_owned(), style);
    let columns = vec![
        TableColumn::new("NAME", |row: &DecisionRule, _| text(&row.name, theme.strong)).min(12),
        TableColumn::new("SUGGESTS", |row: &DecisionRule, _| Span::styled(row.decision.words(), theme.plain)),
        TableColumn::new("QUERY", |row: &DecisionRule, _| text(&row.text, theme.plain)).min(12).rank(1),
    ];
    sheet.table(columns, rules);
}

fn put_settings(cx: &AppContext, sheet: &mut Sheet<'_>) {
    let kept = cx.settings.kept_in.as_ref();
    let kept =
        kept.map_or("for this session only".to_owned(), |file| format!("saved in {}", cx.settings.path_words(file)));
    sheet.title("This console", &kept, cx.theme.quiet);
    let theme = &cx.theme;
    let value = |setting: &UserSetting| (setting.current)(&cx.settings);
    let words = |setting: &UserSetting, _| {
        let by = cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key);
        let by = by.map_or_else(String::new, |stronger| format!(", set by {}", stronger.by));
        Span::styled(format!("{}{by}", setting.words(value(setting))), theme.quiet)
    };
    let columns = vec![
        TableColumn::new("", |setting: &UserSetting, _| Span::styled(setting.label, theme.quiet)).reserve(LABEL),
        TableColumn::new("", |setting: &UserSetting, _| Span::styled(value(setting).shown(), theme.strong))
            .reserve(VALUE),
        TableColumn::new("", words).min(0),
    ];
    sheet.table(columns, USER_SETTINGS);
}

fn credential_columns<'d>(settings: &'d SettingsScreen, cx: &'d AppContext) -> Vec<TableColumn<'d, &'d Credential>> {
    let theme = &cx.theme;
    let plain = move |row: &Credential| if row.revoked_at.is_some() { theme.quiet } else { theme.plain };
    let scope = |row: &Credential| match row.kind {
        CredentialKind::Key(scope) => scope.as_str(),
        CredentialKind::Client => "alerts",
    };
    let used = move |row: &&Credential, _| match row.last_used_at {
        None => Span::styled("never", theme.quiet),
        Some(at) => Span::styled(times::ago(at, cx.now), plain(row)),
    };
    let state = move |row: &&Credential, _| match row.revoked_at {
        Some(at) => Span::styled(format!("revoked {}", times::ago(at, cx.now)), theme.quiet),
        None if settings.is_own(row) => Span::styled("in use here", theme.accent),
        None => Span::styled("works", theme.ok),
    };
    let created = |row: &&Credential, _| Span::styled(row.created_at.format("%Y-%m-%d").to_string(), theme.quiet);
    vec![
        TableColumn::new("KIND", move |row: &&Credential, _| Span::styled(row.kind.as_str(), plain(row))),
        TableColumn::new("ID", move |row: &&Credential, _| Span::styled(sanitize(&row.id).into_owned(), plain(row)))
            .min(12),
        TableColumn::new("SCOPE", move |row: &&Credential, _| Span::styled(scope(row), plain(row))).min(8).rank(2),
        TableColumn::new("CREATED", created).rank(3),
        TableColumn::new("LAST USED", used).rank(1),
        TableColumn::new("STATE", state).min(8),
    ]
}

fn profile_columns(cx: &AppContext) -> Vec<TableColumn<'_, ListedProfile>> {
    let theme = &cx.theme;
    let environment = |row: &ListedProfile, _| match row.environment {
        Some(Environment::Production) => Span::styled("PRODUCTION", theme.danger),
        Some(Environment::Sandbox) => Span::styled("sandbox", theme.plain),
        None => Span::styled("unset", theme.quiet),
    };
    let credential = |row: &ListedProfile, _| match row.credential {
        CredentialPlace::Keyring => Span::styled("keyring", theme.plain),
        CredentialPlace::PlainFile => Span::styled("plain file", theme.warning),
        CredentialPlace::Environment => Span::styled("environment", theme.plain),
        CredentialPlace::Nowhere => Span::styled("none saved", theme.warning),
        CredentialPlace::Unknown => Span::styled("unknown", theme.warning),
        CredentialPlace::NotNeeded => Span::styled("none needed", theme.quiet),
    };
    let state = |row: &ListedProfile, _| {
        let words = [(row.here, "open here"), (row.current, "current"), (row.read_only, "read-only")];
        let words: Vec<&str> = words.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
        Span::styled(words.join(", "), if row.here { theme.accent } else { theme.quiet })
    };
    let name = |row: &ListedProfile, _| Span::styled(sanitize(&row.name).into_owned(), theme.strong);
    let address = |row: &ListedProfile, _| Span::styled(sanitize(&row.address).into_owned(), theme.plain);
    vec![
        TableColumn::new("NAME", name).min(12),
        TableColumn::new("ENVIRONMENT", environment),
        TableColumn::new("CREDENTIAL", credential),
        TableColumn::new("STATE", state).min(12).rank(1),
        TableColumn::new("ADDRESS", address).min(12).rank(2),
    ]
}

/// What a credential is and what is known of its use: `alerts key, created 2026-11-02, used 3 min ago`.
pub fn described(credential: &Credential, now: Timestamp) -> String {
    let kind = match credential.kind {
        CredentialKind::Key(scope) => format!("API key, scope {}", scope.as_str()),
        CredentialKind::Client => "client credentials".to_owned(),
    };
    let used = credential
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", times::ago(at, now)));
    format!("{kind}, created {}, {used}", credential.created_at.format("%Y-%m-%d"))
}

//! Draws the Settings screen: one page of keys and clients, profiles, rules, and what this console is set to.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::state::SettingsScreen;
use crate::{
    Action, AppContext,
    domain::{Credential, CredentialKind, CredentialList, Environment, Timestamp, rule::DecisionRule},
    screens::loading::{FactSheet, ListWords, in_its_place},
    setting::{CredentialPlace, ListedProfile},
    text::{columns, cut, cut_path, sanitize},
    times::{self, Zone},
    ui::table::{self, DataTable, TableColumn},
    user_settings::{USER_SETTINGS, UserSetting},
};

/// Columns of the labels of settings, and of their values.
const LABEL: usize = 16;
const VALUE: usize = 15;

/// Columns of a moment to the minute.
const MINUTE: u16 = 16;

/// Widest paragraph, in columns.
const WIDEST: u16 = 110;

/// Draws everything below the header and above the notes.
pub fn draw(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    settings.targets.clear();
    let page = SettingsPage::of(settings, cx, table::room(area));
    let line = |at: usize| page.sheet.lines[at].clone();
    let at = (settings.at(), true);
    settings.window.draw_page(&page.rows, line, at, &cx.theme, buffer, area, |area, row| {
        settings.targets.push(area, row);
    });
}

/// The page: all of its lines, from above, and the row that each is of.
struct SettingsPage<'c> {
    sheet: FactSheet<'c>,
    rows: Vec<Option<usize>>,
    next_row: usize,
    room: u16,
}

impl<'c> SettingsPage<'c> {
    /// The page in so many columns.
    fn of(settings: &SettingsScreen, cx: &'c AppContext, width: u16) -> Self {
        let mut page =
            Self { sheet: FactSheet::new(&cx.theme, width.min(WIDEST)), rows: Vec::new(), next_row: 0, room: width };
        page.put_credentials(settings, cx, width);
        page.put_profiles(settings, cx, width);
        page.put_rules(cx, width);
        page.put_settings(cx);
        page.sheet.gap();
        for (label, text) in &cx.place.facts {
            page.sheet.fact(label, text, cx.theme.plain);
        }
        page.rows.resize(page.sheet.lines.len(), None);
        page
    }

    /// Adds the heading of a part, and words beside it.
    fn title(&mut self, title: &str, beside: &str, style: Style) {
        let theme = self.sheet.theme;
        if !self.sheet.lines.is_empty() {
            self.sheet.gap();
        }
        let title = Span::styled(format!("{title}   "), theme.strong);
        let beside = cut(beside, self.room - self.room.min(columns(&title.content))).into_owned();
        self.sheet.lines.push(Line::from(vec![title, Span::styled(beside, style)]));
    }

    /// Adds a line that the cursor can be on.
    fn row(&mut self, line: Line<'static>) {
        self.rows.resize(self.sheet.lines.len(), None);
        self.rows.push(Some(self.next_row));
        self.next_row += 1;
        self.sheet.lines.push(line);
    }

    fn put_rows<T>(&mut self, columns: Vec<TableColumn<'_, T>>, rows: &[T], width: u16) {
        let table = DataTable::of(columns, rows, width);
        self.sheet.lines.push(table.head(self.sheet.theme));
        rows.iter().for_each(|row| self.row(table.line(row)));
    }

    fn put_rules(&mut self, cx: &AppContext, width: u16) {
        let (theme, rules) = (&cx.theme, &cx.settings.rules);
        let file = cx.settings.rules_in.as_deref().unwrap_or("rules.txt beside the settings, or AVERT_RULES");
        self.title("Rules", &sanitize(file), theme.quiet);
        if rules.is_empty() {
            self.sheet.say("None yet. A rule is a query and the answer that it suggests, a line each:", theme.quiet);
            return self.sheet.say("small: amount<25 currency:EUR,USD -> refunded", theme.quiet);
        }
        self.put_rows(rule_columns(cx), rules, width);
    }

    fn put_credentials(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        if !settings.is_offered() {
            return self.sheet.absent("Keys and clients");
        }
        let list = settings.list.loaded().filter(|list| !list.credentials.is_empty());
        let in_force = list.map(|list| {
            let works = list.credentials.iter().filter(|credential| credential.revoked_at.is_none()).count();
            format!("{works} of {} in force", list.credentials.len())
        });
        let creating = settings.creating.map(|_| "creating one…".to_owned());
        match (settings.list.stale_words(cx), creating.or(in_force)) {
            (Some(stale), _) => self.title("Keys and clients", &stale, cx.theme.warning),
            (None, words) => self.title("Keys and clients", &words.unwrap_or_default(), cx.theme.quiet),
        }
        list.into_iter().for_each(|list| self.sheet.say(&whose(list), cx.theme.quiet));
        let empty = format!("None yet. {} creates one.", cx.key(Action::CredentialCreate));
        let words = ListWords { name: "Keys and clients", empty: &empty };
        match in_its_place(&settings.list.data, |list| list.credentials.is_empty(), &words, cx) {
            Some((text, style)) => self.sheet.say(&text, style),
            None => self.put_rows(credential_columns(settings, cx), &settings.credentials(), width),
        }
    }

    fn put_profiles(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        let theme = &cx.theme;
        self.title("Profiles", "", theme.quiet);
        match &settings.profiles {
            Some(Ok(rows)) if !rows.is_empty() => self.put_rows(profile_columns(cx), rows, width),
            _ if cx.place.demo => self.sheet.say("Not available in the demo.", theme.plain),
            None => self.sheet.say("Loading…", theme.quiet),
            Some(Err(why)) => self.sheet.say(&format!("Not available: {why}"), theme.danger),
            Some(Ok(_)) => self.sheet.say("None yet: avert profiles add NAME --url URL", theme.plain),
        }
    }

    fn put_settings(&mut self, cx: &AppContext) {
        let kept = match &cx.settings.kept_in {
            None => "for this session only".to_owned(),
            Some(file) => {
                let file = cut_path(&file.display().to_string(), cx.settings.home.as_deref(), WIDEST);
                format!("saved in {file}")
            }
        };
        self.title("This console", &kept, cx.theme.quiet);
        USER_SETTINGS.iter().for_each(|setting| self.row(setting_line(setting, cx, self.room)));
    }
}

/// Whose they are and for which world: `organization acme, production (avk_live_…)`.
fn whose(list: &CredentialList) -> String {
    let world = if list.environment == Environment::Production { "live" } else { "test" };
    format!("organization {}, {} (avk_{world}_…)", sanitize(&list.organization), list.environment.as_str())
}

fn credential_columns<'d>(settings: &'d SettingsScreen, cx: &'d AppContext) -> Vec<TableColumn<'d, &'d Credential>> {
    let theme = &cx.theme;
    let plain = move |row: &Credential| if row.revoked_at.is_some() { theme.quiet } else { theme.plain };
    let digits = move |row: &Credential| if row.revoked_at.is_some() { theme.quiet } else { cx.digits() };
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
    let created = move |row: &&Credential, width| {
        let format = if width < MINUTE { "%Y-%m-%d" } else { "%Y-%m-%d %H:%M" };
        Span::styled(row.created_at.format(format).to_string(), theme.quiet)
    };
    vec![
        TableColumn::new("KIND", move |row: &&Credential, _| Span::styled(row.kind.as_str(), plain(row))),
        TableColumn::new("ID", move |row: &&Credential, _| Span::styled(sanitize(&row.id).into_owned(), digits(row)))
            .min(12),
        TableColumn::new("SCOPE", move |row: &&Credential, _| Span::styled(scope(row), plain(row))).min(8).rank(2),
        TableColumn::new("CREATED", created).min(10).rank(3),
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

fn rule_columns(cx: &AppContext) -> Vec<TableColumn<'_, DecisionRule>> {
    let theme = &cx.theme;
    vec![
        TableColumn::new("NAME", |row: &DecisionRule, _| Span::styled(sanitize(&row.name).into_owned(), theme.strong))
            .min(12),
        TableColumn::new("SUGGESTS", |row: &DecisionRule, _| Span::styled(row.decision.words(), theme.plain)),
        TableColumn::new("QUERY", |row: &DecisionRule, _| Span::styled(sanitize(&row.text).into_owned(), theme.plain))
            .min(12)
            .rank(1),
    ]
}

/// A setting: its name, its value, what that means, and what is stronger.
fn setting_line(setting: &UserSetting, cx: &AppContext, room: u16) -> Line<'static> {
    let (theme, value) = (&cx.theme, (setting.current)(&cx.settings));
    let stronger = cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key);
    let stronger = stronger.map_or_else(String::new, |stronger| format!("   set by {}", stronger.by));
    let lead = format!("{:<VALUE$}", value.shown());
    let left = usize::from(room).saturating_sub(LABEL + lead.len() + stronger.len());
    let words = cut(setting.words(value), u16::try_from(left).unwrap_or(u16::MAX)).into_owned();
    Line::from(vec![
        Span::styled(format!("{:<LABEL$}", setting.label), theme.quiet),
        Span::styled(lead, theme.strong),
        Span::styled(words + &stronger, theme.quiet),
    ])
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

/// That a credential was revoked before.
pub fn revoked_already(credential: &Credential, told: Zone, now: Timestamp) -> String {
    let when = credential.revoked_at.map_or_else(String::new, |at| format!(", {}", told.at(at, now)));
    format!("The {} {} is already revoked{when}.", credential.kind.as_str(), sanitize(&credential.id))
}

//! The lines of the Settings screen, and which of them are in the window.

use ratatui::text::{Line, Span};

use super::state::{SettingsPart, SettingsScreen};
use crate::console::profile_directory::{CredentialPlace, ListedProfile};
use crate::console::screens::loading::{ListWords, in_its_place};
use crate::console::text::{cut_path, sanitize, wrap};
use crate::console::times;
use crate::console::user_settings::{USER_SETTINGS, UserSetting};
use crate::console::{Action, AppContext, DrawContext, Screen as _};
use crate::domain::rule::DecisionRule;
use crate::domain::{Credential, CredentialKind, CredentialList, Environment};
use crate::ui::fit::Segment;
use crate::ui::table::{self, DataTable, TableColumn};

/// Columns of the labels of settings and facts, and of the values of settings.
const LABEL: u16 = 14;
const VALUE: usize = 15;

/// Columns of a moment to the minute.
const MINUTE: u16 = 16;

/// Widest paragraph, in columns.
const WIDEST: u16 = 110;

/// A line of the page.
pub(super) enum PageLine {
    Text(Line<'static>),
    /// Words, and keys that can be clicked.
    Segments(Vec<Segment<Action>>),
    /// A row of a part, which the cursor can be on.
    Row(SettingsPart, usize, Line<'static>),
    /// A setting: its name and value, what that means, and what is stronger.
    Setting(usize, Vec<Segment<Action>>),
}

/// The page: all of its lines, from above.
pub(super) struct SettingsPage {
    pub(super) lines: Vec<PageLine>,
}

impl SettingsPage {
    /// The page in so many columns.
    pub(super) fn of(settings: &SettingsScreen, cx: &AppContext, width: u16) -> Self {
        let mut page = Self { lines: Vec::new() };
        page.put_credentials(settings, cx, width);
        page.lines.push(PageLine::Text(Line::default()));
        page.put_profiles(settings, cx, width);
        page.lines.push(PageLine::Text(Line::default()));
        page.put_rules(cx, width);
        page.lines.push(PageLine::Text(Line::default()));
        page.put_settings(settings, cx);
        page.lines.push(PageLine::Text(Line::default()));
        for (label, text) in &cx.place.facts {
            let room = width.clamp(LABEL + 10, WIDEST) - LABEL;
            for (index, line) in wrap(&sanitize(text), room).into_iter().enumerate() {
                let label = format!("{:<1$}", if index == 0 { *label } else { "" }, usize::from(LABEL));
                let spans = vec![Span::styled(label, cx.theme.quiet), Span::styled(line, cx.theme.plain)];
                page.lines.push(PageLine::Text(Line::from(spans)));
            }
        }
        page
    }

    fn put_rules(&mut self, cx: &AppContext, width: u16) {
        let (theme, rules) = (&cx.theme, &cx.settings.rules);
        let file = cx.settings.rules_in.as_deref().unwrap_or("rules.txt beside the settings, or AVERT_RULES");
        let title = vec![
            Segment::new(0, "Rules", theme.strong),
            Segment::new(3, sanitize(file).into_owned(), theme.quiet).cut_to(1, 20),
        ];
        self.lines.push(PageLine::Segments(title));
        if rules.is_empty() {
            self.say(
                &Span::styled("None yet. A rule is a query and the answer that it suggests, a line each:", theme.quiet),
                width,
            );
            return self.say(&Span::styled("small: amount<25 currency:EUR,USD -> refunded", theme.quiet), width);
        }
        let table = DataTable::of(rule_columns(cx), rules, width);
        self.put_rows(SettingsPart::Rules, &table, rules, cx);
    }

    fn put_credentials(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        let (draw, theme) = (&cx.draw_context(), &cx.theme);
        if !settings.is_offered() {
            self.say(&Span::styled("Keys and clients are not available here.", theme.strong), width);
            let words = "An avert engine shows them with an operator key: avert login --operator.";
            return self.say(&Span::styled(words, theme.plain), width);
        }
        let mut title = vec![Segment::new(0, "Keys and clients", theme.strong)];
        if let Some(list) = settings.list.loaded().filter(|list| !list.credentials.is_empty()) {
            let revoked = list.credentials.iter().filter(|credential| credential.revoked_at.is_some()).count();
            title.push(Segment::new(3, format!("{} in force", list.credentials.len() - revoked), theme.quiet));
            let words = format!(", {revoked} revoked");
            title.extend((revoked > 0).then(|| Segment::new(0, words, theme.quiet).or_none(1)));
        }
        if let Some((since, error)) = settings.trouble.as_ref().filter(|_| settings.list.loaded().is_some()) {
            let words = format!("▲ stale since {}: {}", draw.times.at(*since, draw.now), sanitize(&error.to_string()));
            title.push(Segment::new(3, words, theme.warning).cut_to(1, 20));
        }
        title.extend(settings.creating.map(|_| Segment::new(3, "creating one…", theme.accent).or_none(2)));
        self.lines.push(PageLine::Segments(title));
        let empty = format!("None yet. {} creates one.", draw.key(Action::CredentialCreate));
        let words = ListWords { name: "Keys and clients", empty: &empty };
        if let Some((text, style)) = in_its_place(&settings.list, |list| list.credentials.is_empty(), &words, draw) {
            return self.say(&Span::styled(text, style), width);
        }
        let whose = settings.list.loaded().map(|list| Segment::new(0, whose(list), theme.quiet));
        let offered = [Action::CredentialCreate, Action::CredentialRevoke].into_iter();
        let offered = offered.filter(|action| settings.offers(*action, cx)).filter_map(|action| {
            let words = &draw.keymap.binding(action)?.words;
            Some(Segment::new(3, format!("{} {words}", draw.key(action)), theme.quiet).target(action))
        });
        self.lines.push(PageLine::Segments(whose.into_iter().chain(offered).collect()));
        let rows = settings.rows();
        let table = DataTable::of(credential_columns(settings, *draw), &rows, width);
        self.put_rows(SettingsPart::Credentials, &table, &rows, cx);
    }

    fn put_profiles(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        let theme = &cx.theme;
        let mut title = vec![Segment::new(0, "Profiles", theme.strong)];
        let leads = match settings.chosen_profile().filter(|profile| !profile.here) {
            Some(profile) => Some((Action::Open, format!("opens {}", sanitize(&profile.name)))),
            None if settings.part() != SettingsPart::Profiles && !settings.profile_rows().is_empty() => {
                Some((Action::NextPane, "goes on to the next part".to_owned()))
            }
            None => None,
        };
        if let Some((action, words)) = leads {
            title.extend([
                Segment::new(3, cx.key(action), theme.key).target(action),
                Segment::new(1, words, theme.quiet).target(action),
            ]);
        }
        self.lines.push(PageLine::Segments(title));
        let none = "None yet: avert profiles add NAME --url URL";
        let said = match &settings.profiles {
            _ if cx.place.demo => Span::styled("Not available in the demo.", theme.plain),
            None => Span::styled("Loading…", theme.quiet),
            Some(Err(why)) => Span::styled(format!("Not available: {}", sanitize(why)), theme.danger),
            Some(Ok(rows)) if rows.is_empty() => Span::styled(none, theme.plain),
            Some(Ok(rows)) => {
                let table = DataTable::of(profile_columns(cx), rows, width);
                return self.put_rows(SettingsPart::Profiles, &table, rows, cx);
            }
        };
        self.say(&said, width);
    }

    fn put_settings(&mut self, settings: &SettingsScreen, cx: &AppContext) {
        let kept = match &cx.settings.kept_in {
            None => "for this session only".to_owned(),
            Some(file) => {
                let file = cut_path(&file.display().to_string(), cx.settings.home.as_deref(), WIDEST);
                format!("saved in {file}")
            }
        };
        self.lines.push(PageLine::Segments(vec![
            Segment::new(0, "This console", cx.theme.strong),
            Segment::new(3, kept, cx.theme.quiet).cut_to(1, 10),
        ]));
        for (index, setting) in USER_SETTINGS.iter().enumerate() {
            let is_chosen = settings.part() == SettingsPart::Console && settings.row() == index;
            self.lines.push(PageLine::Setting(index, setting_line(setting, is_chosen, cx)));
        }
    }

    fn put_rows<T>(&mut self, part: SettingsPart, table: &DataTable<'_, T>, rows: &[T], cx: &AppContext) {
        self.lines.push(PageLine::Text(table.head(&cx.theme)));
        let line = |(index, row)| PageLine::Row(part, index, table.line(row));
        self.lines.extend(rows.iter().enumerate().map(line));
    }

    fn say(&mut self, said: &Span<'_>, width: u16) {
        let lines = wrap(&said.content, width.min(WIDEST));
        self.lines.extend(lines.into_iter().map(|line| PageLine::Text(Line::styled(line, said.style))));
    }

    /// The line that is the first in a window of this height: the one under the cursor is seen, and with the first and
    /// the last row what stands around the rows.
    pub(super) fn top(&self, settings: &SettingsScreen, height: usize) -> usize {
        let place = |line: &PageLine| match line {
            PageLine::Row(part, row, _) => Some((*part, *row)),
            PageLine::Setting(row, _) => Some((SettingsPart::Console, *row)),
            PageLine::Text(_) | PageLine::Segments(_) => None,
        };
        let cursor = Some((settings.part(), settings.row()));
        let Some(at) = self.lines.iter().position(|line| place(line) == cursor) else { return 0 };
        // The heads of a part belong to its first row, what comes after the last row of all to that.
        let is_row = |line: &PageLine| place(line).is_some();
        let from = self.lines[..at].iter().rposition(is_row).map_or(0, |row| row + 1);
        let to = if self.lines[at + 1..].iter().any(is_row) { at } else { self.lines.len() - 1 };
        let top = table::scrolled(settings.window.get().0, to, self.lines.len(), height).min(from);
        table::scrolled(top, at, self.lines.len(), height)
    }
}

/// Whose they are and for which world: `organization acme, production (avk_live_…)`.
fn whose(list: &CredentialList) -> String {
    let world = if list.environment == Environment::Production { "live" } else { "test" };
    format!("organization {}, {} (avk_{world}_…)", sanitize(&list.organization), list.environment.as_str())
}

fn credential_columns<'d>(settings: &'d SettingsScreen, draw: DrawContext<'d>) -> Vec<TableColumn<'d, &'d Credential>> {
    let theme = draw.theme;
    let plain = move |row: &Credential| if row.revoked_at.is_some() { theme.quiet } else { theme.plain };
    let digits = move |row: &Credential| if row.revoked_at.is_some() { theme.quiet } else { draw.digits() };
    let scope = |row: &Credential| match row.kind {
        CredentialKind::Key(scope) => scope.as_str(),
        CredentialKind::Client => "alerts",
    };
    let used = move |row: &&Credential, _| match row.last_used_at {
        None => Span::styled("never", theme.quiet),
        Some(at) => Span::styled(times::ago(at, draw.now), plain(row)),
    };
    let state = move |row: &&Credential, _| match row.revoked_at {
        Some(at) => Span::styled(format!("revoked {}", times::ago(at, draw.now)), theme.quiet),
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

/// A setting: its name, its value, what that means, the key that changes it, and what is stronger.
fn setting_line(setting: &UserSetting, is_chosen: bool, cx: &AppContext) -> Vec<Segment<Action>> {
    let (theme, value) = (&cx.theme, (setting.current)(&cx.settings));
    let mut line = vec![
        Segment::new(0, format!("{:<1$}", setting.label, usize::from(LABEL)), theme.quiet),
        Segment::new(0, format!("{:<VALUE$}", value.shown()), theme.strong),
        Segment::new(0, setting.words(value), theme.quiet).or_none(2),
    ];
    if is_chosen {
        let (key, change) = (cx.key(Action::Open), Action::Open);
        line.push(Segment::new(3, key, theme.key).or_none(1).target(change));
        line.push(Segment::new(1, "changes it", theme.quiet).or_none(1).target(change));
    }
    let stronger = cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key);
    line.extend(stronger.map(|stronger| Segment::new(3, format!("set by {}", stronger.by), theme.quiet)));
    line
}

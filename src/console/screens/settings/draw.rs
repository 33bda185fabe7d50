//! Draws the Settings screen: one page of keys and clients, profiles, and what this console is set to.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::page::{LABEL, PageLine, SettingsPage};
use super::profiles;
use super::state::{SettingsPart, SettingsScreen, SettingsTarget};
use crate::console::text::{columns, counted, cut, cut_path, sanitize};
use crate::console::times::Moments;
use crate::console::user_settings::{USER_SETTINGS, UserSetting};
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext, DrawContext, Pen, Screen as _, times};
use crate::domain::{Credential, CredentialKind, CredentialList, Environment, KeyScope, Timestamp};

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// From so many columns on a moment is shown with its time of day.
const ROOMY: u16 = 112;

/// Columns of the values of settings.
const VALUE: u16 = 15;

/// What the key beside the chosen setting does.
const CHANGES: &str = "changes it";

/// Draws everything below the header and above the notes.
pub fn draw(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let draw = &cx.draw_context();
    settings.targets.clear();
    let text = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 2), ..area };
    let page = SettingsPage::of(settings, cx, text.width);
    let top = page.top(settings, usize::from(area.height));
    settings.window.set((top, usize::from(area.height)));
    let table = key_columns(text.width);
    let above = page.part_above(top).filter(|_| area.height > 1);
    if let Some(part) = above {
        let mut pen = Pen::new(buffer, Rect { height: 1, ..text });
        pen.put(part, draw.theme.strong);
        pen.skip(3);
        pen.put_whole(&format!("{} above", counted(top as u64 + 1, "line", "lines")), draw.theme.quiet);
    }
    for (line, y) in page.lines.iter().skip(top).zip(area.y..area.bottom()).skip(usize::from(above.is_some())) {
        let row = Rect { y, height: 1, ..text };
        match line {
            PageLine::Blank => {}
            PageLine::CredentialsTitle => draw_title(settings, draw, buffer, row),
            PageLine::CredentialsActions => draw_actions(settings, cx, buffer, row),
            PageLine::CredentialsHead => {
                let mut pen = Pen::new(buffer, row);
                for (title, width) in table.into_iter().filter(|(_, width)| *width > 0) {
                    pen.put(&format!("{:<width$}", cut(title, width), width = usize::from(width)), draw.theme.quiet);
                    pen.skip(2);
                }
            }
            PageLine::Said(text, style) => drop(Pen::new(buffer, row).put(text, *style)),
            PageLine::ProfilesTitle => profiles::draw_title(settings, cx, buffer, row),
            PageLine::ProfilesHead => profiles::draw_head(draw.theme, buffer, row),
            PageLine::ConsoleTitle => draw_console_title(cx, buffer, row),
            PageLine::Row(part, index) => draw_row(settings, cx, buffer, (*part, *index), row),
            PageLine::Fact(label, text) => {
                let mut pen = Pen::new(buffer, row);
                pen.put(label, draw.theme.quiet);
                pen.skip(LABEL.saturating_sub(columns(label)));
                pen.put(text, draw.theme.plain);
            }
        }
    }
    let bar = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
    scrollbar::draw(draw.theme, buffer, bar, top as u64, page.lines.len() as u64);
}

/// Draws a row of one of the parts, marked where the cursor is on it.
fn draw_row(
    settings: &SettingsScreen,
    cx: &AppContext,
    buffer: &mut Buffer,
    (part, index): (SettingsPart, usize),
    row: Rect,
) {
    let whole = Rect { x: row.x - GUTTER, width: row.width + GUTTER, ..row };
    let is_chosen = settings.part() == part && settings.row() == index;
    if is_chosen {
        cx.theme.mark_row(buffer, whole);
    }
    settings.targets.push(whole, SettingsTarget::Row(part, index));
    match part {
        SettingsPart::Credentials => {
            if let Some(credential) = settings.rows().get(index) {
                draw_credential(credential, settings.is_own(credential), &cx.draw_context(), buffer, row);
            }
        }
        SettingsPart::Profiles => {
            if let Some(profile) = settings.profile_rows().get(index) {
                profiles::draw_row(profile, &cx.theme, buffer, row);
            }
        }
        SettingsPart::Console => draw_setting(settings, cx, buffer, (&USER_SETTINGS[index], is_chosen), row),
    }
}

/// Draws the heading of what this console is set to, and where that is kept.
fn draw_console_title(cx: &AppContext, buffer: &mut Buffer, row: Rect) {
    let mut pen = Pen::new(buffer, row);
    pen.put("This console", cx.theme.strong);
    pen.skip(3);
    match &cx.settings.kept_in {
        None => pen.put("changes hold until it is left", cx.theme.quiet),
        Some(file) => {
            pen.put("changes are kept in ", cx.theme.quiet);
            let room = pen.room();
            pen.put(&cut_path(&file.display().to_string(), cx.settings.home.as_deref(), room), cx.theme.quiet)
        }
    };
}

/// Draws a setting: its name, its value, what that means, and what is stronger.
fn draw_setting(
    settings: &SettingsScreen,
    cx: &AppContext,
    buffer: &mut Buffer,
    (setting, is_chosen): (&UserSetting, bool),
    row: Rect,
) {
    let theme = &cx.theme;
    let value = (setting.current)(&cx.settings);
    let mut pen = Pen::new(buffer, row);
    pen.put(setting.label, theme.quiet);
    pen.skip(LABEL.saturating_sub(columns(setting.label)));
    let text = value.shown();
    pen.put(&text, theme.strong);
    pen.skip(VALUE.saturating_sub(columns(&text)));
    let key = cx.key(Action::SettingChange);
    let stronger = cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key);
    let set_by = stronger.map_or_else(String::new, |stronger| format!("set by {}", stronger.by));
    let words = setting.words(value);
    let beside = |columns: u16| if columns == 0 { 0 } else { columns + 3 };
    let (keys, sets) = (if is_chosen { columns(&key) + 1 + columns(CHANGES) } else { 0 }, columns(&set_by));
    // What the value means stands in its column, whichever row the cursor is on; where there is no room for all it goes
    // first.
    if columns(words) + beside(keys) + beside(sets) <= pen.room() {
        pen.put(words, theme.quiet);
        pen.skip(3);
    }
    if keys > 0 && keys + beside(sets) <= pen.room() {
        let area = pen.put_key(&key, CHANGES, theme);
        settings.targets.push(area, SettingsTarget::Do(Action::SettingChange));
        pen.skip(3);
    }
    pen.put(&set_by, theme.quiet);
}

fn draw_title(settings: &SettingsScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, row: Rect) {
    let theme = draw.theme;
    let mut pen = Pen::new(buffer, row);
    pen.put("Keys and clients", theme.strong);
    pen.skip(3);
    if let Some(list) = settings.list.loaded().filter(|list| !list.credentials.is_empty()) {
        let revoked = list.credentials.iter().filter(|credential| credential.revoked_at.is_some()).count();
        pen.put(&(list.credentials.len() - revoked).to_string(), theme.strong);
        pen.put(" in force", theme.quiet);
        if revoked > 0 {
            pen.put_whole(&format!(", {revoked} revoked"), theme.quiet);
        }
    }
    if let Some((since, error)) = settings.trouble.as_ref().filter(|_| settings.list.loaded().is_some()) {
        pen.skip(3);
        pen.put(&format!("▲ stale since {}: {}", draw.times.hour(*since), sanitize(&error.to_string())), theme.warning);
    }
    if settings.creating.is_some() {
        pen.skip(3);
        pen.put_whole("creating one…", theme.accent);
    }
}

/// Draws whose the keys are, and what can be done with them: nothing is revoked where none is.
fn draw_actions(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, row: Rect) {
    let draw = &cx.draw_context();
    let mut pen = Pen::new(buffer, row);
    if let Some(list) = settings.list.loaded() {
        pen.put(&whose(list), draw.theme.quiet);
        pen.skip(4);
    }
    let note = |area, action| settings.targets.push(area, SettingsTarget::Do(action));
    let offered =
        [Action::CredentialCreate, Action::CredentialRevoke].map(|action| (action, settings.offers(action, cx)));
    let offered: Vec<Action> =
        offered.into_iter().filter(|(_, is_offered)| *is_offered).map(|(action, _)| action).collect();
    draw.put_actions(&mut pen, &offered, note);
}

/// Whose they are and for which world: `organization acme, production (avk_live_…)`.
fn whose(list: &CredentialList) -> String {
    let world = if list.environment == Environment::Production { "live" } else { "test" };
    format!("organization {}, {} (avk_{world}_…)", sanitize(&list.organization), list.environment.as_str())
}

/// A column of the table: title, width.
type Column = (&'static str, u16);

/// The columns of the table of keys, in so much room.
fn key_columns(width: u16) -> [Column; 6] {
    let moment = match width {
        ROOMY.. => 16,
        70.. => 10,
        // Whether it works is worth more.
        _ => 0,
    };
    let ids = if width >= 76 { 20 } else { 12 };
    let scope = if width >= 90 { 15 } else { 8 };
    let used = 6 + ids + scope + moment + 10 + if moment > 0 { 10 } else { 8 };
    [
        ("KIND", 6),
        ("ID", ids),
        ("SCOPE", scope),
        ("CREATED", moment),
        ("LAST USED", 10),
        ("STATE", width.saturating_sub(used)),
    ]
}

fn draw_credential(credential: &Credential, own: bool, draw: &DrawContext<'_>, buffer: &mut Buffer, row: Rect) {
    let theme = draw.theme;
    let columns = &key_columns(row.width);
    let revoked = credential.revoked_at.is_some();
    let (text, plain) = if revoked { (theme.quiet, theme.quiet) } else { (draw.digits(), theme.plain) };
    let scope = match credential.kind {
        CredentialKind::Key(KeyScope::Both) if columns[2].1 < 15 => "both",
        CredentialKind::Key(scope) => scope.as_str(),
        CredentialKind::Client => "alerts",
    };
    let format = if columns[3].1 >= 16 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" };
    let used = credential.last_used_at.map_or_else(|| "never".to_owned(), |at| times::ago(at, draw.now));
    let (state, style) = state(credential, own, columns[5].1, draw);
    let cells: [(String, Style); 6] = [
        (credential.kind.as_str().to_owned(), plain),
        (sanitize(&credential.id).into_owned(), text),
        (scope.to_owned(), plain),
        (credential.created_at.format(format).to_string(), theme.quiet),
        (used, if revoked || credential.last_used_at.is_none() { theme.quiet } else { theme.plain }),
        (state, style),
    ];
    let mut x = row.x;
    for ((text, style), (_, width)) in cells.iter().zip(columns).filter(|(_, (_, width))| *width > 0) {
        Pen::new(buffer, Rect { x, y: row.y, width: *width, height: 1 }.intersection(row)).put(text, *style);
        x += width + 2;
    }
}

fn state(credential: &Credential, own: bool, room: u16, draw: &DrawContext<'_>) -> (String, Style) {
    let theme = draw.theme;
    match (credential.revoked_at, own) {
        (Some(at), _) => {
            let since = format!("revoked {}", times::ago(at, draw.now));
            (if columns(&since) <= room { since } else { "revoked".to_owned() }, theme.quiet)
        }
        (None, true) => ("in use here".to_owned(), theme.accent),
        (None, false) => ("works".to_owned(), theme.ok),
    }
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
pub fn revoked_already(credential: &Credential, told: Moments, now: Timestamp) -> String {
    let when = credential.revoked_at.map_or_else(String::new, |at| format!(", {}", told.near(at, now)));
    format!("The {} {} was revoked already{when}.", credential.kind.as_str(), sanitize(&credential.id))
}

//! Draws the Settings screen: keys and clients in a table, and what this console is set to.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::state::{SettingsScreen, SettingsTarget};
use crate::console::screens::loading::{ListWords, has_rows};
use crate::console::text::{columns, cut, sanitize, wrap};
use crate::console::user_settings::USER_SETTINGS;
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext, DrawContext, Pen, times};
use crate::domain::{Credential, CredentialKind, CredentialList, Environment, Timestamp};

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// From so many columns on a moment is shown with its time of day.
const ROOMY: u16 = 112;

/// Columns of the labels below.
const LABEL: u16 = 14;

/// Columns of the values of settings.
const VALUE: u16 = 15;

/// What the key beside the chosen setting does.
const CHANGES: &str = "changes it";

/// Fewest rows that a table of keys is given before what stands below it gives way.
const FEWEST: u16 = 4;

/// Draws everything below the header and above the notes.
pub fn draw(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let draw = &cx.draw_context();
    settings.targets.clear();
    let inside = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), ..area };
    let facts = fact_lines(&cx.place.facts, inside.width.min(110));
    let rows = u16::try_from(settings.rows().len()).unwrap_or(u16::MAX);
    // A title and a blank line before it; the facts behind it give way first.
    let own = u16::try_from(USER_SETTINGS.len()).unwrap_or(0);
    let below = u16::try_from(facts.len()).unwrap_or(0) + own + 2;
    // Title, what may be done, a blank line, the heads.
    let above = 4;
    let wanted = rows.max(FEWEST);
    let table_height = area.height.saturating_sub(above + below).max(FEWEST).min(wanted).min(area.height.saturating_sub(above));
    let y = if settings.is_offered() {
        draw_title(settings, draw, buffer, inside);
        let table = Rect { y: area.y + above - 1, height: table_height + 1, ..area };
        let empty = format!("There are none yet. {} creates an API key or client credentials.", draw.key(Action::CredentialCreate));
        let words = ListWords { name: "Keys and clients", empty: &empty };
        let place = Rect { x: inside.x, width: inside.width, ..table };
        if has_rows(&settings.list, |list| list.credentials.is_empty(), &words, draw, buffer, place) {
            draw_table(settings, draw, buffer, table);
        }
        table.bottom() + 1
    } else {
        let said = [
            ("Keys and clients cannot be managed from here.", draw.theme.strong),
            (
                "Where the deployment is an avert engine, an operator's key opens them: `avert login --operator` keeps one with the profile; \
                 AVERT_OPERATOR_KEY or --operator-key-file FILE is for once. Other deployments have pages of their own for them.",
                draw.theme.plain,
            ),
        ];
        say(&said, buffer, inside) + 1
    };
    let y = draw_settings(settings, cx, buffer, Rect { y, height: area.bottom().saturating_sub(y), ..area });
    // A blank line before the facts, where there is room for it.
    let y = if usize::from(area.bottom().saturating_sub(y)) > facts.len() { y + 1 } else { y };
    for ((label, text), y) in facts.iter().zip(y..area.bottom()) {
        let mut pen = Pen::new(buffer, Rect { y, height: 1, ..inside });
        pen.put(label, draw.theme.quiet);
        pen.skip(LABEL.saturating_sub(columns(label)));
        pen.put(text, draw.theme.plain);
    }
}

/// Draws what this console is set to; the line after it.
fn draw_settings(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) -> u16 {
    let theme = &cx.theme;
    if area.height < 2 {
        return area.y;
    }
    let inside = |y: u16| Rect { x: area.x + GUTTER, y, width: area.width.saturating_sub(GUTTER + 1), height: 1 };
    let mut pen = Pen::new(buffer, inside(area.y));
    pen.put("This console", theme.strong);
    pen.skip(3);
    let kept = cx.settings.kept_in.as_ref().map_or_else(
        || "changes hold until it is left".to_owned(),
        |file| format!("changes are kept in {}", sanitize(&file.display().to_string())),
    );
    pen.put(&kept, theme.quiet);
    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let (height, cursor) = (usize::from(body.height), settings.setting_row());
    // Where there is not room for all, the one under the cursor is among those that are shown.
    let first = (cursor + 1).saturating_sub(height).min(USER_SETTINGS.len().saturating_sub(height));
    let mut y = body.y;
    for (row, setting) in USER_SETTINGS.iter().enumerate().skip(first).take(height) {
        let line = Rect { y, height: 1, width: body.width.saturating_sub(2), ..body };
        let is_chosen = settings.is_in_settings() && row == cursor;
        if is_chosen {
            theme.mark_row(buffer, line);
        }
        settings.targets.push(line, SettingsTarget::Setting(row));
        let value = (setting.current)(&cx.settings);
        let mut pen = Pen::new(buffer, inside(y));
        pen.put(setting.label, theme.quiet);
        pen.skip(LABEL.saturating_sub(columns(setting.label)));
        let text = value.to_string();
        pen.put(&text, theme.strong);
        pen.skip(VALUE.saturating_sub(columns(&text)));
        if let Some(stronger) = cx.settings.overrides.iter().find(|stronger| stronger.key == setting.key) {
            pen.put(&format!("▲ {} is stronger than the file", stronger.by), theme.warning);
            pen.skip(3);
        }
        let key = cx.key(Action::SettingChange);
        if is_chosen && columns(&key) + 1 + columns(CHANGES) <= pen.room() {
            let area = pen.put_key(&key, CHANGES, theme);
            settings.targets.push(area, SettingsTarget::Do(Action::SettingChange));
            pen.skip(3);
        }
        pen.put_whole(setting.words(value), theme.quiet);
        y += 1;
    }
    y
}

/// Writes paragraphs, one below the other; the line after them.
fn say(paragraphs: &[(&str, Style)], buffer: &mut Buffer, area: Rect) -> u16 {
    let mut y = area.y;
    for (text, style) in paragraphs {
        for line in wrap(text, area.width) {
            if y < area.bottom() {
                Pen::new(buffer, Rect { y, height: 1, ..area }).put(&line, *style);
            }
            y += 1;
        }
    }
    y
}

fn fact_lines(facts: &[(&'static str, String)], width: u16) -> Vec<(&'static str, String)> {
    let lines = facts.iter().flat_map(|(label, text)| {
        let lines = wrap(&sanitize(text), width.saturating_sub(LABEL).max(10));
        lines.into_iter().enumerate().map(move |(index, line)| (if index == 0 { label } else { "" }, line))
    });
    lines.collect()
}

fn draw_title(settings: &SettingsScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    let mut pen = Pen::new(buffer, Rect { height: 1, ..area });
    pen.put("Keys and clients", theme.strong);
    pen.skip(3);
    if let Some(list) = settings.list.loaded().filter(|list| !list.credentials.is_empty()) {
        let revoked = list.credentials.iter().filter(|credential| credential.revoked_at.is_some()).count();
        let work = list.credentials.len() - revoked;
        pen.put(&work.to_string(), theme.strong);
        pen.put(if work == 1 { " works" } else { " work" }, theme.quiet);
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
    let mut pen = Pen::new(buffer, Rect { y: area.y + 1, height: 1, ..area });
    if let Some(list) = settings.list.loaded() {
        pen.put(&whose(list), theme.quiet);
        pen.skip(4);
    }
    let note = |area, action| settings.targets.push(area, SettingsTarget::Do(action));
    draw.put_actions(&mut pen, &[Action::CredentialCreate, Action::CredentialRevoke], note);
}

/// Whose they are and for which world: `organization acme, production (avk_live_…)`.
fn whose(list: &CredentialList) -> String {
    let world = if list.environment == Environment::Production { "live" } else { "test" };
    format!("organization {}, {} (avk_{world}_…)", sanitize(&list.organization), list.environment.as_str())
}

/// A column of the table: title, width.
type Column = (&'static str, u16);

fn layout(width: u16) -> [Column; 6] {
    let moment = if width >= ROOMY { 16 } else { 10 };
    let ids = if width >= 80 { 20 } else { 12 };
    [
        ("KIND", 6),
        ("ID", ids),
        ("SCOPE", 8),
        ("CREATED", moment),
        ("LAST USED", 10),
        ("STATE", width.saturating_sub(6 + ids + 8 + moment + 10 + 13)),
    ]
}

fn draw_table(settings: &SettingsScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    let columns = layout(area.width);
    let mut pen = Pen::new(buffer, Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER), height: 1, ..area });
    for (title, width) in columns {
        pen.put(&format!("{:<width$}", cut(title, width), width = usize::from(width)), theme.quiet);
        pen.skip(2);
    }
    let rows = settings.rows();
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let height = usize::from(body.height).max(1);
    let cursor = settings.cursor();
    let top = settings.window.get().0.clamp((cursor + 1).saturating_sub(height), cursor).min(rows.len().saturating_sub(height));
    settings.window.set((top, height));
    for ((index, credential), y) in rows.iter().enumerate().skip(top).zip(body.y..body.bottom()) {
        let row = Rect { y, height: 1, width: body.width.saturating_sub(2), ..body };
        if index == cursor && !settings.is_in_settings() {
            theme.mark_row(buffer, row);
        }
        settings.targets.push(row, SettingsTarget::Row(index));
        draw_row(credential, settings.is_own(credential), &columns, draw, buffer, row);
    }
    if rows.len() > height {
        let bar = Rect { x: body.right().saturating_sub(1), width: 1, ..body };
        scrollbar::draw(theme, buffer, bar, top as u64, rows.len() as u64);
    }
}

fn draw_row(credential: &Credential, own: bool, columns: &[Column], draw: &DrawContext<'_>, buffer: &mut Buffer, row: Rect) {
    let theme = draw.theme;
    let revoked = credential.revoked_at.is_some();
    let (text, plain) = if revoked { (theme.quiet, theme.quiet) } else { (draw.digits(), theme.plain) };
    let scope = match credential.kind {
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
    let mut x = row.x + GUTTER;
    for ((text, style), (_, width)) in cells.iter().zip(columns) {
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
    let used = credential.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("last used {}", times::ago(at, now)));
    format!("{kind}, created {}, {used}", credential.created_at.format("%Y-%m-%d"))
}

/// That a credential was revoked before.
pub fn revoked_already(credential: &Credential, now: Timestamp) -> String {
    let when = credential.revoked_at.map_or_else(String::new, |at| format!(", {}", times::ago(at, now)));
    format!("The {} {} was revoked already{when}.", credential.kind.as_str(), sanitize(&credential.id))
}

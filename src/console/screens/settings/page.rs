//! The lines of the Settings screen, and which of them are in the window.

use ratatui::style::Style;

use super::state::{SettingsPart, SettingsScreen};
use crate::console::screens::loading::{ListWords, in_its_place};
use crate::console::text::{sanitize, wrap};
use crate::console::user_settings::USER_SETTINGS;
use crate::console::{Action, AppContext};

/// Columns of the labels of settings and facts.
pub(super) const LABEL: u16 = 14;

/// Widest paragraph, in columns.
const WIDEST: u16 = 110;

/// A line of the page.
pub(super) enum PageLine {
    Blank,
    CredentialsTitle,
    CredentialsActions,
    CredentialsHead,
    ProfilesTitle,
    ProfilesHead,
    ConsoleTitle,
    /// A row of a part, which the cursor can be on.
    Row(SettingsPart, usize),
    /// A line of a paragraph.
    Said(String, Style),
    /// A fact of this console: label and words.
    Fact(&'static str, String),
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
        page.lines.push(PageLine::Blank);
        page.put_profiles(settings, cx, width);
        page.lines.push(PageLine::Blank);
        page.lines.push(PageLine::ConsoleTitle);
        page.put_rows(SettingsPart::Console, USER_SETTINGS.len());
        page.lines.push(PageLine::Blank);
        for (label, text) in &cx.place.facts {
            let lines = wrap(&sanitize(text), width.min(WIDEST).saturating_sub(LABEL).max(10));
            page.lines.extend(
                lines
                    .into_iter()
                    .enumerate()
                    .map(|(index, line)| PageLine::Fact(if index == 0 { label } else { "" }, line)),
            );
        }
        page
    }

    fn put_credentials(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        let draw = &cx.draw_context();
        if !settings.is_offered() {
            self.say("Keys and clients cannot be managed from here.", draw.theme.strong, width);
            let words = "Where the deployment is an avert engine, an operator's key opens them: `avert login \
                --operator` keeps one with the \
                         profile; AVERT_OPERATOR_KEY or --operator-key-file FILE is for once. Other deployments have \
                         pages of their own for them.";
            return self.say(words, draw.theme.plain, width);
        }
        self.lines.push(PageLine::CredentialsTitle);
        let empty = format!(
            "There are none yet. {} creates an API key or client credentials.",
            draw.key(Action::CredentialCreate)
        );
        let words = ListWords { name: "Keys and clients", empty: &empty };
        match in_its_place(&settings.list, |list| list.credentials.is_empty(), &words, draw) {
            Some((text, style)) => self.say(&text, style, width),
            None => {
                self.lines.extend([PageLine::CredentialsActions, PageLine::CredentialsHead]);
                self.put_rows(SettingsPart::Credentials, settings.rows().len());
            }
        }
    }

    fn put_profiles(&mut self, settings: &SettingsScreen, cx: &AppContext, width: u16) {
        self.lines.push(PageLine::ProfilesTitle);
        match &settings.profiles {
            _ if cx.place.demo => self.say("The demo is on none, and none is opened from it.", cx.theme.plain, width),
            None => self.say("Loading…", cx.theme.quiet, width),
            Some(Err(why)) => self.say(&format!("They cannot be listed: {}", sanitize(why)), cx.theme.danger, width),
            Some(Ok(rows)) if rows.is_empty() => {
                let words = "None yet: `avert profiles add NAME --url URL` connects a deployment.";
                self.say(words, cx.theme.plain, width);
            }
            Some(Ok(rows)) => {
                self.lines.push(PageLine::ProfilesHead);
                self.put_rows(SettingsPart::Profiles, rows.len());
            }
        }
    }

    fn put_rows(&mut self, part: SettingsPart, rows: usize) {
        self.lines.extend((0..rows).map(|row| PageLine::Row(part, row)));
    }

    fn say(&mut self, text: &str, style: Style, width: u16) {
        self.lines.extend(wrap(text, width.min(WIDEST)).into_iter().map(|line| PageLine::Said(line, style)));
    }

    /// The line that is the first in a window of this height: the one under the cursor is seen, and with the first and
    /// the last row what stands around the rows.
    pub(super) fn top(&self, settings: &SettingsScreen, height: usize) -> usize {
        let height = height.max(1);
        let end = self.lines.len().saturating_sub(height);
        let is_row = |line: &PageLine| matches!(line, PageLine::Row(..));
        let under_cursor = |line: &PageLine| {
            matches!(line, PageLine::Row(part,
            row) if *part == settings.part() && *row == settings.row())
        };
        let Some(at) = self.lines.iter().position(under_cursor) else { return 0 };
        // The heads of a part belong to its first row, what comes after the last row of all to that.
        let from = self.lines[..at].iter().rposition(is_row).map_or(0, |row| row + 1);
        let to = if self.lines[at + 1..].iter().any(is_row) { at } else { self.lines.len() - 1 };
        let wanted = settings.window.get().0.max((to + 1).saturating_sub(height)).min(from);
        let top = wanted.clamp((at + 1).saturating_sub(height), at).min(end);
        // The name of the part takes the first line, and hides no cursor.
        if at == top && height > 1 && self.part_above(top).is_some() { top - 1 } else { top }
    }

    /// The name of the part that a window from this line on begins within, its heading scrolled away.
    pub(super) fn part_above(&self, top: usize) -> Option<&'static str> {
        let name = |line: &PageLine| match line {
            PageLine::CredentialsTitle => Some("Keys and clients"),
            PageLine::ProfilesTitle => Some("Profiles"),
            PageLine::ConsoleTitle => Some("This console"),
            _ => None,
        };
        let is_heading = |line: &PageLine| name(line).is_some() || matches!(line, PageLine::Blank);
        if self.lines.get(top).is_none_or(is_heading) {
            return None;
        }
        self.lines[..top].iter().rev().find_map(name)
    }
}

//! Draws the Settings screen: one page of keys and clients, profiles, and what this console is set to.

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};

use super::page::{PageLine, SettingsPage};
use super::state::{SettingsPart, SettingsScreen, SettingsTarget};
use crate::console::text::sanitize;
use crate::console::times::{self, TimeFormat};
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext};
use crate::domain::{Credential, CredentialKind, Timestamp};
use crate::ui::areas::inset;
use crate::ui::fit;

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// Draws everything below the header and above the notes.
pub fn draw(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    settings.targets.clear();
    let text = area.inner(Margin::new(GUTTER, 0));
    let page = SettingsPage::of(settings, cx, text.width);
    let top = page.top(settings, usize::from(area.height));
    settings.window.set((top, usize::from(area.height)));
    let mark = |buffer: &mut Buffer, part: SettingsPart, index: usize, whole: Rect| {
        if settings.part() == part && settings.row() == index {
            cx.theme.mark_row(buffer, whole);
        }
        settings.targets.push(whole, SettingsTarget::Row(part, index));
    };
    let note = |area, action: Action| settings.targets.push(area, SettingsTarget::Do(action));
    for (line, whole) in page.lines.iter().skip(top).zip(inset(area, 0, GUTTER).rows()) {
        let row = inset(whole, GUTTER, 0);
        match line {
            PageLine::Text(line) => {
                buffer.set_line(row.x, row.y, line, row.width);
            }
            PageLine::Segments(segments) => {
                fit::draw(segments, buffer, row, note);
            }
            PageLine::Row(part, index, line) => {
                mark(buffer, *part, *index, whole);
                buffer.set_line(row.x, row.y, line, row.width);
            }
            PageLine::Setting(index, segments) => {
                mark(buffer, SettingsPart::Console, *index, whole);
                fit::draw(segments, buffer, row, note);
            }
        }
    }
    scrollbar::draw(&cx.theme, buffer, area, top as u64, page.lines.len() as u64);
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
pub fn revoked_already(credential: &Credential, told: TimeFormat, now: Timestamp) -> String {
    let when = credential.revoked_at.map_or_else(String::new, |at| format!(", {}", told.at(at, now)));
    format!("The {} {} is already revoked{when}.", credential.kind.as_str(), sanitize(&credential.id))
}

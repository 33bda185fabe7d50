//! Draws the profiles of the Settings screen: which one this console is on, which world each is, where its credential
//! is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::{SettingsPart, SettingsScreen, SettingsTarget};
use crate::console::profile_directory::{CredentialPlace, ListedProfile};
use crate::console::text::{cut, sanitize};
use crate::console::{Action, AppContext, Pen, Theme};
use crate::domain::Environment;

/// Fewest columns that an address is shown in.
const ADDRESS: u16 = 12;

/// A column of the table: title, width.
type Column = (&'static str, u16);

/// The columns, in so much room: what tells one from the other comes first.
fn profile_columns(width: u16) -> [Column; 5] {
    let name = if width >= 76 { 20 } else { 12 };
    let is = if width >= 90 { 26 } else { 12 };
    let used = name + 11 + is + 11 + 8;
    let address = width.saturating_sub(used);
    [
        ("NAME", name),
        ("ENVIRONMENT", 11),
        ("CREDENTIAL", 11),
        ("STATE", is),
        ("ADDRESS", if address < ADDRESS { 0 } else { address }),
    ]
}

/// Draws the heading, and what the key does.
pub(super) fn draw_title(settings: &SettingsScreen, cx: &AppContext, buffer: &mut Buffer, row: Rect) {
    let mut pen = Pen::new(buffer, row);
    pen.put("Profiles", cx.theme.strong);
    if let Some(profile) = settings.chosen_profile().filter(|profile| !profile.here) {
        pen.skip(3);
        let words = format!("leaves for the console of {}", sanitize(&profile.name));
        let area = pen.put_key(&cx.key(Action::ProfileOpen), &words, &cx.theme);
        settings.targets.push(area, SettingsTarget::Do(Action::ProfileOpen));
    } else if settings.part() != SettingsPart::Profiles && !settings.profile_rows().is_empty() {
        pen.skip(3);
        let area = pen.put_key(&cx.key(Action::NextPane), "goes on to the next part", &cx.theme);
        settings.targets.push(area, SettingsTarget::Do(Action::NextPane));
    }
}

/// Draws the heads of the columns.
pub(super) fn draw_head(theme: &Theme, buffer: &mut Buffer, row: Rect) {
    let mut pen = Pen::new(buffer, row);
    for (title, width) in profile_columns(row.width).into_iter().filter(|(_, width)| *width > 0) {
        pen.put(&format!("{:<width$}", cut(title, width), width = usize::from(width)), theme.quiet);
        pen.skip(2);
    }
}

/// Draws a profile.
pub(super) fn draw_row(profile: &ListedProfile, theme: &Theme, buffer: &mut Buffer, row: Rect) {
    let columns = profile_columns(row.width);
    let (environment, style) = match profile.environment {
        Some(Environment::Production) => ("PRODUCTION", theme.danger),
        Some(Environment::Sandbox) => ("sandbox", theme.plain),
        None => ("not said", theme.quiet),
    };
    let (credential, kept) = match profile.credential {
        CredentialPlace::Keyring => ("keyring", theme.plain),
        CredentialPlace::PlainFile => ("plain file", theme.warning),
        CredentialPlace::Environment => ("environment", theme.plain),
        CredentialPlace::Nowhere => ("none kept", theme.warning),
        CredentialPlace::Unknown => ("not known", theme.warning),
        CredentialPlace::NotNeeded => ("none needed", theme.quiet),
    };
    let cells = [
        (sanitize(&profile.name).into_owned(), theme.strong),
        (environment.to_owned(), style),
        (credential.to_owned(), kept),
        (standing(profile, columns[3].1), if profile.here { theme.accent } else { theme.quiet }),
        (sanitize(&profile.address).into_owned(), theme.plain),
    ];
    let mut x = row.x;
    for ((text, style), (_, width)) in cells.iter().zip(columns).filter(|(_, (_, width))| *width > 0) {
        Pen::new(buffer, Rect { x, width, ..row }.intersection(row)).put(text, *style);
        x += width + 2;
    }
}

/// What a profile is here, in so many columns: the first that holds is what counts.
fn standing(profile: &ListedProfile, room: u16) -> String {
    let words = [(profile.here, "open here"), (profile.current, "current"), (profile.read_only, "read-only")];
    let mut said = String::new();
    for (_, word) in words.into_iter().filter(|(holds, _)| *holds) {
        let longer = if said.is_empty() { word.to_owned() } else { format!("{said}, {word}") };
        if longer.len() > usize::from(room) {
            break;
        }
        said = longer;
    }
    said
}

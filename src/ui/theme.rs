//! Themes: every colour of the console under the name of what it means, read from `assets/themes`.
//!
//! A text role sets the foreground only and a surface sets the background, so that the same span reads on the page, on
//! a panel and on the selected row.

#[cfg(test)]
mod tests;

use std::str::FromStr;

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::{Color, Modifier, Style},
    widgets::{Block, BorderType, Borders, Clear, Widget},
};
use serde::Deserialize;

/// The themes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThemeName {
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// White on black.
    HighContrast,
    /// The terminal's own 16 colours, on its black.
    Ansi,
    /// Weight, underline and reverse only.
    NoColor,
}

impl ThemeName {
    /// Every theme with the name it has in settings.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Dark, "dark"),
        (Self::Light, "light"),
        (Self::HighContrast, "high-contrast"),
        (Self::Ansi, "ansi"),
        (Self::NoColor, "no-color"),
    ];

    /// The name in settings.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(name, _)| *name == self).map_or("", |(_, text)| text)
    }

    /// Its file.
    fn text(self) -> &'static str {
        match self {
            Self::Dark => include_str!("../../assets/themes/dark.toml"),
            Self::Light => include_str!("../../assets/themes/light.toml"),
            Self::HighContrast => include_str!("../../assets/themes/high-contrast.toml"),
            Self::Ansi => include_str!("../../assets/themes/ansi.toml"),
            Self::NoColor => include_str!("../../assets/themes/no-color.toml"),
        }
    }
}

impl FromStr for ThemeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(name, _)| *name).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name).join(", ");
            format!("there is no theme {text:?}: one of {names}")
        })
    }
}

/// Named styles. Text roles: [`Theme::strong`] for what decides, [`Theme::plain`], [`Theme::quiet`] for labels; colour
/// only for meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    /// Surface: the page.
    pub page: Style,
    /// Surface: header and footer.
    pub bar: Style,
    /// Surface: forms, dialogs, warning boxes.
    pub panel: Style,
    /// Surface: where text is typed.
    pub field: Style,
    /// Surface: the row or option under the cursor; patch it over the row's own text.
    pub selection: Style,
    /// Text: what decides.
    pub strong: Style,
    /// Text: the rest.
    pub plain: Style,
    /// Text: labels and hints; still at least 4.5:1.
    pub quiet: Style,
    /// Dividers, scrollbar track.
    pub line: Style,
    /// The edge of a form or dialog; at least 3:1 on the page and on the panel.
    pub edge: Style,
    /// Scrollbar thumb.
    pub thumb: Style,
    /// Text: where one is, what can be followed.
    pub accent: Style,
    /// Text: a key to press.
    pub key: Style,
    /// Text: lapses within the hour; an error.
    pub danger: Style,
    /// Text: lapses within four hours; a warning.
    pub warning: Style,
    /// Text: went well.
    pub ok: Style,
    /// Fill: a bar of what is nothing of the others; at least 3:1, as every fill.
    pub fill: Style,
    /// Fill: a bar of what lapses within four hours, or is near a bound.
    pub fill_soon: Style,
    /// Fill: a bar of what lapses within the hour, is over a bound, or went wrong.
    pub fill_now: Style,
    /// Text: what lies behind a form or dialog.
    pub veiled: Style,
    /// Text: the network's own rule.
    pub rule: Style,
    /// Badge: an open alert, a thing that waits.
    pub badge: Style,
    /// Badge: anything else.
    pub muted: Style,
    /// Badge: PRODUCTION.
    pub production: Style,
    pub button: Style,
    /// Button that sends.
    pub primary: Style,
    /// The same while it cannot be pressed.
    pub disabled: Style,
}

impl Theme {
    /// One of the themes that come with avert.
    pub fn named(name: ThemeName) -> Self {
        Self::read(name.text())
    }

    /// The same, in the 256 colours of terminals that know no others where it has not all of them.
    pub fn of(name: ThemeName, has_all_colors: bool) -> Self {
        if has_all_colors {
            return Self::named(name);
        }
        let reduced = |part: &str| match part.parse() {
            Ok(Color::Rgb(r, g, b)) => nearest_of_256((r, g, b)).to_string(),
            _ => part.to_owned(),
        };
        Self::read(&name.text().split('"').map(reduced).collect::<Vec<_>>().join("\""))
    }

    fn read(text: &str) -> Self {
        toml::from_str(text).expect("the theme files are part of the program, and a test reads each")
    }

    /// Empties an area for a form or dialog and gives it the panel's look and an edge that can be seen. Where the area
    /// is as wide as the screen the edge has no sides.
    pub fn open_panel(&self, buffer: &mut Buffer, area: Rect) {
        Clear.render(area, buffer);
        let borders = if area.width >= buffer.area.width { Borders::TOP | Borders::BOTTOM } else { Borders::ALL };
        let look = self.page.patch(self.panel);
        let block = Block::new().borders(borders).border_type(BorderType::Rounded).style(look);
        block.border_style(look.patch(self.edge)).render(area, buffer);
    }

    /// Marks the row under the cursor.
    pub fn mark_row(&self, buffer: &mut Buffer, row: Rect) {
        buffer.set_style(row, self.selection);
        buffer.set_stringn(row.x, row.y, "▌", 1, self.accent);
    }

    /// Gives the rows under cursors one colour where they are told by reverse: a text's own colour would be the ground
    /// of its letters, and the row a patchwork. To be called when all is drawn.
    pub fn even_rows(&self, buffer: &mut Buffer) {
        if !self.selection.add_modifier.contains(Modifier::REVERSED) {
            return;
        }
        let [fg, bg] = [self.page.fg, self.page.bg].map(|color| color.unwrap_or(Color::Reset));
        let look = |cell: &Cell| (cell.fg, cell.bg, cell.modifier.contains(Modifier::DIM));
        let width = usize::from(buffer.area.width).max(1);
        for row in buffer.content.chunks_mut(width) {
            let mut rest = row;
            while let Some(start) = rest.iter().position(|cell| cell.modifier.contains(Modifier::REVERSED)) {
                let end = rest[start..]
                    .iter()
                    .position(|cell| !cell.modifier.contains(Modifier::REVERSED))
                    .map_or(rest.len(), |end| start + end);
                let (run, after) = rest[start..].split_at_mut(end - start);
                // What is of one colour, such as a badge, is even already.
                if run.iter().any(|cell| look(cell) != look(&run[0])) {
                    for cell in run {
                        (cell.fg, cell.bg) = (fg, bg);
                        cell.modifier.remove(Modifier::DIM);
                    }
                }
                rest = after;
            }
        }
    }

    /// Draws back what is behind a form or dialog: every cell in one dim text on the page.
    pub fn veil(&self, buffer: &mut Buffer, area: Rect) {
        let area = area.intersection(buffer.area);
        for position in area.positions() {
            if let Some(cell) = buffer.cell_mut(position) {
                let text = match cell.symbol() {
                    " " => Style::new(),
                    "│" => self.line,
                    _ => self.veiled,
                };
                cell.set_style(Style::reset().patch(self.page).patch(text));
            }
        }
    }
}

/// The steps of the 6x6x6 colour cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of the fixed colours 16 to 255 (cube and greys); the first 16 are the user's own.
fn nearest_of_256((r, g, b): (u8, u8, u8)) -> u8 {
    let distance = |(x, y, z): (u8, u8, u8)| {
        let square = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
        square(r, x) + square(g, y) + square(b, z)
    };
    (16..=255).min_by_key(|index| distance(rgb_of_256(*index))).unwrap_or(16)
}

/// The red, green and blue of one of the fixed colours 16 to 255.
fn rgb_of_256(index: u8) -> (u8, u8, u8) {
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    let step = |divisor: u8| CUBE[usize::from((index - 16) / divisor % 6)];
    (step(36), step(6), step(1))
}

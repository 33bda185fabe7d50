//! A menu: a title, entries of which one is selected, and in its last line the buttons that end it and the other keys
//! that work in it.

use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::buttons::{BETWEEN, Button, draw_button, flow};
use super::click_targets::ClickTargets;
use super::panel::{Panel, PanelWidth};
use super::scrollbar;
use crate::ui::areas::{FILL, rest_of, stacked};
use crate::ui::pen::put_lines;
use crate::ui::table;
use crate::ui::text::{CUT, columns, wrap_to};
use crate::ui::{Pen, Theme};

/// The selection of a menu.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    at: usize,
}

impl Selection {
    /// This entry.
    pub fn at(at: usize) -> Self {
        Self { at }
    }

    /// The chosen entry of a list of this length.
    pub fn index(self, length: usize) -> Option<usize> {
        (length > 0).then(|| self.at.min(length - 1))
    }

    /// Goes so many entries further, or back, as far as there are any.
    pub fn leap(&mut self, by: isize, length: usize) {
        self.at = table::moved(self.index(length).unwrap_or(0), by, length);
    }

    /// Goes one entry further, and round at the ends.
    pub fn step(&mut self, forward: bool, length: usize) {
        let Some(at) = self.index(length) else { return };
        self.at = if forward { (at + 1) % length } else { (at + length - 1) % length };
    }
}

/// Fewest blanks between two of them.
const CLOSEST: u16 = 3;

/// Lines that buttons and keys have at most.
const MOST_HINT_LINES: u16 = 2;

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 18;

/// Returns true where there is room for blank lines.
pub fn is_roomy(area: Rect) -> bool {
    area.height >= ROOMY
}

/// The contents of a menu. What a click on it means is its owner's to say.
pub struct Menu<'m, T> {
    /// Over it.
    pub title: &'m str,
    /// Of what it is, behind the title.
    pub about: &'m str,
    /// One line each.
    pub entries: Vec<Line<'m>>,
    /// Headings, each with the entry that it stands over; in order.
    pub groups: Vec<(usize, &'m str)>,
    /// Which is chosen.
    pub chosen: Selection,
    /// In its last line: what ends it.
    pub buttons: Vec<Button<'m, T>>,
    /// Beside them: other keys, what each does, and what a click on it is.
    pub keys: Vec<(String, &'m str, T)>,
    /// What a click on an entry is.
    pub entry: fn(usize) -> T,
    /// What to say where there are no entries.
    pub empty: &'m str,
    /// How wide it is.
    pub width: PanelWidth,
    /// Lines left free under the title, for a field.
    pub field: u16,
    /// What has no room in the chosen line: it stands under the list.
    pub below: String,
    /// Lines that are kept for that, where it is more than one.
    pub below_lines: u16,
    /// The first line in sight, as it was left.
    pub top: usize,
    /// True where the chosen entry is marked as the row under a list's cursor is, and not told by its colour alone.
    pub is_marked: bool,
}

/// What of a menu was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnMenu {
    /// The free lines under its title.
    pub field: Rect,
    /// The first line in sight.
    pub top: usize,
    /// How many lines are in sight, and how many of them are entries.
    pub page: [isize; 2],
}

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown<'m> {
    Blank,
    Heading(&'m str),
    Entry(usize),
}

impl<T: Copy + PartialEq> Menu<'_, T> {
    /// The entries with their headings, and a blank line before each heading but the first.
    fn lines(&self) -> Vec<Shown<'_>> {
        let mut lines = Vec::with_capacity(self.entries.len() + 2 * self.groups.len());
        for index in 0..self.entries.len() {
            if let Some((_, heading)) = self.groups.iter().find(|(first, _)| *first == index) {
                if !lines.is_empty() {
                    lines.push(Shown::Blank);
                }
                lines.push(Shown::Heading(heading));
            }
            lines.push(Shown::Entry(index));
        }
        lines
    }

    /// The first line in sight: as it was left, where the chosen entry is in sight so, with a heading over it.
    fn first_in_sight(&self, lines: &[Shown<'_>], visible: usize) -> usize {
        let chosen = self.chosen.index(self.entries.len());
        let Some(at) = chosen.and_then(|chosen| lines.iter().position(|line| *line == Shown::Entry(chosen))) else {
            return 0;
        };
        let headed =
            lines[..at].iter().rposition(|line| matches!(line, Shown::Entry(_))).map_or(0, |before| before + 1);
        table::scrolled(self.top.min(headed), at, lines.len(), visible)
    }

    /// Draws the list into the middle of an area.
    pub fn draw(self, theme: &Theme, frame: &mut Frame<'_>, area: Rect, targets: &ClickTargets<T>) -> DrawnMenu {
        let panel = Panel::of(self.width, area);
        let lines = self.lines();
        let entries = u16::try_from(lines.len().max(1)).unwrap_or(u16::MAX);
        let below = self.below_lines.max(1);
        let hints = self.hints(panel.room());
        let hint_lines = hints.last().map_or(1, |(line, _)| (line + 1).min(MOST_HINT_LINES));
        // Where there is little room the entries have it, and no line is blank.
        let all = entries.saturating_add(2 + self.field + below + hint_lines);
        let blank = u16::from(is_roomy(area) || all <= panel.most_lines());
        let inside = panel.open(all.min(panel.most_lines()), theme, frame.buffer_mut());
        let [title, field, _, list, told, foot] = stacked(inside, [1, self.field, blank, FILL, below, hint_lines]);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(self.title, theme.strong);
        pen.skip(1);
        pen.put(self.about, theme.quiet);
        let chosen = self.chosen.index(self.entries.len());
        if self.entries.is_empty() {
            Pen::new(frame.buffer_mut(), list).put(self.empty, theme.quiet);
        }
        let visible = usize::from(list.height);
        let first = self.first_in_sight(&lines, visible);
        let in_sight = lines.iter().skip(first).take(visible);
        let entries = in_sight.filter(|line| matches!(line, Shown::Entry(_))).count();
        for (shown, line) in lines.iter().skip(first).zip(list.rows()) {
            let (index, entry) = match shown {
                Shown::Blank => continue,
                // Below it stands what is none of its own.
                Shown::Heading(_) if line.bottom() == list.bottom() => continue,
                Shown::Heading(words) => {
                    Pen::new(frame.buffer_mut(), line).put(words, theme.quiet);
                    continue;
                }
                Shown::Entry(index) => (*index, &self.entries[*index]),
            };
            let row = line.outer(Margin::new(1, 0));
            match Some(index) == chosen {
                true if self.is_marked => theme.mark_row(frame.buffer_mut(), row),
                true => frame.buffer_mut().set_style(row, theme.selection),
                false => {}
            }
            frame.buffer_mut().set_line(line.x, line.y, entry, line.width);
            if entry.width() > usize::from(line.width) {
                frame.buffer_mut().set_stringn(line.right() - 1, line.y, CUT, 1, theme.quiet);
            }
            targets.push(row, (self.entry)(index));
        }
        let window = list.outer(Margin::new(1, 0));
        scrollbar::draw(theme, frame.buffer_mut(), window, first as u64, lines.len() as u64);

        let words = wrap_to(&self.below, inside.width, below.into()).into_iter();
        put_lines(frame.buffer_mut(), told, words.map(|line| (line, theme.plain)));
        self.draw_hints(&hints, theme, frame, foot, targets);
        let page = [visible, entries].map(|lines| isize::try_from(lines).unwrap_or(1));
        DrawnMenu { field, top: first, page }
    }

    /// The line and the column of each button and key: closer together where they have room in one line so.
    fn hints(&self, room: u16) -> Vec<(u16, u16)> {
        let keys = self.keys.iter().map(|(key, words, _)| columns(key) + 1 + columns(words));
        let widths: Vec<u16> = self.buttons.iter().map(Button::width).chain(keys).collect();
        let all: u16 = widths.iter().sum();
        let gaps = u16::try_from(widths.len()).unwrap_or(u16::MAX).saturating_sub(1);
        let gap = (CLOSEST..=BETWEEN).rev().find(|gap| all + gap * gaps <= room).unwrap_or(BETWEEN);
        flow(&widths, gap, room)
    }

    /// Draws the buttons and the keys, as many as have room.
    fn draw_hints(
        &self,
        hints: &[(u16, u16)],
        theme: &Theme,
        frame: &mut Frame<'_>,
        area: Rect,
        targets: &ClickTargets<T>,
    ) {
        let (buttons, keys) = hints.split_at(self.buttons.len());
        for (button, at) in self.buttons.iter().zip(buttons) {
            targets.push(draw_button(button, false, theme, frame.buffer_mut(), rest_of(area, *at)), button.spot);
        }
        for ((key, words, target), at) in self.keys.iter().zip(keys) {
            targets.push(Pen::new(frame.buffer_mut(), rest_of(area, *at)).put_key(key, words, theme), *target);
        }
    }
}

//! A menu: a title, entries of which one is selected, and the keys that work in it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::click_targets::ClickTargets;
use super::scrollbar;
use crate::console::text::{CUT, columns, wrap_to};
use crate::console::{Pen, Theme};

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

    /// Goes a page of entries further, as far as there are any.
    pub fn leap(&mut self, forward: bool, length: usize) {
        let Some(at) = self.index(length) else { return };
        self.at = if forward { (at + LEAP).min(length - 1) } else { at.saturating_sub(LEAP) };
    }

    /// Goes one entry further, and round at the ends.
    pub fn step(&mut self, forward: bool, length: usize) {
        let Some(at) = self.index(length) else { return };
        self.at = if forward { (at + 1) % length } else { (at + length - 1) % length };
    }
}

/// Entries that a leap goes further.
const LEAP: usize = 10;

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 18;

/// Whether there is room for blank lines.
pub fn is_roomy(area: Rect) -> bool {
    area.height >= ROOMY
}

/// The contents of a menu. What a click on it means is its owner's to say.
pub struct Menu<'m, T> {
    /// Over it.
    pub title: &'m str,
    /// One line each.
    pub entries: Vec<Line<'m>>,
    /// Headings, each with the entry that it stands over; in order.
    pub groups: Vec<(usize, &'m str)>,
    /// Which is chosen.
    pub chosen: Selection,
    /// Under it: keys, what each does, and what a click on it is.
    pub keys: Vec<(String, &'m str, T)>,
    /// What a click on an entry is.
    pub entry: fn(usize) -> T,
    /// What to say where there are no entries.
    pub empty: &'m str,
    /// How wide it would like to be.
    pub width: u16,
    /// Lines left free under the title, for a field.
    pub field: u16,
    /// What has no room in the chosen line: it stands under the list.
    pub below: String,
    /// Lines that are kept for that, where it is more than one.
    pub below_lines: u16,
    /// Whether the chosen entry is marked as the row under a list's cursor is, and not told by its colour alone.
    pub is_marked: bool,
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

    /// Draws the list into the middle of an area. Returns the free lines under its title.
    pub fn draw(self, theme: &Theme, frame: &mut Frame<'_>, area: Rect, targets: &ClickTargets<T>) -> Rect {
        let lines = self.lines();
        let entries = u16::try_from(lines.len().max(1)).unwrap_or(u16::MAX);
        // Border or margin, title, a blank line on either side of the entries, the keys.
        let below = self.below_lines.max(1);
        let height = entries.saturating_add(5 + self.field + below);
        // Where there is little room the entries have it, and nothing is blank but the line of what has no room.
        let tight = !is_roomy(area) && height > area.height.saturating_sub(2);
        let height = height.min(if tight { area.height } else { area.height.saturating_sub(2) });
        let blank = u16::from(!tight);
        let width = self.width.min(area.width.saturating_sub(4));
        let panel = centered(area, width, height);
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        let line = |y: u16| Rect { y, height: 1, ..inside };
        Pen::new(frame.buffer_mut(), line(inside.y)).put(self.title, theme.strong);
        let field = Rect { y: inside.y + 1, height: self.field, ..inside };

        let top = 1 + self.field + blank;
        let list = Rect { y: inside.y + top, height: inside.height.saturating_sub(top + 1 + below), ..inside };
        let chosen = self.chosen.index(self.entries.len());
        if self.entries.is_empty() {
            Pen::new(frame.buffer_mut(), list).put(self.empty, theme.quiet);
        }
        let visible = usize::from(list.height);
        let at = chosen.and_then(|chosen| lines.iter().position(|line| *line == Shown::Entry(chosen)));
        let first = at.map_or(0, |at| at.saturating_sub(visible.saturating_sub(1)));
        for (shown, y) in lines.iter().skip(first).zip(list.y..list.bottom()) {
            let (index, entry) = match shown {
                Shown::Blank => continue,
                Shown::Heading(words) => {
                    Pen::new(frame.buffer_mut(), line(y)).put(words, theme.quiet);
                    continue;
                }
                Shown::Entry(index) => (*index, &self.entries[*index]),
            };
            let row = Rect { x: inside.x.saturating_sub(1), width: inside.width + 2, y, height: 1 };
            match Some(index) == chosen {
                true if self.is_marked => theme.mark_row(frame.buffer_mut(), row),
                true => frame.buffer_mut().set_style(row, theme.selection),
                false => {}
            }
            frame.buffer_mut().set_line(inside.x, y, entry, inside.width);
            if entry.width() > usize::from(inside.width) {
                frame.buffer_mut().set_stringn(inside.right() - 1, y, CUT, 1, theme.quiet);
            }
            targets.push(row, (self.entry)(index));
        }
        let bar = Rect { x: inside.right(), width: 1, ..list };
        scrollbar::draw(theme, frame.buffer_mut(), bar, first as u64, lines.len() as u64);

        let told = wrap_to(&self.below, inside.width, below.into());
        for (words, y) in told.iter().zip(inside.bottom().saturating_sub(1 + below)..) {
            Pen::new(frame.buffer_mut(), line(y)).put(words, theme.plain);
        }
        // Keys that have no room in one line take the one above too, where nothing is said there.
        let width = |keys: &[(String, &str, T)]| keys.iter().map(|(key, words, _)| columns(key) + 4 + columns(words)).sum::<u16>();
        let first = match self.below.is_empty() && width(&self.keys) > inside.width + 3 {
            true => (1..self.keys.len()).rev().find(|count| width(&self.keys[..*count]) <= inside.width + 3).unwrap_or(0),
            false => 0,
        };
        for (keys, y) in [(&self.keys[..first], 2), (&self.keys[first..], 1)] {
            let mut pen = Pen::new(frame.buffer_mut(), line(inside.bottom().saturating_sub(y)));
            for (key, words, target) in keys {
                if columns(key) + 1 + columns(words) > pen.room() {
                    break;
                }
                targets.push(pen.put_key(key, words, theme), *target);
                pen.skip(3);
            }
        }
        field
    }
}

/// An area of this size in the middle of another one.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 3, width, height }
}

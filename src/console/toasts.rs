//! Toasts: short news at the lower right that go away by themselves.

use chrono::Duration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::pen::Pen;
use super::text::{clean, columns, wrap};
use super::theme::Theme;
use crate::domain::Timestamp;

/// Whether news is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It went well.
    Good,
    /// Something to know.
    Note,
    /// It did not go well.
    Bad,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    tone: Tone,
    text: String,
    until: Timestamp,
}

/// The news that are on the screen.
#[derive(Debug, Default)]
pub struct Toasts {
    all: Vec<Toast>,
}

/// So many are shown at once.
const MOST: usize = 3;

impl Toasts {
    /// Tells something. The same words again only stay longer.
    pub fn tell(&mut self, tone: Tone, text: impl Into<String>, now: Timestamp) {
        let text = text.into();
        let seconds = if tone == Tone::Bad { 15 } else { 5 };
        self.all.retain(|toast| toast.text != text);
        self.all.push(Toast { tone, text, until: now + Duration::seconds(seconds) });
        let surplus = self.all.len().saturating_sub(MOST);
        self.all.drain(..surplus);
    }

    /// Takes all away; whether there were any.
    pub fn clear(&mut self) -> bool {
        !std::mem::take(&mut self.all).is_empty()
    }

    /// Takes away those whose time is over.
    pub fn expire(&mut self, now: Timestamp) {
        self.all.retain(|toast| toast.until > now);
    }

    /// When the next one goes.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.all.iter().map(|toast| toast.until).min()
    }

    /// Draws them upwards from the lower right corner of an area.
    pub fn draw(&self, theme: &Theme, buffer: &mut Buffer, area: Rect) {
        let mut bottom = area.bottom();
        for toast in self.all.iter().rev() {
            let (sign, style): (&str, Style) = match toast.tone {
                Tone::Good => ("✓ ", theme.ok),
                Tone::Note => ("· ", theme.accent),
                Tone::Bad => ("! ", theme.danger),
            };
            let lines = wrap(&clean(&toast.text), area.width.saturating_sub(8).min(64));
            let width = lines.iter().map(|line| columns(line)).max().unwrap_or(0) + 6;
            let height = u16::try_from(lines.len()).unwrap_or(u16::MAX) + 2;
            if height > bottom.saturating_sub(area.y) || width > area.width {
                return;
            }
            let panel = Rect { x: area.right() - width, y: bottom - height, width, height };
            let inside = theme.open_panel(buffer, panel);
            for (line, y) in lines.iter().zip(inside.y..inside.bottom()) {
                let mut pen = Pen::new(buffer, Rect { y, height: 1, ..inside });
                if y == inside.y {
                    pen.put(sign, style);
                } else {
                    pen.skip(2);
                }
                pen.put(line, theme.plain);
            }
            bottom = panel.y;
        }
    }
}

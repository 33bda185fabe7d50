//! Scrolling: how far a text is scrolled, and a thin scrollbar that shows where one is in it.

use std::cell::Cell;

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
    text::Line,
};

use crate::Theme;

/// Scroll position of a text, and how far it can go, as the last frame found.
#[derive(Debug, Clone, Default)]
pub struct Scroll {
    top: Cell<u16>,
    most: Cell<u16>,
}

impl Scroll {
    /// Goes back to the first line.
    pub fn reset(&self) {
        self.top.set(0);
    }

    /// Moves by so many lines, as far as there are any.
    pub fn by(&self, lines: i16) {
        self.top.set(self.top.get().saturating_add_signed(lines).min(self.most.get()));
    }

    /// Returns true where not all lines are in sight.
    pub fn is_needed(&self) -> bool {
        self.most.get() > 0
    }

    /// Returns the first line in sight in a window on so many lines.
    pub fn fit(&self, lines: usize, height: u16) -> u16 {
        let most = lines.max(height.into()) - usize::from(height);
        self.most.set(u16::try_from(most).unwrap_or(u16::MAX));
        self.by(0);
        self.top.get()
    }

    /// Draws lines, and behind them, after a blank column, their bar.
    pub fn draw(&self, lines: &[Line<'_>], theme: &Theme, buffer: &mut Buffer, area: Rect) {
        let top = self.fit(lines.len(), area.height);
        for (line, row) in lines.iter().skip(top.into()).zip(area.rows()) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        draw(theme, buffer, beside(area), top.into(), lines.len() as u64);
    }
}

/// Returns the window whose right edge is behind a text, after a blank column.
pub fn beside(text: Rect) -> Rect {
    text.outer(Margin::new(2, 0))
}

/// Draws the bar along the right edge of a window that begins at line `top` of `lines`. Returns where it stands, if it
/// does.
pub fn draw(theme: &Theme, buffer: &mut Buffer, window: Rect, top: u64, lines: u64) -> Option<Rect> {
    let bar = window.columns().next_back()?.intersection(buffer.area);
    let height = u64::from(bar.height);
    if lines <= height || bar.is_empty() {
        return None;
    }
    let length = (u128::from(height) * u128::from(height) / u128::from(lines)).max(1);
    let last = u128::from(lines - height);
    let start = (u128::from(top).min(last) * (u128::from(height) - length) + last / 2) / last;
    for (line, y) in (0u128..).zip(bar.y..bar.bottom()) {
        let on_thumb = (start..start + length).contains(&line);
        let (sign, style) = if on_thumb { ("┃", theme.thumb) } else { ("│", theme.line) };
        buffer.set_stringn(bar.x, y, sign, 1, style);
    }
    Some(bar)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::theme::ThemeName;

    fn thumb(height: u16, top: u64, lines: u64) -> Vec<u16> {
        let bar = Rect::new(0, 0, 1, height);
        let mut buffer = Buffer::empty(bar);
        draw(&Theme::named(ThemeName::Dark), &mut buffer, bar, top, lines);
        (0..height).filter(|y| buffer[(0, *y)].symbol() == "┃").collect()
    }

    #[test]
    fn the_thumb_stands_at_the_ends_exactly_at_the_ends() {
        assert_eq!(thumb(10, 0, 100), [0]);
        assert_eq!(thumb(10, 90, 100), [9]);
        assert_eq!(thumb(10, 0, 20), [0, 1, 2, 3, 4]);
        assert!(thumb(10, 0, 10).is_empty());
    }

    proptest! {
        #[test]
        fn the_thumb_is_always_there_and_never_leaves_the_bar(height in 1u16..60, top in any::<u64>(), more in 1u64..) {
            let lines = more.saturating_add(u64::from(height));
            prop_assume!(lines > u64::from(height));

            prop_assert!(!thumb(height, top, lines).is_empty());
        }
    }
}

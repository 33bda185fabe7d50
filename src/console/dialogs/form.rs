//! What forms share: how wide they are, and their buttons.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::console::text::columns;
use crate::console::{Pen, Theme};

/// The measures of a form in an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measures {
    /// Columns of the form.
    pub width: u16,
    /// Columns between its edge and what is in it.
    pub margin: u16,
    /// Columns of the labels.
    pub label: u16,
    /// Columns beside the labels.
    pub content: u16,
}

impl Measures {
    /// Width where there is room, and from which width on there is.
    const WIDE: u16 = 92;
    const ROOM_FOR_WIDE: u16 = 100;
    /// Width that is enough for the longest reason with its wire word.
    const NARROW: u16 = 80;

    /// Whether an area has room for the wide form.
    pub fn is_wide(area: Rect) -> bool {
        area.width >= Self::ROOM_FOR_WIDE
    }

    /// Those of a form with labels of this width; none where it has no room at all.
    pub fn of(area: Rect, label: u16) -> Option<Self> {
        let (width, margin) = match area.width {
            Self::ROOM_FOR_WIDE.. => (Self::WIDE, 3),
            // A column more on either side, where the edge has sides to stand in.
            84.. => (Self::NARROW + 2, 2),
            width => (width.min(Self::NARROW), 1),
        };
        let content = width.checked_sub(2 * margin + label).filter(|content| *content >= 20)?;
        Some(Self { width, margin, label, content })
    }

    /// What is inside a form's edge and margins.
    pub fn inside(self, panel: Rect) -> Rect {
        let width = panel.width - 2 * self.margin;
        Rect { x: panel.x + self.margin, y: panel.y + 1, width, height: panel.height.saturating_sub(2) }
    }
}

/// A button of a form: what has it, its words, the key that presses it, and its look.
pub struct FormButton<S> {
    pub spot: S,
    pub words: &'static str,
    /// Empty where it has none of its own.
    pub key: &'static str,
    pub style: Style,
}

/// Blank columns between two buttons.
const BETWEEN: u16 = 3;

/// Draws the buttons of a form in a line, under what stands beside the labels; further left where they would not fit. `note` is told where
/// each stands.
pub fn draw_buttons<S: Copy + PartialEq>(
    buttons: &[FormButton<S>],
    focus: S,
    label: u16,
    (theme, buffer, line): (&Theme, &mut Buffer, Rect),
    mut note: impl FnMut(Rect, S),
) {
    let width = |each: &FormButton<S>| columns(&button(each.words, false)) + columns(each.key) + u16::from(!each.key.is_empty()) + BETWEEN;
    let needed = buttons.iter().map(width).sum::<u16>().saturating_sub(BETWEEN);
    let begin = label.min(line.width.saturating_sub(needed));
    let mut pen = Pen::new(buffer, Rect { x: line.x + begin, width: line.width - begin, ..line });
    for FormButton { spot, words, key, style } in buttons {
        let focused = focus == *spot;
        note(pen.put(&button(words, focused), button_style(theme, *style, focused)), *spot);
        if !key.is_empty() {
            pen.skip(1);
            pen.put(key, theme.key);
        }
        pen.skip(BETWEEN);
    }
}

/// A button's look: without colour the one that has the focus is in reverse.
pub fn button_style(theme: &Theme, style: Style, focused: bool) -> Style {
    let by_reverse = focused && theme.selection.add_modifier.contains(Modifier::REVERSED);
    if by_reverse { style.patch(theme.selection) } else { style }
}

/// A button's text; the one that has the focus is in brackets.
pub fn button(text: &str, focused: bool) -> String {
    if focused { format!("[ {text} ]") } else { format!("  {text}  ") }
}

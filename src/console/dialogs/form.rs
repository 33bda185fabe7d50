//! What dialogs share: how wide forms are, and the buttons of all.

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

/// A button of a dialog: what has it, its words, the key that presses it, and its look. The safe one stands first, what is done last.
#[derive(Debug, Clone)]
pub struct FormButton<'b, S> {
    pub spot: S,
    pub words: &'b str,
    /// Empty where it has none of its own.
    pub key: &'b str,
    pub style: Style,
    /// What pressing it leads to, beside its key.
    pub note: Option<(String, Style)>,
}

impl<'b, S> FormButton<'b, S> {
    /// A button without a note.
    pub const fn new(spot: S, words: &'b str, key: &'b str, style: Style) -> Self {
        Self { spot, words, key, style, note: None }
    }

    /// Columns that it takes with its key and its note.
    fn width(&self) -> u16 {
        let beside = |text: &str| if text.is_empty() { 0 } else { columns(text) + BESIDE };
        columns(&button(self.words, false)) + beside(self.key) + beside(self.note.as_ref().map_or("", |(text, _)| text))
    }
}

/// Blank columns between two buttons, and before a button's key and note.
const BETWEEN: u16 = 4;
const BESIDE: u16 = 2;

/// How many lines buttons take in so many columns.
pub fn button_lines<S>(buttons: &[FormButton<'_, S>], room: u16) -> u16 {
    placed(buttons, room).last().map_or(1, |(line, _)| line + 1)
}

/// The line and the column of each button.
fn placed<S>(buttons: &[FormButton<'_, S>], room: u16) -> Vec<(u16, u16)> {
    let widths: Vec<u16> = buttons.iter().map(FormButton::width).collect();
    flow(&widths, BETWEEN, room)
}

/// Draws buttons, under what stands beside the labels; further left where they would not fit, and in a line more where that is not enough.
/// `note` is told where each stands.
pub fn draw_buttons<S: Copy + PartialEq>(
    buttons: &[FormButton<'_, S>],
    focus: S,
    label: u16,
    (theme, buffer, area): (&Theme, &mut Buffer, Rect),
    mut note: impl FnMut(Rect, S),
) {
    let needed = buttons.iter().map(|each| each.width() + BETWEEN).sum::<u16>().saturating_sub(BETWEEN);
    let begin = label.min(area.width.saturating_sub(needed));
    let room = area.width - begin;
    for (each, (line, x)) in buttons.iter().zip(placed(buttons, room)) {
        let place = Rect { x: area.x + begin + x, y: area.y + line, width: room.saturating_sub(x), height: 1 };
        let mut pen = Pen::new(buffer, place.intersection(area));
        let focused = focus == each.spot;
        let pressed = pen.put(&button(each.words, focused), button_style(theme, each.style, focused));
        let key = [(each.key, theme.key)].into_iter().filter(|(key, _)| !key.is_empty());
        let mut drawn = pressed;
        for (text, style) in key {
            pen.skip(BESIDE);
            drawn = drawn.union(pen.put(text, style));
        }
        note(drawn, each.spot);
        if let Some((text, style)) = &each.note {
            pen.skip(BESIDE);
            pen.put(text, *style);
        }
    }
}

/// Row and column of things of these widths beside each other, in a row more where one has no room.
pub fn flow(widths: &[u16], gap: u16, room: u16) -> Vec<(u16, u16)> {
    let (mut row, mut x) = (0, 0);
    let place = |width: &u16| {
        if x > 0 && x + width > room {
            (row, x) = (row + 1, 0);
        }
        let at = (row, x);
        x += width + gap;
        at
    };
    widths.iter().map(place).collect()
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

//! What forms share: how wide they are, and their buttons.

use ratatui::layout::Rect;

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

/// A button's text; the one that has the focus is in brackets.
pub fn button(text: &str, focused: bool) -> String {
    if focused { format!("[ {text} ]") } else { format!("  {text}  ") }
}

//! Where everything stands around a screen: a header line, a footer line, and the body between them.

use ratatui::layout::Rect;

/// The smallest size in which one can work.
pub const SMALLEST: (u16, u16) = (60, 16);

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 20;

/// The areas of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    /// The line at the top.
    pub header: Rect,
    /// The screen's own; below it one line is kept for notifications.
    pub body: Rect,
    /// The line at the bottom.
    pub footer: Rect,
}

impl Areas {
    /// The areas in so much room.
    pub fn of(area: Rect) -> Self {
        let top = 1 + blank(area);
        let last = area.height.saturating_sub(1);
        Self {
            header: Rect { height: area.height.min(1), ..area },
            body: Rect { y: area.y + top, height: last.saturating_sub(1 + top), ..area },
            footer: Rect { y: area.y + last, height: area.height.min(1), ..area },
        }
    }
}

/// Blank lines between the parts of a screen: one where there is room.
pub fn blank(area: Rect) -> u16 {
    u16::from(area.height >= ROOMY)
}

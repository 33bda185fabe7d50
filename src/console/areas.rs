//! Where everything stands around a screen: a header line, a footer line, and the body between them.

use ratatui::layout::Rect;

/// The smallest size in which one can work.
pub const SMALLEST: (u16, u16) = (80, 24);

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
        // A blank line is below the header.
        let top = 2;
        let last = area.height.saturating_sub(1);
        Self {
            header: Rect { height: area.height.min(1), ..area },
            body: Rect { y: area.y + top, height: last.saturating_sub(1 + top), ..area },
            footer: Rect { y: area.y + last, height: area.height.min(1), ..area },
        }
    }
}

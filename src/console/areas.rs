//! Where everything stands around a screen: a header line, a footer line, and the body between them.

use ratatui::layout::Rect;

use crate::ui::areas::{FILL, stacked};

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
        // A blank line is below the header, and the line of notifications above the footer.
        let [header, _, body, _, footer] = stacked(area, [1, 1, FILL, 1, 1]);
        Self { header, body, footer }
    }
}

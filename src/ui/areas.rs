//! Areas: those of a frame, areas within areas where ratatui's layout would say it in more words, and the three
//! breakpoints of a screen.

use ratatui::layout::{Constraint, Layout, Rect};

/// Height of a part that takes what the others leave.
pub const FILL: u16 = u16::MAX;

/// Splits an area into parts of these heights, one below the other.
pub fn stacked<const N: usize>(area: Rect, heights: [u16; N]) -> [Rect; N] {
    let height = |height| if height == FILL { Constraint::Fill(1) } else { Constraint::Length(height) };
    Layout::vertical(heights.map(height)).areas(area)
}

/// Cuts so many columns off an area at its left and at its right.
pub fn inset(area: Rect, left: u16, right: u16) -> Rect {
    let left = left.min(area.width);
    Rect::new(area.x + left, area.y, area.width - left - right.min(area.width - left), area.height)
}

/// Returns the rest of a line of an area from a column on; nothing below its last line.
pub fn rest_of(area: Rect, (line, column): (u16, u16)) -> Rect {
    inset(area.rows().nth(line.into()).unwrap_or_default(), column, 0)
}

/// The smallest screen, in columns and rows: a list or its detail has room.
pub const SMALLEST: (u16, u16) = (80, 24);

/// From so many columns on a detail or a form stands beside its list.
pub const BESIDE: u16 = 120;

/// From so many columns on columns and texts are wider.
pub const ROOMY: u16 = 160;

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

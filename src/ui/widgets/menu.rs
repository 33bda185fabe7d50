//! The selection of a menu.

use ratatui::layout::Rect;

use crate::table;

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

    /// Goes so many entries further, or back, as far as there are any.
    pub fn leap(&mut self, by: isize, length: usize) {
        self.at = table::moved(self.index(length).unwrap_or(0), by, length);
    }

    /// Goes one entry further, and round at the ends.
    pub fn step(&mut self, forward: bool, length: usize) {
        let Some(at) = self.index(length) else { return };
        self.at = if forward { (at + 1) % length } else { (at + length - 1) % length };
    }
}

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 18;

/// Returns true where there is room for blank lines.
pub fn is_roomy(area: Rect) -> bool {
    area.height >= ROOMY
}

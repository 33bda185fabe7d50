//! A panel: what lies over a screen. It has one of two widths, one frame and margin, and one place.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Margin, Rect},
};

use crate::{
    Theme,
    areas::{BESIDE, FILL, ROOMY, stacked},
};

/// The width of a panel, by what is in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PanelWidth {
    /// Whatever asks, offers or takes an answer: enough for the longest reason with its wire word.
    #[default]
    Dialog,
    /// Whatever searches or lists lines that have no end: the help, the palette, find, the log.
    Search,
}

/// The measures of a panel in an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panel {
    area: Rect,
    width: u16,
    margin: u16,
}

impl Panel {
    /// The measures of a panel in an area.
    pub fn of(width: PanelWidth, area: Rect) -> Self {
        let most = match width {
            PanelWidth::Dialog if area.width >= ROOMY => 112,
            PanelWidth::Dialog => 92,
            PanelWidth::Search if area.width >= ROOMY => 134,
            PanelWidth::Search => 112,
        };
        let (width, margin) = if area.width >= BESIDE { (most, 3) } else { (area.width, 1) };
        Self { area, width, margin }
    }

    /// Columns of what is inside its edge and margins.
    pub fn room(self) -> u16 {
        self.width.saturating_sub(2 * self.margin)
    }

    /// Lines that there is room for between its edges.
    pub fn most_lines(self) -> u16 {
        self.area.inner(Margin::new(0, 1)).height
    }

    /// The place of a panel with so many lines between its edges: nearer to the top than to the foot.
    pub fn place(self, lines: u16) -> Rect {
        let lines = (lines + 2).min(self.area.height);
        let above = (self.area.height - lines) / 3;
        let [_, place, _] = stacked(self.area, [above, lines, FILL]);
        place.centered_horizontally(Constraint::Length(self.width))
    }

    /// Empties its place, gives it its look and its edge, and returns what is inside.
    pub fn open(self, lines: u16, theme: &Theme, buffer: &mut Buffer) -> Rect {
        let place = self.place(lines);
        theme.open_panel(buffer, place);
        place.inner(Margin::new(self.margin, 1))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(60, [60, 60])]
    #[case(80, [80, 80])]
    #[case(119, [119, 119])]
    #[case(120, [92, 112])]
    #[case(160, [112, 134])]
    #[case(200, [112, 134])]
    fn a_panel_has_one_of_two_widths_or_that_of_a_narrow_screen(#[case] columns: u16, #[case] expected: [u16; 2]) {
        let area = Rect::new(0, 1, columns, 40);

        let widths = [PanelWidth::Dialog, PanelWidth::Search].map(|width| Panel::of(width, area).place(10).width);

        assert_eq!(widths, expected);
    }

    #[test]
    fn a_panel_is_as_wide_as_the_screen_under_120_columns() {
        let inside = [80, 119, 120].map(|columns| Panel::of(PanelWidth::Dialog, Rect::new(0, 0, columns, 24)).room());

        assert_eq!(inside, [78, 117, 86]);
    }

    #[test]
    fn a_panel_is_never_taller_than_its_area() {
        let area = Rect::new(0, 1, 120, 22);
        let panel = Panel::of(PanelWidth::Dialog, area);

        let more = panel.place(40);

        assert_eq!((more.y, more.height), (1, 22));
    }
}

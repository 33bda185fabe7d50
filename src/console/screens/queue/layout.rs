//! The layout of the Queue screen.

use ratatui::layout::{Constraint, Layout, Rect};

use crate::{
    areas::Areas,
    ui::areas::{FILL, inset, stacked},
};

/// From so many columns on the detail stands beside the list.
pub const WIDE: u16 = 100;

/// The narrowest that a list beside a detail may get, and the narrowest detail.
const NARROWEST: (u16, u16) = (56, 34);

/// The layout of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// Name of the view and totals.
    pub title: Rect,
    /// Chips, or the search line.
    pub chips: Rect,
    /// Titles of the columns; as wide as the text of a row.
    pub heads: Rect,
    /// The rows of the list, with cursor bar and scrollbar.
    pub rows: Rect,
    /// The line between list and detail.
    pub divider: Option<Rect>,
    pub detail: Option<Rect>,
}

/// Columns left of a row's text: the cursor's bar and the decision's sign.
pub const GUTTER: u16 = 2;

/// Columns right of it: a blank one and the scrollbar's.
pub const BAR: u16 = 2;

impl Regions {
    /// The areas in so much room. Above the footer one line is kept for notes; `more_notes` is how many lines more they
    /// need now.
    pub fn of(area: Rect, divider: u8, more_notes: u16) -> Self {
        let [body, _] = stacked(Areas::of(area).body, [FILL, more_notes]);
        let beside = area.width >= WIDE;
        let list = if beside {
            let share = u16::try_from(u32::from(area.width) * u32::from(divider) / 100).unwrap_or(area.width);
            Constraint::Length(share.clamp(NARROWEST.0, area.width - NARROWEST.1))
        } else {
            Constraint::Fill(1)
        };
        let columns = [list, Constraint::Length(1), Constraint::Fill(1)];
        let [list, divider, aside] = if beside { Layout::horizontal(columns).areas(body) } else { [body; 3] };
        let [title, chips, _, heads, rows] = stacked(list, [1, 1, 1, 1, FILL]);
        Self {
            title: inset(title, GUTTER, 1),
            chips: inset(chips, GUTTER, 1),
            heads: inset(heads, GUTTER, BAR),
            rows,
            divider: beside.then_some(divider),
            detail: beside.then(|| inset(aside, 1, 2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::areas::SMALLEST;

    proptest! {
        #[test]
        fn nothing_ever_leaves_the_screen(width in 0u16..400, height in 0u16..120, divider in 0u8..=100,
            notes in 0u16..3) {
            let area = Rect::new(0, 0, width, height);
            let (frame, regions) = (Areas::of(area), Regions::of(area, divider, notes));
            let inside = |part: Rect| part.is_empty() || (part.right() <= area.right()
                && part.bottom() <= area.bottom());

            prop_assume!(width >= SMALLEST.0 && height >= SMALLEST.1);
            for part in [frame.header, frame.footer, frame.body, regions.title, regions.chips, regions.heads,
                regions.rows] {
                prop_assert!(inside(part), "{part:?}");
            }
            prop_assert!(regions.detail.is_none_or(inside));
            prop_assert!(regions.divider.is_none_or(inside));
            prop_assert!(regions.rows.height >= 5);
        }
    }

    #[test]
    fn the_detail_stands_beside_the_list_from_a_hundred_columns_on() {
        let detail = |width: u16| Regions::of(Rect::new(0, 0, width, 30), 64, 0).detail;

        assert_eq!(detail(99), None);
        assert!(detail(100).is_some_and(|area| area.x > 60));
    }
}

//! The layout of the Queue screen.

use ratatui::layout::Rect;

use crate::console::areas::Areas;

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
    /// Titles of the columns.
    pub heads: Rect,
    /// The rows of the list, with cursor bar and scrollbar.
    pub rows: Rect,
    /// The line between list and detail.
    pub divider: Option<Rect>,
    pub detail: Option<Rect>,
}

/// Columns left of a row's text: the cursor's bar and the decision's sign.
pub const GUTTER: u16 = 2;

impl Regions {
    /// The areas in so much room. Above the footer one line is kept for notes; `more_notes` is how many lines more they
    /// need now.
    pub fn of(area: Rect, divider: u8, more_notes: u16) -> Self {
        let body = Areas::of(area).body;
        let body = Rect { height: body.height.saturating_sub(more_notes), ..body };
        let line =
            |y: u16, from: Rect| Rect::new(from.x, (body.y + y).min(area.bottom().saturating_sub(1)), from.width, 1);
        let beside = area.width >= WIDE;
        let list = if beside {
            let share = u16::try_from(u32::from(area.width) * u32::from(divider) / 100).unwrap_or(area.width);
            Rect { width: share.clamp(NARROWEST.0, area.width - NARROWEST.1), ..body }
        } else {
            body
        };
        let heads = 3;
        let rows = Rect::new(list.x, body.y + heads + 1, list.width, body.height.saturating_sub(heads + 1));
        let aside = Rect { x: list.right() + 2, width: area.width.saturating_sub(list.width + 4), ..body };
        Self {
            title: line(0, list),
            chips: line(1, list),
            heads: line(heads, list),
            rows,
            divider: beside.then_some(Rect { x: list.right(), width: 1, ..body }),
            detail: beside.then_some(aside),
        }
    }

    /// Columns that a row has for its text.
    pub fn row_room(&self) -> u16 {
        self.rows.width.saturating_sub(GUTTER + 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::console::areas::SMALLEST;

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

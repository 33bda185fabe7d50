//! Draws the Insights screen: its title, then the sentence that matters, then the parts in one column or two. What does
//! not fit scrolls.

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
};

use super::{
    counts::{answered, measured, networks},
    lapses::lapses,
    parts::{InsightsView, head, response_times},
    state::InsightsScreen,
};
use crate::{
    AppContext, Pen,
    screens::loading::has_rows,
    ui::{
        areas::{BESIDE, FILL, stacked},
        sheet::Sheet,
    },
};

/// Columns left of everything.
const GUTTER: u16 = 2;

/// Columns between two columns of parts.
const BETWEEN: u16 = 4;

/// No column is wider: numbers stay near their words.
const WIDEST: u16 = 92;

/// Draws everything below the header and above the notes.
pub fn draw(screen: &InsightsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    // The last line is kept for notifications.
    let [title, _, body, _] = stacked(area.inner(Margin::new(GUTTER, 0)), [1, 1, FILL, 1]);
    screen.page.set(body.height);
    let mut pen = Pen::new(buffer, title);
    pen.put("Insights", cx.theme.strong);
    pen.skip(3);
    pen.put(&screen.found.stale_words(cx).unwrap_or_default(), cx.theme.warning);
    let mut sheet = Sheet::new(&cx.theme, body.width);
    if has_rows(&screen.found.data, |_| false, ["Insights", ""], cx, &mut sheet)
        && let Some(view) = InsightsView::of(screen, cx)
    {
        put(&view, &mut sheet, area.width >= BESIDE);
    }
    screen.scroll.draw(&sheet.lines, &cx.theme, buffer, body);
}

/// Adds the parts below the sentence that matters: below each other, or in two columns.
fn put(view: &InsightsView<'_>, sheet: &mut Sheet<'_>, is_wide: bool) {
    head(view, sheet);
    sheet.gap();
    let width = if is_wide { (sheet.width - BETWEEN) / 2 } else { sheet.width }.min(WIDEST);
    let [mut left, mut right] = [Sheet::new(sheet.theme, width), Sheet::new(sheet.theme, width)];
    lapses(view, &mut left);
    answered(view, &mut left);
    let second = if is_wide { &mut right } else { &mut left };
    response_times(view, second);
    networks(view, second);
    measured(view, second);
    sheet.beside(left, right, BETWEEN);
}

//! Draws the Insights screen: its title, then the sentence that matters, then the parts in one column or two. What does
//! not fit scrolls.

use std::iter::repeat_n;

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Margin, Rect},
    text::Line,
};

use super::{
    counts::{self, answered, networks},
    lapses::lapses,
    parts::{self, InsightsView},
    state::InsightsScreen,
};
use crate::{
    AppContext, Pen,
    domain::query::{self, DEFAULT_SORT},
    screens::loading::{ListWords, has_rows},
    text::sanitize,
    ui::areas::{FILL, stacked},
    widgets::scrollbar,
};

/// Columns left of everything.
const GUTTER: u16 = 2;

/// From so many columns on the parts stand in two columns.
const TWO_COLUMNS: u16 = 116;

/// Columns between the two.
const BETWEEN: u16 = 4;

/// No column is wider: numbers stay near their words.
const WIDEST: u16 = 92;

/// Draws everything below the header and above the notes.
pub fn draw(screen: &InsightsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let inside = area.inner(Margin::new(GUTTER, 0));
    // The last line is kept for notifications.
    let [title, _, body, _] = stacked(inside, [1, 1, FILL, 1]);
    let words = ListWords { name: "Insights", empty: "" };
    if !has_rows(&screen.found.data, |_| false, &words, cx, buffer, body) {
        draw_title(screen, cx, buffer, title);
        return;
    }
    let Some(view) = InsightsView::of(screen, cx) else { return };
    let head = parts::head(&view, body.width);
    let (width, columns) = columns_of(&view, body.width);
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0) + head.len();
    let top = usize::from(screen.scroll.fit(rows, body.height));
    screen.page.set(body.height);
    draw_title(screen, cx, buffer, title);
    let areas = Layout::horizontal(columns.iter().map(|_| Constraint::Length(width))).spacing(BETWEEN).split(body);
    let blank = Line::default();
    let below_head = columns.iter().map(|lines| repeat_n(&blank, head.len()).chain(lines).collect::<Vec<_>>());
    for (lines, area) in below_head.zip(areas.iter()).chain([(head.iter().collect(), &body)]) {
        for (line, row) in lines.into_iter().skip(top).zip(area.rows()) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
    }
    scrollbar::draw(&cx.theme, buffer, scrollbar::beside(body), top as u64, rows as u64);
}

/// The parts, one below the other in one column or two of a width.
fn columns_of(view: &InsightsView<'_>, width: u16) -> (u16, Vec<Vec<Line<'static>>>) {
    let is_wide = width >= TWO_COLUMNS;
    let width = if is_wide { (width - BETWEEN) / 2 } else { width }.min(WIDEST);
    let first = [lapses(view, width), answered(view, width)];
    let second = [
        parts::response_times(view, width),
        networks(view, width),
        counts::measured(view, width),
        parts::unknown(view, width),
    ];
    if is_wide {
        return (width, vec![below_each_other(first), below_each_other(second)]);
    }
    let (mut lines, rest) = (below_each_other(first), below_each_other(second));
    lines.push(Line::default());
    lines.extend(rest);
    (width, vec![lines])
}

fn below_each_other<const N: usize>(parts: [Vec<Line<'static>>; N]) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(part);
    }
    lines
}

/// What it is of: the Queue's filter, but for what says how alerts stand.
fn draw_title(screen: &InsightsScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let mut pen = Pen::new(buffer, line);
    pen.put("Insights", theme.strong);
    pen.skip(3);
    let set = |filter| query::chips(filter, DEFAULT_SORT).into_iter().filter(|chip| chip.set).collect::<Vec<_>>();
    let within = set(&screen.scope);
    pen.put(if within.is_empty() { "of all alerts" } else { "by the Queue's filter" }, theme.quiet);
    for chip in &within {
        pen.skip(2);
        pen.put(&sanitize(&chip.text), theme.accent);
    }
    pen.skip(3);
    pen.put(&screen.found.stale_words(cx).unwrap_or_default(), theme.warning);
}

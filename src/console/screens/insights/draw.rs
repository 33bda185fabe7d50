//! Draws the Insights screen: its title, then the sentence that matters, then the parts in one column or two. What does
//! not fit scrolls.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;

use super::days;
use super::lapses::{self, Hour};
use super::networks::networks;
use super::parts::{self, InsightsView};
use super::programmes;
use super::state::InsightsScreen;
use crate::console::screens::loading::{ListWords, has_rows};
use crate::console::text::sanitize;
use crate::console::widgets::scrollbar;
use crate::console::{AppContext, Pen};
use crate::domain::query::{self, DEFAULT_SORT};

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
    screen.targets.clear();
    let draw = cx.draw_context();
    let inside = area.inner(Margin::new(GUTTER, 0));
    // The last line is kept for notifications.
    let lines = [Constraint::Length(1), Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)];
    let [title, _, body, _] = Layout::vertical(lines).areas(inside);
    let words = ListWords { name: "Insights", empty: "" };
    if !has_rows(&screen.found, |_| false, &words, &draw, buffer, body) {
        draw_title(screen, cx, buffer, title);
        return;
    }
    let Some(view) = InsightsView::of(screen, cx) else { return };
    let head = parts::head(&view, body.width);
    let columns = columns_of(&view, body.width);
    let rows = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0) + head.len();
    let top = screen.scroll.fit(rows, body.height);
    screen.page.set(body.height);
    draw_title(screen, cx, buffer, title);
    // The hours stand first in the first column, and that under the cursor stays in sight.
    let hours: Vec<_> = lapses::hours(&view).iter().map(Hour::listed).collect();
    let line_of = |at: usize| u16::try_from(head.len() + lapses::HEADING + at).unwrap_or(u16::MAX);
    let cursor = screen.hour.and_then(|chosen| hours.iter().position(|hour| *hour == Some(chosen))).map(line_of);
    let top = cursor.map_or(top, |line| top.clamp((line + 1).max(body.height) - body.height, line));
    let mut put = |line: &Line<'static>, at: usize, x: u16, width: u16| {
        let Some(y) = u16::try_from(at).ok().and_then(|at| at.checked_sub(top)).filter(|y| *y < body.height) else {
            return;
        };
        buffer.set_line(x, body.y + y, line, width);
    };
    head.iter().enumerate().for_each(|(at, line)| put(line, at, body.x, body.width));
    for (column, lines) in &columns {
        for (at, line) in lines.iter().enumerate() {
            put(line, head.len() + at, body.x + column.x, column.width);
        }
    }
    let width = columns.first().map_or(0, |(column, _)| column.width);
    for (at, hour) in hours.into_iter().enumerate() {
        let (Some(hour), line) = (hour, line_of(at)) else { continue };
        let Some(y) = line.checked_sub(top).filter(|y| *y < body.height) else { continue };
        let row = Rect { x: area.x, y: body.y + y, width: GUTTER + width, height: 1 };
        screen.targets.push(row, hour);
        if cursor == Some(line) {
            draw.theme.mark_row(buffer, row);
        }
    }
    scrollbar::draw(draw.theme, buffer, body.outer(Margin::new(GUTTER, 0)), top.into(), rows as u64);
}

/// A column of the screen: where it stands, and its lines.
type PartsColumn = (Rect, Vec<Line<'static>>);

/// The parts, one below the other in one column or two.
fn columns_of(view: &InsightsView<'_>, width: u16) -> Vec<PartsColumn> {
    let is_wide = width >= TWO_COLUMNS;
    let width = if is_wide { (width - BETWEEN) / 2 } else { width }.min(WIDEST);
    let first = [lapses::lapses(view, width), days::answered(view, width)];
    let second = [
        parts::response_times(view, width),
        networks(view, width),
        programmes::measured(view, width),
        parts::unknown(view, width),
    ];
    let column = |x| Rect { x, width, ..Rect::ZERO };
    if is_wide {
        return vec![(column(0), below_each_other(first)), (column(width + BETWEEN), below_each_other(second))];
    }
    let (mut lines, rest) = (below_each_other(first), below_each_other(second));
    lines.push(Line::default());
    lines.extend(rest);
    vec![(column(0), lines)]
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
    if within.is_empty() {
        pen.put("of all alerts", theme.quiet);
        pen.skip(3);
    }
    if !within.is_empty() {
        pen.put("by the Queue's filter", theme.quiet);
        pen.skip(2);
    }
    for chip in &within {
        pen.put(&sanitize(&chip.text), theme.accent);
        pen.skip(2);
    }
    let trouble = screen.trouble.as_ref().filter(|_| screen.found.loaded().is_some());
    let stale = trouble.map(|(since, _)| format!("▲ stale since {}", cx.times().at(*since, cx.now)));
    if let (Some(stale), Some((_, error))) = (stale, trouble) {
        pen.put(&format!("{stale}: {}", sanitize(&error.to_string())), theme.warning);
    }
}

//! Draws the Activity screen: the tabs with their counts, the rows of one, and below them the detail of the row under
//! the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

use super::detail;
use super::rows::{ActivityItem, ActivityRow, row_of};
use super::state::{ActivityScreen, ActivityTarget};
use super::views::ActivityView;
use crate::console::pen::put_lines;
use crate::console::text::{count, sanitize, wrap, wrap_to};
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext, Pen};
use crate::desk::Fate;
use crate::ui::areas::{FILL, inset, stacked};
use crate::ui::table;

/// Columns left of a row's text: the cursor's bar, a blank, the sign and a blank.
const GUTTER: u16 = 4;

/// Columns of the person, the answer and the alert, from so many columns of the list on. The result has the rest.
const WIDTHS: [(u16, [u16; 3]); 3] = [(150, [18, 44, 32]), (110, [14, 28, 26]), (0, [0, 26, 18])];

/// Columns of the time; in the history, whose days have headings, and elsewhere.
const TIME: [u16; 2] = [8, 12];

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListLine {
    /// The day of the item at this place and of those behind it.
    Day(usize),
    Row(usize),
    /// The reason of an item, below its row.
    Reason(usize),
}

/// Draws everything below the header and above the notes.
pub fn draw(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    screen.targets.clear();
    let troubles = wrap_to(&trouble(screen, cx).unwrap_or_default(), inset(area, 2, 2).width, 2);
    let items = screen.items(cx);
    let lines = lines(&items, screen.view, cx);
    let [tabs, _, trouble, below] = stacked(area, [1, 1, rows(troubles.len()), FILL]);
    draw_tabs(screen, &items, cx, buffer, inset(tabs, 2, 0));
    put_lines(buffer, inset(trouble, 2, 0), troubles.iter().map(|line| (line, cx.theme.warning)));
    if items.is_empty() {
        draw_empty(screen, cx, buffer, inset(below, 2, 0));
        return;
    }
    let wanted = rows(lines.len() + 1).min(below.height / 2);
    let [list, _, rule, _, detail] = stacked(below, [wanted, 1, 1, 1, FILL]);
    draw_list(screen, (&items, &lines), cx, buffer, list);
    let rule = inset(rule, 1, 1);
    Pen::new(buffer, rule).put(&"─".repeat(rule.width.into()), cx.theme.line);
    let chosen = &items[screen.cursor.row(&items)];
    detail::draw(screen, chosen, cx, buffer, inset(detail, 2, 2));
}

fn rows(lines: usize) -> u16 {
    u16::try_from(lines).unwrap_or(u16::MAX)
}

/// The lines of a tab: in the history each day has a heading, under an open item stands its reason.
fn lines(items: &[ActivityItem<'_>], view: ActivityView, cx: &AppContext) -> Vec<ListLine> {
    let mut day = None;
    let mut lines = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let of = item.at().map(|at| cx.times().day_of(at));
        if view == ActivityView::History && day != of {
            lines.push(ListLine::Day(index));
            day = of;
        }
        lines.push(ListLine::Row(index));
        if view == ActivityView::ToDo {
            lines.push(ListLine::Reason(index));
        }
    }
    lines
}

/// Lines that are scrolled away where `top` were: the row under the cursor is in sight, with the lines around it
/// that belong to it.
fn scrolled(lines: &[ListLine], cursor: usize, top: usize, height: usize) -> usize {
    let at = lines.iter().position(|line| *line == ListLine::Row(cursor)).unwrap_or(0);
    let first = if at > 0 && matches!(lines[at - 1], ListLine::Day(_)) { at - 1 } else { at };
    let last = if lines.get(at + 1) == Some(&ListLine::Reason(cursor)) { at + 1 } else { at };
    table::scrolled(top, last, lines.len(), height).min(first)
}

/// The tabs, each with how many items it holds.
fn draw_tabs(screen: &ActivityScreen, items: &[ActivityItem<'_>], cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let mut pen = Pen::new(buffer, line);
    for (view, name) in ActivityView::ALL {
        let is_shown = view == screen.view;
        let held = match view {
            _ if is_shown => items.len(),
            ActivityView::History => 0,
            view => screen.items_of(view, cx).len(),
        };
        let mut area = pen.put(name, if is_shown { theme.strong } else { theme.quiet });
        // There may be more in what could not be read.
        let more = if view == ActivityView::ToDo && is_read_in_part(cx) { "+" } else { "" };
        if view != ActivityView::History {
            pen.skip(1);
            let calls = view == ActivityView::ToDo && held > 0;
            let style = if calls { theme.danger } else { theme.quiet };
            area = area.union(pen.put(&format!("{}{more}", count(held as u64)), style));
        }
        screen.targets.push(area, ActivityTarget::View(view));
        pen.skip(4);
    }
}

/// Returns true where the journal cannot be read, or not all of it: the rest may call for somebody.
fn is_read_in_part(cx: &AppContext) -> bool {
    cx.journal.trouble().is_some() || cx.journal.unreadable().is_some()
}

/// Sentence about what could not be read, and since when.
fn trouble(screen: &ActivityScreen, cx: &AppContext) -> Option<String> {
    if let Some((since, why)) = cx.journal.trouble() {
        let (since, why) = (cx.times().at(*since, cx.now), sanitize(why));
        return Some(format!("▲ Journal not read since {since}: {why}. This console's own answers are here."));
    }
    if let Some(words) = cx.journal.unreadable() {
        return Some(format!("▲ {words} Run avert doctor."));
    }
    let (since, error) = screen.trouble()?;
    Some(format!("▲ Audit log not read since {}: {}", cx.times().at(*since, cx.now), sanitize(&error.to_string())))
}

/// Says in the place of rows why there are none, and what to do.
fn draw_empty(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let theme = &cx.theme;
    let (title, more) = match screen.view {
        _ if cx.journal.is_loading() => ("Reading the journal…", String::new()),
        ActivityView::ToDo if is_read_in_part(cx) => ("Nothing to do in what could be read.", String::new()),
        ActivityView::ToDo => ("Nothing to do.", "Failed and unconfirmed answers stand here.".to_owned()),
        ActivityView::History => {
            ("Nothing happened here yet.", format!("{} shows the alerts to answer.", cx.key(Action::ShowQueue)))
        }
        ActivityView::Notes => ("No notes yet.", format!("{} in the Queue adds one.", cx.key(Action::Note))),
    };
    let said = [(title, theme.strong), (more.as_str(), theme.plain)].into_iter();
    let lines = said.flat_map(|(text, style)| wrap(text, area.width).into_iter().map(move |line| (line, style)));
    put_lines(buffer, area, lines);
}

/// The areas of a row's cells: time, person, answer, alert, result.
fn cells(view: ActivityView, line: Rect) -> [Rect; 5] {
    let found = WIDTHS.iter().find(|(from, _)| line.width >= *from);
    let [who, what, named] = found.map_or([0; 3], |(_, widths)| *widths);
    let when = TIME[usize::from(view != ActivityView::History)];
    let gap = |width: u16| if width > 0 { width + 2 } else { 0 };
    let [when, who, what, named] = [when, who, what, named].map(|width| Constraint::Length(gap(width)));
    // What is to do has its reason on a line of its own.
    let widths = match view {
        ActivityView::ToDo => [when, who, what, Constraint::Fill(1), Constraint::Length(0)],
        _ => [when, who, what, named, Constraint::Fill(1)],
    };
    Layout::horizontal(widths).areas(inset(line, GUTTER, 0))
}

fn put(text: &str, style: Style, cell: Rect, buffer: &mut Buffer) {
    // The gap behind a cell stays blank.
    Pen::new(buffer, inset(cell, 0, 2)).put(text, style);
}

fn draw_list(
    screen: &ActivityScreen,
    (items, lines): (&[ActivityItem<'_>], &[ListLine]),
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
) {
    let theme = &cx.theme;
    let [head, window] = stacked(area, [1, FILL]);
    let body = inset(window, 0, 1);
    let (height, cursor) = (usize::from(body.height).max(1), screen.cursor.row(items));
    let top = scrolled(lines, cursor, screen.window.get().0, height);
    screen.window.set((top, height));
    let titles = ["WHEN", "WHO", "WHAT", "ALERT", if screen.view == ActivityView::ToDo { "" } else { "RESULT" }];
    for (title, cell) in titles.into_iter().zip(cells(screen.view, inset(head, 0, 1))) {
        put(title, theme.quiet, cell, buffer);
    }
    for (line, row) in lines.iter().skip(top).zip(body.rows()) {
        match *line {
            ListLine::Day(index) => {
                Pen::new(buffer, inset(row, 2, 0)).put(&day(&items[index..], cx), theme.quiet);
            }
            ListLine::Row(index) | ListLine::Reason(index) => {
                if index == cursor {
                    theme.mark_row(buffer, row);
                }
                screen.targets.push(row, ActivityTarget::Row(index));
                let said = row_of(&items[index], cx);
                if *line == ListLine::Reason(index) {
                    Pen::new(buffer, inset(row, GUTTER, 0)).put(&said.result, said.tone.of(theme));
                } else {
                    draw_row(&said, items[index], screen.view, cx, buffer, row);
                }
            }
        }
    }
    scrollbar::draw(theme, buffer, window, top as u64, lines.len() as u64);
}

/// The day of the first of these items, with how many answers of that day each person has recorded.
fn day(items: &[ActivityItem<'_>], cx: &AppContext) -> String {
    let Some(at) = items.first().and_then(ActivityItem::at) else { return String::new() };
    let date = cx.times().day_of(at);
    let mut people: Vec<(String, u64)> = Vec::new();
    for item in items.iter().take_while(|item| item.at().is_some_and(|at| cx.times().day_of(at) == date)) {
        let recorded = item.record().filter(|record| record.fate() == Fate::Recorded);
        let Some(who) = recorded.map(|_| row_of(item, cx).who) else { continue };
        match people.iter_mut().find(|(name, _)| *name == who) {
            Some((_, number)) => *number += 1,
            None => people.push((who, 1)),
        }
    }
    let answers: Vec<String> = people.iter().map(|(who, number)| format!("{who} {}", count(*number))).collect();
    let name =
        if date == cx.times().day_of(cx.now) { "Today".to_owned() } else { date.format("%a %-d %b %Y").to_string() };
    if answers.is_empty() { name } else { format!("{name}   answers: {}", answers.join(", ")) }
}

fn draw_row(
    said: &ActivityRow,
    item: ActivityItem<'_>,
    view: ActivityView,
    cx: &AppContext,
    buffer: &mut Buffer,
    line: Rect,
) {
    let theme = &cx.theme;
    let [when, who, what, named, result] = cells(view, line);
    let at = item.at().map(|at| match view {
        ActivityView::History => cx.times().second(at),
        _ => cx.times().row(at, cx.now),
    });
    Pen::new(buffer, inset(line, 2, 0)).put(said.tone.sign(), said.tone.of(theme));
    put(&at.unwrap_or_default(), theme.quiet, when, buffer);
    put(&said.who, theme.quiet, who, buffer);
    if said.is_sentence {
        let style = if view == ActivityView::Notes { theme.plain } else { theme.quiet };
        Pen::new(buffer, what.union(named).union(result)).put(&said.what, style);
        return;
    }
    put(&said.what, cx.draw_context().digits(), what, buffer);
    put(&said.named, theme.plain, named, buffer);
    if view != ActivityView::ToDo {
        Pen::new(buffer, result).put(&said.result, said.tone.of(theme));
    }
}

#[cfg(test)]
mod tests {
    use ListLine::{Day, Reason, Row};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_first_row_with_its_day(&[Day(0), Row(0), Row(1), Row(2)], 0, 3, 2, 0)]
    #[case::a_row_further_down(&[Day(0), Row(0), Row(1), Row(2)], 2, 0, 2, 2)]
    #[case::a_row_with_its_reason(&[Row(0), Reason(0), Row(1), Reason(1)], 1, 0, 2, 2)]
    #[case::nothing_behind_the_last_row(&[Row(0), Row(1), Row(2)], 2, 9, 2, 1)]
    fn the_row_under_the_cursor_is_in_sight(
        #[case] lines: &[ListLine],
        #[case] cursor: usize,
        #[case] top: usize,
        #[case] height: usize,
        #[case] expected: usize,
    ) {
        assert_eq!(scrolled(lines, cursor, top, height), expected);
    }

    #[rstest]
    #[case(80)]
    #[case(120)]
    #[case(160)]
    fn the_cells_fill_the_line(#[case] width: u16) {
        let cells = cells(ActivityView::History, Rect::new(0, 0, width, 1));

        assert!(cells[4].width >= 14 && cells[4].right() == width, "{cells:?}");
    }
}

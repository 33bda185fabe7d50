//! Draws the Activity screen: the tabs with their counts, the rows of one, and below them the detail of the row under
//! the cursor.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span, Text},
    widgets::Widget,
};

use super::{
    rows::{ActivityItem, ActivityRow, ActivityView, items, row_of},
    state::{ActivityScreen, ActivityTarget},
};
use crate::{
    Action, AppContext, Pen,
    desk::Fate,
    domain::{TruthKind, TruthReport},
    pen::put_lines,
    resolving::UNCHECKED,
    text::{count, cut, sanitize, wrap_to},
    ui::{
        areas::{FILL, inset, stacked},
        sheet::Sheet,
        table::{self, DataTable, TableColumn},
    },
};

/// Columns of the time; in the history, whose days have headings, and elsewhere.
const TIME: [u16; 2] = [8, 12];

/// Columns of the person and of the answer.
const WHO: u16 = 14;
const WHAT: u16 = 26;

/// Fewest columns of the alert and of the result, and most of the alert.
const LEAST: u16 = 17;
const ALERT: u16 = 26;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListLine {
    /// The day of the item at this place and of those behind it.
    Day(usize),
    Row(usize),
    /// The reason of an item, below its row.
    Reason(usize),
}

impl ListLine {
    /// The item that the cursor is on where it is on this line.
    fn row(self) -> Option<usize> {
        match self {
            Self::Day(_) => None,
            Self::Row(index) | Self::Reason(index) => Some(index),
        }
    }
}

/// Draws everything below the header and above the notes.
pub fn draw(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    screen.targets.clear();
    let troubles = wrap_to(&trouble(screen, cx).unwrap_or_default(), inset(area, 2, 2).width, 2);
    let items = screen.items(cx);
    let lines = lines(&items, screen.view, cx);
    let [tabs, _, trouble, below] = stacked(area, [1, 1, rows(troubles.len()), FILL]);
    draw_tabs(screen, cx, buffer, inset(tabs, 2, 0));
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
    draw_detail(screen, chosen, cx, buffer, inset(detail, 2, 2));
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

/// The tabs; that of what is left to do with how much it is.
fn draw_tabs(screen: &ActivityScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let mut pen = Pen::new(buffer, line);
    for (view, name) in ActivityView::ALL {
        let mut area = pen.put(name, if view == screen.view { theme.strong } else { theme.quiet });
        if view == ActivityView::ToDo {
            let held = items(view, &[], cx).len() as u64;
            // There may be more in what could not be read.
            let more = if is_read_in_part(cx) { "+" } else { "" };
            pen.skip(1);
            let style = if held > 0 { theme.danger } else { theme.quiet };
            area = area.union(pen.put(&format!("{}{more}", count(held)), style));
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
    let is_shown = screen.view == ActivityView::History;
    screen.audit.trouble_words("Audit log not read", cx).filter(|_| is_shown)
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
    let mut sheet = Sheet::new(theme, area.width);
    sheet.say(title, theme.strong);
    sheet.say(&more, theme.plain);
    Text::from(sheet.lines).render(area, buffer);
}

/// A row with its time.
type TimedRow = (String, ActivityRow);

/// The columns of a tab. What is to do has its reason on a line of its own, and a note is all that its row says.
fn columns(view: ActivityView, cx: &AppContext) -> Vec<TableColumn<'_, TimedRow>> {
    let (theme, digits) = (&cx.theme, cx.digits());
    let named = TableColumn::new("ALERT", |row: &TimedRow, _| Span::styled(row.1.named.clone(), theme.plain));
    let mut columns = vec![
        TableColumn::new("", |row: &TimedRow, _| Span::styled(row.1.tone.sign(), row.1.tone.of(theme)))
            .reserve(1)
            .gap(1),
        TableColumn::new("WHEN", |row: &TimedRow, _| Span::styled(row.0.clone(), theme.quiet))
            .reserve(TIME[usize::from(view != ActivityView::History)]),
        TableColumn::new("WHO", |row: &TimedRow, _| Span::styled(row.1.who.clone(), theme.quiet)).reserve(WHO).rank(1),
    ];
    if view != ActivityView::Notes {
        let what = TableColumn::new("WHAT", move |row: &TimedRow, _| Span::styled(row.1.what.clone(), digits));
        columns.push(what.reserve(WHAT));
    }
    if view == ActivityView::ToDo {
        columns.push(named.min(LEAST).reserve(u16::MAX));
    } else {
        let head = if view == ActivityView::Notes { "NOTE" } else { "RESULT" };
        let result = |row: &TimedRow, _| Span::styled(row.1.result.clone(), row.1.tone.of(theme));
        columns.push(named.min(LEAST).reserve(ALERT));
        columns.push(TableColumn::new(head, result).min(LEAST).reserve(u16::MAX));
    }
    columns
}

fn draw_list(
    screen: &ActivityScreen,
    (items, lines): (&[ActivityItem<'_>], &[ListLine]),
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
) {
    let (theme, times) = (&cx.theme, cx.times());
    let [head, body] = stacked(area, [1, FILL]);
    // The columns stay as wide as they are, whatever is in sight.
    let room = table::room(area);
    let table = DataTable::of(columns(screen.view, cx), &[], room);
    table.head(theme).render(inset(head, 2, 0), buffer);
    let rows: Vec<Option<usize>> = lines.iter().map(|line| line.row()).collect();
    let line_of = |line: usize| match lines[line] {
        ListLine::Day(index) => Line::styled(cut(&day(&items[index..], cx), room).into_owned(), theme.quiet),
        ListLine::Row(index) => {
            let at = items[index].at().map(|at| match screen.view {
                ActivityView::History => times.second(at),
                _ => times.row(at, cx.now),
            });
            table.line(&(at.unwrap_or_default(), row_of(&items[index], cx)))
        }
        ListLine::Reason(index) => {
            let said = row_of(&items[index], cx);
            Line::styled(cut(&format!("  {}", said.result), room).into_owned(), said.tone.of(theme))
        }
    };
    let at = (screen.cursor.row(items), true);
    screen.window.draw_page(&rows, line_of, at, theme, buffer, body, |area, row| {
        screen.targets.push(area, ActivityTarget::Row(row));
    });
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

/// Draws the detail of an item, scrolled as it was left.
fn draw_detail(screen: &ActivityScreen, item: &ActivityItem<'_>, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let mut sheet = Sheet::new(&cx.theme, area.width);
    put(item, cx, &mut sheet);
    screen.scroll.draw(&sheet.lines, &cx.theme, buffer, area);
}

/// Adds what a row has no room for; each step of an answer stands in the alert's case.
fn put(item: &ActivityItem<'_>, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let (theme, row) = (cx.theme, row_of(item, cx));
    let (title, result) = match item {
        ActivityItem::Noted(note) => (&note.text, ""),
        ActivityItem::Told(told) => (&told.said.words, ""),
        ActivityItem::Contradicted(_) => (&row.result, ""),
        _ => (&row.what, row.result.as_str()),
    };
    sheet.say(title, theme.strong);
    sheet.gap();
    sheet.fact("when", &item.at().map(|at| cx.times().minute(at)).unwrap_or_default(), theme.plain);
    sheet.fact("by", &row.who, theme.plain);
    sheet.fact("alert", &row.named, theme.plain);
    match item {
        ActivityItem::Decision(record) => {
            sheet.fact("comments", &record.said.comments, theme.plain);
            let (case, unlooked) = (cx.key(Action::Open), record.unlooked.as_ref());
            let unlooked = unlooked.map(|why| format!("{UNCHECKED}: {why}. {case} shows the others."));
            sheet.fact("check", &unlooked.unwrap_or_default(), theme.warning);
        }
        ActivityItem::Contradicted(of) => {
            let text = |pick: fn(&TruthReport) -> Option<&str>| of.report.as_ref().and_then(pick).unwrap_or_default();
            let answered = of.answered_at.map(|at| cx.times().minute(at));
            sheet.fact("answer", of.answer.as_str(), theme.plain);
            sheet.fact("answered", &answered.unwrap_or_default(), theme.plain);
            let kind = of.report.as_ref().map_or(TruthKind::Refund, |report| report.kind);
            sheet.fact(kind.as_str(), of.report_id(), theme.plain);
            sheet.fact("status", text(|report| report.status.as_deref()), theme.plain);
            sheet.fact("reason", text(|report| report.reason.as_deref()), theme.plain);
        }
        ActivityItem::Audit(entry) => {
            sheet.fact("id", &entry.subject, theme.quiet);
            sheet.fact("from", &entry.origin, theme.plain);
        }
        _ => {}
    }
    sheet.fact("result", result, row.tone.of(&theme));
}

//! Rows of alerts in dialogs: what an alert is known by, as much of it as there is room for, and what happens to it.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use crate::console::decisions::{Departure, PendingDecision, State};
use crate::console::pen::put_right;
use crate::console::screens::queue::columns::{Column, ContentWidths, TIGHTER};
use crate::console::screens::queue::signs::ListSign;
use crate::console::text::{self, cut, cut_words};
use crate::console::unfinished::Stage;
use crate::console::widgets::scrollbar;
use crate::console::{AppContext, ClickTargets, DrawContext, Pen, Theme, times};
use crate::domain::{Alert, ResolutionAttempt};

/// A row: its sign, the alert, and what happens to it.
pub struct AlertRow<'a> {
    pub sign: (&'static str, Style),
    pub alert: &'a Alert,
    pub what: String,
    /// The same in fewer words, for where that leaves room for what names the alert.
    pub brief: Option<String>,
    pub style: Style,
    /// Whether nothing is to be done with it: it steps back.
    pub quiet: bool,
    /// What stands in further columns behind what happens, as far as they have room; as many as the table has titles
    /// for them.
    pub beside: Vec<(String, Style)>,
}

/// Columns of the sign before each row, and blank ones between two columns.
const SIGN: u16 = 4;
const GAP: u16 = 2;

/// Columns at the right of the rows: the scrollbar's, and a blank before it.
const BAR: u16 = 2;

/// So many columns of what is known of alerts stay however narrow it gets.
const ALWAYS: usize = 3;

/// What happens has so much room before a column beyond the first ones has any: at least, and at most.
pub const WHAT: (u16, u16) = (30, 60);

/// Columns of what alerts are known by, up to the descriptor.
const KNOWN_BY: u16 = 76;

/// The same with the last four digits of the card and nearly all of the descriptor: a long reason is worth more than
/// the rest.
const KNOWN_BRIEFLY: u16 = 69;

/// From so many columns on a long reason has that room, and at most so much.
const ROOM_FOR_REASONS: u16 = 100;
const LONGEST_REASON: u16 = 80;

/// How much room what happens to many alerts has at most, in so much.
fn most_of_what(room: u16) -> u16 {
    match room {
        ROOM_FOR_REASONS.. => (room - KNOWN_BRIEFLY).min(LONGEST_REASON),
        narrow => narrow.saturating_sub(KNOWN_BY).min(WHAT.1),
    }
}

/// Columns of what tells alerts apart at least: time left, network, amount and the end of the card.
const TOLD_APART: u16 = 42;

/// The same where what happens is a reason to decide by: in a narrow place the descriptor gives way to it.
pub fn most_of_reasons(room: u16) -> u16 {
    most_of_what(room).max(room.saturating_sub(TOLD_APART).min(WHAT.1))
}

/// The same of what became of alerts, which the end of the card goes on to name where there is little room.
pub fn most_of_results(room: u16) -> u16 {
    if room < ROOM_FOR_REASONS { most_of_what(room) } else { most_of_reasons(room) }
}

/// A table of such rows: its columns from the left, the first of which stay longest, and the title over what happens.
#[derive(Clone, Copy)]
pub struct AlertTable<'a, 'r> {
    pub rows: &'r [AlertRow<'a>],
    pub columns: &'static [Column],
    pub title: &'r str,
    /// How much room what happens has, at least and at most.
    pub what: (u16, u16),
    /// The titles of the columns behind it.
    pub beside: &'r [String],
}

/// What alerts of any payment are known by.
pub const OF_MANY: &[Column] =
    &[Column::Left, Column::Provider, Column::Amount, Column::Card, Column::Descriptor, Column::ProviderId];

/// What the alerts of one payment differ by; what they share stands elsewhere.
const OF_ONE_PAYMENT: &[Column] =
    &[Column::Left, Column::Provider, Column::Type, Column::ProviderId, Column::Amount, Column::Order];

/// The same where one amount is that of all, and where one order is besides.
const OF_ONE_AMOUNT: &[Column] = &[Column::Left, Column::Provider, Column::Type, Column::ProviderId, Column::Order];

/// The columns of these alerts of one payment: an amount or an order that all of them have stands above them once.
pub fn of_one_payment<'a>(alerts: impl IntoIterator<Item = &'a Alert> + Clone) -> &'static [Column] {
    let mut amounts = alerts.clone().into_iter().map(Alert::money);
    let first = amounts.next().flatten();
    let is_one_amount = first.is_some() && amounts.all(|amount| amount == first);
    let orders: HashSet<String> = alerts.into_iter().filter_map(Alert::known_order_id).map(str::to_lowercase).collect();
    let all = if is_one_amount { OF_ONE_AMOUNT } else { OF_ONE_PAYMENT };
    if orders.len() > 1 { all } else { &all[..all.len() - 1] }
}

/// The columns that have room, each with its place and as wide as its content, and where what happens begins.
fn placed(rows: &[AlertRow<'_>], columns: &[Column], happens: u16, room: u16) -> (Vec<(Column, u16, u16)>, u16) {
    let content = ContentWidths::of(columns, rows.iter().map(|row| row.alert));
    let told = rows.iter().map(|row| text::columns(row.brief.as_deref().unwrap_or(&row.what))).max().unwrap_or(0);
    let mut placed = Vec::with_capacity(columns.len());
    let mut x = SIGN;
    for (index, column) in columns.iter().copied().enumerate() {
        let (narrow, wide) = content.room(column);
        let spare = room.saturating_sub(x + GAP + happens + BAR);
        let width = match column {
            // Of one payment what becomes of each alert is worth more than its type.
            Column::Type if room < x + wide + GAP + told.min(happens) + BAR => break,
            // The first three stay however narrow it gets.
            _ if index < ALWAYS => wide,
            _ if spare < narrow => break,
            // No descriptor is cut for a whole card.
            Column::Card
                if columns.get(index + 1) == Some(&Column::Descriptor)
                    && spare < wide + GAP + content.room(Column::Descriptor).1 =>
            {
                narrow
            }
            // What is less than the whole card, written tightly, is its last four.
            Column::Card if spare + TIGHTER < wide => narrow,
            // Half an id names nothing. What tells the alerts of one payment apart is worth more than the end of what
            // happens.
            Column::ProviderId if columns.contains(&Column::Type) => {
                if room < x + wide + GAP + happens.min(WHAT.0) + BAR {
                    break;
                }
                wide
            }
            Column::ProviderId if spare < wide => break,
            _ => wide.min(spare),
        };
        placed.push((column, x, width));
        x += width + GAP;
    }
    (placed, x)
}

/// The columns of a table that has some behind what happens: each is as wide as its content. Where not all have room
/// what happens is told in fewer words, then what is known of the alerts gives way in its order, then what stands
/// behind, the last of it at the end.
fn placed_by_content(table: AlertTable<'_, '_>, (least, happens): (u16, u16), room: u16) -> TableColumns {
    let AlertTable { rows, columns, title, beside, .. } = table;
    let wide =
        |head: &str, text: &dyn Fn(&AlertRow<'_>) -> u16| rows.iter().map(text).fold(text::columns(head), u16::max);
    let full = wide(title, &|row| text::columns(&row.what));
    let brief = wide(title, &|row| text::columns(row.brief.as_deref().unwrap_or(&row.what)));
    let width = |at: usize| wide(&beside[at], &|row| row.beside.get(at).map_or(0, |(text, _)| text::columns(text)));
    // A column in which nothing stands is none.
    let told = |at: &usize| rows.iter().any(|row| row.beside.get(*at).is_some_and(|(text, _)| !text.is_empty()));
    let behind: Vec<usize> = (0..beside.len()).filter(told).collect();
    let (always, optional) = columns.split_at(columns.len().min(ALWAYS));
    for given in 0..optional.len() + behind.len() {
        let known = [always, &optional[given.min(optional.len())..]].concat();
        let behind = &behind[given.saturating_sub(optional.len())..];
        for what in [full.max(least), full, brief] {
            let mut x = what;
            let place = |at: &usize| {
                let place = (*at, x + GAP, width(*at));
                x += GAP + place.2;
                place
            };
            let behind: Vec<_> = behind.iter().map(place).collect();
            let (placed, what) = placed(rows, &known, x, room);
            if placed.len() == known.len() && what + x + BAR <= room {
                return TableColumns { known: placed, what, behind };
            }
        }
    }
    let (known, what) = placed(rows, columns, happens, room);
    TableColumns { known, what, behind: Vec::new() }
}

/// How much room what happens to these alerts has, where it had so much before.
fn room_of_what(table: AlertTable<'_, '_>, before: u16) -> u16 {
    let (least, most) = table.what;
    let content = table.rows.iter().map(|row| text::columns(&row.what)).fold(text::columns(table.title), u16::max);
    content.max(before).min(most).max(least)
}

/// The sign, the words and the style of a decision: how far it is.
pub fn progress(decision: &PendingDecision, cx: &AppContext) -> ((&'static str, Style), String, Style) {
    let theme = &cx.theme;
    if let (State::Checking(_), Some(attempt)) = (&decision.state, cx.unfinished.of(decision.alert.id)) {
        let (sign, words, style) = progress_at_engine(attempt, theme);
        return (sign, words.to_owned(), style);
    }
    let sign = ListSign::of(&decision.state).drawn(theme);
    let words = match &decision.state {
        State::Staged(due) => {
            let words = match cx.decisions.departure(decision, *due, cx.now) {
                Departure::In(seconds) => format!("leaves in {seconds} s"),
                Departure::InTurn => "waits its turn".to_owned(),
                Departure::Paused => "paused, not sent".to_owned(),
                Departure::AfterLook => "looks for doubles".to_owned(),
                Departure::AfterFirst => "waits for the refund".to_owned(),
            };
            return (sign, words, theme.plain);
        }
        State::Waiting => "waits here, not sent",
        State::Sending => "with the network",
        State::Checking(_) => "not known whether it arrived",
        State::Refused(_) => "not recorded",
    };
    (sign, words.to_owned(), sign.1)
}

/// The same of a decision that the engine has not finished.
pub fn progress_at_engine(attempt: &ResolutionAttempt, theme: &Theme) -> ((&'static str, Style), &'static str, Style) {
    let sign = ListSign::of_unfinished(attempt).drawn(theme);
    let words = match Stage::of(attempt) {
        Stage::Sending => "with the network",
        Stage::Unknown => "not known whether it arrived",
        Stage::Parked => "waits for a person's word",
    };
    (sign, words, sign.1)
}

/// Empties an area for a page of its own.
pub fn open_page(draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    Clear.render(area, buffer);
    buffer.set_style(area, draw.theme.page);
}

/// The cursor of a list of these rows, and how far the list is scrolled.
#[derive(Debug, Default)]
pub struct ListCursor {
    /// The row it is on.
    pub at: usize,
    top: Cell<usize>,
    /// How many rows the last frame had room for.
    page: Cell<usize>,
    /// How much room what happens had: what comes while one looks on makes it wider only.
    happens: Cell<u16>,
    /// Where what happens began in the last frame.
    what: Cell<u16>,
}

impl ListCursor {
    /// Moves by a key among so many rows; whether it is a key that moves.
    pub fn key(&mut self, code: KeyCode, rows: usize) -> bool {
        let last = rows.saturating_sub(1);
        let page = self.page.get().max(1);
        self.at = match code {
            KeyCode::Down | KeyCode::Char('j') => (self.at + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.at.saturating_sub(1),
            KeyCode::PageDown => (self.at + page).min(last),
            KeyCode::PageUp => self.at.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => last,
            _ => return false,
        };
        true
    }

    /// Draws rows below their titles so that the cursor's one, `at`, is among them, and marked where the list has the
    /// focus.
    pub fn draw<T: Copy + PartialEq>(
        &self,
        table: AlertTable<'_, '_>,
        (at, has_focus): (usize, bool),
        context: &DrawContext<'_>,
        buffer: &mut Buffer,
        area: Rect,
        targets: (&ClickTargets<T>, impl Fn(usize) -> T),
    ) {
        let room = usize::from(area.height.saturating_sub(1));
        let rows = table.rows;
        let at = at.min(rows.len().saturating_sub(1));
        let top = scrolled(self.top.get(), at, rows.len(), room);
        self.page.set(room);
        self.top.set(top);
        self.happens.set(room_of_what(table, self.happens.get()));
        let columns = TableColumns::of(table, (0, self.happens.get()), area.width);
        self.what.set(columns.what);
        draw_in(table, columns, (top, has_focus.then_some(at)), context, buffer, area, targets);
    }

    /// What has no room in the cursor's row stands in the line below the list.
    pub fn draw_below(&self, at: usize, rows: &[AlertRow<'_>], buffer: &mut Buffer, list: Rect) {
        let at = at.min(rows.len().saturating_sub(1));
        if let Some(row) =
            rows.get(at).filter(|row| text::columns(&row.what) > list.width.saturating_sub(self.what.get() + BAR))
        {
            let line = Rect { x: list.x + 2, y: list.bottom(), width: list.width.saturating_sub(4), height: 1 };
            Pen::new(buffer, line).put(&row.what, row.style);
        }
    }
}

/// Where the columns of a table stand: what is known of the alerts, where what happens begins, and what stands behind
/// that.
#[derive(Debug, Clone)]
struct TableColumns {
    known: Vec<(Column, u16, u16)>,
    what: u16,
    behind: Vec<(usize, u16, u16)>,
}

impl TableColumns {
    /// Those of a table in so much room, where what happens has so much: at least where columns stand behind it, and
    /// where none do.
    fn of(table: AlertTable<'_, '_>, happens: (u16, u16), room: u16) -> Self {
        if !table.beside.is_empty() {
            return placed_by_content(table, happens, room);
        }
        let (known, what) = placed(table.rows, table.columns, happens.1, room);
        Self { known, what, behind: Vec::new() }
    }

    /// Whether what happens to these alerts can be told, in fewer words at least.
    fn can_tell(&self, rows: &[AlertRow<'_>], room: u16) -> bool {
        let end = self.behind.first().map_or(room.saturating_sub(self.what + BAR), |(_, x, _)| x - GAP);
        rows.iter().all(|row| text::columns(row.brief.as_deref().unwrap_or(&row.what)) <= end)
    }
}

/// The columns of a table that is looked at while its alerts are decided: once they are held, they move for a change of
/// the room or of how many rows there are, and once where what happens then would be cut.
#[derive(Debug, Default)]
pub struct KeptColumns(RefCell<Option<(u16, usize, TableColumns)>>);

impl KeptColumns {
    fn columns(&self, table: AlertTable<'_, '_>, keeps: bool, room: u16) -> TableColumns {
        let is_of = |kept: &&(u16, usize, TableColumns)| keeps && kept.0 == room && kept.1 == table.rows.len();
        let can_tell = |kept: &&(u16, usize, TableColumns)| kept.2.can_tell(table.rows, room);
        if let Some((.., columns)) = self.0.borrow().as_ref().filter(is_of).filter(can_tell) {
            return columns.clone();
        }
        let columns = TableColumns::of(table, (table.what.0, room_of_what(table, 0)), room);
        self.0.replace(Some((room, table.rows.len(), columns.clone())));
        columns
    }
}

/// Draws the titles into the first line of an area and below them the rows from `top` on, their columns where they were
/// where that is asked for. A click on a row is `target` of its number.
pub fn draw<T: Copy + PartialEq>(
    table: AlertTable<'_, '_>,
    (kept, keeps): (&KeptColumns, bool),
    (top, cursor): (usize, Option<usize>),
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    area: Rect,
    targets: (&ClickTargets<T>, impl Fn(usize) -> T),
) {
    draw_in(table, kept.columns(table, keeps, area.width), (top, cursor), draw, buffer, area, targets);
}

/// The same in these columns.
fn draw_in<T: Copy + PartialEq>(
    table: AlertTable<'_, '_>,
    TableColumns { known, what, behind }: TableColumns,
    (top, cursor): (usize, Option<usize>),
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    area: Rect,
    (targets, target): (&ClickTargets<T>, impl Fn(usize) -> T),
) {
    let theme = draw.theme;
    let AlertTable { rows, title, beside, .. } = table;
    // Kept columns of what nobody tells any more leave their room.
    let behind: Vec<_> =
        behind.into_iter().filter(|(at, ..)| beside.get(*at).is_some_and(|title| !title.is_empty())).collect();
    for (column, x, width) in &known {
        let cell = Rect { x: area.x + x, width: *width, height: 1, ..area }.intersection(area);
        if column.is_right() {
            put_right(buffer, cell, column.title(), theme.quiet);
        } else {
            Pen::new(buffer, cell).put(column.title(), theme.quiet);
        }
    }
    // What happens ends where the next column begins.
    let end = behind.first().map_or(area.width.saturating_sub(BAR), |(_, x, _)| what + x - GAP);
    let rest = |y: u16| Rect { x: area.x + what, y, width: end.saturating_sub(what), height: 1 };
    let cell = |y: u16, (_, x, width): (usize, u16, u16)| {
        Rect { x: area.x + what + x, y, width, height: 1 }.intersection(area)
    };
    Pen::new(buffer, rest(area.y)).put(title, theme.quiet);
    for place in &behind {
        if let Some(title) = beside.get(place.0) {
            Pen::new(buffer, cell(area.y, *place)).put(title, theme.quiet);
        }
    }
    let list = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    for ((number, row), y) in rows.iter().enumerate().skip(top).zip(list.y..list.bottom()) {
        let line = Rect { y, height: 1, ..list };
        let is_cursor = cursor == Some(number);
        if is_cursor {
            theme.mark_row(buffer, Rect { width: line.width.saturating_sub(BAR), ..line });
        }
        buffer.set_stringn(line.x + 2, y, row.sign.0, 1, row.sign.1);
        for (column, x, width) in &known {
            let cell = Rect { x: area.x + x, width: *width, ..line }.intersection(line);
            let style = match column {
                // The time that is left has its colour under the cursor too.
                Column::Left if !row.quiet => draw.urgency(times::left(row.alert, draw.now).urgency),
                _ if is_cursor => draw.digits(),
                _ if row.quiet => theme.quiet,
                Column::Card | Column::ProviderId => theme.quiet,
                _ => theme.plain,
            };
            let text = match column {
                Column::Amount => row.alert.money().map_or_else(|| "–".to_owned(), |money| money.to_string()).into(),
                column => column.text(row.alert, *width, draw.times, draw.now),
            };
            if column.is_right() {
                put_right(buffer, cell, &text, style);
            } else {
                Pen::new(buffer, cell).put(&cut(&text, *width), style);
            }
        }
        let room = rest(y);
        let brief = row.brief.as_ref().filter(|_| text::columns(&row.what) > room.width);
        Pen::new(buffer, room).put(&cut_words(brief.unwrap_or(&row.what), room.width), row.style);
        for place in &behind {
            if let Some((text, style)) = row.beside.get(place.0) {
                Pen::new(buffer, cell(y, *place)).put(text, *style);
            }
        }
        targets.push(line, target(number));
    }
    let bar = Rect { x: area.right().saturating_sub(1), width: 1, ..list };
    scrollbar::draw(theme, buffer, bar, top as u64, rows.len() as u64);
}

/// The first row that is shown so that the cursor's one is among so many.
pub fn scrolled(top: usize, cursor: usize, rows: usize, room: usize) -> usize {
    let room = room.max(1);
    let top = top.clamp((cursor + 1).saturating_sub(room), cursor);
    top.min(rows.saturating_sub(room))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn card() -> Alert {
        Alert { card_bin: "411111".to_owned(), card_last_four: "1234".to_owned(), ..Alert::sample() }
    }

    fn row(alert: &Alert) -> AlertRow<'_> {
        AlertRow {
            sign: ("·", Style::new()),
            alert,
            what: String::new(),
            brief: None,
            style: Style::new(),
            quiet: false,
            beside: Vec::new(),
        }
    }

    proptest! {
        #[test]
        fn the_cursors_row_is_always_among_those_shown(top in 0usize..500, rows in 1usize..500, at in 0usize..500,
            room in 0usize..80) {
            let cursor = at.min(rows - 1);

            let first = scrolled(top, cursor, rows, room);

            prop_assert!(first <= cursor && cursor < first + room.max(1));
            prop_assert!(first == 0 || first + room.max(1) <= rows);
        }

        #[test]
        fn what_happens_has_its_room_beside_the_first_columns(room in 66u16..300) {
            let alert = Alert::sample();

            let (columns, what) = placed(&[row(&alert)], OF_MANY, WHAT.0, room);

            prop_assert!(columns.len() >= 3);
            prop_assert!(columns.len() == 3 || what + WHAT.0 <= room);
        }
    }

    #[test]
    fn what_is_known_of_an_alert_gives_way_before_what_stands_behind_its_state() {
        let alert = Alert { provider_id: "8BD351BP2POPPPC6JSP2OH5M".to_owned(), ..card() };
        let beside = ["+ auth code", "duplicate alert"].map(|text| (text.to_owned(), Style::new())).to_vec();
        let rows = [AlertRow { what: "OPEN".to_owned(), beside, ..row(&alert) }];
        let titles = ["SHARES".to_owned(), "WITH i".to_owned()];
        let table = AlertTable {
            rows: &rows,
            columns: &OF_ONE_PAYMENT[..OF_ONE_PAYMENT.len() - 1],
            title: "STATE",
            what: WHAT,
            beside: &titles,
        };

        let mut shown: Vec<String> = (50..160)
            .rev()
            .map(|room| {
                let TableColumns { known, behind, .. } = TableColumns::of(table, WHAT, room);
                let known = known.iter().skip(ALWAYS).map(|(column, ..)| column.title());
                known.chain(behind.iter().map(|(at, ..)| titles[*at].as_str())).collect::<Vec<_>>().join(", ")
            })
            .collect();
        shown.dedup();

        let known = [Column::ProviderId, Column::Amount].map(Column::title);
        let all = format!("{}, {}, SHARES, WITH i", known[0], known[1]);
        assert_eq!(
            shown[..4],
            [all, format!("{}, SHARES, WITH i", known[1]), "SHARES, WITH i".to_owned(), "WITH i".to_owned()]
        );
    }

    #[test]
    fn alerts_of_one_payment_are_told_apart_before_all_of_what_happens_is_said() {
        let alert = Alert { provider_id: "8BD351BP2POPPPC6JSP2OH5M".to_owned(), ..card() };
        let rows = [AlertRow { what: "left out: ".repeat(7), ..row(&alert) }];

        let (columns, what) = placed(&rows, OF_ONE_AMOUNT, WHAT.1, 116);

        assert!(columns.iter().any(|(column, _, width)| *column == Column::ProviderId && *width == 24), "{columns:?}");
        assert!(116 - what >= WHAT.0, "{what}");
    }

    #[test]
    fn wider_rows_show_more_of_an_alert() {
        let alert = Alert {
            merchant_descriptor: "BLUEBIRD MEALS 888555".to_owned(),
            provider_id: "8BD351BP2POPPPC6JSP2OH5M".to_owned(),
            ..card()
        };

        let widths = [60, 77, 91, 120, 200].map(|room| {
            placed(&[row(&alert)], OF_MANY, WHAT.0, room)
                .0
                .into_iter()
                .skip(3)
                .map(|(_, _, width)| width)
                .collect::<Vec<_>>()
        });

        assert_eq!(widths, [vec![], vec![6], vec![6, 12], vec![14, 21], vec![14, 21, 24]]);
    }
}

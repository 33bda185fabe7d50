//! Rows of alerts in dialogs: what an alert is known by, as much of it as there is room for, and what happens to it.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::Span,
    widgets::{Clear, Widget},
};

use crate::{
    AppContext,
    domain::Alert,
    screens::queue::columns::Column,
    times,
    ui::table::{self, DataTable},
};

/// A row: its sign, the alert, and what happens to it.
pub struct AlertRow<'a> {
    pub sign: (&'static str, Style),
    pub alert: &'a Alert,
    pub what: String,
    pub style: Style,
    /// True where nothing is to be done with it: it steps back.
    pub quiet: bool,
}

/// So many columns of what is known of alerts stay however narrow it gets.
const ALWAYS: usize = 3;

/// Columns that are kept for what happens.
const WHAT: u16 = 22;

/// Columns of alerts of any payment, as in the Queue.
pub const OF_QUEUE: &[Column] =
    &[Column::Left, Column::Provider, Column::Type, Column::Order, Column::Amount, Column::Card, Column::Descriptor];

/// Columns that tell the alerts of one payment apart.
pub const OF_ONE_PAYMENT: &[Column] = &[Column::Left, Column::Provider, Column::Type, Column::ProviderId];

/// A table of such rows: what the alerts are known by, and what happens under a title where there is one.
pub fn table<'t>(
    rows: &[AlertRow<'t>],
    known: &[Column],
    title: &'static str,
    room: u16,
    cx: &'t AppContext,
) -> DataTable<'t, AlertRow<'t>> {
    let mut shown = vec![table::TableColumn::new("", |row: &AlertRow<'t>, _| Span::styled(row.sign.0, row.sign.1))];
    for (rank, (index, column)) in (1..).zip(known.iter().copied().enumerate()) {
        let is_kept = index < ALWAYS && column != Column::Type;
        let cell = table::TableColumn::new(column.title(), move |row: &AlertRow<'t>, width| {
            known_cell(row, column, width, cx)
        });
        let cell = cell.max(column.widest()).rank(if is_kept { 0 } else { rank });
        // Half an id names nothing.
        let narrowest = column.narrowest().filter(|_| column != Column::ProviderId);
        let cell = narrowest.into_iter().fold(cell, table::TableColumn::min);
        shown.push(if column.is_right() { cell.right() } else { cell });
    }
    let what = table::TableColumn::new(title, |row: &AlertRow<'t>, _| Span::styled(row.what.clone(), row.style));
    shown.extend((!title.is_empty()).then(|| what.min(WHAT).reserve(WHAT)));
    DataTable::of(shown, rows, room)
}

fn known_cell<'s>(row: &AlertRow<'_>, column: Column, width: u16, cx: &AppContext) -> Span<'s> {
    let style = match column {
        Column::Left if !row.quiet => cx.urgency(times::left(row.alert, cx.now).urgency),
        _ if row.quiet => cx.theme.quiet,
        Column::Card | Column::ProviderId => cx.theme.quiet,
        _ => cx.theme.plain,
    };
    Span::styled(column.text(row.alert, width, cx.times(), cx.now).into_owned(), style)
}

/// Empties an area for a page of its own.
pub fn open_page(cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    Clear.render(area, buffer);
    buffer.set_style(area, cx.theme.page);
}

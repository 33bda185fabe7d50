//! Rows of alerts that a search found: what each is known by, what of it matched, and as much else as there is room
//! for.

use std::borrow::Cow;

use ratatui::{
    style::Style,
    text::{Line, Span},
};

use crate::{
    AppContext,
    answer_words::{answer_words, is_answered_refunded, without_reason},
    desk::find::FoundAlerts,
    domain::{Alert, FindQuery, find::FindField},
    screens::queue::columns::Column,
    text::sanitize,
    times,
    ui::table::{self, DataTable},
};

/// The fewest and the most columns for what matched.
const FIELD: (u16, u16) = (18, 34);

/// The same for a card, whose last four digits are the least, for an order and a descriptor.
const CARD: (u16, u16) = (6, 16);
const ORDER: (u16, u16) = (8, 16);
const DESCRIPTOR: u16 = 16;

/// What stands in the row of an alert.
struct FoundRow<'a> {
    alert: &'a Alert,
    left: (String, Style),
    label: &'static str,
    value: String,
}

impl<'a> FoundRow<'a> {
    fn of(alert: &'a Alert, query: &FindQuery, found: &FoundAlerts, cx: &AppContext) -> Self {
        let left = match &alert.outcome {
            // Whether money went back is what is asked of an alert that is answered.
            Some(outcome) => {
                let style = if is_answered_refunded(alert) { cx.theme.ok } else { cx.theme.quiet };
                // Its reason is for whoever goes there.
                (without_reason(&answer_words(alert, outcome)).to_owned(), style)
            }
            None if alert.is_over() => (sanitize(alert.status.as_str()).into_owned(), cx.theme.quiet),
            None => {
                let left = times::left(alert, cx.now);
                (left.text, cx.draw_context().urgency(left.urgency))
            }
        };
        let order = || {
            let (order_id, confidence) = found.order_of(alert.id)?;
            Some(FindField { label: "order", value: Cow::Owned(format!("{order_id}, {} match", confidence.words())) })
        };
        let matched = query.best_field(alert).or_else(order);
        let (label, value) =
            matched.map_or(("", String::new()), |field| (field.label, sanitize(&field.value).into_owned()));
        Self { alert, left, label, value }
    }

    /// The text of a column; none where what matched says it already.
    fn text(&self, column: Column, width: u16, cx: &AppContext) -> String {
        let text = column.text(self.alert, width, cx.times(), cx.now);
        if column != Column::Card && *text == *self.value { String::new() } else { text.into_owned() }
    }
}

/// The rows of these alerts in so many columns.
pub fn lines(
    alerts: &[Alert],
    query: &FindQuery,
    found: &FoundAlerts,
    room: u16,
    cx: &AppContext,
) -> Vec<Line<'static>> {
    let mut rows: Vec<FoundRow<'_>> = alerts.iter().map(|alert| FoundRow::of(alert, query, found, cx)).collect();
    if !cx.settings.plain {
        // The field that matched is named where it is another one than in the row above; whoever is read a row alone
        // hears it in each.
        for at in (1..rows.len()).rev() {
            if rows[at].label == rows[at - 1].label {
                rows[at].label = "";
            }
        }
    }
    let table = DataTable::of(columns(cx), &rows, room);
    rows.iter().map(|row| table.line(row)).collect()
}

fn columns<'l, 'a>(cx: &'l AppContext) -> Vec<table::TableColumn<'l, FoundRow<'a>>> {
    let theme = &cx.theme;
    let plain = move |row: &FoundRow<'_>| if row.alert.is_over() { theme.quiet } else { theme.plain };
    let strong = move |row: &FoundRow<'_>| if row.alert.is_over() { theme.plain } else { theme.strong };
    let known = |column: Column, (min, max): (u16, u16), rank: u8| {
        let cell = move |row: &FoundRow<'_>, width| Span::styled(row.text(column, width, cx), theme.quiet);
        table::TableColumn::new("", cell).min(min).max(max).rank(rank)
    };
    let named = |column: Column| {
        let text = move |row: &FoundRow<'_>, width| column.text(row.alert, width, cx.times(), cx.now).into_owned();
        table::TableColumn::new("", move |row: &FoundRow<'_>, width| Span::styled(text(row, width), plain(row)))
    };
    vec![
        table::TableColumn::new("", |row: &FoundRow<'_>, _| Span::styled(row.left.0.clone(), row.left.1)).right(),
        named(Column::Provider),
        named(Column::Amount).right(),
        table::TableColumn::new("", move |row: &FoundRow<'_>, _| Span::styled(row.label, theme.quiet)).gap(1),
        table::TableColumn::new("", move |row: &FoundRow<'_>, _| Span::styled(row.value.clone(), strong(row)))
            .min(FIELD.0)
            .max(FIELD.1),
        // The last digits are what it is known by, under each other whether the first ones are known or not.
        known(Column::Card, CARD, 1).right(),
        known(Column::Order, ORDER, 2),
        known(Column::Descriptor, (DESCRIPTOR, u16::MAX), 3),
    ]
}

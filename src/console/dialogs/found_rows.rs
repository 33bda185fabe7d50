//! Rows of alerts that a search found: what each is known by, what of it matched, and as much else as there is room
//! for.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::console::answer_words::{answer_words, is_answered_refunded, without_reason};
use crate::console::screens::queue::columns::{Column, amount};
use crate::console::text::{columns, cut, sanitize};
use crate::console::{AppContext, times};
use crate::desk::find::{DayOf, FoundAlerts};
use crate::domain::find::FindField;
use crate::domain::{Alert, FindQuery};

/// The most columns for what matched, and how many it has before anything else has one.
const FIELD: u16 = 38;
const LEAST_FIELD: u16 = 18;

/// Columns for a whole card at most, with a BIN of eight digits, and for its last four.
const CARD: (u16, u16) = (16, 6);

/// An order has between so many columns, and a descriptor at least as many as the first.
const ORDER: (u16, u16) = (8, 16);

/// Blank columns between two columns.
const GAP: u16 = 2;

/// What stands in the row of an alert.
struct FoundRow<'a> {
    alert: &'a Alert,
    left: (String, Style),
    money: String,
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
        let money = format!("{} {}", amount(alert), sanitize(alert.currency.as_str()));
        let order = || {
            let (order_id, confidence) = found.order_of(alert.id)?;
            Some(FindField { label: "order", value: Cow::Owned(format!("{order_id}, {} match", confidence.words())) })
        };
        let day = || {
            let (label, column) = match found.day_of(alert.id)? {
                DayOf::Alert => ("alerted", Column::Alerted),
                DayOf::Transaction => ("transaction", Column::Transaction),
            };
            Some(FindField { label, value: column.text(alert, u16::MAX, cx.times(), cx.now) })
        };
        // What was found by a day alone may have the other words too.
        let matched = day().or_else(|| query.best_field(alert)).or_else(order);
        let (label, value) =
            matched.map_or(("", String::new()), |field| (field.label, sanitize(&field.value).into_owned()));
        Self { alert, left, money, label, value }
    }

    /// The text of a column; none where what matched says it already.
    fn text(&self, column: Column, width: u16, cx: &AppContext) -> String {
        let text = column.text(self.alert, width, cx.times(), cx.now);
        if column != Column::Card && *text == *self.value { String::new() } else { text.into_owned() }
    }
}

/// The columns of rows: each as wide as its content. What matched has the room that is left by what an alert is known
/// by, and the card, the order and the descriptor what is left by that, as far as it goes.
#[derive(Debug, Clone, Copy)]
struct Widths {
    left: u16,
    network: u16,
    money: u16,
    /// Of what matched: the name of the field, then its value.
    label: u16,
    value: u16,
    card: u16,
    order: u16,
    descriptor: u16,
}

impl Widths {
    fn of(rows: &[FoundRow<'_>], room: u16, cx: &AppContext) -> Self {
        let widest = |width: &dyn Fn(&FoundRow<'_>) -> u16| rows.iter().map(width).max().unwrap_or(0);
        let left = widest(&|row| columns(&row.left.0));
        let network = widest(&|row| columns(&sanitize(row.alert.provider.as_str())));
        let money = widest(&|row| columns(&row.money));
        let rest = room.saturating_sub(left + network + money + 3 * GAP);
        let order = widest(&|row| columns(&row.text(Column::Order, ORDER.1, cx))).min(ORDER.1);
        // What matched in one row does not take the card and the order from all, unless it could not be read then.
        let others = CARD.1 + GAP + ORDER.0.min(order) + GAP;
        let label = widest(&|row| columns(row.label));
        let label = if label > 0 { label + 1 } else { 0 };
        let matched = label + widest(&|row| columns(&row.value));
        let matched = matched.min(FIELD).min(rest.saturating_sub(others).max(LEAST_FIELD)).min(rest);
        let label = label.min(matched);
        let mut rest = rest.saturating_sub(matched + GAP);
        let mut take = |least: u16, most: u16| {
            let width = if most == 0 || rest < least { 0 } else { most.min(rest) };
            rest = rest.saturating_sub(if width == 0 { 0 } else { width + GAP });
            width
        };
        let whole = widest(&|row| columns(&row.text(Column::Card, CARD.0, cx))).min(CARD.0);
        let mut card = take(CARD.1, CARD.1);
        let order = take(ORDER.0.min(order), order);
        let more = whole.saturating_sub(CARD.1 + GAP);
        if card > 0 && take(more, more) > 0 {
            card = whole;
        }
        Self { left, network, money, label, value: matched - label, card, order, descriptor: take(ORDER.0, u16::MAX) }
    }
}

/// The rows of these alerts in so many columns.
pub fn lines<'l>(
    alerts: &[Alert],
    query: &FindQuery,
    found: &FoundAlerts,
    room: u16,
    cx: &AppContext,
) -> Vec<Line<'l>> {
    let rows: Vec<FoundRow<'_>> = alerts.iter().map(|alert| FoundRow::of(alert, query, found, cx)).collect();
    let widths = Widths::of(&rows, room, cx);
    let above = std::iter::once(None).chain(rows.iter().map(Some));
    rows.iter().zip(above).map(|(row, above)| line(row, above, widths, cx)).collect()
}

/// The row of an alert. The field that matched is named where it is another one than in the row above; whoever is read
/// a row alone hears it in each.
fn line<'l>(row: &FoundRow<'_>, above: Option<&FoundRow<'_>>, widths: Widths, cx: &AppContext) -> Line<'l> {
    let theme = &cx.theme;
    let (plain, strong) = if row.alert.is_over() { (theme.quiet, theme.plain) } else { (theme.plain, theme.strong) };
    let mut spans = vec![
        Span::styled(
            format!("{}{}{}", blanks(widths.left.saturating_sub(columns(&row.left.0))), row.left.0, blanks(GAP)),
            row.left.1,
        ),
        Span::styled(cell(&sanitize(row.alert.provider.as_str()), widths.network), plain),
        Span::styled(format!("{}{}  ", blanks(widths.money.saturating_sub(columns(&row.money))), row.money), plain),
    ];
    let is_told = !cx.settings.plain && above.is_some_and(|above| above.label == row.label);
    let label = cut(if is_told { "" } else { row.label }, widths.label.saturating_sub(1));
    let label = format!("{label}{}", blanks(widths.label.saturating_sub(columns(&label))));
    spans.extend([Span::styled(label, theme.quiet), Span::styled(cell(&row.value, widths.value), strong)]);
    for (column, width) in
        [(Column::Card, widths.card), (Column::Order, widths.order), (Column::Descriptor, widths.descriptor)]
    {
        if width > 0 {
            let text = row.text(column, width, cx);
            let text = match column {
                Column::Descriptor => cut(&text, width).into_owned(),
                // The last digits are what it is known by, under each other whether the first ones are known or not.
                Column::Card => {
                    format!("{}{}{}", blanks(width.saturating_sub(columns(&text))), cut(&text, width), blanks(GAP))
                }
                _ => cell(&text, width),
            };
            spans.push(Span::styled(text, theme.quiet));
        }
    }
    // Blanks behind the last column need no room.
    if let Some(last) = spans.last_mut() {
        last.content = Cow::Owned(last.content.trim_end().to_owned());
    }
    Line::from(spans)
}

fn blanks(columns: u16) -> String {
    " ".repeat(columns.into())
}

/// A text in so many columns, and the blank ones behind it.
fn cell(text: &str, width: u16) -> String {
    let text = cut(text, width);
    format!("{text}{}", blanks(width.saturating_sub(columns(&text)) + GAP))
}

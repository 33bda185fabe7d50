//! The options of the resolve form: their keys and words, how wide they are, and in how many rows they stand.

use super::Choice;
use super::older::REFUNDS;
use crate::console::text::columns;
use crate::console::widgets::buttons::flow;
use crate::domain::resolution::InvalidReason;

/// Columns between decisions.
pub(super) const DECISION_GAP: u16 = 4;

/// Columns of an option's mark, with the blanks around it.
const MARK: u16 = 5;

/// Each decision: the key that makes it from any field, and its words.
pub(super) fn decisions() -> [(String, &'static str, Choice); 3] {
    Choice::ALL.map(|choice| (format!("alt-{}", choice.key()), choice.label(), choice))
}

pub(super) fn option_width(key: &str, words: &str) -> u16 {
    columns(key) + MARK + columns(words)
}

pub(super) fn longest_reason() -> u16 {
    InvalidReason::ALL.map(|reason| option_width("1", reason.words())).into_iter().max().unwrap_or(0)
}

/// How many rows the decisions take beside their label.
pub(super) fn rows_of_decisions(room: u16) -> u16 {
    let widths = decisions().map(|(key, words, _)| option_width(&key, words));
    flow(&widths, DECISION_GAP, room).last().map_or(1, |(row, _)| row + 1)
}

/// How many rows the refunds of the older dialect take beside their label.
pub(super) fn rows_of_refunds(room: u16) -> u16 {
    let widths = refunds().map(|(key, words)| option_width(&key, words));
    flow(&widths, REFUND_GAP, room).last().map_or(1, |(row, _)| row + 1)
}

/// Columns between refunds.
pub(super) const REFUND_GAP: u16 = 3;

/// Each refund of the older dialect: the key that gives it from any field, and its words.
pub(super) fn refunds() -> [(String, &'static str); 3] {
    REFUNDS.map(|(_, key, words)| (format!("alt-{key}"), words))
}

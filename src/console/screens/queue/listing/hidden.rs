//! Rows that take no line: alerts that are put aside keep their row in the list, as the service counts it, and are
//! passed over.
//!
//! What is listed and how many it has is the service's to say, and it knows nothing of a snooze: rows keep their
//! numbers, and only lines on the screen are counted without those that are hidden. The alert under the cursor is never
//! hidden.

use std::collections::HashSet;

use super::Listing;
use crate::{
    desk::snoozes::can_be_aside,
    domain::{Alert, AlertId},
};

impl Listing {
    /// Returns true where an alert's row takes no line.
    fn hides(&self, alert: &Alert) -> bool {
        can_be_aside(alert) && Some(alert.id) != self.cursor_id && self.hidden.contains(&alert.id)
    }

    /// The alerts whose rows take no line, wherever in the list they are.
    pub fn hidden_ids(&self) -> HashSet<AlertId> {
        self.hidden.iter().copied().filter(|id| Some(*id) != self.cursor_id).collect()
    }

    /// Returns true where an alert of the list is passed over by marks of many.
    pub fn passes_over(&self, alert: &Alert) -> bool {
        !self.hidden.is_empty() && self.hides(alert)
    }

    /// Returns true where a row takes no line.
    pub(super) fn is_hidden(&self, row: u64) -> bool {
        !self.hidden.is_empty() && self.row(row).alert().is_some_and(|alert| self.hides(alert))
    }

    /// The rows that take no line, among those that are held; in order.
    fn hidden_rows(&self) -> Vec<u64> {
        if self.hidden.is_empty() {
            return Vec::new();
        }
        let ghost = self.ghost.is_some();
        let hidden = self.pages.placed().filter(|(_, alert)| self.hides(alert));
        hidden.map(|(position, _)| position + u64::from(ghost && position >= self.cursor)).collect()
    }

    /// The alerts of what is held that are hidden.
    pub fn hidden_here(&self) -> impl Iterator<Item = &Alert> {
        self.pages.placed().map(|(_, alert)| alert).filter(|alert| self.passes_over(alert))
    }

    /// How many alerts are listed with a line of their own, where that is known: else as many as there are with the
    /// hidden ones.
    pub fn listed(&self) -> Option<u64> {
        let hidden = match self.hidden_alerts() {
            (hidden, true) => hidden,
            (_, false) => 0,
        };
        Some(self.total?.saturating_sub(hidden))
    }

    /// How many alerts of what is held are hidden, and whether all of the list is held.
    pub fn hidden_alerts(&self) -> (u64, bool) {
        let all = self.pages.hold_all_before(self.total.unwrap_or(0));
        (self.hidden_rows().len() as u64, all)
    }

    /// How many lines the rows from one to before another one take.
    pub fn lines_between(&self, from: u64, to: u64) -> u64 {
        let hidden = self.hidden_rows().into_iter().filter(|row| (from..to).contains(row)).count();
        to.saturating_sub(from).saturating_sub(hidden as u64)
    }

    /// The row that stands so many lines below another one, as if the list had no end.
    pub(super) fn row_below(&self, from: u64, lines: u64) -> u64 {
        let mut row = from.saturating_add(lines);
        for hidden in self.hidden_rows().into_iter().skip_while(|hidden| *hidden < from) {
            if hidden > row {
                break;
            }
            row += 1;
        }
        row
    }

    /// The row that stands so many lines above another one, and how many lines are missing where the list begins before
    /// that.
    pub(super) fn row_above(&self, from: u64, lines: u64) -> (u64, u64) {
        let there = self.lines_between(0, from);
        if there < lines {
            return (0, lines - there);
        }
        let mut row = from.saturating_sub(lines);
        for hidden in self.hidden_rows().into_iter().rev().skip_while(|hidden| *hidden >= from) {
            if hidden < row {
                break;
            }
            row = row.saturating_sub(1);
        }
        (row, 0)
    }

    /// The nearest row that takes a line: this one, else below it, else above it; this one where there is none.
    pub(super) fn shown_row(&self, row: u64) -> u64 {
        if !self.is_hidden(row) {
            return row;
        }
        let below = self.row_below(row, 0);
        if below < self.rows() {
            return below;
        }
        match self.row_above(row, 1) {
            (above, 0) => above,
            _ => row,
        }
    }

    /// The rows that are in sight, each with its line.
    pub fn window(&self) -> Vec<(u16, u64)> {
        let hidden: HashSet<u64> = self.hidden_rows().into_iter().collect();
        let rows = (self.top..self.rows()).filter(|row| !hidden.contains(row));
        let first = u16::try_from(self.lead).unwrap_or(u16::MAX);
        (first..self.height).zip(rows).collect()
    }

    /// The alerts that are in sight.
    pub fn in_sight(&self) -> impl Iterator<Item = &Alert> {
        self.window().into_iter().filter_map(|(_, row)| self.row(row).alert())
    }

    /// Hides these alerts, but for the one under the cursor, whose line stays where it is.
    pub fn set_hidden(&mut self, hidden: &HashSet<AlertId>) {
        if *hidden == self.hidden {
            return;
        }
        let line = self.lead + self.lines_between(self.top, self.cursor);
        let back: Vec<AlertId> = self.hidden.difference(hidden).copied().collect();
        self.hidden.clone_from(hidden);
        if self.cursor_id.is_some() {
            // What is back above the cursor may be out of sight: it is told like what came in there.
            let told = self.shown_above().filter(|id| back.contains(id) || self.arrived.contains(id)).collect();
            self.arrived = told;
            (self.top, self.lead) = self.row_above(self.cursor, line);
            self.pinned = true;
        }
        self.clamp();
    }
}

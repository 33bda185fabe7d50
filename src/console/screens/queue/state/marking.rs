//! Marking alerts in the list: one, a range, all of the filter.

use super::Queue;
use crate::{
    AppContext, Effect, Reply, Tone,
    desk::lists::Stretch,
    domain::{Alert, AlertId},
    screens::queue::marked::{MOST_MARKED, RangeStart},
    text::count,
};

impl Queue {
    /// Marks the alert under the cursor, or takes its mark away, and goes on to the next one; ends a range that is
    /// being marked.
    pub fn toggle_mark(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        if self.marked.range.is_some() {
            return self.end_range(cx);
        }
        let Some(alert) = self.listing.current().cloned() else { return Vec::new() };
        if !self.marked.toggle(&alert) {
            cx.notify(Tone::Note, format!("{} alerts are marked, the most at once.", count(MOST_MARKED as u64)));
        }
        self.listing.move_by(1);
        Vec::new()
    }

    /// Begins a range at the cursor, or ends the one that is being marked.
    pub fn toggle_range(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        if self.marked.range.is_some() {
            return self.end_range(cx);
        }
        self.marked.range = self.listing.cursor_id.map(|id| RangeStart { id, row: self.listing.cursor });
        Vec::new()
    }

    /// The rows from where the range began to the cursor: the first one, and how many.
    pub fn range_rows(&self) -> Option<(u64, u64)> {
        let start = self.marked.range?;
        let (began, at) = (self.listing.row_of(start.id).unwrap_or(start.row), self.listing.cursor);
        Some((began.min(at), began.abs_diff(at) + 1))
    }

    /// The alerts of the range; none where not all of them are here, or more than are marked at once.
    pub fn range_alerts(&self) -> Option<Vec<&Alert>> {
        let (first, rows) = self.range_rows().filter(|(_, rows)| *rows <= MOST_MARKED as u64)?;
        (first..first + rows).map(|row| self.listing.row(row)).collect()
    }

    /// Returns true where something is marked, or about to be.
    pub fn has_marks(&self) -> bool {
        !self.marked.is_empty() || self.marked.is_reading()
    }

    /// Marks the range. Rows that are not here are read.
    fn end_range(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        let Some((first, rows)) = self.range_rows() else { return Vec::new() };
        let held: Option<Vec<Alert>> = self.range_alerts().map(|held| held.into_iter().cloned().collect());
        let start = self.marked.range.take().map(|start| start.id);
        if let Some(held) = held {
            self.mark_these(&held, held.len() as u64, cx);
            return Vec::new();
        }
        // Read by its rows, it has to begin and to be as long as what was selected: the list may move meanwhile.
        let here = self.listing.row(first).map(|alert| alert.id);
        let begins = here.or(start.filter(|_| self.listing.cursor != first));
        let pages = &self.listing.pages;
        let (place, end) = (pages.place_of(first), pages.place_of(first + rows - 1) + 1);
        self.collect(begins, place, end - place)
    }

    /// Marks all of the list, as many as are marked at once.
    pub fn mark_all(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.marked.range = None;
        let rows = self.listing.total.unwrap_or(0);
        if self.listing.chosen.is_some() {
            let held: Vec<Alert> = self.listing.alerts().cloned().collect();
            self.mark_these(&held, rows, cx);
            return Vec::new();
        }
        if rows == 0 { Vec::new() } else { self.collect(None, 0, rows) }
    }

    fn collect(&mut self, begins: Option<AlertId>, first: u64, rows: u64) -> Vec<Effect> {
        let (filter, sort, count) = (self.listing.filter.clone(), self.listing.order, rows.min(MOST_MARKED as u64));
        vec![Effect::Collect(self.marked.ask(begins, rows), Stretch { filter, sort, first, count })]
    }

    /// Takes in rows that were read to be marked.
    pub fn take_collected(&mut self, number: u64, answer: Reply<(Vec<Alert>, u64)>, cx: &mut AppContext) {
        let Some(stretch) = self.marked.take_answer(number) else { return };
        match answer {
            Ok((alerts, _)) if stretch.first.is_some() && stretch.first != alerts.first().map(|alert| alert.id) => {
                cx.notify(Tone::Bad, "The list moved: nothing was marked.");
            }
            Ok((alerts, _)) => self.mark_these(&alerts, stretch.wanted.max(alerts.len() as u64), cx),
            Err(error) => cx.notify(Tone::Bad, format!("Nothing more marked: {error}")),
        }
    }

    /// Marks alerts out of so many, and says how many where not all of them are.
    fn mark_these(&mut self, alerts: &[Alert], of: u64, cx: &mut AppContext) {
        // What is put aside is in no view: it is marked one by one or not at all.
        let shown: Vec<Alert> = alerts.iter().filter(|alert| !self.listing.pages.hides(alert)).cloned().collect();
        let of = of - (alerts.len() - shown.len()) as u64;
        let over = self.marked.add(&shown);
        if over > 0 || of > shown.len() as u64 {
            let (marked, most) = (self.marked.alerts().len() as u64, MOST_MARKED as u64);
            let words = format!("{} marked of {}, at most {} at once.", count(marked), count(of), count(most));
            cx.notify(Tone::Note, words);
        }
    }
}

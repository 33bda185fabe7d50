//! The list of several alerts: those that need review first, each with its reason below, and equal answers folded into
//! one line.

use std::collections::BTreeMap;

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use super::{AnswerForm, Part, RowPlan, Target, checks::sums_words, item::AnswerScope};
use crate::{
    AppContext, Theme,
    dialogs::alert_rows::{self, AlertRow, OF_QUEUE, of_one_payment},
    domain::AlertId,
    text::{count, sanitize},
    ui::table,
    unfinished::in_words_with,
};

/// Columns before a reason, and before the words of a folded line.
const INDENT: &str = "      ";

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerRow {
    /// An alert, by its place in the form.
    Alert(usize),
    /// Alerts that get the same, folded into one line or above their own rows.
    Same(String, Vec<usize>),
}

impl AnswerForm {
    /// The rows of the list, as they stand now. Alerts of a case keep their order.
    pub(super) fn list_rows(&self) -> Vec<AnswerRow> {
        let all = 0..self.rows.len();
        let (AnswerScope::Bulk, Ok(plans)) = (self.scope, &self.plans) else {
            return all.map(AnswerRow::Alert).collect();
        };
        let needs_review = |at: &usize| matches!(plans.get(*at), Some(RowPlan::Out { care: true, .. }));
        let mut same: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for at in all.clone().filter(|at| !needs_review(at)) {
            let key = match &plans[at] {
                RowPlan::Sent(resolution) => (false, in_words_with(resolution, &self.rows[at].alert.currency)),
                RowPlan::Out { why, .. } => (true, why.clone()),
            };
            same.entry(key).or_default().push(at);
        }
        let mut rows: Vec<AnswerRow> = all.filter(needs_review).map(AnswerRow::Alert).collect();
        for ((_, words), members) in same {
            let is_open = self.unfolded.contains(&words);
            rows.push(AnswerRow::Same(words, members.clone()));
            rows.extend(members.into_iter().filter(|_| is_open).map(AnswerRow::Alert));
        }
        rows
    }

    /// The alert of the list's cursor: the first one of a folded line.
    pub(super) fn listed_alert(&self) -> Option<AlertId> {
        let at = match self.list_rows().get(self.list.at)? {
            AnswerRow::Alert(at) => *at,
            AnswerRow::Same(_, members) => *members.first()?,
        };
        Some(self.rows.get(at)?.alert.id)
    }

    /// Puts the list's cursor on an alert of the form.
    pub(super) fn go_to_row(&mut self, alert: usize) {
        self.list.at = self.list_rows().iter().position(|row| *row == AnswerRow::Alert(alert)).unwrap_or(0);
    }

    /// An alert with what it gets.
    fn alert_row(&self, position: usize, theme: &Theme) -> AlertRow<'_> {
        let alert = &self.rows[position].alert;
        let (sign, style, what, quiet) = match self.plan_of(position) {
            Some(RowPlan::Sent(resolution)) => {
                let words = in_words_with(resolution, &alert.currency);
                (("·", theme.accent), theme.plain, sanitize(&words).into_owned(), false)
            }
            Some(RowPlan::Out { why, care: true, .. }) => (("⚠", theme.warning), theme.warning, why.clone(), false),
            Some(RowPlan::Out { why, care: false, .. }) => (("–", theme.quiet), theme.quiet, why.clone(), true),
            None => ((" ", theme.quiet), theme.quiet, String::new(), false),
        };
        AlertRow { sign, alert, what, style, quiet, beside: Vec::new() }
    }

    pub(super) fn draw_list(&self, frame: &mut Frame<'_>, [list, word]: [Rect; 2], cx: &AppContext) {
        let (theme, draw) = (&cx.theme, cx.draw_context());
        let is_bulk = self.scope == AnswerScope::Bulk;
        let rows: Vec<AlertRow<'_>> = (0..self.rows.len()).map(|at| self.alert_row(at, theme)).collect();
        let columns = if is_bulk { OF_QUEUE } else { of_one_payment(self.rows.iter().map(|row| &row.alert)) };
        let title = if is_bulk { "" } else { "ANSWER" };
        let table = alert_rows::table(&rows, columns, (title, &[]), table::room(list), &draw);
        let listed = self.list_rows();
        // What needs review says why below its row.
        let below = |row: &AnswerRow| match row {
            AnswerRow::Alert(at) if is_bulk && rows[*at].sign.0 == "⚠" => Some(&rows[*at]),
            _ => None,
        };
        let heights: Vec<usize> = listed.iter().map(|row| 1 + usize::from(below(row).is_some())).collect();
        let line = |index: usize, line: usize| match listed.get(index) {
            Some(row) if line > 0 => below(row).map_or_else(Line::default, |row| {
                Line::from(vec![Span::raw(INDENT), Span::styled(row.what.clone(), row.style)])
            }),
            Some(AnswerRow::Alert(at)) => table.line(&rows[*at]),
            Some(AnswerRow::Same(words, members)) => {
                let money = sums_words(members.iter().map(|at| &self.rows[*at].alert));
                let does = if self.unfolded.contains(words) { " folds" } else { " unfolds" };
                let mut spans = vec![
                    Span::raw(INDENT),
                    Span::styled(format!("{} × {words}{money}", count(members.len() as u64)), theme.plain),
                ];
                spans.extend([Span::styled("   space", theme.key), Span::styled(does, theme.quiet)]);
                Line::from(spans)
            }
            None => Line::default(),
        };
        let has_focus = self.part == Part::List;
        let note = |area, row| self.targets.push(area, Target::Row(row));
        let at = (self.list.at, has_focus);
        self.list.draw_tall((table.head(theme), &heights), line, at, theme, frame.buffer_mut(), list, note);
        if let (true, None, Some(AnswerRow::Alert(at))) = (has_focus && !is_bulk, &self.word, listed.get(self.list.at))
        {
            alert_rows::draw_below((&table, columns), rows.get(*at), frame.buffer_mut(), word);
        }
    }
}

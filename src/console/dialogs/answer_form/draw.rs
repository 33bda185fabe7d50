//! Draws the answer form: its title, the fields, and below them the list of several alerts.

use std::{collections::BTreeMap, iter::repeat};

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Margin, Rect},
    style::Style,
    text::Line,
};

use super::{
    AnswerForm, Part, RowPlan, Target,
    item::{AnswerScope, FormItem},
};
use crate::{
    AppContext, Pen, Theme,
    answer_words::in_words_with,
    dialogs::alert_rows::{self, AlertRow, OF_ONE_PAYMENT, OF_QUEUE},
    domain::{Alert, Dialect},
    pen::put_lines,
    screens::queue::{
        columns::masked,
        detail::{Facet, WIDEST, facets, put},
        sums::total_of,
    },
    text::{count, counted, cut, sanitize},
    times,
    ui::{
        areas::{FILL, inset, stacked},
        fit::{self, KeyHint, Segment},
        table,
        widgets::scrollbar::Scroll,
    },
};

/// Rows that the list keeps: its titles and three alerts.
const LIST: u16 = 4;

/// Columns left and right of the fields.
const MARGIN: u16 = 2;

impl AnswerForm {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        alert_rows::open_page(cx, frame.buffer_mut(), area);
        let list_rows = if self.scope == AnswerScope::One { 0 } else { LIST };
        let inside = Margin::new(MARGIN, 0);
        let most = area.height.saturating_sub(3 + list_rows + u16::from(list_rows > 0) + 1);
        let rows = self.fields.form.rows(area.inner(inside).width, most, &cx.theme);
        let [_, title, _, fields, _, list, word] = stacked(area, [1, 1, 1, rows, u16::from(list_rows > 0), FILL, 1]);
        let [title, fields, word] = [title, fields, word].map(|row| row.inner(inside));
        self.draw_title(frame.buffer_mut(), title, cx);
        self.fields.draw(&cx.theme, frame, fields);
        if list_rows > 0 {
            self.draw_list(frame, list, cx);
        }
        let said = self.word.as_deref().or(self.fields.word());
        Pen::new(frame.buffer_mut(), word).put(said.unwrap_or_default(), cx.theme.warning);
    }

    fn draw_title(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let part = |gap, text: String, style: Style| Segment::<()>::new(gap, text, style);
        let mut segments = match &*self.rows {
            [one] => self.title_of_one(&one.alert, cx),
            _ => {
                let same = if self.scope == AnswerScope::Bulk { "" } else { ", same payment" };
                let what = format!("Answer {}{same}", counted(self.rows.len() as u64, "alert", "alerts"));
                // The alerts of a case are about one payment.
                let once = |alert: &&Alert| !matches!(self.scope, AnswerScope::Case(first) if first != alert.id);
                let total = total_of(self.rows.iter().map(|row| &row.alert).filter(once));
                vec![part(0, what, theme.strong), part(3, total, theme.plain).or_none(9)]
            }
        };
        segments.extend(cx.place.is_production().then(|| part(1, " PRODUCTION ".to_owned(), theme.production).right()));
        fit::draw(&segments, buffer, line, |_, ()| {});
    }

    fn title_of_one(&self, alert: &Alert, cx: &AppContext) -> Vec<Segment<()>> {
        let (theme, left) = (&cx.theme, times::left(alert, cx.now));
        let what = format!("Answer {} {}", sanitize(alert.provider.as_str()), sanitize(alert.alert_type.words()));
        let money = alert.money().map_or_else(String::new, |money| money.to_string());
        let due = match left.urgency {
            _ if alert.outcome.is_some() => String::new(),
            times::Urgency::Over => left.text,
            _ => format!("due in {}", left.text),
        };
        vec![
            Segment::new(0, what, theme.strong),
            Segment::new(3, sanitize(&money), theme.strong),
            Segment::new(3, masked(alert), theme.quiet).or_none(8),
            Segment::new(3, due, cx.urgency(left.urgency)).or_none(3),
            Segment::new(3, sanitize(&alert.provider_id), theme.quiet).or_none(9),
        ]
    }

    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let first = [("ctrl-s", "send", Some(Target::Send)), ("esc", "cancel", Some(Target::Back))];
        let letters = match cx.place.dialect {
            Dialect::Older => ("alt-r alt-n alt-s", "refund"),
            Dialect::Current => ("alt-r alt-n alt-i", "answer"),
        };
        let rest: &[(&str, &str)] = match (self.part, self.scope) {
            (Part::List, _) => &[("space", self.space_words()), ("tab", "fields"), ("j k", "move")],
            (Part::Answer, AnswerScope::One) => &[("tab", "next field"), letters],
            (Part::Answer, _) => &[("tab", "fields, list"), letters],
        };
        let rest = rest.iter().map(|(key, words)| (*key, *words, None));
        let keys = first.into_iter().chain(rest).map(|(key, words, target)| KeyHint::new(key, words, target));
        fit::draw(&fit::keys(keys, &cx.theme), buffer, line, |area, target| {
            target.into_iter().for_each(|target| self.targets.push(area, target));
        });
    }
}

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
        let needs_review = |at: &usize| plans.get(*at).is_some_and(|plan| plan.reviewed_for().is_some());
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

    /// The alert of the detail: that of the list's cursor, the first one of a folded line; while the fields of a case
    /// have the focus, the one that is refunded.
    fn shown_row(&self) -> &FormItem {
        let of_cursor = || match self.list_rows().get(self.list.at)? {
            AnswerRow::Alert(at) => self.rows.get(*at),
            AnswerRow::Same(_, members) => self.rows.get(*members.first()?),
        };
        let row = match (self.scope, self.part) {
            (AnswerScope::Case(first), Part::Answer) => self.rows.iter().find(|row| row.alert.id == first),
            _ => of_cursor(),
        };
        row.unwrap_or(&self.rows[0])
    }

    /// Draws the facts of one alert beside the form, its order among them.
    pub(super) fn draw_detail(&self, buffer: &mut Buffer, area: Rect, cx: &AppContext) {
        alert_rows::open_page(cx, buffer, area);
        put_lines(buffer, area, repeat(("│", cx.theme.line)));
        let (row, area) = (self.shown_row(), inset(area, 2, 2));
        let parts = facets(Facet::Whole, &row.alert, false, &row.facts, cx, area.width.min(WIDEST));
        put(&[(&parts, area)], &Scroll::default(), cx, buffer, area, |_, _| {});
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
            Some(RowPlan::Out { care: true, .. }) => (("⚠", theme.warning), theme.warning, String::new(), false),
            Some(RowPlan::Out { why, care: false, .. }) => (("–", theme.quiet), theme.quiet, why.clone(), true),
            None => ((" ", theme.quiet), theme.quiet, String::new(), false),
        };
        AlertRow { sign, alert, what, style, quiet }
    }

    pub(super) fn draw_list(&self, frame: &mut Frame<'_>, list: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let is_bulk = self.scope == AnswerScope::Bulk;
        let rows: Vec<AlertRow<'_>> = (0..self.rows.len()).map(|at| self.alert_row(at, theme)).collect();
        let columns = if is_bulk { OF_QUEUE } else { OF_ONE_PAYMENT };
        let title = if is_bulk { "" } else { "ANSWER" };
        let table = alert_rows::table(&rows, columns, title, table::room(list), cx);
        let listed = self.list_rows();
        // What needs review says why below its row.
        let below = |row: &AnswerRow| match row {
            AnswerRow::Alert(at) => self.plan_of(*at).and_then(RowPlan::reviewed_for),
            AnswerRow::Same(..) => None,
        };
        let heights: Vec<usize> = listed.iter().map(|row| 1 + usize::from(below(row).is_some())).collect();
        let line = |index: usize, line: usize| match listed.get(index) {
            Some(row) if line > 0 => {
                let why = format!("{INDENT}{}", below(row).unwrap_or_default());
                Line::styled(cut(&why, table::room(list)).into_owned(), theme.warning)
            }
            Some(AnswerRow::Alert(at)) => table.line(&rows[*at]),
            Some(AnswerRow::Same(words, members)) => {
                let total = total_of(members.iter().map(|at| &self.rows[*at].alert));
                let total = if total.is_empty() { total } else { format!(", {total}") };
                Line::styled(format!("{INDENT}{} × {words}{total}", count(members.len() as u64)), theme.plain)
            }
            None => Line::default(),
        };
        let has_focus = self.part == Part::List;
        let note = |area, row| self.targets.push(area, Target::Row(row));
        let at = (self.list.at, has_focus);
        self.list.draw_tall((table.head(theme), &heights), line, at, theme, frame.buffer_mut(), list, note);
    }
}

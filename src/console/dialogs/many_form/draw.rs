//! Draws the form for several alerts: what is said, how many get it, and below that what each alert gets.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::gets::AnswerScope;
use super::{ManyForm, Part, Target};
use crate::console::dialogs::alert_rows::{self, AlertRow, AlertTable, OF_MANY, OF_ONE_PAYMENT, WHAT};
use crate::console::guards::Gets;
use crate::console::pen::put_right;
use crate::console::text::{columns, counted, sanitize, wrap};
use crate::console::unfinished::in_words;
use crate::console::{Action, AppContext, Pen};
use crate::domain::money::sums_by_currency;
use crate::domain::{Alert, Dialect, Money, Resolution};

/// From so many columns on the counts stand beside the answer.
const WIDE: u16 = 110;

/// Columns of the counts there, with what is between.
const BESIDE: u16 = 40;

/// Rows of the comments where there is room, and where there is not.
const COMMENTS: [u16; 2] = [2, 1];

/// From so many rows on there is room for blank lines.
const ROOMY: u16 = 18;

/// What is said while what they get is not said.
const NOT_CHOSEN: &str = "What they get is not chosen yet.";

/// Rows that the list keeps: its titles and three alerts.
const LIST: u16 = 4;

/// The sums of alerts by currency, the largest count first: `1,204.50 EUR  310.00 USD`.
fn sums<'a>(alerts: impl Iterator<Item = &'a Alert>) -> Vec<String> {
    let sums = sums_by_currency(alerts.filter_map(Alert::money).map(|money| (1, money)));
    sums.iter().map(Money::to_string).collect()
}

/// A decision in the few words of a row.
fn brief(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Current { decision, .. } => decision.words(),
        Resolution::Older { .. } => in_words(resolution),
    }
}

impl ManyForm {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let draw = cx.draw_context();
        alert_rows::open_page(&draw, frame.buffer_mut(), area);
        let roomy = area.height >= ROOMY;
        let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
        let mut y = area.y + u16::from(roomy);
        self.draw_title(frame, Rect { y, height: 1, ..inside }, cx);
        y += 1 + u16::from(roomy);
        let comments = COMMENTS[usize::from(!roomy)];
        let wide = area.width >= WIDE;
        let answer_width = if wide { inside.width.saturating_sub(BESIDE).min(84) } else { inside.width };
        let below = if wide { 0 } else { 1 + u16::from(self.asked_number().is_some()) };
        let most = (area.bottom().saturating_sub(y)).saturating_sub(below + LIST + 1);
        let answer = Rect { y, width: answer_width, height: self.answer.answer_rows(answer_width, comments).min(most), ..inside };
        self.answer.draw_answer(frame, answer, comments, draw.theme);
        if wide {
            let beside = Rect { x: answer.right() + 4, width: inside.right().saturating_sub(answer.right() + 4), ..answer };
            self.draw_counts(frame, beside, cx);
            y = answer.bottom();
        } else {
            let counts = Rect { y: answer.bottom(), height: below, ..inside };
            self.draw_counts_in_a_line(frame, counts, cx);
            y = counts.bottom();
        }
        y += u16::from(roomy);
        let list = Rect { x: area.x, y, width: area.width, height: area.bottom().saturating_sub(y + 1) };
        self.draw_list(frame, list, cx);
        self.draw_word(frame, Rect { y: area.bottom().saturating_sub(1), height: 1, ..inside }, cx);
    }

    fn draw_title(&self, frame: &mut Frame<'_>, line: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let mut room = line;
        if cx.place.is_production() {
            let badge = put_right(frame.buffer_mut(), line, " PRODUCTION ", theme.production);
            room.width = badge.x.saturating_sub(line.x + 1);
        }
        let mut pen = Pen::new(frame.buffer_mut(), room);
        let what = match self.purpose {
            AnswerScope::Bulk => format!("Answer {}", counted(self.rows.len() as u64, "alert", "alerts")),
            AnswerScope::Case(_) => format!("Answer the case, {}", counted(self.rows.len() as u64, "alert", "alerts")),
        };
        pen.put(&what, theme.strong);
        pen.skip(3);
        let sums = sums(self.rows.iter().map(|row| &row.alert));
        for (index, sum) in sums.iter().enumerate() {
            let more = format!("+{} more", sums.len() - index);
            let rest = sums[index..].iter().map(|sum| 2 + columns(sum)).sum::<u16>();
            if rest > pen.room() + 2 && columns(sum) + 2 + columns(&more) > pen.room() {
                pen.put_whole(&more, theme.quiet);
                break;
            }
            pen.put(&sanitize(sum), theme.plain);
            pen.skip(2);
        }
        pen.skip(1);
        pen.put_whole(&self.from, theme.quiet);
    }

    /// How many get what, and what is still to come, each with its style.
    fn count_lines(&self, cx: &AppContext) -> Vec<(String, Style)> {
        let theme = &cx.theme;
        let mut lines = match self.gets {
            Err(_) => vec![(NOT_CHOSEN.to_owned(), theme.plain)],
            Ok(_) => {
                let style = |index, care| match (care, index) {
                    (true, _) => theme.warning,
                    (false, 0) => theme.strong,
                    (false, _) => theme.plain,
                };
                self.counts_in_words().into_iter().enumerate().map(|(index, (words, care))| (words, style(index, care))).collect()
            }
        };
        if self.is_searching() {
            lines.push(("looking for doubles…".to_owned(), theme.quiet));
        }
        lines
    }

    fn draw_counts(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let seconds = cx.settings.grace.as_secs();
        let undo = cx.key(Action::Undo);
        let grace =
            if seconds == 0 { "final; they leave at once".to_owned() } else { format!("final after {seconds} s; {undo} takes all back") };
        let mut rows = area.rows();
        for (text, style) in self.count_lines(cx) {
            if let Some(row) = rows.next() {
                Pen::new(frame.buffer_mut(), row).put(&text, style);
            }
        }
        if self.asked_number().is_some()
            && let Some(row) = rows.next()
        {
            self.draw_number(frame, row, cx);
        }
        for line in wrap(&grace, area.width) {
            if let Some(row) = rows.next() {
                Pen::new(frame.buffer_mut(), row).put(&line, cx.theme.warning);
            }
        }
    }

    fn draw_counts_in_a_line(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let mut rows = area.rows();
        if let Some(row) = rows.next() {
            let mut pen = Pen::new(frame.buffer_mut(), row);
            for (text, style) in self.count_lines(cx) {
                pen.put_whole(&text, style);
                pen.skip(3);
            }
        }
        if self.asked_number().is_some()
            && let Some(row) = rows.next()
        {
            self.draw_number(frame, row, cx);
        }
    }

    /// `Type 35 to confirm`, and the field for it.
    fn draw_number(&self, frame: &mut Frame<'_>, row: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let Some(asked) = self.asked_number() else { return };
        let focused = self.part == Part::Number;
        let mut pen = Pen::new(frame.buffer_mut(), row);
        pen.put("Type ", if focused { theme.key } else { theme.quiet });
        pen.put(&asked.to_string(), theme.strong);
        pen.put(" to confirm ", if focused { theme.key } else { theme.quiet });
        let field = Rect { x: row.right() - pen.room(), width: 7.min(pen.room()), ..row };
        frame.buffer_mut().set_style(field, theme.page.patch(theme.field));
        let text = Rect { x: field.x + 1, width: field.width.saturating_sub(1), ..field };
        self.number.draw(frame, text, theme.page.patch(theme.field), focused);
        self.targets.push(row, Target::Number);
    }

    fn draw_list(&self, frame: &mut Frame<'_>, list: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let draw = cx.draw_context();
        let shown = |position: usize| match self.gets_of(position) {
            Some(Gets::Sent(resolution)) => (("·", theme.accent), brief(resolution), theme.plain, false),
            Some(Gets::Out { why, care: true, .. }) => (("⚠", theme.warning), format!("left out: {why}"), theme.warning, false),
            Some(Gets::Out { why, care: false, .. }) => (("–", theme.quiet), format!("left out: {why}"), theme.quiet, true),
            None => ((" ", theme.quiet), String::new(), theme.quiet, false),
        };
        let mut rows: Vec<AlertRow<'_>> = Vec::with_capacity(self.rows.len());
        for (position, row) in self.rows.iter().enumerate() {
            let (sign, what, style, quiet) = shown(position);
            rows.push(AlertRow { sign, alert: &row.alert, what, style, quiet, beside: Vec::new() });
        }
        let has_focus = self.part == Part::List;
        let columns = if self.purpose == AnswerScope::Bulk { OF_MANY } else { OF_ONE_PAYMENT };
        let table = AlertTable { rows: &rows, columns, title: "GETS", most: WHAT.1, beside: &[] };
        self.list.draw(table, (self.list.at, has_focus), &draw, frame.buffer_mut(), list, (&self.targets, Target::Row));
        if has_focus && self.word.is_none() {
            self.list.draw_below(self.list.at, &rows, frame.buffer_mut(), list);
        }
    }

    fn draw_word(&self, frame: &mut Frame<'_>, line: Rect, cx: &AppContext) {
        if let Some(word) = &self.word {
            Pen::new(frame.buffer_mut(), line).put(word, cx.theme.warning);
        }
    }

    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let mut pen = Pen::new(buffer, line);
        let back = if self.purpose == AnswerScope::Bulk { "back, keeps the marks" } else { "back" };
        self.targets.push(pen.put_key("ctrl-s", "send", theme), Target::Send);
        pen.skip(3);
        self.targets.push(pen.put_key("esc", back, theme), Target::Back);
        let rest: &[(&str, &str)] = match self.part {
            Part::List => &[("x", "leave out"), ("j k", "move"), ("tab", "fields")],
            _ if cx.place.dialect == Dialect::Older => &[("alt-r alt-n alt-s", "refund"), ("tab", "list")],
            _ => &[("alt-r alt-n alt-i", "decide"), ("tab", "list")],
        };
        for (key, words) in rest {
            if columns(key) + 4 + columns(words) <= pen.room() {
                pen.skip(3);
                pen.put_key(key, words, theme);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Currency;

    #[test]
    fn sums_stand_by_currency_and_the_one_of_most_alerts_first() {
        let of = |amount: &str, currency: &str| Alert {
            amount: Some(amount.parse().unwrap()),
            currency: Currency::new(currency),
            ..Alert::sample()
        };
        let alerts = [of("1000", "USD"), of("12.50", "EUR"), of("0.10", "EUR"), Alert { amount: None, ..Alert::sample() }];

        assert_eq!(sums(alerts.iter()), ["12.60 EUR", "1,000.00 USD"]);
    }
}

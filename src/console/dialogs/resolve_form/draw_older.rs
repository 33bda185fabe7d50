//! Draws the older dialect's fields: the resolution with its meaning, the refund, the stopped amount.

use ratatui::layout::Rect;
use ratatui::text::Span;

use super::draw::FormPen;
use super::older::Older;
use super::options::{REFUND_GAP, refunds};
use super::plan::{Plan, Words};
use super::{Errors, Focus, Target};
use crate::console::text::{columns, cut, sanitize};
use crate::domain::resolution::OlderWord;

/// Columns of the number and the mark before a word.
const BEFORE: u16 = 7;

/// Columns of the field for an amount: enough for any that there is, with its decimals.
const AMOUNT: u16 = 18;

impl FormPen<'_, '_> {
    pub(super) fn older(&mut self, older: &Older, plan: &Plan, errors: &Errors) {
        match older.word().filter(|_| self.form.shows_chosen_alone(plan, errors)) {
            Some(word) => self.chosen("Resolution", older.index(), &format!("{word}: {}", word.words())),
            None => self.resolutions(older, plan),
        }
        self.error(errors.reason.as_deref());
        self.down(plan.gaps[1]);
        self.refund(older);
        self.error(errors.refund.as_deref());
        if older.is_partial() {
            self.amount(older);
            self.error(errors.amount.as_deref());
        }
        self.down(plan.gaps[2]);
    }

    fn resolutions(&mut self, older: &Older, plan: &Plan) {
        self.label("Resolution", self.form.focus == Focus::Word);
        match plan.words {
            Words::List => self.list(older),
            Words::Grid | Words::BareGrid => self.grid(older),
        }
        if plan.words == Words::Grid {
            self.meaning(older);
        }
    }

    /// A word on each line, with its meaning.
    fn list(&mut self, older: &Older) {
        let longest = OlderWord::KNOWN.iter().map(|word| columns(word.as_str())).max().unwrap_or(0);
        let (x, width) = (self.content_x(), self.content_width());
        for (index, word) in OlderWord::KNOWN.iter().enumerate() {
            let area = self.rows(x, width, 1);
            self.resolution(older, index, area);
            let meaning_x = x + BEFORE + longest + 2;
            let meaning = cut(word.words(), self.inner.right().saturating_sub(meaning_x));
            let style = if older.index() == Some(index) { self.theme.plain } else { self.theme.quiet };
            self.put_text(meaning_x, &meaning, style);
            self.y += 1;
        }
    }

    /// Two words on each line, read downwards.
    fn grid(&mut self, older: &Older) {
        let rows = OlderWord::KNOWN.len().div_ceil(2);
        let top = self.y;
        let width = self.content_width() / 2;
        for index in 0..OlderWord::KNOWN.len() {
            let (column, row) = (index / rows, index % rows);
            let x = self.content_x() + if column == 0 { 0 } else { width };
            self.y = top + i32::try_from(row).unwrap_or(0);
            let area = self.rows(x, width - 1, 1);
            self.resolution(older, index, area);
        }
        self.y = top + i32::try_from(rows).unwrap_or(0);
    }

    fn resolution(&mut self, older: &Older, index: usize, area: Rect) {
        let focused = self.form.focus == Focus::Word;
        let chosen = older.index() == Some(index);
        let key = format!("{:>2}", index + 1);
        self.option(
            area.x,
            &key,
            self.form.digits_choose(),
            chosen,
            OlderWord::KNOWN[index].as_str(),
            self.theme.strong,
        );
        if focused && (chosen || older.index().is_none() && index == 0) {
            self.highlight(area);
        }
        self.target(area, Target::Word(index));
    }

    fn meaning(&mut self, older: &Older) {
        let text = older.word().map_or("a number chooses", OlderWord::words);
        self.put_text(self.content_x() + BEFORE, text, self.theme.quiet);
        self.y += 1;
    }

    fn refund(&mut self, older: &Older) {
        let focused = self.form.focus == Focus::Refund;
        self.label("Refund", focused);
        let refunds = refunds();
        let chosen = |index: usize| older.refund_index() == Some(index);
        let all: Vec<_> =
            refunds.into_iter().enumerate().map(|(index, (key, words))| (key, words, chosen(index))).collect();
        for (index, area) in self.options(REFUND_GAP, &all).into_iter().enumerate() {
            if focused && (chosen(index) || older.refund_index().is_none() && index == 0) {
                self.highlight(area);
            }
            self.target(area, Target::Refund(index));
        }
    }

    fn amount(&mut self, older: &Older) {
        let theme = self.theme;
        let focused = self.form.focus == Focus::Amount;
        self.label("Stopped", focused);
        let area = self.rows(self.content_x(), AMOUNT, 1);
        if !area.is_empty() {
            self.frame.buffer_mut().set_style(area, theme.field);
            let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
            older.amount.draw(self.frame, text, theme.field, focused);
            self.target(area, Target::Field(Focus::Amount));
        }
        let alert = &self.form.alert;
        let mut spans = vec![Span::styled(sanitize(alert.currency.as_str()).into_owned(), theme.plain)];
        if let Some(money) = alert.money() {
            spans.push(Span::styled(format!("   of {}", sanitize(&money.to_string())), theme.quiet));
        }
        self.put(area.right() + 1, spans);
        self.y += 1;
    }
}

//! Draws the answer form: its title, the fields, and below them the list of several alerts.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Margin, Rect},
    style::Style,
};

use super::{AnswerForm, Part, Target, checks::sums, item::AnswerScope};
use crate::{
    AppContext, Pen,
    dialogs::alert_rows,
    domain::{Alert, Dialect},
    text::{counted, sanitize},
    times,
    ui::{
        areas::{FILL, stacked},
        fit::{self, KeyHint, Segment},
    },
};

/// Rows that the list keeps: its titles and three alerts.
const LIST: u16 = 4;

/// Columns left and right of the fields.
const MARGIN: u16 = 2;

impl AnswerForm {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let draw = cx.draw_context();
        alert_rows::open_page(&draw, frame.buffer_mut(), area);
        let list_rows = if self.scope == AnswerScope::One { 0 } else { LIST };
        let inside = Margin::new(MARGIN, 0);
        let most = area.height.saturating_sub(3 + list_rows + u16::from(list_rows > 0) + 1);
        let rows = self.fields.rows(area.inner(inside).width, most, draw.theme);
        let [_, title, _, fields, _, list, word] = stacked(area, [1, 1, 1, rows, u16::from(list_rows > 0), FILL, 1]);
        let [title, fields, word] = [title, fields, word].map(|row| row.inner(inside));
        self.draw_title(frame.buffer_mut(), title, cx);
        self.fields.draw(draw.theme, frame, fields);
        if list_rows > 0 {
            self.draw_list(frame, [list, word], cx);
        }
        let said = self.word.as_deref().or(self.fields.word());
        Pen::new(frame.buffer_mut(), word).put(said.unwrap_or_default(), cx.theme.warning);
    }

    fn draw_title(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let part = |gap, text: String, style: Style| Segment::<()>::new(gap, text, style);
        let mut segments = match self.scope {
            AnswerScope::One => self.title_of_one(&self.rows[0].alert, cx),
            AnswerScope::Bulk => {
                let what = format!("Answer {}", counted(self.rows.len() as u64, "alert", "alerts"));
                let sums = sums(self.rows.iter().map(|row| &row.alert));
                let sums = sums.iter().enumerate().map(|(at, sum)| {
                    part(2, sum.clone(), theme.plain).or_none(9 - u8::try_from(at.min(5)).unwrap_or(5))
                });
                let from = part(3, self.from.clone(), theme.quiet).or_none(10);
                [part(0, what, theme.strong)].into_iter().chain(sums).chain([from]).collect()
            }
            AnswerScope::Case(first) => {
                let what = format!("Answer {}, same payment", counted(self.rows.len() as u64, "alert", "alerts"));
                // The alerts of a case are about one payment.
                let money = sums(self.rows.iter().map(|row| &row.alert).filter(|alert| alert.id == first));
                let money = money.into_iter().map(|sum| part(3, sum, theme.plain));
                [part(0, what, theme.strong)].into_iter().chain(money).collect::<Vec<_>>()
            }
        };
        segments.extend(cx.place.is_production().then(|| part(1, " PRODUCTION ".to_owned(), theme.production).right()));
        fit::draw(&segments, buffer, line, |_, ()| {});
    }

    fn title_of_one(&self, alert: &Alert, cx: &AppContext) -> Vec<Segment<()>> {
        let (theme, now) = (&cx.theme, cx.now);
        let what = format!("Answer {} {}", sanitize(alert.provider.as_str()), sanitize(alert.alert_type.words()));
        let mut segments = vec![Segment::new(0, what, theme.strong)];
        let money = alert.money().map(|money| sanitize(&money.to_string()).into_owned());
        segments.extend(money.map(|money| Segment::new(3, money, theme.strong)));
        let (bin, last) = (sanitize(&alert.card_bin), sanitize(&alert.card_last_four));
        let has_card = !(bin.is_empty() && last.is_empty());
        segments.extend(has_card.then(|| Segment::new(3, format!("{bin}··{last}"), theme.quiet).or_none(8)));
        if alert.outcome.is_none() {
            let left = times::left(alert, now);
            let style = cx.draw_context().urgency(left.urgency);
            let words = match left.urgency {
                times::Urgency::Over => left.text,
                _ => format!("due in {}", left.text),
            };
            segments.push(Segment::new(3, words, style).or_none(3));
            let at = alert.deadline.moment().map(|at| cx.times().at(at, now));
            segments.extend(at.map(|at| Segment::new(2, at, theme.quiet).or_none(7)));
        }
        segments.push(Segment::new(3, sanitize(&alert.provider_id), theme.quiet).or_none(9));
        segments
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

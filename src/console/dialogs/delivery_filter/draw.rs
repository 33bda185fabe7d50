//! Draws the filter of deliveries.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::{BUTTONS, Click, DeliveryFilterForm, Place};
use crate::console::dialogs::form::Measures;
use crate::console::text::{columns, cut, sanitize};
use crate::console::widgets::buttons::{Button, button_lines, draw_buttons};
use crate::console::{DrawContext, Pen, TextInput};
use crate::domain::DeliveryState;

/// Columns of a field for a moment.
const MOMENT: u16 = 20;

/// The buttons, the one that shows last.
fn buttons() -> [Button<'static, Place>; 3] {
    BUTTONS.map(|(place, words, key)| match place {
        Place::Apply => Button::primary(place, words, key),
        _ => Button::quiet(place, words, key),
    })
}

/// Lines of the form with its edge, without those of the buttons and further ones of the states: title, fields, a word;
/// and the blank ones between them.
const LINES: u16 = 8;
const GAPS: u16 = 5;

impl DeliveryFilterForm {
    /// Draws the form into the middle of an area.
    pub(super) fn draw_form(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let Some(form) = Measures::of(area, 11) else { return };
        let states = self.state_lines(draw, form.content);
        let more = u16::try_from(states.len()).unwrap_or(1).saturating_sub(1);
        let button_rows = button_lines(&buttons(), form.panel.room());
        let lines = LINES + more + button_rows;
        // Where there is little room the blank lines go first.
        let gap = u16::from(lines + GAPS <= area.height);
        let height = (lines + gap * GAPS).min(area.height);
        let inside = form.panel.open(height.saturating_sub(2), draw.theme, frame.buffer_mut());
        let line = |number: u16| Rect { y: inside.y + number, height: 1, ..inside }.intersection(inside);
        Pen::new(frame.buffer_mut(), line(0)).put("Filter deliveries", draw.theme.strong);
        let endpoint = line(2 + more + 2 * gap);
        let from = line(3 + more + 3 * gap);
        let until = line(4 + more + 4 * gap);
        let buttons = Rect { height: button_rows, ..line(5 + more + 5 * gap) }.intersection(inside);
        let word = line(5 + button_rows + more + 5 * gap);
        self.label(Place::States, "State", draw, frame, line(1 + gap));
        for (states, number) in states.iter().zip(1 + gap..) {
            let line = line(number);
            self.states(states, draw, frame, Rect { x: line.x + 11, width: line.width.saturating_sub(11), ..line });
        }
        self.endpoint(draw, frame, endpoint);
        self.moment(draw, frame, from, (Place::From, "From", &self.from, "any time"));
        self.moment(draw, frame, until, (Place::Until, "Until", &self.until, "now"));
        self.buttons(draw, frame, buttons);
        if let Some(wrong) = &self.word {
            Pen::new(frame.buffer_mut(), word).put(wrong, draw.theme.danger);
        }
    }

    fn label<'f>(
        &self,
        place: Place,
        text: &str,
        draw: &DrawContext<'_>,
        frame: &'f mut Frame<'_>,
        line: Rect,
    ) -> Pen<'f> {
        let mut pen = Pen::new(frame.buffer_mut(), line);
        pen.put(&format!("{text:<11}"), if self.focus == place { draw.theme.key } else { draw.theme.quiet });
        pen
    }

    /// The states by their places, line by line, with their texts: on two lines where one is too short.
    fn state_lines(&self, draw: &DrawContext<'_>, room: u16) -> Vec<Vec<(usize, String)>> {
        let text = |(state, on)| format!("{} {}", if on { "[x]" } else { "[ ]" }, draw.delivery_state(state).1);
        let mut states: Vec<(usize, String)> =
            DeliveryState::ALL.into_iter().zip(self.states).map(text).enumerate().collect();
        if states.iter().map(|(_, text)| columns(text) + 1).sum::<u16>() <= room + 1 {
            return vec![states];
        }
        let second = states.split_off(states.len().div_ceil(2));
        vec![states, second]
    }

    fn states(&self, states: &[(usize, String)], draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        let mut pen = Pen::new(frame.buffer_mut(), line);
        for (index, text) in states {
            let style = if self.states[*index] { theme.strong } else { theme.plain };
            let focused = self.focus == Place::States && self.at == *index;
            let area = pen.put(text, if focused { style.patch(theme.selection) } else { style });
            self.targets.push(area, Click::State(*index));
            pen.skip(if line.width < 73 { 1 } else { 2 });
        }
    }

    fn endpoint(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        let chosen = self.endpoint.and_then(|at| self.endpoints.get(at));
        let text = chosen.map_or_else(|| "every endpoint".to_owned(), |(_, url)| sanitize(url).into_owned());
        let mut pen = self.label(Place::Endpoint, "Endpoint", draw, frame, line);
        self.targets.push(pen.put("‹", theme.key), Click::Step(false));
        pen.skip(1);
        let style = if chosen.is_some() { theme.strong } else { theme.plain };
        let text = cut(&text, pen.room().saturating_sub(2)).into_owned();
        let area = pen.put(&text, if self.focus == Place::Endpoint { style.patch(theme.selection) } else { style });
        self.targets.push(area, Click::Step(true));
        pen.skip(1);
        self.targets.push(pen.put("›", theme.key), Click::Step(true));
    }

    fn moment(
        &self,
        draw: &DrawContext<'_>,
        frame: &mut Frame<'_>,
        line: Rect,
        (place, label, input, hint): (Place, &str, &TextInput, &str),
    ) {
        let theme = draw.theme;
        self.label(place, label, draw, frame, line);
        let field = Rect { x: line.x + 11, width: MOMENT.min(line.width.saturating_sub(11)), ..line };
        input.draw_field(frame, field, theme, self.focus == place, hint);
        self.targets.push(field, Click::Go(place));
        let beside = Rect { x: field.right() + 2, width: line.right().saturating_sub(field.right() + 2), ..line };
        let about = if place == Place::From { "UTC: 2026-11-20 08:30, or 6h, 2d ago" } else { "a day is meant whole" };
        Pen::new(frame.buffer_mut(), beside).put(about, theme.quiet);
    }

    fn buttons(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        draw_buttons(&buttons(), self.focus, 11, (theme, frame.buffer_mut(), line), |area, place| {
            self.targets.push(area, Click::Go(place));
        });
    }
}

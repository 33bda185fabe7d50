//! Draws the form that starts the local listener.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Entry, ListenForm};
use crate::console::dialogs::form::{Measures, button};
use crate::console::{DrawContext, Pen, TextInput};

/// Lines of the form with its edge, and columns of its labels.
const LINES: u16 = 17;
const LABEL: u16 = 12;

impl ListenForm {
    /// Draws the form into the middle of an area.
    pub(super) fn draw_form(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let Some(form) = Measures::of(area, LABEL) else { return };
        let height = LINES.min(area.height);
        let panel = Rect { x: area.x + (area.width - form.width) / 2, y: area.y + (area.height - height) / 2, width: form.width, height };
        let theme = draw.theme;
        theme.open_form(frame.buffer_mut(), panel);
        let inside = form.inside(panel);
        // Where there is little room the blank lines go first.
        let gap = u16::from(inside.height >= LINES - 2);
        let line = |number: u16| Rect { y: inside.y + number, height: 1, ..inside }.intersection(panel);
        Pen::new(frame.buffer_mut(), line(0)).put("Listen here for this deployment's webhooks", theme.strong);
        self.field(draw, frame, line(1 + gap), Entry::Address, ("Where", "127.0.0.1:9000"));
        self.kind(draw, frame, line(2 + 2 * gap));
        let credential = if self.by_header { "Name: value, the header that it sends" } else { "USER:PASS that it sends" };
        self.field(draw, frame, line(3 + 2 * gap), Entry::Credential, ("Credential", credential));
        self.field(draw, frame, line(4 + 2 * gap), Entry::Secret, ("Signed with", "whsec_…, where signatures are to be checked"));
        self.field(draw, frame, line(5 + 3 * gap), Entry::Forward, ("Forward to", "an address that everything taken is sent on to"));
        self.field(draw, frame, line(6 + 3 * gap), Entry::Record, ("Record to", "a file, for `avert webhooks replay`"));
        self.buttons(draw, frame, line(8 + 4 * gap));
        if let Some(wrong) = &self.word {
            Pen::new(frame.buffer_mut(), line(9 + 5 * gap)).put(wrong, theme.danger);
        }
    }

    fn label(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect, entry: Entry, text: &str) -> Rect {
        let style = if self.focus == entry { draw.theme.key } else { draw.theme.quiet };
        Pen::new(frame.buffer_mut(), line).put(text, style);
        Rect { x: line.x + LABEL, width: line.width.saturating_sub(LABEL), ..line }
    }

    fn field(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect, entry: Entry, (label, hint): (&str, &str)) {
        let theme = draw.theme;
        let field = self.label(draw, frame, line, entry, label);
        frame.buffer_mut().set_style(field, theme.field);
        let text = Rect { x: field.x + 1, width: field.width.saturating_sub(1), ..field };
        let Some(input) = Self::place(entry).map(|at| &self.texts[at]) else { return };
        let focused = self.focus == entry;
        if entry.is_secret() {
            // Whoever looks over the shoulder sees how long it is.
            TextInput::one_line(&"•".repeat(input.text().chars().count())).draw(frame, text, theme.field, focused);
        } else {
            input.draw(frame, text, theme.field, focused);
        }
        if input.is_empty() && !focused {
            Pen::new(frame.buffer_mut(), text).put(hint, theme.field.patch(theme.quiet));
        }
        self.targets.push(field, entry);
    }

    fn kind(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        let content = self.label(draw, frame, line, Entry::Kind, "Known by");
        let mut pen = Pen::new(frame.buffer_mut(), content);
        for (header, words) in [(false, "Basic"), (true, "a header of its own")] {
            let on = self.by_header == header;
            let text = format!("{} {words}", if on { "(•)" } else { "( )" });
            let style = if on { theme.strong } else { theme.plain };
            let area = pen.put(&text, if on && self.focus == Entry::Kind { style.patch(theme.selection) } else { style });
            if !on {
                self.targets.push(area, Entry::Kind);
            }
            pen.skip(3);
        }
    }

    fn buttons(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        let mut pen = Pen::new(frame.buffer_mut(), Rect { x: line.x + LABEL, width: line.width.saturating_sub(LABEL), ..line });
        for (entry, words, key, style) in [(Entry::Start, "Listen", "enter", theme.primary), (Entry::Cancel, "Cancel", "esc", theme.button)]
        {
            let area = pen.put(&button(words, self.focus == entry), style);
            self.targets.push(area, entry);
            pen.skip(1);
            pen.put(key, theme.quiet);
            pen.skip(3);
        }
    }
}

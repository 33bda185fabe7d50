//! Draws what is to be seen before a decision: what was found, the answer that fits instead, and the tick that confirms
//! it all the same.

use ratatui::layout::Rect;
use ratatui::text::Span;

use super::draw::FormPen;
use super::seen::{Attention, WARNED_KEY};
use super::{Choice, Focus, Target};
use crate::console::text::columns;
use crate::domain::resolution::{Decision, OlderWord};

impl FormPen<'_, '_> {
    pub(super) fn seen(&mut self, seen: &[(Attention, String, bool)]) {
        let theme = self.theme;
        self.label("Seen", false);
        let x = self.content_x();
        for (tone, text, first) in seen {
            let (sign, sign_style, style) = match tone {
                Attention::Stop => ("⚠", theme.danger, theme.strong),
                Attention::Care => ("⚠", theme.warning, theme.plain),
                Attention::Fits => ("✓", theme.ok, theme.plain),
                Attention::Note => ("·", theme.quiet, theme.quiet),
            };
            let sign = if *first { sign } else { " " };
            let area =
                self.put(x, vec![Span::styled(sign, sign_style), Span::raw(" "), Span::styled(text.as_str(), style)]);
            if text.ends_with(WARNED_KEY) {
                self.target(area, Target::Warned);
            }
            self.y += 1;
        }
    }

    /// The answer that fits where money has gone back already, and the key that goes to it.
    pub(super) fn instead(&mut self) {
        let Some(reason) = self.form.fitting_reason() else { return };
        let theme = self.theme;
        self.label("Instead", false);
        let key = format!("alt-{}", Choice::Invalid.key());
        let said = match &self.form.older {
            None => format!("  {}", Decision::Invalid(reason).words()),
            Some(_) => {
                let word = reason.older_word();
                let number = OlderWord::KNOWN.iter().position(|known| *known == word).map_or(0, |at| at + 1);
                format!("  then {number}  {word}")
            }
        };
        let area = self.put(self.content_x(), vec![Span::styled(key, theme.key), Span::styled(said, theme.plain)]);
        self.target(area, Target::Choice(Choice::Invalid));
        self.y += 1;
    }

    pub(super) fn confirmation(&mut self) {
        let theme = self.theme;
        let focused = self.form.focus == Focus::Confirmation;
        self.label("Confirm", focused);
        let confirmed = self.form.is_confirmed();
        let words = "Send anyway";
        let mut spans = vec![
            Span::styled(if confirmed { "[x] " } else { "[ ] " }, theme.key),
            Span::styled(words, if confirmed { theme.strong } else { theme.plain }),
        ];
        let does = if confirmed { " takes it off" } else { " ticks it" };
        if focused {
            spans.push(Span::styled("   space", theme.key));
            spans.push(Span::styled(does, theme.quiet));
        } else {
            // A blank that is typed in Comments stays there: the way is shown before it is needed.
            let order = self.form.order();
            let at = |field: Focus| order.iter().position(|known| *known == field);
            let tabs = at(Focus::Confirmation)
                .zip(at(self.form.focus))
                .map_or(1, |(there, here)| there.saturating_sub(here).max(1));
            spans.push(Span::styled(format!("  {}", " tab".repeat(tabs)), theme.key));
            spans.push(Span::styled(" goes here, ", theme.quiet));
            spans.push(Span::styled("space", theme.key));
            spans.push(Span::styled(does, theme.quiet));
        }
        let area = self.put(self.content_x(), spans);
        if focused {
            self.highlight(Rect { width: area.width.min(4 + columns(words)), ..area });
        }
        self.target(area, Target::Field(Focus::Confirmation));
        self.y += 1;
    }
}

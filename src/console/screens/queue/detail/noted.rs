//! What this machine alone knows of an alert, in its detail: the notes on it, and until when it is put aside.

use ratatui::text::Span;

use super::Parts;
use crate::console::text::sanitize;
use crate::console::times;
use crate::domain::Alert;

impl Parts<'_> {
    /// Until when it is put aside.
    pub(super) fn snoozed(&mut self, alert: &Alert) {
        if let Some(until) = self.draw.snoozes.until(alert.id).filter(|_| alert.outcome.is_none()) {
            let (left, until) = (times::spell(until - self.draw.now), self.draw.times.near(until, self.draw.now));
            self.say(&format!("snoozed {left} more, until {until}"), self.draw.theme.accent);
        }
    }

    /// What was noted on this machine, the newest first; and that a note is being written.
    pub(super) fn notes(&mut self, alert: &Alert) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let notes = self.draw.notes.on(alert.id);
        let is_begun = self.draw.notes.has_draft(alert.id);
        if notes.is_empty() && !is_begun {
            return;
        }
        self.blank();
        self.push(vec![Span::styled("NOTES", theme.quiet), Span::styled("  on this machine only", theme.quiet)]);
        for note in notes.iter().rev() {
            for line in note.text.lines() {
                self.say(line, theme.plain);
            }
            let by = note.user.as_deref().map_or_else(String::new, |user| format!(", {}", sanitize(user)));
            self.say(&format!("{}, {}{by}", self.draw.times.near(note.at, now), times::ago(note.at, now)), theme.quiet);
        }
        if is_begun {
            self.say("a note is begun and not kept yet", theme.warning);
        }
    }
}

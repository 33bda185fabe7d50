//! Lines of this machine alone in the detail: the answer begun, notes, until when it is put aside, and what a rule
//! suggests.

use ratatui::style::Modifier;
use ratatui::text::Span;

use super::Parts;
use crate::console::text::sanitize;
use crate::console::{Action, times};
use crate::domain::resolution::{Decision, InvalidReason};
use crate::domain::rule::DecisionRule;
use crate::domain::{Alert, Dialect};

/// An answer of each kind.
const ANSWERS: [Decision; 3] = [Decision::Refunded, Decision::NotRefunded, Decision::Invalid(InvalidReason::NotFound)];

impl Parts<'_> {
    /// Until when it is put aside.
    pub(super) fn snoozed(&mut self, alert: &Alert) {
        if let Some(until) = self.draw.snoozes.until(alert.id).filter(|_| alert.outcome.is_none()) {
            let (left, until) = (times::short(until - self.draw.now), self.draw.times.at(until, self.draw.now));
            self.say(&format!("snoozed until {until} ({left})"), self.draw.theme.accent);
        }
    }

    /// The answer that is begun and not sent.
    pub(super) fn drafted(&mut self, alert: &Alert) {
        if let Some(draft) = self.draw.draft(alert) {
            let theme = self.draw.theme;
            self.open_box(theme.accent, "Draft saved", theme.accent.add_modifier(Modifier::BOLD));
            if !draft.comments.is_empty() {
                self.say(&format!("comments: {}", draft.comments.replace('\n', " / ")), theme.plain);
            }
            // What was written for one decision goes on with that one alone.
            let said = draft.refunded.as_deref();
            let begun = [Action::Refund, Action::NotRefunded, Action::Invalid].into_iter().zip(ANSWERS);
            let begun = begun
                .into_iter()
                .find(|(_, answer)| said == Some(answer.refunded()) && self.draw.dialect == Dialect::Current);
            if let Some((action, answer)) = begun.filter(|_| !self.draw.place.read_only) {
                self.offer(&format!("{}  continue: {}", self.draw.key(action), answer.words()), Some(action));
            }
            self.close_box();
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
            self.say(&format!("{}, {}{by}", self.draw.times.at(note.at, now), times::ago(note.at, now)), theme.quiet);
        }
        if is_begun {
            self.say("note not saved yet", theme.warning);
        }
    }
}

impl Parts<'_> {
    /// A rule that matches; what it says is set aside where money has gone back already.
    pub(super) fn rule(&mut self, rule: &DecisionRule, suggests: bool) {
        let theme = self.draw.theme;
        if !suggests {
            let words = format!("Rule {} says {}: a check warns against it.", rule.name, rule.decision.words());
            return self.quiet(&words);
        }
        let title = format!("• Rule {} suggests: {}", rule.name, rule.decision.words());
        self.open_box(theme.accent, &title, theme.accent.add_modifier(Modifier::BOLD));
        self.say(&rule.text, theme.quiet);
        if !rule.comments.is_empty() {
            self.say(&format!("comments: {}", rule.comments), theme.plain);
        }
        if !self.draw.place.read_only {
            let key = self.draw.key(Action::Suggested);
            self.offer(&format!("{key}  take the suggestion"), Some(Action::Suggested));
        }
        self.close_box();
    }
}

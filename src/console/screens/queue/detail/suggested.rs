//! The rule that suggests an answer, in the detail: which one, what it says, and the key that opens the form so.

use ratatui::style::Modifier;

use super::Parts;
use crate::console::Action;
use crate::domain::rule::DecisionRule;

impl Parts<'_> {
    /// A rule that matches; what it says is set aside where money has gone back already.
    pub(super) fn rule(&mut self, rule: &DecisionRule, suggests: bool) {
        let theme = self.draw.theme;
        if !suggests {
            let words = format!(
                "Your rule {} says {}: set aside, money has gone back already.",
                rule.name,
                rule.decision.words()
            );
            return self.quiet(&words);
        }
        let title = format!("• Your rule {} suggests: {}", rule.name, rule.decision.words());
        self.open_box(theme.accent, &title, theme.accent.add_modifier(Modifier::BOLD));
        self.say(&rule.text, theme.quiet);
        if !rule.comments.is_empty() {
            self.say(&format!("comments: {}", rule.comments), theme.plain);
        }
        if !self.draw.place.read_only {
            let key = self.draw.key(Action::Suggested);
            self.offer(&format!("{key}  opens the form with this answer"), Some(Action::Suggested));
        }
        self.close_box();
    }
}

//! The resolve form's fields for several alerts: what is said is held against each alert by whoever asks for it.

use super::{Choice, Errors, Focus, FormContext, ResolveForm};
use crate::desk::Draft;
use crate::domain::resolution::FieldError;
use crate::domain::{Alert, ResolutionParts, Timestamp};

impl ResolveForm {
    /// The fields for several alerts, one of which stands for them: the older dialect's usual words depend on the kind
    /// of alert. Where no decision is made yet none is marked, and the reasons stand there to be chosen from.
    pub fn for_several(
        one: &Alert,
        choice: Option<Choice>,
        place: FormContext,
        draft: Option<Draft>,
        now: Timestamp,
    ) -> Self {
        let kind = Alert::new(one.id, one.provider.clone(), one.alert_type.clone());
        let mut form = Self::new(&kind, choice.unwrap_or(Choice::Invalid), place, draft, Vec::new(), now);
        form.undecided = choice.is_none() && form.older.is_none();
        form.keep_focus_on_a_field();
        form
    }

    /// Chooses what a decision says in the older dialect, word and refund as they were chosen: no key's usual words
    /// come before them.
    pub fn fill_in(&mut self, said: &ResolutionParts) {
        if let Some(older) = &mut self.older {
            older.fill_in(said);
        }
    }

    /// What is said so far, as it would be sent.
    pub fn answer(&self) -> ResolutionParts {
        self.said()
    }

    /// The decision that is chosen, INVALID while none is; what a key began with in the older dialect.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Whether it says that money goes back.
    pub fn says_refund(&self) -> bool {
        self.refunds()
    }

    /// Shows what is wrong, each at its field, and goes there. Returns which fields those are, in a sentence.
    pub fn refuse(&mut self, wrong: &[FieldError]) -> String {
        self.tried = true;
        let mut errors = Errors::default();
        for error in wrong {
            self.place_error(&mut errors, error);
        }
        if let Some(field) = errors.first_field(self.older.is_some()) {
            self.focus = field;
        }
        errors.form.clone().unwrap_or_else(|| errors.not_sent(self.older.is_some()))
    }

    /// One sentence about the last key.
    pub fn last_word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// Whether one of its fields has the focus, and none of its buttons.
    pub fn is_in_a_field(&self) -> bool {
        !matches!(self.focus, Focus::Confirmation | Focus::Cancel | Focus::Send)
    }

    /// Whether the focus is in the first of its fields.
    pub fn is_in_first_field(&self) -> bool {
        matches!(self.focus, Focus::Decision | Focus::Word)
    }

    /// Whether the focus is in the last of its fields.
    pub fn is_in_last_field(&self) -> bool {
        self.focus == Focus::Comments
    }

    /// Takes the focus into its first field, or its last one.
    pub fn take_focus(&mut self, first: bool) {
        self.focus = match (first, &self.older) {
            (false, _) => Focus::Comments,
            (true, Some(_)) => Focus::Word,
            (true, None) => Focus::Decision,
        };
    }

    /// Gives the focus to something beside the fields.
    pub fn leave_focus(&mut self) {
        self.focus = Focus::Send;
    }
}

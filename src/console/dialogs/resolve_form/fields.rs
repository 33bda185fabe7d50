//! The fields of the resolve form: their order, which one has the focus, and what changes when something is chosen in
//! one.

use super::older::Older;
use super::{Choice, Focus, ResolveForm};
use crate::domain::resolution::InvalidReason;

impl ResolveForm {
    /// The fields in the order of Tab.
    pub(super) fn order(&self) -> Vec<Focus> {
        let mut order = Vec::new();
        match &self.older {
            Some(older) => {
                order.extend([Focus::Word, Focus::Refund]);
                order.extend(older.is_partial().then_some(Focus::Amount));
            }
            None => {
                order.push(Focus::Decision);
                order.extend((self.choice == Choice::Invalid).then_some(Focus::Reason));
            }
        }
        order.push(Focus::Comments);
        order.extend(self.needs_confirmation().then_some(Focus::Confirmation));
        // The safe button comes first.
        order.extend([Focus::Cancel, Focus::Send]);
        order
    }

    pub(super) fn move_focus(&mut self, forward: bool) {
        let order = self.order();
        let at = order.iter().position(|focus| *focus == self.focus).unwrap_or(0);
        let step = if forward { 1 } else { order.len() - 1 };
        self.focus = order[(at + step) % order.len()];
    }

    /// Goes to the tick where one is asked for: nothing typed there is text.
    pub(super) fn go_to_confirmation(&mut self) {
        if self.needs_confirmation() {
            self.focus = Focus::Confirmation;
        }
    }

    pub(super) fn keep_focus_on_a_field(&mut self) {
        let order = self.order();
        if !order.contains(&self.focus) {
            // Nothing is decided by what is typed on.
            self.focus = Focus::Comments;
        }
    }

    /// Another answer is being given: what was confirmed of the one before does not hold for it.
    pub(super) fn reset_confirmation(&mut self) {
        self.confirmed.clear();
        self.kept_send = false;
    }

    /// Makes a decision and goes on to what is to be filled in next.
    pub(super) fn decide(&mut self, choice: Choice) {
        self.choose(choice);
        self.focus = if choice == Choice::Invalid { Focus::Reason } else { Focus::Comments };
    }

    /// Goes on to what is still asked for in the older dialect: the refund, the stopped amount, else the comments.
    pub(super) fn go_on(&mut self) {
        self.focus = match &self.older {
            Some(older) if older.refunded().is_none() => Focus::Refund,
            Some(older) if older.is_partial() && older.amount.is_empty() => Focus::Amount,
            _ => Focus::Comments,
        };
    }

    pub(super) fn choose(&mut self, choice: Choice) {
        if choice != self.choice {
            self.reset_confirmation();
        }
        (self.choice, self.undecided) = (choice, false);
        self.offer_reason();
        self.keep_focus_on_a_field();
    }

    pub(super) fn choose_reason(&mut self, reason: InvalidReason) {
        if self.reason != Some(reason) {
            self.reset_confirmation();
        }
        (self.reason, self.undecided) = (Some(reason), false);
    }

    /// Changes the answer in the older dialect.
    pub(super) fn change_older(&mut self, change: impl FnOnce(&mut Older)) {
        let Some(older) = &mut self.older else { return };
        let said = |older: &Older| (older.word().cloned(), older.refunded().cloned());
        let before = said(older);
        change(older);
        if said(older) != before {
            self.reset_confirmation();
        }
        self.keep_focus_on_a_field();
    }
}

//! What is typed in the answer form: how far the desk has it, and when it is to have the rest.

use chrono::Duration;
use uuid::Uuid;

use crate::{AppContext, Effect, desk::AnswerDraft, domain::Timestamp};

/// What is typed is on the desk before so much time has passed twice.
const KEEP_AFTER: Duration = Duration::milliseconds(150);

/// What stands in the form, as far as it is kept.
#[derive(Debug)]
pub(super) struct TypedAnswer {
    /// As it was opened, or as it was kept last.
    known: AnswerDraft,
    /// When what was typed since is kept.
    due: Option<Timestamp>,
    /// True where the form was sent or closed: nothing more is kept.
    ended: bool,
}

impl TypedAnswer {
    /// The form opens with this in it.
    pub(super) fn begun(known: AnswerDraft) -> Self {
        Self { known, due: None, ended: false }
    }

    /// It goes on with the draft of this id.
    pub(super) fn is_of(&mut self, id: Uuid) {
        self.known.id = id;
    }

    pub(super) fn known(&self) -> &AnswerDraft {
        &self.known
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Keeps what stands in the form, once it is time; with `at_once` whatever was typed since. What was not touched
    /// leaves the draft that is there as it is, and a blank one is dropped.
    pub(super) fn keep(
        &mut self,
        stands: AnswerDraft,
        is_blank: bool,
        at_once: bool,
        cx: &mut AppContext,
    ) -> Option<Effect> {
        if self.ended || stands == self.known {
            self.due = None;
            return None;
        }
        let due = *self.due.get_or_insert(cx.now + KEEP_AFTER);
        if !at_once && due > cx.now {
            return None;
        }
        self.due = None;
        self.known = stands.clone();
        if is_blank { cx.answer_drafts.drop(stands.id) } else { Some(cx.answer_drafts.keep(stands)) }
    }

    /// The form is sent or closed by its user.
    pub(super) fn end(&mut self) {
        (self.due, self.ended) = (None, true);
    }
}

//! What is typed in the answer form: how far the desk has it, and when it is to have the rest.

use chrono::Duration;
use uuid::Uuid;

use crate::console::{AppContext, Effect, Order};
use crate::desk::{AnswerDraft, JournalAlert, JournalStep};
use crate::domain::{AlertId, Timestamp};

/// What is typed is on the desk before so much time has passed twice.
const KEEP_AFTER: Duration = Duration::milliseconds(150);

/// What stands in the form, as far as it is kept.
#[derive(Debug)]
pub(super) struct TypedAnswer {
    /// As it was opened, or as it was kept last.
    known: AnswerDraft,
    /// When what was typed since is kept.
    due: Option<Timestamp>,
    /// The alert by which the journal says that text stands in the form.
    recorded: Option<AlertId>,
    /// True where the form was sent or closed: nothing more is kept.
    ended: bool,
}

impl TypedAnswer {
    /// The form opens with this in it.
    pub(super) fn begun(known: AnswerDraft) -> Self {
        Self { known, due: None, recorded: None, ended: false }
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

    /// Returns true where what stands in the form is to be kept now; with `at_once` whatever was typed since is. What
    /// was not touched leaves the draft that is there as it is.
    pub(super) fn take_due(&mut self, stands: &AnswerDraft, at_once: bool, now: Timestamp) -> bool {
        if self.ended || *stands == self.known {
            self.due = None;
            return false;
        }
        let due = *self.due.get_or_insert(now + KEEP_AFTER);
        (at_once || due <= now) && self.due.take().is_some()
    }

    /// Keeps what stands in the form; nothing where that is blank. The first time the journal says so, by an alert.
    pub(super) fn keep(
        &mut self,
        stands: AnswerDraft,
        is_blank: bool,
        first: Option<JournalAlert>,
        cx: &mut AppContext,
    ) -> Vec<Effect> {
        self.known = stands.clone();
        if is_blank {
            return cx.answer_drafts.drop(stands.id).into_iter().collect();
        }
        let mut effects = Vec::new();
        if let (None, Some(alert)) = (self.recorded, first) {
            self.recorded = Some(alert.id);
            effects.push(cx.journal.write(JournalStep::Typing { alert }, cx.now));
        }
        effects.push(cx.answer_drafts.keep(stands));
        effects
    }

    /// The form is sent or closed by its user.
    pub(super) fn end(&mut self, cx: &mut AppContext) -> Option<Order> {
        (self.due, self.ended) = (None, true);
        self.recorded.map(|alert| cx.record(JournalStep::Closed { alert }))
    }
}

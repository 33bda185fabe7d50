//! The journal in the application: it is read at the start, and its rows lead to alerts and forms.

use std::borrow::Cow;

use super::{
    Action, Effect, Message, Task, Tasks, Tone,
    app::App,
    decisions::alert_of,
    dialogs::{
        answer_form::{self, Choice},
        case,
    },
    resolving::answered_since,
    screens::{
        ScreenName,
        activity::rows::{calls_as_failed, needs_you},
    },
};
use crate::{
    desk::{JournalDecision, JournalStep, WholeJournal},
    domain::{Alert, AlertId},
};

impl App {
    /// Takes in the journal as it was read.
    pub(super) fn journal_read(&mut self, answer: Result<WholeJournal, String>) {
        let cx = &mut self.cx;
        let Some(entries) = cx.journal.took(answer, cx.now) else { return };
        cx.ledger.read(entries);
        if let Some(words) = cx.journal.unreadable() {
            cx.notify(Tone::Bad, format!("{words} Run avert doctor."));
        }
        // What was read before the journal was counts too, and an answer that the journal itself tells of.
        let history = cx.ledger.history();
        let failed = needs_you(cx).into_iter().filter_map(|happening| happening.record());
        let known: Vec<Alert> = failed
            .map(|record| {
                let listed = self.screens.queue.listing.find(record.said.alert.id);
                let alert = listed.map_or_else(|| Cow::Owned(alert_of(&record.said.alert)), Cow::Borrowed);
                history.as_answered(&alert).into_owned()
            })
            .collect();
        self.found_answered(&known);
    }

    /// Takes in alerts that have an outcome: a decision on one that failed here calls for nobody any more.
    pub(super) fn found_answered<'a>(&mut self, alerts: impl IntoIterator<Item = &'a Alert>) {
        let cx = &mut self.cx;
        for alert in alerts.into_iter().filter(|alert| alert.outcome.is_some()) {
            let failed = cx.ledger.history().latest_on(alert.id).filter(|record| calls_as_failed(record, cx));
            let Some(decision) = failed.map(|record| record.key.clone()) else { continue };
            answered_since(alert, cx);
            cx.ledger.dismiss(alert.id);
            cx.record(decision, JournalStep::Answered { status: alert.status.to_string() });
            // What comes to its row is read in its turn.
            self.screens.activity.rest(cx.now);
        }
    }

    /// Writes the steps down that were taken, and reads the journal where that is due.
    pub(super) fn follow_journal(&mut self, effects: &mut Vec<Effect>) {
        let cx = &mut self.cx;
        effects.extend(cx.write_journal());
        effects.extend(cx.journal.take_due(cx.now).then_some(Effect::ReadJournal));
    }

    /// An alert is to be gone to that is known by its id alone, or its case is to be opened: it is read first.
    pub(super) fn seek(&mut self, alert: AlertId, opens_case: bool) -> Tasks {
        self.seeking = Some((alert, opens_case));
        vec![Effect::Get(alert).into()]
    }

    /// Takes in an alert that was read: the one that is sought is gone to, or its case opens.
    pub(super) fn hear_of_alert(&mut self, message: &Message) -> Tasks {
        let Message::Alert(id, answer) = message else { return Vec::new() };
        let sought = self.seeking.take_if(|(sought, _)| sought == id);
        match (sought, answer) {
            // A case that was waited for does not open under other keys.
            (Some((_, true)), Ok(alert)) if self.dialogs.is_empty() => case::open_on(alert, None, &self.cx),
            (Some((_, false)), Ok(alert)) => {
                vec![Task::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
            }
            (Some(_), Err(error)) => {
                self.cx.notify(Tone::Bad, format!("The alert cannot be read: {error}"));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A decision that failed is to be made again: its alert is gone to, and its form opens there as it was filled in.
    pub(super) fn reopen(&mut self, said: &JournalDecision) -> Tasks {
        let alert = alert_of(&said.alert);
        let choice = said.resolution().map_or(Choice::Invalid, |resolution| Choice::of(&resolution));
        self.reopening = Some((choice, said.clone()));
        vec![Task::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert)).into()]
    }

    /// Opens the form that waits for its alert, once the alert is under the cursor.
    pub(super) fn open_reopened(&mut self) -> Tasks {
        let is_there =
            |said: &JournalDecision| self.screens.queue.current().is_some_and(|alert| alert.id == said.alert.id);
        let can_open = self.screens.current == ScreenName::Queue && self.dialogs.is_empty();
        if !self.reopening.as_ref().is_some_and(|(_, said)| can_open && is_there(said)) {
            return Vec::new();
        }
        let Some((choice, said)) = self.reopening.take() else { return Vec::new() };
        answer_form::open_again(choice, &said.draft(), &mut self.screens.queue, &mut self.cx)
    }
}

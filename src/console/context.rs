//! The application context: what every screen and dialog reads and changes, handed down by the application.

use std::path::PathBuf;

use chrono::Duration;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::style::{Modifier, Style};

use super::{
    Action, Effect, Keep, Theme, Tone,
    answer_words::who_answered,
    decisions::{Ledger, alert_of},
    drafts::{AnswerDraftList, NoteList, UnsavedDrafts},
    failures::{FailedCalls, WriteCheck},
    journal_reading::JournalReading,
    keymap::Chord,
    known_alerts::KnownAlerts,
    known_decisions::KnownDecisions,
    message::BegunText,
    reminders::{Reminders, subject},
    runs::{RunState, Runs},
    session::{AlertJson, NextConsole, Preferences, SessionInfo},
    text::{counted, sanitize},
    times::{Urgency, Zone},
    toasts::Toasts,
    unfinished::Unfinished,
    views::{SavedViews, SnoozeList},
};
use crate::{
    desk::{AnswerDraft, DecisionRecord, Draft, Fate, JournalAlert, JournalStep, Notification},
    domain::{
        Alert, AlertId, Calendar, ContradictedAnswer, DeliveryState, Resolution, Timestamp,
        card::mask_card_numbers,
        rule::{DecisionRule, suggestion},
    },
};

/// Largest number of alerts whose facts are asked for at once.
const MOST_NAMED_AT_ONCE: usize = 20;

/// Time for which a failed answer of an earlier console is shown, 7 days.
pub(crate) const CALLS_FOR: Duration = Duration::days(7);

/// State that every screen and dialog shares.
pub struct AppContext {
    pub place: SessionInfo,
    pub settings: Preferences,
    pub theme: Theme,
    pub alert_json: AlertJson,
    /// True where the service tells of changes and of more than the interface does.
    pub operator: bool,
    pub now: Timestamp,
    /// True where a dialog lies over the screen, so that the order of what it shows is frozen.
    pub covered: bool,
    /// True while nothing is sent: the service does not reply, or cannot record.
    pub held_back: bool,
    /// True where the console ends once the replies under way are there.
    pub leaving: bool,
    /// Ledger of every answer: the history of the journal, and the pending answers.
    pub ledger: Ledger,
    /// Decisions that were made together.
    pub runs: Runs,
    pub reminders: Reminders,
    /// The running export; there is one at a time.
    pub export: Option<RunningExport>,
    /// The last decision that was made by hand here.
    pub last_made: Option<Resolution>,
    pub unfinished: Unfinished,
    /// Answers that a later report contradicts, as the service told of them last.
    pub contradicted: Vec<ContradictedAnswer>,
    /// Begun texts that are not on the disk.
    pub unkept: UnsavedDrafts,
    /// Answers that were begun.
    pub answer_drafts: AnswerDraftList,
    /// Notes on alerts.
    pub notes: NoteList,
    /// Alerts that are put aside.
    pub snoozes: SnoozeList,
    pub views: SavedViews,
    pub toasts: Toasts,
    /// True where a message was shown since this was last reset.
    pub said: bool,
    /// The reading of this desk's journal.
    pub journal: JournalReading,
    /// Names of alerts.
    pub known: KnownAlerts,
    /// The last call to the service that failed.
    pub failed_calls: FailedCalls,
    pub writes: WriteCheck,
    /// Time of the next try to write the desk; `None` while one runs, and where it can be written.
    pub desk_due: Option<Timestamp>,
    /// The console that opens after this one.
    pub next_console: Option<NextConsole>,
}

impl AppContext {
    /// Returns the reason for which nothing is sent, while that is so.
    pub fn held_back_by(&self) -> Option<&'static str> {
        let why = if self.writes.failing.is_some() { "nothing can be recorded" } else { "the service does not answer" };
        self.held_back.then_some(why)
    }

    /// The rule that suggests an answer for an alert.
    pub fn suggestion(&self, alert: &Alert) -> Option<&DecisionRule> {
        suggestion(&self.settings.rules, alert, self.now)
    }

    /// The decisions that are known.
    pub fn known_decisions(&self) -> KnownDecisions<'_> {
        KnownDecisions { here: &self.ledger, unfinished: &self.unfinished }
    }

    /// Returns the failed decision on an alert, while it is young and not dismissed.
    pub fn failed_before(&self, alert: &Alert) -> Option<&DecisionRecord> {
        let calls = |record: &&DecisionRecord| {
            let is_young = self.now - record.made_at < CALLS_FOR;
            record.fate() == Fate::NotRecorded && !record.dismissed && record.place == self.place.name && is_young
        };
        self.ledger.history().latest_on(alert.id).filter(calls).filter(|_| self.is_unanswered(alert))
    }

    /// Returns the decision that tells of an alert's outcome, while the list shows none and no other one is pending.
    pub fn list_behind(&self, alert: &Alert) -> Option<&DecisionRecord> {
        self.ledger.history().answered_on(alert.id).filter(|_| self.is_unanswered(alert))
    }

    /// Returns the draft of an answer to an alert.
    pub fn draft(&self, alert: &Alert) -> Option<&Draft> {
        self.answer_drafts
            .on(false, &[alert.id])
            .last()
            .map(|draft| &draft.answer)
            .filter(|_| self.is_unanswered(alert))
    }

    /// Returns true where an alert has no outcome, and no answer to it is on its way.
    fn is_unanswered(&self, alert: &Alert) -> bool {
        alert.outcome.is_none() && self.ledger.of(alert.id).is_none() && self.unfinished.of(alert.id).is_none()
    }

    /// The style of a time that is left.
    pub fn urgency(&self, urgency: Urgency) -> Style {
        match urgency {
            Urgency::Now => self.theme.danger,
            Urgency::Soon => self.theme.warning,
            Urgency::Today => self.theme.plain,
            Urgency::Later | Urgency::Over => self.theme.quiet,
        }
    }

    /// Digits: as bright as what decides, but not bold.
    pub fn digits(&self) -> Style {
        self.theme.strong.remove_modifier(Modifier::BOLD)
    }

    /// The sign, the word and the style of a delivery's state.
    pub fn delivery_state(&self, state: DeliveryState) -> (&'static str, &'static str, Style) {
        match state {
            DeliveryState::Delivered => ("✓", "delivered", self.theme.ok),
            DeliveryState::Pending => ("·", "pending", self.theme.plain),
            DeliveryState::Leased => ("→", "sending", self.theme.plain),
            DeliveryState::Exhausted => ("!", "failed", self.theme.danger),
            DeliveryState::Cancelled => ("–", "cancelled", self.theme.quiet),
        }
    }

    /// Returns the name of an alert that was read here, or decided on this desk.
    pub fn alert_named(&self, id: AlertId) -> Option<&JournalAlert> {
        self.known.get(id).or_else(|| self.ledger.history().latest_on(id).map(|record| &record.said.alert))
    }

    /// The words for an alert's answer behind its author, as far as that is known: ` by maria: Refunded "88213"`.
    pub fn answer_known(&self, alert: AlertId, answer: &str) -> String {
        let author = self.known.author(alert).map(str::to_owned);
        let author = author.or_else(|| who_answered(alert, &[], self.ledger.history(), &self.place.name));
        author.map_or_else(|| format!(": {answer}"), |by| format!(" {}: {answer}", sanitize(&by)))
    }

    /// The alerts of decisions that the engine has not finished which nothing is known of: as many as are read at once.
    pub fn unnamed(&self) -> Vec<AlertId> {
        let alerts = self.unfinished.all().map(|attempt| attempt.alert);
        alerts.filter(|alert| self.alert_named(*alert).is_none()).take(MOST_NAMED_AT_ONCE).collect()
    }

    /// The time zone of every moment on the screen.
    pub fn times(&self) -> Zone {
        self.settings.times()
    }

    /// The analyst's own days.
    pub fn calendar(&self) -> Calendar {
        self.settings.calendar(self.now)
    }

    /// Returns the undo time: so long a decision can be taken back before it leaves.
    pub fn undo_window(&self) -> Duration {
        Duration::from_std(self.settings.undo_window).unwrap_or_default()
    }

    /// Notifies the user; the journal keeps it unless it is only to know.
    pub fn notify(&mut self, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), None);
    }

    /// Notifies the user of something about an alert; the journal keeps it.
    pub fn notify_about(&mut self, alert: &Alert, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), Some(alert));
    }

    /// Notifies the user of how something is now, in place of what was told of it before: `of` names it. The journal
    /// has it as steps of its own.
    pub fn notify_of(&mut self, of: &str, tone: Tone, text: impl Into<String>) {
        self.said = true;
        self.toasts.notify_of(of, tone, text, self.now);
    }

    /// Shows a hint on a key that was pressed. It ends with the next key and is not journaled.
    pub fn hint(&mut self, text: impl Into<String>) {
        self.said = true;
        self.toasts.hint(text, self.now);
    }

    /// Hints that an action is not available here, with the reason where it is known.
    pub fn hint_idle(&mut self, action: Action, why: Option<&'static str>) {
        let words = self.settings.keymap.binding(action).map_or("", |binding| &binding.words).to_owned();
        let key = self.key(action);
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        self.hint(format!("{key} ({words}) is not available here{why}."));
    }

    /// Hints that a character or function key has no action here.
    pub fn hint_unknown(&mut self, key: KeyEvent) {
        if let KeyCode::Char(_) | KeyCode::F(_) = key.code {
            let help = self.key(Action::Help);
            self.hint(format!("No such key here: {} ({help} help).", Chord::from(key)));
        }
    }

    fn tell(&mut self, tone: Tone, text: String, alert: Option<&Alert>) {
        self.said = true;
        let (words, alert) = (mask_card_numbers(&text).into_owned(), alert.map(Into::into));
        // A message that is still shown is not journaled again, and one about no alert is of the moment.
        if self.toasts.notify(tone, text, self.now) && (tone != Tone::Note || alert.is_some()) {
            let told = Notification { tone: tone.as_str().to_owned(), words, alert };
            self.ledger.record(None, JournalStep::Notified(Box::new(told)), self.now);
        }
    }

    /// Records a step of a decision.
    pub fn record(&mut self, decision: String, step: JournalStep) {
        self.ledger.record(decision, step, self.now);
    }

    /// Returns the effect that writes the new steps, all at once.
    pub fn write_journal(&mut self) -> Option<Effect> {
        let steps = self.ledger.take_unwritten();
        (!steps.is_empty()).then_some(Effect::Keep(Keep::Journal(steps)))
    }

    /// The run that is shown.
    pub fn newest_run(&self) -> Option<RunState<'_>> {
        self.runs.newest(&self.ledger)
    }

    /// The key to name for an action.
    pub fn key(&self, action: Action) -> String {
        self.settings.keymap.key_of(action)
    }

    /// Returns the drafts that are not on the disk: each with its name, and as it is to be written.
    pub fn unsaved(&self) -> Vec<(String, Keep)> {
        let named = |id| {
            let named = self.alert_named(id).map_or_else(|| format!("alert {id}"), |named| subject(&alert_of(named)));
            sanitize(&named).into_owned()
        };
        let answer = |draft: &AnswerDraft| {
            let whom = match draft.alerts.as_slice() {
                [one] => named(*one),
                alerts => counted(alerts.len() as u64, "alert", "alerts"),
            };
            (format!("the answer to {whom}"), Keep::AnswerDraft(draft.clone()))
        };
        let note =
            |alert, typed: &str| (format!("the note on {}", named(alert)), Keep::NoteDraft(alert, typed.to_owned()));
        let text = |text| match text {
            BegunText::Answer(id) => self.answer_drafts.get(id).map(answer),
            BegunText::Note(alert) => self.notes.draft(alert).map(|typed| note(alert, typed)),
        };
        self.unkept.failed().filter_map(text).collect()
    }

    /// Writes failed drafts once more before the console ends.
    pub fn keep_again(&mut self) -> Vec<Effect> {
        let again = if self.unkept.take_again() { self.unsaved() } else { Vec::new() };
        again.into_iter().map(|(_, keep)| Effect::Keep(keep)).collect()
    }
}

/// An export on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningExport {
    pub path: PathBuf,
    pub written: u64,
    /// Number of alerts in all, once that is known.
    pub total: Option<u64>,
}

//! The application context: what every screen and dialog reads and changes, handed down by the application.

use std::path::PathBuf;

use chrono::Duration;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::style::{Modifier, Style};

use super::{
    Action, Effect, Keep, Theme, Tone,
    answer_drafts::AnswerDraftList,
    calls::Calls,
    decisions::{Decisions, PendingDecision},
    failures::{FailedCalls, WriteCheck},
    journal_feed::JournalFeed,
    keymap::Chord,
    known_alerts::KnownAlerts,
    known_decisions::KnownDecisions,
    message::BegunText,
    notes::NoteList,
    runs::{AnswerBooks, RunState, Runs},
    session::{AlertJson, NextConsole, Preferences, SessionInfo},
    snoozes::SnoozeList,
    times::{Urgency, Zone},
    toasts::Toasts,
    unfinished::Unfinished,
    unsaved_drafts::UnsavedDrafts,
    views::SavedViews,
};
use crate::{
    desk::{DecisionRecord, Draft, JournalAlert, JournalStep, Notification},
    domain::{
        Alert, AlertId, Calendar, DeliveryState, Resolution, Timestamp,
        card::mask_card_numbers,
        rule::{DecisionRule, suggestion},
    },
};

/// Largest number of alerts whose facts are asked for at once.
const MOST_NAMED_AT_ONCE: usize = 20;

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
    /// Another deployment does not answer, or nothing can be recorded: what would leave now waits.
    pub held_back: bool,
    /// Leaving as soon as what is with the service has come back.
    pub leaving: bool,
    pub decisions: Decisions,
    /// Decisions that were made together.
    pub runs: Runs,
    /// Calls for attention.
    pub calls: Calls,
    /// Lists that are written into files.
    pub exports: Exports,
    /// The last decision that was made by hand here.
    pub last_made: Option<Resolution>,
    pub unfinished: Unfinished,
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
    /// True where something was said since this was last put out.
    pub said: bool,
    /// Messages that are not in the journal yet.
    pub told: Vec<(Option<String>, Notification)>,
    /// The journal of this desk.
    pub journal: JournalFeed,
    /// Names of alerts.
    pub known: KnownAlerts,
    /// The last call to the service that failed.
    pub failed_calls: FailedCalls,
    pub writes: WriteCheck,
    /// When a desk that could not be written at the start is tried again; `None` while a try is on its way, and where
    /// it can be written.
    pub desk_due: Option<Timestamp>,
    /// The console that is opened when this one is left.
    pub next_console: Option<NextConsole>,
}

impl AppContext {
    /// Returns the reason for which answers wait here, where they do.
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
        KnownDecisions {
            here: &self.decisions,
            unfinished: &self.unfinished,
            history: self.journal.history(),
            now: self.now,
        }
    }

    /// The decision on an alert that an earlier console failed to have recorded, while nobody has seen to it.
    pub fn failed_before(&self, alert: &Alert) -> Option<&DecisionRecord> {
        self.journal.failed_on(alert.id, self.now).filter(|_| self.is_unanswered(alert))
    }

    /// The decision by which this desk knows that an alert has its outcome, while the list shows none and no other one
    /// is under way.
    pub fn list_behind(&self, alert: &Alert) -> Option<&DecisionRecord> {
        self.journal.history().answered_on(alert.id).filter(|_| self.is_unanswered(alert))
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
        alert.outcome.is_none() && self.decisions.of(alert.id).is_none() && self.unfinished.of(alert.id).is_none()
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
        self.known.get(id).or_else(|| self.journal.history().latest_on(id).map(|record| &record.said.alert))
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

    /// Notifies the user.
    pub fn notify(&mut self, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), None, None, None);
    }

    /// Notifies the user of something about an alert.
    pub fn notify_about(&mut self, alert: &Alert, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), Some(alert), None, None);
    }

    /// Notifies the user of how something is now, in place of what was told of it before: `of` names it.
    pub fn notify_of(&mut self, of: &str, alert: Option<&Alert>, tone: Tone, text: impl Into<String>) {
        self.toasts.withdraw(of);
        self.tell(tone, text.into(), alert, None, Some(of.to_owned()));
    }

    /// Notifies the user of what became of a decision: its own steps in the journal say the same.
    pub fn notify_of_decision(&mut self, decision: &PendingDecision, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), Some(&decision.alert), Some(decision.journal_key()), Some(decision.fate_of()));
    }

    /// Notifies the user of what follows from a decision's fate, which its own steps in the journal do not say.
    pub fn notify_about_fate(&mut self, decision: &PendingDecision, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), Some(&decision.alert), None, Some(decision.fate_of()));
    }

    /// Notifies the user of what became of a run that this decision is of: the row of the run says the same.
    pub fn notify_of_run(&mut self, decision: &PendingDecision, tone: Tone, text: impl Into<String>) {
        self.tell(tone, text.into(), None, Some(decision.journal_key()), Some(decision.fate_of()));
    }

    /// Notifies the user that this decision and those that were made together with it were taken back.
    pub fn notify_taken_back(&mut self, decision: &PendingDecision, text: impl Into<String>) {
        self.tell(Tone::Good, text.into(), None, Some(decision.journal_key()), None);
    }

    /// Says something about a key that was pressed. It is of the moment: it goes with the next key, and the journal
    /// does not keep it.
    pub fn hint(&mut self, text: impl Into<String>) {
        self.said = true;
        self.toasts.hint(text, self.now);
    }

    /// Says that an action does nothing where one is, and why as far as that is known.
    pub fn hint_idle(&mut self, action: Action, why: Option<&'static str>) {
        let words = self.settings.keymap.binding(action).map_or("", |binding| &binding.words).to_owned();
        let key = self.key(action);
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        self.hint(format!("{key} ({words}) is not available here{why}."));
    }

    /// Says that a key means nothing where one is, as far as somebody may have meant something by it.
    pub fn hint_unknown(&mut self, key: KeyEvent) {
        let help = self.key(Action::Help);
        self.hint_meaningless(key, &format!("{help} help"));
    }

    /// The same over a question, which takes no key but those of its answers.
    pub fn hint_unknown_over_question(&mut self, key: KeyEvent) {
        self.hint_meaningless(key, "the keys stand beside the answers");
    }

    fn hint_meaningless(&mut self, key: KeyEvent, instead: &str) {
        if let KeyCode::Char(_) | KeyCode::F(_) = key.code {
            self.hint(format!("No such key here: {} ({instead}).", Chord::from(key)));
        }
    }

    fn tell(&mut self, tone: Tone, text: String, alert: Option<&Alert>, decision: Option<String>, of: Option<String>) {
        self.said = true;
        let words = mask_card_numbers(&text).into_owned();
        // What still stands there is no news.
        let is_new = match of {
            Some(of) => self.toasts.notify_of(of, tone, text, self.now),
            None => self.toasts.notify(tone, text, self.now),
        };
        if is_new {
            let tone = tone.as_str().to_owned();
            self.told.push((decision, Notification { tone, words, alert: alert.map(Into::into) }));
        }
    }

    /// Takes a step of a decision into the journal; the effect that writes it.
    pub fn record(&mut self, decision: String, step: JournalStep) -> Effect {
        self.journal.write(decision, step, self.now)
    }

    /// The run that is shown.
    pub fn newest_run(&self) -> Option<RunState<'_>> {
        self.runs.newest(AnswerBooks { history: self.journal.history(), decisions: &self.decisions })
    }

    /// The key to name for an action.
    pub fn key(&self, action: Action) -> String {
        self.settings.keymap.key_of(action)
    }

    /// Keeps the begun texts once more that could not be kept, where one leaves and they were not tried again yet.
    pub fn keep_again(&mut self) -> Vec<Effect> {
        let again = |text| match text {
            BegunText::Answer(id) => self.answer_drafts.get(id).map(|draft| Keep::AnswerDraft(draft.clone())),
            BegunText::Note(alert) => self.notes.draft(alert).map(|typed| Keep::NoteDraft(alert, typed.to_owned())),
        };
        self.unkept.take_again().into_iter().filter_map(again).map(Effect::Keep).collect()
    }
}

/// An export on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningExport {
    pub number: u64,
    pub path: PathBuf,
    pub written: u64,
    /// Number of alerts in all, once that is known.
    pub total: Option<u64>,
}

/// The exports of this console, of which one runs at a time.
#[derive(Debug, Default)]
pub struct Exports {
    running: Option<RunningExport>,
    begun: u64,
}

impl Exports {
    /// The one that runs.
    pub fn running(&self) -> Option<&RunningExport> {
        self.running.as_ref()
    }

    /// One begins; its number.
    pub fn begin(&mut self, path: PathBuf) -> u64 {
        self.begun += 1;
        self.running = Some(RunningExport { number: self.begun, path, written: 0, total: None });
        self.begun
    }

    /// Takes in how far it is.
    pub fn progressed(&mut self, number: u64, written: u64, total: u64) {
        if let Some(running) = self.running.as_mut().filter(|running| running.number == number) {
            (running.written, running.total) = (written, Some(total));
        }
    }

    /// It is given up; which one it was.
    pub fn cancel(&mut self) -> Option<RunningExport> {
        self.running.take()
    }

    /// It has ended.
    pub fn ended(&mut self, number: u64) {
        self.running.take_if(|running| running.number == number);
    }
}

//! The draw context: what every part of the screen is drawn with.

use ratatui::style::{Modifier, Style};

use super::{
    Action, SessionInfo, Theme,
    answer_drafts::AnswerDraftList,
    decisions::Decisions,
    journal_feed::JournalFeed,
    keymap::Keymap,
    known_alerts::KnownAlerts,
    known_decisions::KnownDecisions,
    notes::NoteList,
    snoozes::SnoozeList,
    times::{TimeFormat, Urgency},
    unfinished::Unfinished,
};
use crate::{
    desk::{DecisionRecord, Draft},
    domain::{
        Alert, DeliveryState, Dialect, Timestamp,
        rule::{DecisionRule, suggestion},
    },
};

/// The draw context: theme, time and words.
#[derive(Clone, Copy)]
pub struct DrawContext<'a> {
    pub theme: &'a Theme,
    pub now: Timestamp,
    /// The format of moments.
    pub times: TimeFormat,
    pub keymap: &'a Keymap,
    pub decisions: &'a Decisions,
    /// Answers that the engine has not finished.
    pub unfinished: &'a Unfinished,
    /// In whose words decisions are given.
    pub dialect: Dialect,
    /// Where one is.
    pub place: &'a SessionInfo,
    /// True where doubles are looked for by every fact, not only by what the interface can be searched for.
    pub compares_all: bool,
    /// Alerts that are put aside.
    pub snoozes: &'a SnoozeList,
    pub notes: &'a NoteList,
    /// Answers that were begun and not sent.
    pub drafts: &'a AnswerDraftList,
    /// The rules that suggest decisions.
    pub rules: &'a [DecisionRule],
    /// Names of alerts.
    pub known: &'a KnownAlerts,
    pub journal: &'a JournalFeed,
}

impl<'a> DrawContext<'a> {
    /// The rule that suggests an answer for an alert.
    pub fn suggestion(&self, alert: &Alert) -> Option<&'a DecisionRule> {
        suggestion(self.rules, alert, self.now)
    }

    /// The decisions that are known.
    pub fn known_decisions(&self) -> KnownDecisions<'a> {
        KnownDecisions {
            here: self.decisions,
            unfinished: self.unfinished,
            history: self.journal.history(),
            now: self.now,
        }
    }

    /// The decision on an alert that an earlier console failed to have recorded, while nobody has seen to it.
    pub fn failed_before(&self, alert: &Alert) -> Option<&'a DecisionRecord> {
        let is_open =
            alert.outcome.is_none() && self.decisions.of(alert.id).is_none() && self.unfinished.of(alert.id).is_none();
        self.journal.failed_on(alert.id, self.now).filter(|_| is_open)
    }

    /// The decision by which this desk knows that an alert has its outcome, while the list shows none and no other one
    /// is under way.
    pub fn list_behind(&self, alert: &Alert) -> Option<&'a DecisionRecord> {
        let is_open =
            alert.outcome.is_none() && self.decisions.of(alert.id).is_none() && self.unfinished.of(alert.id).is_none();
        self.journal.history().answered_on(alert.id).filter(|_| is_open)
    }

    /// Returns the draft of an answer to an alert.
    pub fn draft(&self, alert: &Alert) -> Option<&'a Draft> {
        let is_open =
            alert.outcome.is_none() && self.decisions.of(alert.id).is_none() && self.unfinished.of(alert.id).is_none();
        self.drafts.of_alert(alert.id).last().map(|draft| &draft.answer).filter(|_| is_open)
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

    /// The key to name for an action.
    pub fn key(&self, action: Action) -> String {
        self.keymap.key_of(action)
    }
}

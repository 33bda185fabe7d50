//! A run in the journal: decisions that were made together, by one form, and what one row says of them all.

use crate::console::answer_words::without_reason;
use crate::console::decisions::{State, alert_of};
use crate::console::runs::DECIDED_AGAIN;
use crate::console::text::{count, sanitize};
use crate::console::{Action, AppContext, KeyContext};
use crate::desk::{DecisionFate, DecisionRecord, JournalRun};
use crate::domain::money::sums_by_currency;
use crate::domain::{Money, Timestamp};

use super::proof::{RowTone, decided_again, live, proof};
use super::words::{decided, name_of, who};

/// What can have become of a decision of a run, in the order in which a row counts them, each with its tone.
const FATES: [(&str, RowTone); 11] = [
    ("recorded", RowTone::Plain),
    (DECIDED_AGAIN, RowTone::Plain),
    ("failed", RowTone::Wrong),
    ("answered by another", RowTone::Unsure),
    ("did not leave", RowTone::Wrong),
    ("not known to have arrived", RowTone::Unsure),
    ("sent, no answer here", RowTone::Unsure),
    ("with the service", RowTone::Under),
    ("not sent", RowTone::Unsure),
    ("to be sent", RowTone::Under),
    ("taken back", RowTone::Quiet),
];

/// Decisions that were made together.
#[derive(Debug, Clone)]
pub struct DecidedTogether<'a> {
    pub run: &'a JournalRun,
    /// In the order in which the journal has them.
    pub decisions: Vec<&'a DecisionRecord>,
    /// Whether each stands beneath it.
    pub is_unfolded: bool,
}

impl DecidedTogether<'_> {
    /// When they were made.
    pub fn made_at(&self) -> Timestamp {
        self.decisions.first().map(|record| record.made_at).unwrap_or_default()
    }

    /// By whom they were made, and how: `maria, case`.
    pub fn who(&self, cx: &AppContext) -> String {
        let way = way_of(self.run);
        let made_by = self
            .decisions
            .first()
            .map(|record| who(cx.journal.is_own(record.session, record.user.as_deref()), record.user.as_deref()));
        made_by.map_or_else(|| way.to_owned(), |name| format!("{name}, {way}"))
    }

    /// What one row says of the answers and their money, the longest form first: `3 refunded 148.40 EUR +2 more`, and
    /// in the end how many currencies there are. Of several answers no sum would say whose it is; but the alerts of a
    /// case are on one payment: `1 refunded; 2 invalid (duplicate alert) · 49.90 EUR`.
    pub fn what(&self) -> Vec<String> {
        let decided = self.decided();
        let briefly = counted_words(decided.iter().map(|(word, number)| (without_reason(word), *number)));
        let answers = counted_words(decided.iter().map(|(word, number)| (word.as_str(), *number)));
        let of_payment = || alert_of(&self.decisions.first()?.said.alert).money();
        let sums = self.sums();
        let summed = match (&self.run.from, sums.split_first()) {
            (None, _) => {
                of_payment().map_or_else(Vec::new, |money| vec![format!(" · {}", sanitize(&money.to_string()))])
            }
            (Some(_), Some((first, others))) if decided.len() == 1 => {
                let [whole, short] = [first.to_string(), first.short()].map(|sum| sanitize(&sum).into_owned());
                match others.len() {
                    0 => vec![format!(" {whole}"), format!(" {short}")],
                    others => {
                        let mut forms: Vec<String> = [whole, short]
                            .iter()
                            .flat_map(|sum| [format!(" {sum} +{others} more"), format!(" {sum} +{others}")])
                            .collect();
                        forms.push(format!(", {} currencies", others + 1));
                        forms
                    }
                }
            }
            _ => Vec::new(),
        };
        let with_sums =
            [&answers, &briefly].into_iter().flat_map(|said| summed.iter().map(move |sum| format!("{said}{sum}")));
        let mut all: Vec<String> = with_sums.collect();
        all.extend([answers.clone(), briefly]);
        all.dedup();
        all
    }

    /// How many were decided how, in the order of the first of each.
    pub fn decided(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = Vec::new();
        for word in self.decisions.iter().map(|record| decided(&record.said)) {
            match all.iter_mut().find(|(known, _)| *known == word) {
                Some((_, number)) => *number += 1,
                None => all.push((word, 1)),
            }
        }
        all
    }

    /// The sum of their money in each currency.
    pub fn sums(&self) -> Vec<Money> {
        sums_by_currency(
            self.decisions.iter().filter_map(|record| alert_of(&record.said.alert).money()).map(|money| (1, money)),
        )
    }

    /// From where their alerts were chosen; of a case, the alert that it was opened for.
    pub fn chosen(&self) -> String {
        match (&self.run.from, self.decisions.first()) {
            (Some(from), _) => sanitize(from).into_owned(),
            (None, Some(first)) => name_of(&first.said.alert),
            (None, None) => String::new(),
        }
    }

    /// The sign and the tone of the one that calls most for its reader, and how many became what: `34 recorded, 1
    /// failed`.
    pub fn proof(&self, cx: &AppContext) -> (&'static str, RowTone, String) {
        let standings = self.decisions.iter().map(|record| proof(record, cx));
        // Of those that call alike, one that is recorded says how it ended.
        let calls_most = standings.map(|(sign, tone, _)| (sign, tone)).max_by_key(|(sign, tone)| (*tone, *sign == "✓"));
        let (sign, tone) = calls_most.unwrap_or(("·", RowTone::Quiet));
        let words: Vec<String> = self.fates(cx).into_iter().map(|(words, _)| words).collect();
        (sign, tone, words.join(", "))
    }

    /// How many became what, each with its tone.
    pub fn fates(&self, cx: &AppContext) -> Vec<(String, RowTone)> {
        let fates: Vec<&str> = self.decisions.iter().map(|record| fate(record, cx)).collect();
        let number = |fate: &str| fates.iter().filter(|of_one| **of_one == fate).count() as u64;
        let counted =
            FATES.into_iter().map(|(fate, tone)| (number(fate), fate, tone)).filter(|(number, ..)| *number > 0);
        counted.map(|(number, fate, tone)| (format!("{} {fate}", count(number)), tone)).collect()
    }

    /// What the key does with the row.
    pub fn hint(&self, cx: &AppContext) -> String {
        let key = cx.settings.keymap.key_in(KeyContext::Activity, Action::GoToAlert);
        format!("{key} {}", if self.is_unfolded { "folds them" } else { "shows each" })
    }
}

/// `1 refunded; 2 invalid`, the same words counted once.
fn counted_words<'w>(words: impl Iterator<Item = (&'w str, u64)>) -> String {
    let mut all: Vec<(&str, u64)> = Vec::new();
    for (word, number) in words {
        match all.iter_mut().find(|(known, _)| *known == word) {
            Some((_, sum)) => *sum += number,
            None => all.push((word, number)),
        }
    }
    all.iter().map(|(word, number)| format!("{} {word}", count(*number))).collect::<Vec<_>>().join("; ")
}

/// How the decisions of a run were made.
pub fn way_of(run: &JournalRun) -> &'static str {
    if run.from.is_some() { "bulk" } else { "case" }
}

/// What became of one, as [`FATES`] has it.
fn fate(record: &DecisionRecord, cx: &AppContext) -> &'static str {
    match live(record, cx).map(|decision| &decision.state) {
        _ if decided_again(record, cx).is_some() => DECIDED_AGAIN,
        Some(State::Staged(_)) => "to be sent",
        Some(State::Waiting) => "not sent",
        Some(State::Sending) => "with the service",
        Some(State::Checking(_)) => "not known to have arrived",
        Some(State::Refused(_)) => "failed",
        None => match record.fate() {
            DecisionFate::Staged => "to be sent",
            DecisionFate::TakenBack => "taken back",
            DecisionFate::Sent => "sent, no answer here",
            DecisionFate::NotSent(_) => "not sent",
            DecisionFate::Recorded(_) | DecisionFate::AsDecided(_) => "recorded",
            DecisionFate::Overtaken(_) | DecisionFate::Answered(_) => "answered by another",
            DecisionFate::Refused(_) => "failed",
            DecisionFate::Unknown(_) => "not known to have arrived",
            DecisionFate::NeverLeft => "did not leave",
        },
    }
}

//! What speaks against a plain answer, in the detail: other alerts on the payment, the network's own rule, and the keys
//! that answer it.

use super::Parts;
use crate::{
    Action,
    answer_words::{answer_words, answered_as},
    dialogs::alert_rows::{progress, progress_at_engine},
    domain::{
        Alert, AlertStatus, Dialect, Timestamp,
        duplicate::{self, DuplicateEvidence},
        resolution::{Decision, InvalidReason, OlderWord},
    },
    screens::queue::{ListSign, facts::Warning},
    suggestion::Suggestion,
    times,
    unfinished::in_words,
};

impl Parts<'_> {
    /// A warning; with the key that answers it where what is suggested rests on it.
    pub(super) fn warning(&mut self, warning: &Warning<'_>, alert: &Alert, suggestion: Option<&Suggestion<'_>>) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        match warning {
            Warning::PaidTwice(others) | Warning::Duplicates(others) => {
                // As in the list: it is amber only where a refund may pay twice.
                let (sign, title) = match (warning, others.len()) {
                    (Warning::PaidTwice(_), _) => (ListSign::LookFirst, "Possible double refund".to_owned()),
                    (_, 1) => (ListSign::SamePayment, "Another alert on this payment".to_owned()),
                    (_, more) => (ListSign::SamePayment, format!("{more} more alerts on this payment")),
                };
                let (sign, style) = sign.drawn(theme);
                self.open_box(style, &format!("{sign} {title}"), theme.strong.patch(style));
                for (index, other) in others.iter().enumerate() {
                    self.named(index, other, alert);
                    self.say(&self.state_of_duplicate(other, now), theme.plain);
                }
            }
            Warning::NetworkRule(name) => {
                let (sign, style) = ListSign::LookFirst.drawn(theme);
                self.open_box(style, &format!("{sign} Probably refunded by the network's rule"), theme.strong);
                name.iter().for_each(|name| self.say(name, theme.plain));
            }
            Warning::Notice => self.open_box(theme.quiet, "The network expects no answer", theme.plain),
        }
        let rests_on_it =
            |suggestion: &&Suggestion<'_>| warning.basis().is_some_and(|basis| suggestion.rests_on(basis));
        let fits = suggestion.filter(rests_on_it).map(Suggestion::decision);
        if self.draw.place.read_only {
            // No key answers where nothing is sent.
            if let Some(decision) = fits.filter(|_| self.draw.dialect == Dialect::Current) {
                self.say(&format!("Suggested: {}", decision.words()), self.draw.theme.plain);
            }
        } else if let Some(reason) = fits.and_then(Decision::reason) {
            let text = format!("{} then {}", self.draw.key(Action::Invalid), answer_in_form(reason, self.draw.dialect));
            self.offer(&text, Some(Action::Invalid));
        }
        self.close_box();
    }

    /// The alert that a warning names, and what both have in common. The key goes to the first one, and so does a click
    /// on it.
    fn named(&mut self, index: usize, other: &Alert, alert: &Alert) {
        let before = self.parts.len();
        self.say(&duplicate_words(other, alert), self.draw.theme.plain);
        if index == 0 {
            self.parts[before..].iter_mut().for_each(|part| part.target = Some(Action::GoToWarned));
        }
    }

    /// State of a duplicate: what is on its way is not recorded.
    fn state_of_duplicate(&self, other: &Alert, now: Timestamp) -> String {
        let draw = self.draw;
        match (draw.decisions.coming(other.id), draw.unfinished.of(other.id)) {
            (Some(decision), _) => format!("{}, {}", decision.word(), progress(decision, draw).1),
            (None, Some(attempt)) => {
                format!("{}, {}", in_words(&attempt.resolution), progress_at_engine(attempt, draw.theme).1)
            }
            (None, None) => state_of_duplicate(other, now),
        }
    }
}

/// What is pressed in the form for a reason, and what it says: `3  INVALID (duplicate alert)`, or the word of the older
/// dialect.
fn answer_in_form(reason: InvalidReason, dialect: Dialect) -> String {
    let number = |at: Option<usize>| at.map_or(0, |at| at + 1);
    match dialect {
        Dialect::Current => {
            let at = InvalidReason::ALL.iter().position(|known| *known == reason);
            format!("{}  {}", number(at), Decision::Invalid(reason).words())
        }
        Dialect::Older => {
            let word = reason.older_word();
            let at = OlderWord::KNOWN.iter().position(|known| *known == word);
            format!("{}  {word}: {}", number(at), reason.words())
        }
    }
}

/// What two alerts on one payment have in common: `ETHOCA 5F2RE396 · same card and amount`.
fn duplicate_words(other: &Alert, alert: &Alert) -> String {
    let same = duplicate::evidence(alert, other).map_or("same payment", DuplicateEvidence::words);
    format!("{} {} · {same}", other.provider, other.provider_id)
}

/// How far a duplicate is.
fn state_of_duplicate(other: &Alert, now: Timestamp) -> String {
    match &other.outcome {
        Some(_) if other.was_refunded() && other.says_refunded_before() => answered_as(other),
        outcome if other.was_refunded() => {
            let when = outcome.as_ref().and_then(|outcome| outcome.action_time);
            let when = when.map_or_else(String::new, |at| format!(" {}", times::ago(at, now)));
            format!("{}, {}{when}", other.status, Decision::Refunded.words())
        }
        Some(outcome) => answer_words(other, outcome),
        None => {
            let is_open = other.status == AlertStatus::Open;
            let left = if is_open { format!(", due in {}", times::left(other, now).text) } else { String::new() };
            let rule = if other.network_rule_applied() { "; probably refunded by the network's rule" } else { "" };
            format!("{}{left}{rule}", other.status)
        }
    }
}

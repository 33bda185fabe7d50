//! The state of an alert, in its detail: the answer on its way, the draft, what is suggested, and notes.

use ratatui::text::Span;

use super::Parts;
use crate::{
    Action, Loadable,
    answer_words::list_behind,
    decisions::PendingDecision,
    desk::{AnswerStep, DecisionRecord, Fate},
    dialogs::alert_rows::{progress, progress_at_engine},
    domain::{
        Alert, Dialect, ResolutionAttempt, Timestamp,
        advice::AdviceBasis,
        duplicate,
        redact::without_exchange,
        resolution::{Decision, InvalidReason},
        rule::DecisionRule,
    },
    screens::queue::facts::{Facts, warnings},
    suggestion::Suggestion,
    text::sanitize,
    times,
    unfinished::{Stage, in_words, said_in_words},
};

/// The key of an answer of each kind.
const ANSWERS: [(Action, Decision); 3] = [
    (Action::Refund, Decision::Refunded),
    (Action::NotRefunded, Decision::NotRefunded),
    (Action::Invalid, Decision::Invalid(InvalidReason::NotFound)),
];

impl Parts<'_> {
    /// Adds the state of the alert: the decision on its way, what speaks against a plain answer, its outcome.
    pub(super) fn answer(&mut self, alert: &Alert, facts: &Facts, with_duplicates: bool, order_told: bool) {
        let draw = self.draw;
        self.under_way(alert);
        self.drafted(alert);
        let suggestion = Suggestion::of(alert, facts, draw);
        let duplicates = facts.duplicates.loaded().filter(|_| with_duplicates).map_or(&[][..], Vec::as_slice);
        let duplicates: Vec<Alert> =
            duplicates.iter().map(|other| draw.known_decisions().foreseen(other).into_owned()).collect();
        for warning in warnings(alert, &duplicates) {
            self.warning(&warning, alert, suggestion.as_ref());
        }
        if let (Some(words), None) = (duplicate::not_compared(alert).filter(|_| !draw.compares_all), &alert.outcome) {
            self.quiet(&words);
        }
        if let (Loadable::Failed(error), None) = (&facts.duplicates, &alert.outcome) {
            self.quiet(&format!("Duplicates not checked: {error}"));
        }
        if let Some(rule) = draw.suggestion(alert) {
            self.rule(rule, matches!(suggestion, Some(Suggestion::Rule(_))));
        }
        self.outcome(alert);
        if let Some(orders) = &facts.orders {
            self.order(
                alert,
                orders,
                suggestion.is_some_and(|suggestion| suggestion.rests_on(AdviceBasis::Order)),
                order_told,
            );
        }
        self.notes(alert);
    }

    /// The callout of an answer that is under way or was not recorded.
    fn under_way(&mut self, alert: &Alert) {
        let draw = self.draw;
        match (draw.decisions.of(alert.id), draw.unfinished.of(alert.id)) {
            // The engine knows more of a decision than whoever sent it and heard nothing.
            (Some(decision), Some(unfinished)) if decision.fate == Fate::Unconfirmed => self.unfinished(unfinished),
            (Some(decision), _) => self.decision(decision),
            (None, Some(unfinished)) => self.unfinished(unfinished),
            (None, None) => match draw.list_behind(alert) {
                Some(record) => self.callout(draw.theme.quiet, "Already answered, the list is behind", |parts| {
                    parts.say(&list_behind(record, draw.times, draw.now), draw.theme.plain);
                }),
                None => draw.failed_before(alert).into_iter().for_each(|record| self.failed_before(record)),
            },
        }
    }

    /// An answer of this console: how far it is, why it waits, and what a key does.
    fn decision(&mut self, decision: &PendingDecision) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let ((sign, style), words, _) = progress(decision, self.draw);
        let is_offline = decision.fate == Fate::Queued && decision.leaves_at().is_none();
        let why = match &decision.polling {
            _ if is_offline && decision.is_closed(now) => {
                Some("avert asks before it sends. The alert has expired.".to_owned())
            }
            _ if is_offline => Some("avert asks before it sends.".to_owned()),
            Some(polling) => {
                let why = polling.why.trim_end_matches('.');
                let next = match polling.has_given_up() {
                    true => "Check the network's portal.".to_owned(),
                    false => next_poll(Some(polling.next_poll), now),
                };
                Some(format!("{why}. {next}"))
            }
            None => decision.why.clone().filter(|_| decision.fate == Fate::NotRecorded),
        };
        let undo = self.draw.key(Action::Undo);
        let offer = match is_offline {
            true => Some(format!("{undo}  undo   {}  send or keep", self.draw.key(Action::Refresh))),
            false => decision.leaves_at().map(|_| format!("{undo}  undo")),
        };
        self.callout(style, &format!("{sign} {}: {words}", decision.word()), |parts| {
            why.iter().for_each(|why| parts.say(&without_exchange(why), theme.plain));
            offer.iter().for_each(|offer| parts.offer(offer, Some(Action::Undo)));
            if decision.fate == Fate::NotRecorded {
                parts.again();
            }
        });
    }

    /// A decision of an earlier console that was not recorded, and why.
    fn failed_before(&mut self, record: &DecisionRecord) {
        let theme = self.draw.theme;
        let (became, why) = match record.step() {
            AnswerStep::NeverLeft => ("not sent", "The console ended first."),
            step => ("not recorded", step.reason().unwrap_or_default()),
        };
        self.callout(theme.danger, &format!("! {}: {became}", said_in_words(&record.said)), |parts| {
            parts.say(&without_exchange(why), theme.plain);
            parts.again();
        });
    }

    /// The keys that answer a decision that was not recorded.
    fn again(&mut self) {
        let keys = [Action::Refund, Action::NotRefunded, Action::Invalid].map(|action| self.draw.key(action)).join(" ");
        let seen_to = [Action::ShowActivity, Action::Dismiss].map(|action| self.draw.key(action)).join(" ");
        self.offer(&format!("{keys}  answer again   {seen_to}  dismiss"), None);
    }

    /// A decision that the engine has not finished: what was sent, when and by whom, and what is known.
    fn unfinished(&mut self, unfinished: &ResolutionAttempt) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let ((sign, style), words, _) = progress_at_engine(unfinished, theme);
        let (at, comments) = (unfinished.started_at, unfinished.resolution.comments());
        self.callout(style, &format!("{sign} {}: {words}", in_words(&unfinished.resolution)), |parts| {
            let sent =
                format!("sent {}, {}, by {}", parts.draw.times.at(at, now), times::ago(at, now), unfinished.actor);
            parts.say(&sent, theme.plain);
            parts.say(&unfinished.detail, theme.plain);
            if !comments.is_empty() {
                parts.say(&format!("comments: {}", comments.replace('\n', " / ")), theme.quiet);
            }
            match Stage::of(unfinished) {
                Stage::Sending => {}
                Stage::Unknown => parts.say(&next_poll(unfinished.next_check, now), theme.plain),
                Stage::Parked => {
                    let key = parts.draw.key(Action::Settle);
                    parts.offer(&format!("{key}  set the result"), Some(Action::Settle));
                }
            }
        });
    }

    /// The answer that is begun and not sent; what was written for one decision goes on with that one alone.
    fn drafted(&mut self, alert: &Alert) {
        let draw = self.draw;
        let Some(draft) = draw.draft(alert) else { return };
        let begun = ANSWERS.into_iter().find(|(_, answer)| draft.refunded.as_deref() == Some(answer.refunded()));
        let begun = begun.filter(|_| draw.dialect == Dialect::Current && !draw.place.read_only);
        self.callout(draw.theme.accent, "Draft saved", |parts| {
            if !draft.comments.is_empty() {
                parts.say(&format!("comments: {}", draft.comments.replace('\n', " / ")), draw.theme.plain);
            }
            if let Some((action, answer)) = begun {
                parts.offer(&format!("{}  continue: {}", draw.key(action), answer.words()), Some(action));
            }
        });
    }

    /// Adds the notes of this machine, the newest first; and that a note is being written.
    fn notes(&mut self, alert: &Alert) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let notes = self.draw.notes.on(alert.id);
        let is_begun = self.draw.notes.has_draft(alert.id);
        if notes.is_empty() && !is_begun {
            return;
        }
        self.blank();
        self.push(vec![Span::styled("NOTES", theme.quiet), Span::styled("  on this machine only", theme.quiet)]);
        for note in notes.iter().rev() {
            for line in note.text.lines() {
                self.say(line, theme.plain);
            }
            let by = note.user.as_deref().map_or_else(String::new, |user| format!(", {}", sanitize(user)));
            self.say(&format!("{}, {}{by}", self.draw.times.at(note.at, now), times::ago(note.at, now)), theme.quiet);
        }
        if is_begun {
            self.say("note not saved yet", theme.warning);
        }
    }

    /// A rule that matches; what it says is set aside where money has gone back already.
    fn rule(&mut self, rule: &DecisionRule, suggests: bool) {
        let theme = self.draw.theme;
        let (name, words) = (&rule.name, rule.decision.words());
        if !suggests {
            return self.quiet(&format!("Rule {name} says {words}: a check warns against it."));
        }
        self.callout(theme.accent, &format!("• Rule {name} suggests: {words}"), |parts| {
            parts.say(&rule.text, theme.quiet);
            if !rule.comments.is_empty() {
                parts.say(&format!("comments: {}", rule.comments), theme.plain);
            }
            if !parts.draw.place.read_only {
                let key = parts.draw.key(Action::Suggested);
                parts.offer(&format!("{key}  take the suggestion"), Some(Action::Suggested));
            }
        });
    }
}

/// Tells when it is looked up next: `Checking, next in 3m.`
fn next_poll(at: Option<Timestamp>, now: Timestamp) -> String {
    match at.filter(|at| *at > now) {
        Some(at) => format!("Checking, next in {}.", times::short(at - now)),
        None => "Checking now.".to_owned(),
    }
}

//! The state of an alert, in its detail: the answer on its way, the draft, what is suggested and what speaks against
//! it, the shop's order, and notes.

use ratatui::text::Span;

use super::{Fact, Parts};
use crate::{
    Action, Loadable,
    answer_words::{RECORDED_HERE, duplicate_words, in_words, list_behind, past_chargebacks, said_in_words},
    decisions::PendingDecision,
    desk::{DecisionRecord, Fate, JournalStep, MatchedOrders},
    domain::{
        Alert, OrderAdvice, OrderMatch, ResolutionAttempt, Timestamp, advice::AdviceBasis, duplicate,
        redact::without_exchange, resolution::Decision, rule::DecisionRule,
    },
    screens::{
        activity::{
            result::{RowTone, progress_of, standing_of},
            rows::contradiction_words,
        },
        queue::{ListSign, facts::Facts},
    },
    suggestion::Suggestion,
    text::sanitize,
    times,
    unfinished::{attempt_fate, is_parked},
};

impl Parts<'_> {
    /// Adds the state of the alert: the decision on its way, what speaks against a plain answer, its outcome.
    pub(super) fn answer(&mut self, alert: &Alert, facts: &Facts, with_duplicates: bool) {
        let cx = self.cx;
        self.under_way(alert);
        self.drafted(alert);
        if alert.is_answered_here() {
            self.callout(cx.theme.quiet, RECORDED_HERE, |_| {});
        }
        for of in cx.contradicted.iter().filter(|of| of.alert == alert.id) {
            self.callout(cx.theme.danger, &format!("{} {}", RowTone::Wrong.sign(), of.answer.as_str()), |parts| {
                parts.say(&format!("{}: {}", contradiction_words(of), of.report_id()), cx.theme.plain);
            });
        }
        let suggestion = Suggestion::of(alert, facts, cx);
        if alert.outcome.is_none() {
            let others = facts.duplicates.loaded().filter(|_| with_duplicates).map_or(&[][..], Vec::as_slice);
            self.warnings(alert, others, suggestion.as_ref());
            past_chargebacks(alert, cx.now).into_iter().for_each(|words| self.quiet(&words));
            if let Some(words) = duplicate::not_compared(alert).filter(|_| !cx.operator) {
                self.quiet(&words);
            }
            if let Loadable::Failed(error) = &facts.duplicates {
                self.quiet(&format!("Duplicates not checked: {error}"));
            }
        }
        if let Some(rule) = cx.suggestion(alert) {
            self.rule(rule, matches!(suggestion, Some(Suggestion::Rule(_))));
        }
        self.outcome(alert);
        if let Some(orders) = &facts.orders {
            self.order(alert, orders, suggestion.is_some_and(|suggestion| suggestion.rests_on(AdviceBasis::Order)));
        }
        self.notes(alert);
    }

    /// Adds what speaks against a plain answer: other alerts on the payment, the network's own rule, a notice.
    fn warnings(&mut self, alert: &Alert, others: &[Alert], suggestion: Option<&Suggestion<'_>>) {
        let (cx, theme) = (self.cx, &self.cx.theme);
        let doubles = if others.is_empty() { Vec::new() } else { cx.known_decisions().duplicates(alert, others) };
        if let Some(first) = doubles.first() {
            // As in the list: it is amber only where a refund may pay twice.
            let (sign, title) = match (first.is_refunded(), doubles.len()) {
                (true, _) => (ListSign::LookFirst, "Possible double refund".to_owned()),
                (false, 1) => (ListSign::SamePayment, "Another alert on this payment".to_owned()),
                (false, more) => (ListSign::SamePayment, format!("{more} more alerts on this payment")),
            };
            let (sign, style) = sign.drawn(theme);
            self.callout(style, &format!("{sign} {title}"), |parts| {
                for (index, double) in doubles.iter().enumerate() {
                    let before = parts.parts.len();
                    parts.say(&duplicate_words(double, cx.now), theme.plain);
                    if index == 0 {
                        parts.parts[before..].iter_mut().for_each(|part| part.target = Some(Action::GoToWarned));
                    }
                }
                parts.suggested_by(suggestion, AdviceBasis::Duplicates);
            });
        }
        if alert.network_rule_applied() {
            let (sign, style) = ListSign::LookFirst.drawn(theme);
            self.callout(style, &format!("{sign} Probably refunded by the network's rule"), |parts| {
                alert.rule_name.iter().for_each(|name| parts.say(name, theme.plain));
                parts.suggested_by(suggestion, AdviceBasis::NetworkRule);
            });
        }
        if alert.alert_type.is_notice() {
            self.callout(theme.quiet, "The network expects no answer", |_| {});
        }
    }

    /// Adds the answer that is suggested where it rests on this.
    fn suggested_by(&mut self, suggestion: Option<&Suggestion<'_>>, basis: AdviceBasis) {
        if let Some(suggestion) = suggestion.filter(|suggestion| suggestion.rests_on(basis)) {
            self.suggested(suggestion.decision());
        }
    }

    /// Adds an answer that is suggested, with the key that opens the form with it.
    fn suggested(&mut self, decision: Decision) {
        let words = decision.words();
        match self.cx.place.read_only {
            true => self.say(&format!("Suggested: {words}"), self.cx.theme.plain),
            false => self.offer(&format!("{}  {words}", self.cx.key(Action::Suggested)), Some(Action::Suggested)),
        }
    }

    /// The callout of an answer that is under way or was not recorded.
    fn under_way(&mut self, alert: &Alert) {
        let cx = self.cx;
        match (cx.ledger.of(alert.id), cx.unfinished.of(alert.id)) {
            // The engine knows more of a decision than whoever sent it and heard nothing.
            (Some(decision), Some(unfinished)) if decision.fate() == Fate::Unconfirmed => self.unfinished(unfinished),
            (Some(decision), _) => self.decision(decision),
            (None, Some(unfinished)) => self.unfinished(unfinished),
            (None, None) => match cx.list_behind(alert) {
                Some(record) => self.callout(cx.theme.quiet, "Already answered, the list is behind", |parts| {
                    parts.say(&list_behind(record, cx.times(), cx.now), cx.theme.plain);
                }),
                None => cx.failed_before(alert).into_iter().for_each(|record| self.failed_before(record)),
            },
        }
    }

    /// An answer of this console: how far it is, why it waits, and what a key does.
    fn decision(&mut self, decision: &PendingDecision) {
        let (theme, now) = (&self.cx.theme, self.cx.now);
        let (tone, words) = progress_of(decision, self.cx);
        let (sign, style) = (tone.sign(), tone.of(theme));
        let is_offline = decision.fate() == Fate::Queued && decision.due.is_none();
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
            None => decision.why().map(str::to_owned),
        };
        let undo = self.cx.key(Action::Undo);
        let offer = match is_offline {
            true => Some(format!("{undo}  undo   {}  send or keep", self.cx.key(Action::Refresh))),
            false => decision.due.map(|_| format!("{undo}  undo")),
        };
        self.callout(style, &format!("{sign} {}: {words}", in_words(&decision.resolution)), |parts| {
            why.iter().for_each(|why| parts.say(&without_exchange(why), theme.plain));
            offer.iter().for_each(|offer| parts.offer(offer, Some(Action::Undo)));
            if decision.fate() == Fate::NotRecorded {
                parts.again();
            }
        });
    }

    /// A decision of an earlier console that was not recorded, and why.
    fn failed_before(&mut self, record: &DecisionRecord) {
        let theme = &self.cx.theme;
        let (became, why) = match record.step() {
            Some(JournalStep::NeverLeft) => ("not sent", "The console ended first."),
            step => ("not recorded", step.and_then(JournalStep::reason).unwrap_or_default()),
        };
        self.callout(theme.danger, &format!("! {}: {became}", said_in_words(&record.said)), |parts| {
            parts.say(&without_exchange(why), theme.plain);
            parts.again();
        });
    }

    /// The keys that answer a decision that was not recorded.
    fn again(&mut self) {
        let seen_to = [Action::ShowActivity, Action::Dismiss].map(|action| self.cx.key(action)).join(" ");
        self.offer(&format!("{}  answer again   {seen_to}  dismiss", self.answer_keys()), None);
    }

    /// A decision that the engine has not finished: what was sent, when and by whom, and what is known.
    fn unfinished(&mut self, unfinished: &ResolutionAttempt) {
        let (theme, now) = (&self.cx.theme, self.cx.now);
        let tone = standing_of(unfinished, self.cx).0;
        let (sign, style) = (tone.sign(), tone.of(theme));
        let words = if tone == RowTone::Under { "sending" } else { "unconfirmed" };
        let sent = format!("sent {}, by {}", self.cx.times().since(unfinished.started_at, now), unfinished.actor);
        self.callout(style, &format!("{sign} {}: {words}", in_words(&unfinished.resolution)), |parts| {
            parts.say(&sent, theme.plain);
            parts.say(&unfinished.detail, theme.plain);
            parts.comments(unfinished.resolution.comments());
            if is_parked(unfinished) {
                let key = parts.cx.key(Action::Settle);
                parts.offer(&format!("{key}  set the result"), Some(Action::Settle));
            } else if attempt_fate(unfinished) == Fate::Unconfirmed {
                parts.say(&next_poll(unfinished.next_check, now), theme.plain);
            }
        });
    }

    /// The answer that is begun and not sent.
    fn drafted(&mut self, alert: &Alert) {
        let cx = self.cx;
        let Some(draft) = cx.draft(alert) else { return };
        self.callout(cx.theme.accent, "Draft saved", |parts| {
            parts.comments(&draft.comments);
            if !cx.place.read_only {
                parts.offer(&format!("{}  continue", parts.answer_keys()), None);
            }
        });
    }

    /// The comments of an answer, in one line.
    fn comments(&mut self, comments: &str) {
        if !comments.is_empty() {
            self.say(&format!("comments: {}", comments.replace('\n', " / ")), self.cx.theme.plain);
        }
    }

    /// The keys of the answers.
    fn answer_keys(&self) -> String {
        [Action::Refund, Action::NotRefunded, Action::Invalid].map(|action| self.cx.key(action)).join(" ")
    }

    /// Adds the notes of this machine, the newest first; and that a note is being written.
    fn notes(&mut self, alert: &Alert) {
        let (theme, now) = (&self.cx.theme, self.cx.now);
        let notes = self.cx.notes.on(alert.id);
        let is_begun = self.cx.notes.has_draft(alert.id);
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
            self.say(&format!("{}{by}", self.cx.times().since(note.at, now)), theme.quiet);
        }
        if is_begun {
            self.say("note not saved yet", theme.warning);
        }
    }

    /// A rule that matches; what it says is set aside where money has gone back already.
    fn rule(&mut self, rule: &DecisionRule, suggests: bool) {
        let theme = &self.cx.theme;
        let (name, words) = (&rule.name, rule.decision.words());
        if !suggests {
            return self.quiet(&format!("Rule {name} says {words}: a check warns against it."));
        }
        self.callout(theme.accent, &format!("• Rule {name} suggests: {words}"), |parts| {
            parts.say(&rule.text, theme.quiet);
            parts.comments(&rule.comments);
            parts.suggested(rule.decision);
        });
    }
}

/// Tells when it is looked up next: `Checking, next in 3m.`
fn next_poll(at: Option<Timestamp>, now: Timestamp) -> String {
    let next = at.filter(|at| *at > now).map(|at| format!("Checking, next {}.", times::until(at, now)));
    next.unwrap_or_else(|| "Checking now.".to_owned())
}

/// Tasks beside the first one that are listed.
const OTHERS: usize = 2;

impl Parts<'_> {
    /// The order that matches best; `suggests`: its answer is the one that is suggested.
    pub(super) fn order(&mut self, alert: &Alert, orders: &Result<MatchedOrders, String>, suggests: bool) {
        let matched = match orders {
            Ok(matched) => matched,
            Err(why) => return self.quiet(&format!("Your orders cannot be read: {why}")),
        };
        let Some((first, others)) = matched.matches.split_first() else {
            self.section("ORDER", vec![self.fact("match", "none"), self.unlinked(matched)]);
            if !matched.unmatched.is_empty() {
                self.offer("link order again", Some(Action::Unmatch));
            }
            return;
        };
        let advice = first.advice(alert);
        let before = advice.as_ref().filter(|advice| advice.was_refunded_before() && alert.outcome.is_none());
        if let Some(advice) = before {
            let (sign, style) = ListSign::LookFirst.drawn(&self.cx.theme);
            self.callout(style, &format!("{sign} The order is already refunded"), |parts| match suggests {
                true => parts.advice(advice),
                false => parts.say(advice.why, parts.cx.theme.plain),
            });
        }
        let is_advised = before.is_some();
        self.section("ORDER", self.order_facts(alert, first, others, matched));
        match advice.filter(|_| !is_advised) {
            Some(advice) if suggests => self.advice(&advice),
            // Another answer is suggested, and this holds beside it.
            Some(advice) if advice.leaves_refund_open => self.say(advice.why, self.cx.theme.warning),
            _ => {}
        }
        self.offer("unlink order", Some(Action::Unmatch));
    }

    fn order_facts(
        &self,
        alert: &Alert,
        first: &OrderMatch,
        others: &[OrderMatch],
        matched: &MatchedOrders,
    ) -> Vec<Fact> {
        let order = &first.order;
        // A shop and its payment provider may number the same order each in its own way.
        let named = alert.known_order_id().filter(|named| !named.eq_ignore_ascii_case(order.order_id.trim()));
        let state = order.state.map(|state| state.as_str().to_owned());
        let paid = order.money().map(|money| money.to_string());
        let day = |at| format!("{}, {}", self.cx.times().day(at), times::ago(at, self.cx.now));
        let since = |what: Option<String>, at: Option<Timestamp>| {
            what.into_iter().chain(at.map(day)).collect::<Vec<_>>().join(", ")
        };
        let mut facts = vec![
            self.fact("id", order.order_id.as_str()),
            self.fact("match", first.words()),
            self.fact("alert says", named.unwrap_or_default()),
            self.fact("state", since(state, order.state_at)),
            self.fact("paid", since(paid, order.paid_at)),
            self.fact("refunded", order.refunded().map(|money| money.to_string()).unwrap_or_default()),
        ];
        let or = |other: &OrderMatch| self.fact("or", format!("{}, {}", other.order.order_id, other.words()));
        facts.extend(others.iter().take(OTHERS).map(or));
        if others.len() > OTHERS {
            facts.push(self.fact("or", format!("{} more", others.len() - OTHERS)));
        }
        facts.push(self.unlinked(matched));
        facts
    }

    /// What the order suggests, and the key that opens the form so.
    fn advice(&mut self, advice: &OrderAdvice) {
        self.suggested(advice.decision);
        // An answer that says why is said once.
        if !advice.decision.words().contains(advice.why) {
            self.say(advice.why, self.cx.theme.quiet);
        }
    }

    fn unlinked(&self, matched: &MatchedOrders) -> Fact {
        self.fact("unlinked", matched.unmatched.join(", "))
    }
}

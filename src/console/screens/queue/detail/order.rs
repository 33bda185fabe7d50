//! The order of the shop in the detail: its state, why and how sure it is the alert's, and what that suggests.

use super::{Fact, Parts};
use crate::{
    Action,
    desk::MatchedOrders,
    domain::{Alert, OrderAdvice, OrderMatch, Timestamp},
    screens::queue::ListSign,
    times,
};

/// Orders beside the first one that are listed.
const OTHERS: usize = 2;

impl Parts<'_> {
    /// The order that matches best; `suggests`: its answer is the one that is suggested; `is_told`: that
    /// it is refunded stands elsewhere.
    pub(super) fn order(
        &mut self,
        alert: &Alert,
        orders: &Result<MatchedOrders, String>,
        suggests: bool,
        is_told: bool,
    ) {
        let matched = match orders {
            Ok(matched) => matched,
            Err(why) => return self.quiet(&format!("Your orders cannot be read: {why}")),
        };
        let Some((first, others)) = matched.matches.split_first() else {
            self.section("ORDER", vec![self.fact("match", "none", ""), self.unlinked(matched)]);
            if !matched.unmatched.is_empty() {
                self.offer("link order again", Some(Action::Unmatch));
            }
            return;
        };
        let advice = first.advice(alert);
        let before = advice.as_ref().filter(|advice| advice.was_refunded_before() && alert.outcome.is_none());
        let before = before.filter(|_| suggests || !is_told);
        if let Some(advice) = before {
            let (sign, style) = ListSign::LookFirst.drawn(self.draw.theme);
            self.callout(style, &format!("{sign} The order is already refunded"), |parts| match suggests {
                true => parts.advice(advice),
                false => parts.say(advice.why, parts.draw.theme.plain),
            });
        }
        let is_advised = before.is_some();
        self.section("ORDER", self.order_facts(alert, first, others, matched));
        match advice.filter(|_| !is_advised) {
            Some(advice) if suggests => self.advice(&advice),
            // Another answer is suggested, and this holds beside it.
            Some(advice) if advice.leaves_refund_open => self.say(advice.why, self.draw.theme.warning),
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
        let mut facts = vec![
            self.fact("id", order.order_id.as_str(), ""),
            self.fact("match", first.words(), ""),
            self.fact("alert says", named.unwrap_or_default(), ""),
            self.fact("state", state.unwrap_or_default(), self.day(order.state_at)),
            self.fact("paid", paid.unwrap_or_default(), self.day(order.paid_at)),
            self.fact("refunded", order.refunded().map(|money| money.to_string()).unwrap_or_default(), ""),
        ];
        let or = |other: &OrderMatch| self.fact("or", format!("{}, {}", other.order.order_id, other.words()), "");
        facts.extend(others.iter().take(OTHERS).map(or));
        if others.len() > OTHERS {
            facts.push(self.fact("or", format!("{} more", others.len() - OTHERS), ""));
        }
        facts.push(self.unlinked(matched));
        facts
    }

    /// A day, and how long ago that was.
    fn day(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!("{}, {}", self.draw.times.day(at), times::ago(at, self.draw.now))).unwrap_or_default()
    }

    /// What the order suggests, and the key that opens the form so.
    fn advice(&mut self, advice: &OrderAdvice) {
        let words = advice.decision.words();
        match self.draw.place.read_only {
            true => self.say(&format!("Suggested: {words}"), self.draw.theme.plain),
            false => self.offer(&format!("{}  {words}", self.draw.key(Action::Suggested)), Some(Action::Suggested)),
        }
        // An answer that says why is said once.
        if !words.contains(advice.why) {
            self.say(advice.why, self.draw.theme.quiet);
        }
    }

    fn unlinked(&self, matched: &MatchedOrders) -> Fact {
        self.fact("unlinked", matched.unmatched.join(", "), "")
    }
}

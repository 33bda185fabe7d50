//! The alerts of a case: which ones wait for an answer, what each would get, and the facts that match them.

use std::cmp::Reverse;

use crate::{
    AppContext,
    dialogs::answer_form::{Choice, KnownCase, RowPlan, cannot_be_answered},
    domain::{Alert, AlertId, Resolution, duplicate, resolution::Decision},
    words::in_words,
};

/// Returns true where a decision can be made on an alert, ticked or not.
pub(super) fn can_be_answered(alert: &Alert, cx: &AppContext) -> bool {
    cannot_be_answered(alert, cx).is_none()
}

/// Returns true where an alert waits for a decision. One that has expired or asks for none takes part only where it is
/// ticked.
pub(super) fn waits(alert: &Alert, cx: &AppContext) -> bool {
    can_be_answered(alert, cx) && !alert.is_closed(cx.now) && !alert.alert_type.is_notice()
}

/// What each alert of a case that waits would get by the key that fits: a refund and what follows it, or an answer as
/// invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// True where it is the refund of the alert under the cursor; else money has gone back already, or is about to.
    pub(super) refunds: bool,
    gets: Vec<(AlertId, String)>,
    /// How many of them are sent something.
    pub(super) sent: usize,
}

impl Foreseen {
    /// Foresees what the form for the case sends as it opens; `refunded` where money has gone back already, or is about
    /// to.
    pub(super) fn of(case: &KnownCase<'_>, refunded: bool, cx: &AppContext) -> Option<Self> {
        if case.alerts.len() < 2 || cx.place.read_only || !case.alerts.iter().any(|alert| waits(alert, cx)) {
            return None;
        }
        let plans = case.foresee(if refunded { Choice::Invalid } else { Choice::Refunded }, cx);
        let words = |(at, alert): (usize, &Alert)| {
            let words = match plans.as_ref().map(|plans| &plans[at]) {
                Some(RowPlan::Sent(resolution)) => sent_words(resolution),
                Some(RowPlan::Out { cautions, .. }) if !cautions.is_empty() => "needs Send anyway".to_owned(),
                Some(RowPlan::Out { .. }) => "not sent".to_owned(),
                None => "needs a reason".to_owned(),
            };
            (alert.id, words)
        };
        // Of what does not wait the state says why it is not sent; where it is what the others follow, it has to be
        // ticked.
        let is_told =
            |alert: &Alert| waits(alert, cx) || !refunded && alert.id == case.first.id && can_be_answered(alert, cx);
        let sent = plans.iter().flatten().filter(|plan| plan.is_sent()).count();
        let gets = case.alerts.iter().enumerate().filter(|(_, alert)| is_told(alert)).map(words).collect();
        Some(Self { refunds: !refunded, gets, sent })
    }

    /// What an alert would get.
    pub(super) fn gets(&self, id: AlertId) -> &str {
        self.gets.iter().find(|(alert, _)| *alert == id).map_or("", |(_, words)| words)
    }
}

/// Answer in few words: of Invalid its reason alone.
fn sent_words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Current { decision: Decision::Invalid(reason), .. } => reason.words().to_owned(),
        other => in_words(other),
    }
}

/// Describes what all of the alerts share: `matched by card, amount, day`. Empty where they have nothing in common.
pub(super) fn shared_words(alerts: &[Alert]) -> String {
    let told = shared_by_all(alerts).join(", ");
    if told.is_empty() { told } else { format!("matched by {told}") }
}

/// Describes what an alert shares with the other one of the case that it shares most with, beyond what all share:
/// `+ ARN`, or `card, amount` where all share nothing.
pub(super) fn shares(alert: &Alert, alerts: &[Alert]) -> String {
    let others = alerts.iter().filter(|other| duplicate::evidence(alert, other).is_some());
    let facts = others.map(|other| duplicate::shared_facts(alert, other)).min_by_key(|facts| Reverse(facts.len()));
    let mut facts = facts.unwrap_or_default();
    let by_all = shared_by_all(alerts);
    facts.retain(|fact| !by_all.contains(fact));
    let told = facts.join(", ");
    if told.is_empty() || by_all.is_empty() { told } else { format!("+ {told}") }
}

fn shared_by_all(alerts: &[Alert]) -> Vec<&'static str> {
    let Some((first, others)) = alerts.split_first() else { return Vec::new() };
    let shared = others.iter().map(|other| duplicate::shared_facts(first, other));
    shared.reduce(|facts, more| facts.into_iter().filter(|fact| more.contains(fact)).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(arn: &str, last_four: &str) -> Alert {
        Alert {
            card_bin: "411111".to_owned(),
            card_last_four: last_four.to_owned(),
            amount: "9.90".parse().ok(),
            acquirer_reference_number: Some(arn.to_owned()),
            auth_code: None,
            transaction_time: None,
            ..Alert::sample()
        }
    }

    #[test]
    fn what_all_share_stands_before_what_some_do() {
        let alerts =
            [alert("74320456118200319940007", "1234"), alert("74320456118200319940007", "1234"), alert("", "1234")];

        assert_eq!(
            (shared_words(&alerts), shares(&alerts[0], &alerts)),
            ("matched by card, amount".to_owned(), "+ ARN".to_owned())
        );
    }

    #[test]
    fn what_one_does_not_have_is_shared_by_none() {
        let alerts = [alert("74320456118200319940007", "1234"), alert("74320456118200319940007", "")];

        assert_eq!(shared_words(&alerts), "matched by amount, ARN");
    }

    #[test]
    fn each_tells_what_it_shares_beyond_what_all_share() {
        let with = |arn: &str, code: Option<&str>, id: Option<&str>| Alert {
            auth_code: code.map(str::to_owned),
            transaction_id: id.map(str::to_owned),
            ..alert(arn, "1234")
        };
        let (code, id) = (Some("093112"), Some("T-1"));
        let arn = "74320456118200319940007";
        let told = |one: Alert, others: Vec<Alert>| shares(&one.clone(), &[vec![one], others].concat());

        assert_eq!(told(with("", code, None), vec![with("", code, None)]), "");
        assert_eq!(told(with("", code, id), vec![with("", code, None), with("", None, id)]), "+ auth code");
        assert_eq!(told(with(arn, code, None), vec![with(arn, code, None), with("", None, None)]), "+ ARN, auth code");
        let other =
            Alert { card_bin: String::new(), card_last_four: String::new(), amount: None, ..with(arn, code, id) };
        assert_eq!(told(with("", None, None), vec![with("", None, None), other]), "card, amount");
    }

    #[test]
    fn an_alert_that_is_alone_shares_nothing() {
        assert_eq!(shared_words(&[alert("", "1234")]), "");
    }
}

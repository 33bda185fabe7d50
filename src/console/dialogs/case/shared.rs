//! Why the alerts of a case belong together, in a sentence: what all of them share, and what some do.

use std::collections::HashMap;
use std::hash::Hash;

use crate::domain::duplicate::SharedFact;
use crate::domain::{Alert, duplicate};

/// What the alerts share: `they share card, amount and day; two share the ARN`. Nothing where all have nothing in
/// common.
pub(super) fn shared_words(alerts: &[Alert]) -> Option<String> {
    if alerts.len() < 2 {
        return None;
    }
    let shared = shared_by_all(alerts);
    let (last, before) = shared.split_last()?;
    let listed = if before.is_empty() { (*last).to_owned() } else { format!("{} and {last}", before.join(", ")) };
    let some =
        [("ARN", most_alike(alerts, Alert::known_arn)), ("auth code", most_alike(alerts, Alert::known_auth_code))];
    // Fewer than all, and more than one.
    let some = some.into_iter().filter(|(_, count)| (2..alerts.len()).contains(count));
    let some: String = some.map(|(words, count)| format!("; {} by {words}", in_letters(count))).collect();
    Some(format!("matched by {listed}{some}"))
}

/// What all of them share, in words.
fn shared_by_all(alerts: &[Alert]) -> Vec<&'static str> {
    let card = |alert: &Alert| {
        let (bin, last) = (alert.card_bin.trim(), alert.card_last_four.trim());
        (!bin.is_empty() && !last.is_empty()).then(|| (bin.to_owned(), last.to_owned()))
    };
    let all = [
        ("card", is_shared(alerts, card)),
        ("amount", is_shared(alerts, |alert| Some((alert.amount?.decimal(), alert.currency.as_str().to_owned())))),
        ("day", is_shared(alerts, |alert| alert.given_transaction_time().map(|at| at.date_naive()))),
        ("ARN", is_shared(alerts, Alert::known_arn)),
        ("auth code", is_shared(alerts, Alert::known_auth_code)),
    ];
    all.into_iter().filter(|(_, shared)| *shared).map(|(words, _)| words).collect()
}

/// What an alert shares with the other one of the case that it shares most with, in one order, beyond what the sentence
/// says of all: `+ ARN`, or `card, amount` where not even those are shared by all.
pub(super) fn shares(alert: &Alert, alerts: &[Alert]) -> String {
    let others = alerts.iter().filter(|other| duplicate::evidence(alert, other).is_some());
    let shared = others.map(|other| duplicate::shared_facts(alert, other));
    // Stronger facts before weaker ones, and more before fewer.
    let rank = |facts: &Vec<SharedFact>| {
        facts.iter().map(|fact| (false, Some(*fact))).chain([(true, None)]).collect::<Vec<_>>()
    };
    let facts = shared.min_by_key(rank).unwrap_or_default();
    let by_all = shared_by_all(alerts);
    let told = IN_ORDER.into_iter().filter(|fact| facts.contains(fact) && !by_all.contains(&fact.words()));
    let told = told.map(SharedFact::words).collect::<Vec<_>>().join(", ");
    if told.is_empty() || by_all.is_empty() { told } else { format!("+ {told}") }
}

/// The facts in the order of the sentence.
const IN_ORDER: [SharedFact; 6] = [
    SharedFact::Card,
    SharedFact::Amount,
    SharedFact::Day,
    SharedFact::Arn,
    SharedFact::AuthCode,
    SharedFact::TransactionId,
];

/// Returns true where all have a thing, and the same.
fn is_shared<'a, T: Eq + Hash>(alerts: &'a [Alert], of: impl Fn(&'a Alert) -> Option<T>) -> bool {
    most_alike(alerts, of) == alerts.len()
}

/// How many have the same, of what most have.
fn most_alike<'a, T: Eq + Hash>(alerts: &'a [Alert], of: impl Fn(&'a Alert) -> Option<T>) -> usize {
    let mut counts: HashMap<T, usize> = HashMap::new();
    for thing in alerts.iter().filter_map(of) {
        *counts.entry(thing).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

fn in_letters(count: usize) -> String {
    match count {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        more => more.to_string(),
    }
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

        assert_eq!(shared_words(&alerts).as_deref(), Some("matched by card and amount; two by ARN"));
    }

    #[test]
    fn what_one_does_not_have_is_shared_by_none() {
        let alerts = [alert("74320456118200319940007", "1234"), alert("74320456118200319940007", "")];

        assert_eq!(shared_words(&alerts).as_deref(), Some("matched by amount and ARN"));
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
        assert_eq!(told(with("", code, id), vec![with("", code, None), with("", None, id)]), "+ transaction id");
        assert_eq!(told(with(arn, code, None), vec![with(arn, code, None), with("", None, None)]), "+ ARN, auth code");
        let other =
            Alert { card_bin: String::new(), card_last_four: String::new(), amount: None, ..with(arn, code, id) };
        assert_eq!(told(with("", None, None), vec![with("", None, None), other]), "card, amount");
    }

    #[test]
    fn an_alert_that_is_alone_shares_nothing() {
        assert_eq!(shared_words(&[alert("", "1234")]), None);
    }
}

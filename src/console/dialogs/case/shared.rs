//! The facts that match the alerts of a case: what all of them share, and what one shares beyond that.

use crate::domain::{
    Alert,
    duplicate::{self, SharedFact},
};

/// The facts in the order in which they are told.
const IN_ORDER: [SharedFact; 6] = [
    SharedFact::Card,
    SharedFact::Amount,
    SharedFact::Day,
    SharedFact::Arn,
    SharedFact::AuthCode,
    SharedFact::TransactionId,
];

/// Describes what all of the alerts share: `matched by card, amount, day`. Empty where they have nothing in common.
pub(super) fn shared_words(alerts: &[Alert]) -> String {
    let told = words(&shared_by_all(alerts));
    if told.is_empty() { told } else { format!("matched by {told}") }
}

/// Describes what an alert shares with the other one of the case that it shares most with, beyond what all share:
/// `+ ARN`, or `card, amount` where all share nothing.
pub(super) fn shares(alert: &Alert, alerts: &[Alert]) -> String {
    let others = alerts.iter().filter(|other| duplicate::evidence(alert, other).is_some());
    // Stronger facts before weaker ones, and more before fewer.
    let rank = |facts: &Vec<SharedFact>| {
        facts.iter().map(|fact| (false, Some(*fact))).chain([(true, None)]).collect::<Vec<_>>()
    };
    let mut facts = others.map(|other| duplicate::shared_facts(alert, other)).min_by_key(rank).unwrap_or_default();
    let by_all = shared_by_all(alerts);
    facts.retain(|fact| !by_all.contains(fact));
    let told = words(&facts);
    if told.is_empty() || by_all.is_empty() { told } else { format!("+ {told}") }
}

fn shared_by_all(alerts: &[Alert]) -> Vec<SharedFact> {
    let Some((first, others)) = alerts.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let shared: Vec<Vec<SharedFact>> = others.iter().map(|other| duplicate::shared_facts(first, other)).collect();
    IN_ORDER.into_iter().filter(|fact| shared.iter().all(|facts| facts.contains(fact))).collect()
}

fn words(facts: &[SharedFact]) -> String {
    let told = IN_ORDER.into_iter().filter(|fact| facts.contains(fact)).map(SharedFact::words);
    told.collect::<Vec<_>>().join(", ")
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
        assert_eq!(told(with("", code, id), vec![with("", code, None), with("", None, id)]), "+ transaction id");
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

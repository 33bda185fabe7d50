//! Why the alerts of a case belong together, in a sentence: what all of them share, and what some do.

use std::collections::HashMap;
use std::hash::Hash;

use crate::domain::Alert;

/// What the alerts share: `they share card, amount and day; two share the ARN`. Nothing where all have nothing in common.
pub(super) fn shared_words(alerts: &[Alert]) -> Option<String> {
    if alerts.len() < 2 {
        return None;
    }
    let card = |alert: &Alert| {
        let (bin, last) = (alert.card_bin.trim(), alert.card_last_four.trim());
        (!bin.is_empty() && !last.is_empty()).then(|| (bin.to_owned(), last.to_owned()))
    };
    let arn = |alert: &Alert| given(alert.acquirer_reference_number.as_deref());
    let code = |alert: &Alert| given(alert.auth_code.as_deref());
    let all = [
        ("card", is_shared(alerts, card)),
        ("amount", is_shared(alerts, |alert| Some((alert.amount?.decimal(), alert.currency.as_str().to_owned())))),
        ("day", is_shared(alerts, |alert| alert.given_transaction_time().map(|at| at.date_naive()))),
        ("ARN", is_shared(alerts, arn)),
        ("auth code", is_shared(alerts, code)),
    ];
    let shared: Vec<&str> = all.iter().filter(|(_, shared)| *shared).map(|(words, _)| *words).collect();
    let (last, before) = shared.split_last()?;
    let listed = if before.is_empty() { (*last).to_owned() } else { format!("{} and {last}", before.join(", ")) };
    let some = [("ARN", most_alike(alerts, arn)), ("auth code", most_alike(alerts, code))];
    // Fewer than all, and more than one.
    let some = some.into_iter().filter(|(_, count)| (2..alerts.len()).contains(count));
    let some: String = some.map(|(words, count)| format!("; {} share the {words}", in_letters(count))).collect();
    Some(format!("they share {listed}{some}"))
}

/// A text that was given.
fn given(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Whether all have a thing, and the same.
fn is_shared<T: Eq + Hash>(alerts: &[Alert], of: impl Fn(&Alert) -> Option<T>) -> bool {
    most_alike(alerts, of) == alerts.len()
}

/// How many have the same, of what most have.
fn most_alike<T: Eq + Hash>(alerts: &[Alert], of: impl Fn(&Alert) -> Option<T>) -> usize {
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
        let alerts = [alert("74320456118200319940007", "1234"), alert("74320456118200319940007", "1234"), alert("", "1234")];

        assert_eq!(shared_words(&alerts).as_deref(), Some("they share card and amount; two share the ARN"));
    }

    #[test]
    fn what_one_does_not_have_is_shared_by_none() {
        let alerts = [alert("74320456118200319940007", "1234"), alert("74320456118200319940007", "")];

        assert_eq!(shared_words(&alerts).as_deref(), Some("they share amount and ARN"));
    }

    #[test]
    fn an_alert_that_is_alone_shares_nothing() {
        assert_eq!(shared_words(&[alert("", "1234")]), None);
    }
}

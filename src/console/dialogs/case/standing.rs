//! The alerts of a case: which ones wait for an answer, and the facts that match them.

use crate::{
    AppContext,
    dialogs::answer_form::cannot_be_answered,
    domain::{Alert, duplicate},
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

/// Describes what an alert shares with the other one of the case that it shares most with: `matched by card, amount,
/// day`. Empty where it is alone.
pub(super) fn matched_by(alert: &Alert, alerts: &[Alert]) -> String {
    let others = alerts.iter().filter(|other| other.id != alert.id);
    let facts = others.map(|other| duplicate::shared_facts(alert, other)).max_by_key(Vec::len).unwrap_or_default();
    if facts.is_empty() { String::new() } else { format!("matched by {}", facts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AlertId;

    fn alert(arn: &str, auth_code: Option<&str>) -> Alert {
        Alert {
            id: AlertId::generate(),
            card_bin: "411111".to_owned(),
            card_last_four: "1234".to_owned(),
            amount: "9.90".parse().ok(),
            acquirer_reference_number: Some(arn.to_owned()),
            auth_code: auth_code.map(str::to_owned),
            transaction_time: None,
            ..Alert::sample()
        }
    }

    #[test]
    fn an_alert_is_matched_by_what_it_shares_with_the_closest_other_one() {
        let arn = "74320456118200319940007";
        let alerts = [alert(arn, None), alert("", Some("093112")), alert(arn, Some("093112"))];

        let told = [&alerts[0], &alerts[1]].map(|alert| matched_by(alert, &alerts));

        assert_eq!(told, ["matched by card, amount, ARN", "matched by card, amount, auth code"]);
        assert_eq!(matched_by(&alerts[0], &alerts[..1]), "");
    }
}

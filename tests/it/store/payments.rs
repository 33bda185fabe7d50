//! Alerts that may be on one payment: what a store looks for, whatever it keeps.

use avert::domain::Alert;

use super::Fixture;
use crate::support::alerts::open_alert;

contract!(an_alert_on_the_payment_is_found_by_its_references, what_identifies_nothing_is_looked_for_by_no_store);

/// An alert without card digits.
fn bare(provider_id: &str, arn: &str, code: &str) -> Alert {
    Alert {
        card_bin: String::new(),
        card_last_four: String::new(),
        acquirer_reference_number: Some(arn.to_owned()),
        auth_code: Some(code.to_owned()),
        ..open_alert(provider_id)
    }
}

/// The network ids of what a store finds for the first of these alerts.
async fn found(fixture: &Fixture, alerts: &[Alert]) -> Vec<String> {
    fixture.bring(alerts).await;
    let found = fixture.store.alike(fixture.organization, vec![alerts[0].id]).await.unwrap();
    found[0].1.iter().map(|other| other.provider_id.clone()).collect()
}

async fn an_alert_on_the_payment_is_found_by_its_references(fixture: Fixture) {
    let arn = "74320456118200319945216";
    let alerts = [
        bare("P1", arn, "093112"),
        bare("BY-ARN", arn, "1"),
        bare("BY-CODE", "7", "093112"),
        bare("NEITHER", "8", "2"),
    ];

    assert_eq!(found(&fixture, &alerts).await, ["BY-ARN", "BY-CODE"]);
}

/// What was brought in before there was a rule is there all the same.
async fn what_identifies_nothing_is_looked_for_by_no_store(fixture: Fixture) {
    let (arn, code) = ("00000000000000000000000", "N/A");

    assert_eq!(found(&fixture, &[bare("P1", arn, code), bare("P2", arn, code)]).await, Vec::<String>::new());
}

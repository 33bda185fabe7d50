//! Duplicates in avert's own database: by card and money, by the acquirer's reference and by the authorization code,
//! card digits or not.

use avert::{
    domain::{Alert, Provider},
    service::Duplicates,
};

use crate::support::{
    alerts::open_alert,
    engine::{Desk, bring_in},
};

const ARN: &str = "74320456118200319945216";

/// An alert of the payment, and one as another network tells of it.
fn alert(change: impl Fn(&mut Alert)) -> Alert {
    let mut alert = Alert {
        acquirer_reference_number: Some(ARN.to_owned()),
        auth_code: Some("093112".to_owned()),
        ..open_alert("")
    };
    alert.id = avert::domain::AlertId::generate();
    alert.provider_id = alert.id.to_string();
    change(&mut alert);
    alert
}

fn without_card(alert: &mut Alert) {
    alert.provider = Provider::Cdrn;
    (alert.card_bin, alert.card_last_four) = (String::new(), String::new());
}

#[tokio::test]
async fn doubles_are_found_by_every_fact_without_card_digits_too() {
    let desk = Desk::new().await;
    let asked = alert(|_| {});
    let by_card = alert(|other| (other.acquirer_reference_number, other.auth_code) = (None, None));
    let by_arn = alert(|other| {
        without_card(other);
        other.auth_code = None;
    });
    let by_code = alert(|other| {
        without_card(other);
        other.acquirer_reference_number = None;
    });
    let stranger = alert(|other| {
        without_card(other);
        other.amount = Some("7.77".parse().unwrap());
    });
    let doubles = [by_card.id, by_arn.id, by_code.id];
    let all = [asked.clone(), by_card, by_arn, by_code, stranger.clone()];
    let report = bring_in(&desk.acting, all).await;
    assert_eq!(report.created, 5);

    let found = desk.acting.duplicates(vec![asked.id, avert::domain::AlertId::generate()]).await.unwrap();

    assert_eq!(found.len(), 1, "one that is not there is left out");
    let mut ids: Vec<_> = found[0].1.iter().map(|other| other.id).collect();
    ids.sort_unstable();
    let mut wanted = doubles.to_vec();
    wanted.sort_unstable();
    assert_eq!(ids, wanted);
    assert!(!ids.contains(&stranger.id));
}

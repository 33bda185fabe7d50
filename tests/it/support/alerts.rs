//! Alerts to test with: one that is plain and complete, and any that there can be.

use avert::domain::{
    Alert, AlertId, AlertType, Currency, Deadline, Outcome, Provider,
    field::{Content, Field, Kind},
    time::{Timestamp, from_iso},
};
use chrono::Duration;
use uuid::Uuid;

/// The moment most tests take place at.
pub const NOON: &str = "2026-03-10T12:00:00Z";

/// [`NOON`] as a moment.
pub fn noon() -> Timestamp {
    from_iso(NOON).unwrap()
}

/// An open Ethoca alert raised an hour before [`NOON`], so with 23 hours left, with the sample values of the field
/// notes.
pub fn open_alert(provider_id: &str) -> Alert {
    let raised = noon() - Duration::hours(1);
    Alert {
        provider_id: provider_id.to_owned(),
        alert_time: Some(raised),
        transaction_time: Some(raised - Duration::days(2)),
        issuer: "HSBC".to_owned(),
        card_bin: "411111".to_owned(),
        card_last_four: "1234".to_owned(),
        card_expiration_date: Some("12/27".to_owned()),
        merchant_descriptor: "ACME*SHOP BERLIN".to_owned(),
        merchant_id: "M-100".to_owned(),
        merchant_name: "ACME Shop GmbH".to_owned(),
        merchant_order_id: Some("A-10293".to_owned()),
        mcc: Some("5732".to_owned()),
        amount: Some("129.90".parse().unwrap()),
        currency: Currency::new("EUR"),
        transaction_type: "eCommerce".to_owned(),
        initiated_by: "issuer".to_owned(),
        auth_code: Some("093112".to_owned()),
        reason_code: Some("10.4".to_owned()),
        created_at: Some(raised),
        updated_at: Some(raised),
        deadline: Deadline::At(raised + Duration::hours(24)),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }
}

/// An answered alert with a value in every field of the tables. Another number makes every one of them another.
pub fn every_field(number: u8) -> Alert {
    let mut alert = Alert::default();
    fill(&mut alert, Alert::FIELDS, number);
    let mut outcome = Outcome::default();
    fill(&mut outcome, Outcome::FIELDS, number);
    alert.outcome = Some(Outcome { alert_id: alert.id, ..outcome });
    alert
}

fn fill<R>(record: &mut R, fields: &[Field<R>], number: u8) {
    for (field, place) in fields.iter().zip(1..) {
        let text = || match field.text.content {
            Content::Bin => format!("41111{}", number % 10),
            Content::LastFour => format!("123{}", number % 10),
            Content::Currency => format!("EU{}", char::from(b'A' + number)),
            _ => format!("text {place} {number}"),
        };
        match &field.kind {
            Kind::Id(id) | Kind::Reference(id) => (id.set)(record, Uuid::from_u128(u128::from(number) << 64 | place)),
            Kind::Word(access) | Kind::Text(access) => (access.set)(record, text().into()),
            Kind::Moment(moment) => {
                (moment.set)(
                    record,
                    noon() + Duration::minutes(i64::from(number) * 100 + i64::try_from(place).unwrap()),
                );
            }
            Kind::Amount(amount) => (amount.set)(record, format!("{place}.{number:02}").parse().unwrap()),
            Kind::Flag(flag) => (flag.set)(record, true),
        }
    }
}

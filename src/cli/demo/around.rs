//! Work around the clock in a demo: the webhook of a source, a dry rule, and a dispute after an answer.

use std::net::Ipv4Addr;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use chrono::Duration;
use serde_json::json;

use crate::{
    config::{Bounded, RuleSections, RuleSettings, SourceName, SourceSections, SourceSettings},
    domain::{
        Alert, AlertPatch, AlertStatus, TruthKind, TruthReport,
        time::{Timestamp, to_iso},
    },
    engine::{ActingEngine, Engine, SignedRequest},
    inbound::signature::SourceHeaders,
    service::Truth,
};

/// Returns the demo's one source.
pub(super) fn sources() -> SourceSections {
    let set = SourceSettings { preset: "justt".to_owned(), ..SourceSettings::default() };
    [(SourceName("justt".to_owned()), set)].into()
}

/// Returns the limits of the demo's one automatic rule, which is dry for as long as a demo lasts.
pub(super) fn rules() -> RuleSections {
    let limits = RuleSettings {
        per_day: Bounded(20),
        amount_per_day: "200.00 EUR".parse().ok(),
        refunds_elsewhere: true,
        ..RuleSettings::default()
    };
    RuleSections { automatic: vec!["small".to_owned()], limits: [("small".to_owned(), limits)].into() }
}

/// Takes the webhook of an alert from each source, as after the check of its signature.
pub(super) async fn take_webhooks(engine: &Engine, now: Timestamp) -> anyhow::Result<()> {
    for source in &*engine.settings().sources {
        let alert = json!({
            "internalAlertId": "9d6f0c2e-5b1a-4c7e-8f43-2a6b1d0e7c55",
            "provider": "ethoca",
            "providerAlertId": "DEMO9D6F0C2E5B1A4C7E",
            "alertType": "issuer_alert",
            "alertTimestamp": to_iso(now - Duration::minutes(2)),
            "merchantDescriptor": "NORDWIND*TEE 4417",
            "merchantOrderID": "NW-774120",
            "transaction": {
                "id": "txn_demo_774120", "timestamp": to_iso(now - Duration::days(9)),
                "amount": 84.50, "currency": "EUR", "card": {"bin": "453201", "last4": "7741"},
            },
        });
        let body = json!({"type": "pre_chargeback_alert.received", "timestamp": to_iso(now), "data": alert});
        let id = (HeaderName::from_static("webhook-id"), HeaderValue::from_static("msg_demo_1"));
        let (headers, body) = (HeaderMap::from_iter([id]), body.to_string().into_bytes());
        let headers = SourceHeaders(&headers);
        engine.receive(source, SignedRequest { headers, body, from: Ipv4Addr::LOCALHOST.into() }).await?;
    }
    Ok(())
}

/// Reports a dispute on the newest payment that was answered with a refund.
pub(super) async fn dispute(acting: &ActingEngine, backlog: &[AlertPatch], now: Timestamp) -> anyhow::Result<()> {
    let refunded = |alert: &&Alert| {
        let outcome = alert.outcome.as_ref().filter(|outcome| outcome.refunded == "refunded");
        alert.status == AlertStatus::Resolved && alert.known_arn().is_some() && outcome.is_some()
    };
    let answered = backlog.iter().map(|row| &row.alert).filter(refunded);
    let Some(alert) = answered.max_by_key(|alert| alert.alert_time) else { return Ok(()) };
    let report = TruthReport {
        kind: TruthKind::Dispute,
        id: "dp_demo_1".to_owned(),
        arn: alert.acquirer_reference_number.clone(),
        card_bin: Some(alert.card_bin.clone()),
        card_last_four: Some(alert.card_last_four.clone()),
        amount: alert.amount,
        currency: Some(alert.currency.clone()),
        reason: Some("fraudulent".to_owned()),
        status: Some("needs_response".to_owned()),
        at: Some(now),
        ..TruthReport::default()
    };
    acting.record_truth(vec![report]).await?;
    Ok(())
}

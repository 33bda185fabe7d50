//! How things are written in the operator's answers.

use chrono::{DateTime, TimeDelta};
use serde_json::{Map, Value, json};

use crate::domain::resolution::InvalidReason;
use crate::domain::time::to_iso;
use crate::domain::{
    AtRisk, AuditEntry, Company, Count, Credential, CredentialKind, Delivery, DeliveryLog, DeliveryTry, Endpoint, RejectedRow, Resolution,
    SentRequest, UnsettledResolution,
};

pub(crate) fn endpoint(endpoint: &Endpoint) -> Value {
    json!({
        "id": endpoint.id.to_string(),
        "url": endpoint.url.as_str(),
        "auth": endpoint.auth,
        "enabled": endpoint.disabled.is_none(),
        "createdAt": to_iso(endpoint.created_at),
        "disabledAt": endpoint.disabled.as_ref().map(|(at, _)| to_iso(*at)),
        "disabledReason": endpoint.disabled.as_ref().map(|(_, reason)| reason),
        "failingSince": endpoint.failing_since.map(to_iso),
        "signed": endpoint.signed,
        "oldSecretUntil": endpoint.old_secret_until.map(to_iso),
    })
}

pub(crate) fn delivery(delivery: &Delivery) -> Value {
    json!({
        "id": delivery.id.to_string(),
        "eventId": delivery.event.to_string(),
        "event": delivery.kind.as_str(),
        "alertId": delivery.alert.to_string(),
        "test": delivery.test,
        "endpointId": delivery.endpoint.to_string(),
        "url": delivery.url,
        "state": delivery.state.as_str(),
        "attempts": delivery.attempts,
        "dueAt": delivery.due.map(to_iso),
        "lastResult": delivery.last_result,
        "deliveredAt": delivery.delivered_at.map(to_iso),
    })
}

fn delivery_try(one: &DeliveryTry) -> Value {
    json!({
        "number": one.number,
        "startedAt": to_iso(one.started_at),
        "durationMs": one.duration_ms,
        "status": one.status,
        "error": one.error,
        "answer": one.answer,
        "sent": one.sent.as_ref().map(sent),
    })
}

/// A delivery with its body and its tries.
pub(crate) fn delivery_log(log: &DeliveryLog) -> Value {
    let mut shown = delivery(&log.delivery);
    if let Some(members) = shown.as_object_mut() {
        members.insert("body".to_owned(), log.body.as_str().into());
        members.insert("tries".to_owned(), log.tries.iter().map(delivery_try).collect::<Vec<Value>>().into());
    }
    shown
}

fn sent(sent: &SentRequest) -> Value {
    let headers: Vec<Value> = sent.headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({"url": sent.url, "headers": headers})
}

pub(super) fn credential(credential: &Credential) -> Value {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), credential.id.as_str().into());
    if let CredentialKind::Key(scope) = credential.kind {
        shown.insert("scope".to_owned(), scope.as_str().into());
    }
    shown.insert("createdAt".to_owned(), to_iso(credential.created_at).into());
    shown.insert("lastUsedAt".to_owned(), credential.last_used_at.map(to_iso).into());
    shown.insert("revokedAt".to_owned(), credential.revoked_at.map(to_iso).into());
    Value::Object(shown)
}

/// What is told this once, beside what stays.
pub(super) fn with_secret(mut shown: Value, name: &str, secret: &str) -> Value {
    if let Some(members) = shown.as_object_mut() {
        members.insert(name.to_owned(), secret.into());
    }
    shown
}

pub(super) fn company(company: &Company) -> Value {
    json!({
        "id": company.id.to_string(),
        "enrollmentIds": company.enrollments.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

pub(super) fn count(count: &Count) -> Value {
    let date = |day: i64| TimeDelta::try_days(day).and_then(|days| DateTime::UNIX_EPOCH.checked_add_signed(days));
    json!({
        "day": count.day.and_then(date).map(|date| date.format("%Y-%m-%d").to_string()),
        "provider": count.provider.as_str(),
        "type": count.alert_type.as_str(),
        "status": count.status.as_str(),
        "outcome": count.outcome,
        "expired": count.expired,
        "alerts": count.alerts,
    })
}

/// Sums by a word, in the order in which the words come up.
pub(super) fn sums<'a>(counts: &'a [Count], word: impl Fn(&'a Count) -> &'a str) -> Value {
    let mut sums: Map<String, Value> = Map::new();
    for count in counts {
        let sum = sums.entry(word(count)).or_insert(Value::from(0));
        *sum = Value::from(sum.as_u64().unwrap_or(0) + count.alerts);
    }
    Value::Object(sums)
}

pub(super) fn at_risk(risk: &AtRisk) -> Value {
    json!({"currency": risk.money.currency.as_str(), "amount": risk.money.amount.to_string(), "alerts": risk.alerts})
}

pub(super) fn attempt(attempt: &UnsettledResolution) -> Value {
    json!({
        "id": attempt.id.to_string(),
        "alertId": attempt.alert.to_string(),
        "state": attempt.state,
        "resolution": resolution(&attempt.resolution),
        "actor": attempt.actor,
        "startedAt": to_iso(attempt.started_at),
        "nextCheckAt": attempt.next_check.map(to_iso),
        "checks": attempt.checks,
        "detail": attempt.detail,
    })
}

/// A decision as its body said it.
fn resolution(resolution: &Resolution) -> Value {
    match resolution {
        Resolution::Current { decision, comments } => json!({
            "refunded": decision.refunded(),
            "resolution": decision.reason().map(InvalidReason::as_str),
            "comments": comments,
        }),
        Resolution::Older { word, refunded, amount_stopped, comments } => json!({
            "refunded": refunded.as_str(),
            "resolution": word.as_str(),
            "amountStopped": amount_stopped.map(|amount| amount.to_string()),
            "comments": comments,
        }),
    }
}

pub(super) fn audit(entry: &AuditEntry) -> Value {
    json!({
        "number": entry.number,
        "at": to_iso(entry.at),
        "actor": entry.actor,
        "origin": entry.origin,
        "action": entry.action,
        "subject": entry.subject,
        "detail": entry.detail,
        "previous": hex(&entry.previous),
        "hash": hex(&entry.hash),
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn rejected(row: &RejectedRow) -> Value {
    json!({"line": row.line, "field": row.error.field, "message": row.error.message})
}

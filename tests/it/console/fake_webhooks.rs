//! The webhooks of the fake service: endpoints, deliveries and their attempts in memory, with a note of all that was to
//! be sent.

use async_trait::async_trait;
use avert::{
    domain::{
        AlertId, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState,
        Endpoint, EndpointChange, EndpointId, EventId, EventKind, NewEndpoint, SentRequest, Subscription,
        time::Timestamp,
    },
    service::{ServiceError, Webhooks},
};
use chrono::Duration;
use uuid::Uuid;

use super::fake::{Fake, not_asked};

/// Something that was to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    Test(EndpointId),
    Again(DeliveryId),
    AllOf(EndpointId),
}

pub fn endpoint_id(number: u128) -> EndpointId {
    EndpointId(Uuid::from_u128(0x5_0000 + number))
}

pub fn delivery_id(number: u128) -> DeliveryId {
    DeliveryId(Uuid::from_u128(0xD_0000 + number))
}

/// One endpoint that is well, one that fails, and one that was disabled.
pub fn endpoints(now: Timestamp) -> Vec<Endpoint> {
    let one = |number, url: &str, auth: &str| Endpoint {
        id: endpoint_id(number),
        url: url.parse().unwrap(),
        auth: auth.to_owned(),
        created_at: now - Duration::days(90),
        disabled: None,
        last_success: None,
        failing_since: None,
        signed: number == 1,
        old_secret_until: None,
        has_ca_certificate: false,
        subscription: Subscription::default(),
    };
    vec![
        Endpoint {
            last_success: Some(now - Duration::minutes(2)),
            ..one(1, "https://shop.example/hooks/alerts", "Basic")
        },
        Endpoint {
            last_success: Some(now - Duration::hours(3)),
            failing_since: Some(now - Duration::minutes(130)),
            ..one(2, "https://erp.example/in/chargebacks", "X-API-Key")
        },
        Endpoint {
            disabled: Some((now - Duration::days(3), "it failed for 120 h".to_owned())),
            ..one(3, "https://old-shop.example/hooks", "Basic")
        },
    ]
}

/// What came of the deliveries of a morning; the oldest first.
pub fn deliveries(now: Timestamp) -> Vec<Delivery> {
    use DeliveryState::{Cancelled, Delivered, Exhausted, Leased, Pending};
    let rows = [
        (3, 4_500, Cancelled, 7, Some("no connection: connection refused")),
        (2, 3_000, Exhausted, 13, Some("503")),
        (2, 1_490, Exhausted, 13, Some("no reply within 15 s")),
        (1, 610, Delivered, 1, Some("200")),
        (1, 300, Delivered, 3, Some("200")),
        (2, 299, Pending, 6, Some("503")),
        (1, 122, Delivered, 1, Some("200")),
        (2, 120, Pending, 4, Some("503")),
        (1, 31, Delivered, 1, Some("200")),
        (2, 30, Pending, 2, Some("no reply within 15 s")),
        (1, 2, Delivered, 1, Some("200")),
        (2, 2, Leased, 0, None),
        (1, 1, Pending, 0, None),
    ];
    let all = endpoints(now);
    let one = |number: u128, (to, minutes, state, attempts, result): (usize, i64, DeliveryState, u32, Option<&str>)| {
        let at = now - Duration::minutes(minutes);
        let endpoint = &all[to - 1];
        Delivery {
            id: delivery_id(number),
            event: EventId(Uuid::from_u128(0xE_0000 + number)),
            kind: if number.is_multiple_of(3) { EventKind::AlertResolved } else { EventKind::AlertCreated },
            at,
            alert: AlertId(Uuid::from_u128(number % 19 + 1)),
            test: false,
            endpoint: endpoint.id,
            url: endpoint.url.to_string(),
            state,
            attempts,
            due: (state == Pending).then(|| now + Duration::minutes(i64::from(attempts) * 7)),
            last_result: result.map(str::to_owned),
            delivered_at: (state == Delivered).then_some(at + Duration::seconds(1)),
        }
    };
    (1..).zip(rows).map(|(number, row)| one(number, row)).collect()
}

/// A delivery with its attempts: all failed but that which delivered it.
pub fn log(delivery: &Delivery) -> DeliveryLog {
    let attempt = |number: u32| {
        let last = number == delivery.attempts;
        let taken = last && delivery.state == DeliveryState::Delivered;
        let silent = delivery.last_result.as_deref().is_some_and(|result| result.starts_with("no reply")) && last;
        DeliveryAttempt {
            number,
            started_at: delivery.at + Duration::minutes(i64::from(number - 1) * 5),
            duration_ms: if silent { 15_000 } else { 34 },
            status: if taken { Some(200) } else { (!silent).then_some(503) },
            error: silent.then(|| "no reply within 15 s".to_owned()),
            answer: if taken || silent { String::new() } else { "out of order: the stock is being counted".to_owned() },
            sent: Some(SentRequest {
                url: delivery.url.clone(),
                headers: [("authorization", "Basic ****"), ("content-type", "application/json"), ("webhook-id", "e-1")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .to_vec(),
            }),
        }
    };
    DeliveryLog {
        delivery: delivery.clone(),
        body: format!("{{\"event\":\"{}\",\"payload\":{{\"id\":\"{}\"}}}}", delivery.kind.as_str(), delivery.alert),
        attempts: (1..=delivery.attempts).map(attempt).collect(),
    }
}

impl Fake {
    fn delivery_of(&self, id: DeliveryId) -> Result<Delivery, ServiceError> {
        let found = self.deliveries.lock().unwrap().iter().find(|delivery| delivery.id == id).cloned();
        found.ok_or_else(|| ServiceError::NotFound(format!("delivery {id}")))
    }
}

#[async_trait]
impl Webhooks for Fake {
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        self.up()?;
        Ok(self.endpoints.lock().unwrap().clone())
    }

    async fn add_endpoint(&self, _endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        not_asked()
    }

    async fn change_endpoint(&self, _id: EndpointId, _change: EndpointChange) -> Result<Endpoint, ServiceError> {
        not_asked()
    }

    async fn remove_endpoint(&self, _id: EndpointId) -> Result<(), ServiceError> {
        not_asked()
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError> {
        self.sent_webhooks.lock().unwrap().push(Sent::Test(id));
        self.up()?;
        let delivery = self.deliveries.lock().unwrap().iter().rfind(|delivery| delivery.endpoint == id).cloned();
        let delivery = delivery.ok_or_else(|| ServiceError::NotFound(format!("endpoint {id}")))?;
        let well =
            self.endpoints.lock().unwrap().iter().any(|endpoint| endpoint.id == id && endpoint.failing_since.is_none());
        let (state, result) = if well { (DeliveryState::Delivered, "200") } else { (DeliveryState::Exhausted, "503") };
        Ok(log(&Delivery { test: true, state, attempts: 1, last_result: Some(result.to_owned()), ..delivery }))
    }

    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError> {
        self.up()?;
        let all = self.deliveries.lock().unwrap();
        let matches = |delivery: &&Delivery| {
            (filter.states.is_empty() || filter.states.contains(&delivery.state))
                && filter.alert.is_none_or(|alert| delivery.alert == alert)
                && filter.endpoint.is_none_or(|endpoint| delivery.endpoint == endpoint)
                && filter.from.is_none_or(|from| delivery.at >= from)
                && filter.until.is_none_or(|until| delivery.at < until)
        };
        let newest = all.iter().rev().skip_while(|delivery| filter.after.is_some_and(|after| delivery.id != after));
        let mut found = newest.skip(usize::from(filter.after.is_some())).filter(matches).cloned();
        let data: Vec<Delivery> = found.by_ref().take(filter.size.unwrap_or(10) as usize).collect();
        let next = data.last().filter(|_| found.next().is_some()).map(|delivery| delivery.id);
        Ok(DeliveryPage { data, next })
    }

    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError> {
        self.up()?;
        self.delivery_of(id).map(|delivery| log(&delivery))
    }

    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError> {
        self.sent_webhooks.lock().unwrap().push(Sent::Again(id));
        self.up()?;
        let mut deliveries = self.deliveries.lock().unwrap();
        let found = deliveries.iter_mut().find(|delivery| delivery.id == id);
        let delivery = found.ok_or_else(|| ServiceError::NotFound(format!("delivery {id}")))?;
        delivery.state = DeliveryState::Pending;
        delivery.due = Some(self.now());
        Ok(delivery.clone())
    }

    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError> {
        self.sent_webhooks.lock().unwrap().push(Sent::AllOf(endpoint));
        self.up()?;
        let mut count = 0;
        for delivery in self.deliveries.lock().unwrap().iter_mut().filter(|delivery| delivery.endpoint == endpoint) {
            if matches!(delivery.state, DeliveryState::Exhausted | DeliveryState::Cancelled) {
                delivery.state = DeliveryState::Pending;
                count += 1;
            }
        }
        Ok(count)
    }
}

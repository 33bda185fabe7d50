//! A service for the console's tests: alerts in memory, answered by the domain's own predicates, with a note of all
//! that was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use avert::{
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AlertStatus, AlertType, Amount, AtRisk, AttemptId, AuditEntry,
        Calendar, ContradictedAnswer, Count, Credential, CredentialKind, Currency, CurrencySum, Deadline, Delivery,
        DeliveryId, DeliveryState, Endpoint, EndpointId, Environment, EventId, EventKind, FieldError, FindQuery,
        HeldCount, Insights, KeyScope, Outcome, OutcomeId, Page, Provider, RefundProof, ResolutionAttempt, SalesCount,
        Sort, decide, duplicate,
        find::among,
        insights,
        query::Vocabulary,
        source::SourceStatus,
        time::{SharedClock, Timestamp},
    },
    service::{Alerts, Changes, Deployment, Duplicates, Find, OutcomeUnknown, ResolveRequest, ServiceError, Stats},
};
use chrono::Duration;
use tokio::sync::watch;
use uuid::Uuid;

use super::fake_webhooks::Sent;

/// What the audit log says where omar answered an alert at this moment.
pub fn answered_by_omar(alert: AlertId, at: Timestamp) -> AuditEntry {
    AuditEntry {
        number: 1,
        at,
        actor: "key 7Qd2".to_owned(),
        origin: String::new(),
        person: "omar".to_owned(),
        action: "alert.resolved".to_owned(),
        subject: alert.to_string(),
        detail: String::new(),
        previous: [0; 32],
        hash: [1; 32],
    }
}

/// What the next resolution comes to, where it is not the plain success.
#[derive(Debug, Clone)]
pub enum Fate {
    Refused(ServiceError),
    /// Recorded, but the answer says that nobody knows.
    RecordedUnheard,
}

/// The service.
pub struct Fake {
    clock: SharedClock,
    alerts: Mutex<Vec<Alert>>,
    changes: watch::Sender<u64>,
    fates: Mutex<VecDeque<Fate>>,
    down: Mutex<Option<ServiceError>>,
    /// Every list that was asked for.
    pub lists: Mutex<Vec<AlertQuery>>,
    /// Every filter whose insights were asked for.
    pub scopes: Mutex<Vec<AlertFilter>>,
    /// Every resolution that came in.
    pub resolutions: Mutex<Vec<(AlertId, ResolveRequest)>>,
    /// The alerts whose resolution was refused, one for each time.
    refused: Mutex<Vec<AlertId>>,
    /// The webhooks of every alert.
    pub deliveries: Mutex<Vec<Delivery>>,
    /// Where they go.
    pub endpoints: Mutex<Vec<Endpoint>>,
    /// Every webhook that was to be sent by hand.
    pub sent_webhooks: Mutex<Vec<Sent>>,
    /// Every key and client.
    pub credentials: Mutex<Vec<Credential>>,
    /// Ids of those that this console itself uses.
    pub own: Mutex<Vec<String>>,
    /// Whether it sorts in the interface's own order only.
    pub refuses_orders: Mutex<bool>,
    /// Why nothing can be written, where that is so.
    pub unwritable: Mutex<Option<ServiceError>>,
    /// The decisions that are not settled.
    pub unfinished: Mutex<Vec<ResolutionAttempt>>,
    pub contradictions: Mutex<Vec<ContradictedAnswer>>,
    /// Number of stops of the automatic rules.
    pub rules_stopped: Mutex<u32>,
    pub refunds: Mutex<Vec<(AlertId, RefundProof)>>,
    pub held: Mutex<Vec<HeldCount>>,
    pub sales: Mutex<Vec<SalesCount>>,
    pub sources: Mutex<Vec<SourceStatus>>,
    /// Feeds that reported this month: disputes, fraud.
    pub feeds: Mutex<(bool, bool)>,
    /// Every word of a person on one of them.
    pub settled: Mutex<Vec<(AttemptId, bool)>>,
    /// The audit log, the newest first.
    pub audit: Mutex<Vec<AuditEntry>>,
    /// How often it was asked for.
    pub audit_asked: Mutex<usize>,
    /// Whether it never answers which alerts are duplicates.
    never_compares: Mutex<bool>,
}

impl Fake {
    pub fn with(alerts: Vec<Alert>, clock: SharedClock) -> Arc<Self> {
        Arc::new(Self {
            clock,
            alerts: Mutex::new(alerts),
            changes: watch::Sender::new(1),
            fates: Mutex::default(),
            refused: Mutex::default(),
            down: Mutex::default(),
            lists: Mutex::default(),
            scopes: Mutex::default(),
            resolutions: Mutex::default(),
            deliveries: Mutex::default(),
            endpoints: Mutex::default(),
            sent_webhooks: Mutex::default(),
            credentials: Mutex::default(),
            own: Mutex::default(),
            refuses_orders: Mutex::default(),
            unwritable: Mutex::default(),
            unfinished: Mutex::default(),
            contradictions: Mutex::default(),
            rules_stopped: Mutex::default(),
            refunds: Mutex::default(),
            held: Mutex::default(),
            sales: Mutex::default(),
            sources: Mutex::default(),
            feeds: Mutex::default(),
            settled: Mutex::default(),
            audit: Mutex::default(),
            audit_asked: Mutex::default(),
            never_compares: Mutex::default(),
        })
    }

    pub fn deployment(self: &Arc<Self>) -> Deployment {
        Deployment::whole(self.clone()).asked_in(Vocabulary::Desk)
    }

    /// The same service without anything beyond the interface.
    pub fn plain_deployment(self: &Arc<Self>) -> Deployment {
        Deployment::plain(self.clone())
    }

    /// Changes the alerts and tells of it.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Alert>)) {
        change(&mut self.alerts.lock().unwrap());
        self.changes.send_modify(|number| *number += 1);
    }

    /// From now on it is asked in vain which alerts are duplicates.
    pub fn never_compares(&self) {
        *self.never_compares.lock().unwrap() = true;
    }

    pub fn next_resolution(&self, fate: Fate) {
        self.fates.lock().unwrap().push_back(fate);
    }

    /// The alerts that were answered once more than they were refused, and then again.
    pub fn answered_twice(&self) -> Vec<AlertId> {
        let refused = self.refused.lock().unwrap();
        let sent: Vec<AlertId> = self.resolutions.lock().unwrap().iter().map(|(alert, _)| *alert).collect();
        let times = |all: &[AlertId], alert: AlertId| all.iter().filter(|other| **other == alert).count();
        sent.iter().copied().filter(|alert| times(&sent, *alert) > 1 + times(&refused, *alert)).collect()
    }

    /// Whether every question fails from now on.
    pub fn set_down(&self, down: Option<ServiceError>) {
        *self.down.lock().unwrap() = down;
    }

    pub fn alert(&self, id: AlertId) -> Option<Alert> {
        self.alerts.lock().unwrap().iter().find(|alert| alert.id == id).cloned()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn up(&self) -> Result<(), ServiceError> {
        self.down.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    pub fn record(&self, id: AlertId, request: &ResolveRequest) -> Result<Alert, ServiceError> {
        let now = self.clock.now();
        let mut recorded = Err(ServiceError::AlertNotFound(id));
        self.change(|alerts| {
            if let Some(alert) = alerts.iter_mut().find(|alert| alert.id == id) {
                if alert.outcome.is_some() {
                    recorded = Err(ServiceError::AlreadyResolved(Box::new(alert.clone())));
                    return;
                }
                let verdict = decide(&request.resolution);
                alert.status = verdict.status;
                alert.updated_at = Some(now);
                alert.outcome = Some(Outcome {
                    id: OutcomeId::generate(),
                    alert_id: id,
                    provider_alert_id: alert.provider_id.clone(),
                    status: "success".to_owned(),
                    outcome: verdict.outcome,
                    refunded: verdict.refunded,
                    comments: request.resolution.comments().to_owned(),
                    dispute_reason_code: verdict.dispute_reason_code,
                    action_time: Some(now),
                    amount_stopped: verdict.amount_stopped,
                });
                recorded = Ok(alert.clone());
            }
        });
        recorded
    }
}

#[async_trait]
impl Alerts for Fake {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        self.lists.lock().unwrap().push(query.clone());
        self.up()?;
        if *self.refuses_orders.lock().unwrap() && query.sort != Sort::default() {
            return Err(ServiceError::InvalidRequest(vec![FieldError::new("sortField", "is not one of ours")]));
        }
        let now = self.clock.now();
        let mut found: Vec<Alert> =
            self.alerts.lock().unwrap().iter().filter(|alert| query.filter.matches(alert, now)).cloned().collect();
        found.sort_by(|left, right| query.sort.compare(left, right));
        let (total, size) = (found.len() as u64, query.page.size);
        let skip = usize::try_from(query.page.page * u64::from(size)).unwrap();
        let data: Vec<Alert> = found.into_iter().skip(skip).take(usize::try_from(size).unwrap()).collect();
        Ok(Page { data, total, counted: true, page: query.page.page, size })
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.up()?;
        self.alert(id).ok_or(ServiceError::AlertNotFound(id))
    }

    async fn clock_lead(&self) -> Result<Option<chrono::TimeDelta>, ServiceError> {
        Ok(None)
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.resolutions.lock().unwrap().push((id, request.clone()));
        let fate = self.fates.lock().unwrap().pop_front();
        match fate {
            Some(Fate::Refused(error)) => {
                self.refused.lock().unwrap().push(id);
                if let ServiceError::ProviderOutcomeUnknown(unknown) = &error {
                    self.unfinished.lock().unwrap().push(ResolutionAttempt {
                        id: AttemptId::generate(),
                        alert: id,
                        state: "UNKNOWN".to_owned(),
                        resolution: request.resolution,
                        started_at: self.clock.now(),
                        next_check: None,
                        checks: 0,
                        detail: unknown.to_string(),
                        actor: "console".to_owned(),
                    });
                }
                Err(error)
            }
            Some(Fate::RecordedUnheard) => {
                self.record(id, &request)?;
                Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out")))
            }
            None => self.record(id, &request),
        }
    }
}

#[async_trait]
impl Duplicates for Fake {
    async fn duplicates(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, Vec<Alert>)>, ServiceError> {
        self.up()?;
        if *self.never_compares.lock().unwrap() {
            return std::future::pending().await;
        }
        let all = self.alerts.lock().unwrap().clone();
        let told = |alert: &Alert| (alert.id, duplicate::of(alert, &all));
        Ok(all.iter().filter(|alert| ids.contains(&alert.id)).map(told).collect())
    }
}

#[async_trait]
impl Find for Fake {
    async fn find(&self, query: &FindQuery, size: u32) -> Result<Vec<Alert>, ServiceError> {
        self.up()?;
        let all = self.alerts.lock().unwrap().clone();
        Ok(among(query, &all, size as usize).into_iter().cloned().collect())
    }
}

pub fn not_asked<T>() -> Result<T, ServiceError> {
    Err(ServiceError::Unavailable("not asked by a console".to_owned()))
}

#[async_trait]
impl Stats for Fake {
    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        self.up()?;
        let now = self.clock.now();
        let filter = AlertFilter { expires_in: Some(within_hours), ..AlertFilter::default() };
        let mut risks: Vec<AtRisk> = Vec::new();
        for alert in self.alerts.lock().unwrap().iter().filter(|alert| {
            filter.matches(alert, now) && alert.status == AlertStatus::Open && !alert.alert_type.is_notice()
        }) {
            let Some(money) = alert.money() else { continue };
            match risks.iter_mut().find(|risk| risk.money.currency == money.currency) {
                Some(risk) => {
                    risk.alerts += 1;
                    risk.money.amount = Amount::from(risk.money.amount.decimal() + money.amount.decimal());
                }
                None => risks.push(AtRisk { alerts: 1, money }),
            }
        }
        risks.sort_by_key(|risk| std::cmp::Reverse(risk.alerts));
        Ok(risks)
    }

    async fn count_all(&self) -> Result<u64, ServiceError> {
        self.up()?;
        Ok(self.alerts.lock().unwrap().len() as u64)
    }

    async fn counts(&self) -> Result<Vec<Count>, ServiceError> {
        not_asked()
    }

    async fn sums(&self, filter: &AlertFilter) -> Result<Vec<CurrencySum>, ServiceError> {
        self.up()?;
        let now = self.clock.now();
        Ok(CurrencySum::of(self.alerts.lock().unwrap().iter().filter(|alert| filter.matches(alert, now))))
    }

    async fn insights(&self, filter: &AlertFilter, calendar: Calendar) -> Result<Insights, ServiceError> {
        self.scopes.lock().unwrap().push(filter.clone());
        self.up()?;
        let (now, all) = (self.clock.now(), self.alerts.lock().unwrap().clone());
        let within = all.iter().filter(|alert| filter.matches(alert, now));
        let (has_dispute_feed, has_fraud_feed) = *self.feeds.lock().unwrap();
        let monitored = insights::monitored(&all, now);
        Ok(Insights { monitored, has_dispute_feed, has_fraud_feed, ..Insights::of(within, now, calendar) })
    }
}

#[async_trait]
impl Changes for Fake {
    async fn try_writing(&self) -> Result<(), ServiceError> {
        self.unwritable.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    async fn next_change(&self, after: u64) -> Result<u64, ServiceError> {
        let mut changes = self.changes.subscribe();
        let number = changes.wait_for(|number| *number > after).await;
        number.map(|number| *number).map_err(|_| ServiceError::Unavailable("gone".to_owned()))
    }
}

/// The secret of whatever the fake creates: as long as a real key.
pub const SECRET: &str = "avk_live_7Qd2Kx91mZp_S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tZZZZZZ";

/// Keys and clients as an organization has them: used, unused, revoked.
pub fn credentials(now: Timestamp) -> Vec<Credential> {
    let one = |kind, id: &str, days: i64, used: Option<i64>, revoked: Option<i64>| Credential {
        kind,
        id: id.to_owned(),
        environment: Some(Environment::Production),
        created_at: now - Duration::days(days),
        last_used_at: used.map(|minutes| now - Duration::minutes(minutes)),
        revoked_at: revoked.map(|days| now - Duration::days(days)),
    };
    let (alerts, operator) = (CredentialKind::Key(KeyScope::Alerts), CredentialKind::Key(KeyScope::Operator));
    vec![
        one(alerts, "4fGx81kPq2Z", 90, Some(3), None),
        one(alerts, "9aRRt0Lm7Yb", 60, Some(61 * 24 * 20), Some(20)),
        one(operator, "Zk3vN5tQ1cD", 41, Some(200), None),
        one(alerts, "b7WnE2xK9sH", 3, None, None),
        one(CredentialKind::Client, "avc_live_Hj6Tq1oV8eU", 30, Some(1_500), None),
    ]
}

/// A million alerts that nobody holds: each is made when its page is asked for.
#[derive(Default)]
pub struct Million {
    /// The pages that were asked for.
    pub pages: Mutex<Vec<u64>>,
}

impl Million {
    pub const TOTAL: u64 = 1_000_000;

    pub fn alert(index: u64) -> Alert {
        let mut alert = plain(&format!("M-{index}"), Provider::Cdrn, AlertType::VerifiCancel);
        alert.id = AlertId(Uuid::from_u128(u128::from(index) + 1));
        alert
    }
}

#[async_trait]
impl Alerts for Million {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        let (page, size) = (query.page.page, query.page.size);
        self.pages.lock().unwrap().push(page);
        let start = page * u64::from(size);
        let data = (start..(start + u64::from(size)).min(Self::TOTAL)).map(Self::alert).collect();
        Ok(Page { data, total: Self::TOTAL, counted: true, page, size })
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        Err(ServiceError::AlertNotFound(id))
    }

    async fn clock_lead(&self) -> Result<Option<chrono::TimeDelta>, ServiceError> {
        Ok(None)
    }

    async fn resolve(&self, id: AlertId, _request: ResolveRequest) -> Result<Alert, ServiceError> {
        Err(ServiceError::AlertNotFound(id))
    }
}

fn noon() -> Timestamp {
    avert::domain::time::from_iso("2026-11-20T14:03:00Z").unwrap()
}

/// An open alert with nothing in it that a test would look at.
pub fn plain(provider_id: &str, provider: Provider, alert_type: AlertType) -> Alert {
    Alert {
        provider_id: provider_id.to_owned(),
        alert_time: Some(noon() - Duration::hours(20)),
        deadline: Deadline::At(noon() + Duration::hours(30)),
        amount: Some("10.00".parse().unwrap()),
        currency: Currency::new("EUR"),
        ..Alert::new(AlertId::generate(), provider, alert_type)
    }
}

/// Minutes left, network, kind, amount, currency, BIN, last four, descriptor, order.
type MorningRow =
    (i64, Provider, AlertType, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// The alerts of the pictures: what a morning looks like.
pub fn morning(now: Timestamp) -> Vec<Alert> {
    use AlertType::{
        EthocaConfirmedFraud as Fraud, EthocaCustomerDispute as Customer, VerifiCancel as Cancel,
        VerifiDispute as Dispute, VerifiDisputeNotice as DisputeNotice, VerifiFraudNotice as FraudNotice,
    };
    use Provider::{Cdrn, Ethoca, Verifi};
    #[rustfmt::skip]
    let rows: [MorningRow; 19] = [
        (42, Ethoca, Fraud, "129.90", "EUR", "411111", "1234", "ACME*SHOP BERLIN", "A-10293"),
        (70, Verifi, Dispute, "1480.00", "AED", "552201", "8831", "ACME*TRAVEL DXB", "A-10311"),
        (118, Ethoca, Customer, "18.50", "EUR", "411111", "0420", "ACME*SHOP BERLIN", ""),
        (185, Cdrn, Cancel, "19.99", "USD", "371449", "0005", "ACME STREAM", "SUB-8812"),
        (220, Ethoca, Fraud, "12000", "JPY", "352800", "4111", "ACME*SHOP TOKYO", "A-10277"),
        (312, Verifi, Dispute, "240.00", "USD", "480012", "7716", "ACME STREAM", "SUB-8701"),
        (411, Ethoca, Fraud, "75.00", "EUR", "411111", "9921", "ACME*SHOP PARIS", "A-10266"),
        (540, Ethoca, Customer, "32.450", "KWD", "498824", "1190", "ACME*TRAVEL KWI", "A-10254"),
        (665, Verifi, DisputeNotice, "59.00", "GBP", "465901", "3302", "ACME*SHOP LONDON", "A-10248"),
        (790, Cdrn, Dispute, "410.25", "USD", "414720", "6650", "ACME STREAM", ""),
        (850, Ethoca, Fraud, "22.00", "EUR", "535110", "2231", "ACME*SHOP MADRID", "A-10231"),
        (970, Ethoca, Fraud, "1120.00", "EUR", "411111", "7702", "ACME*SHOP BERLIN", "A-10230"),
        (1150, Verifi, Dispute, "88.00", "USD", "480012", "1145", "ACME STREAM", "SUB-8655"),
        (1330, Ethoca, Customer, "64.90", "EUR", "528093", "0071", "ACME*SHOP WIEN", "A-10219"),
        (1800, Cdrn, Dispute, "15.00", "USD", "414720", "9008", "ACME STREAM", "SUB-8641"),
        (1990, Verifi, Cancel, "29.99", "USD", "480012", "5521", "ACME STREAM", "SUB-8630"),
        (2650, Verifi, Dispute, "330.00", "AED", "552201", "4417", "ACME*TRAVEL DXB", "A-10177"),
        (2950, Cdrn, Dispute, "9.99", "USD", "414720", "7231", "東京ストリーム ACME", "SUB-8598"),
        (3140, Verifi, FraudNotice, "47.20", "GBP", "465901", "8890", "ACME*SHOP LEEDS", "A-10160"),
    ];
    let mut alerts: Vec<Alert> = (1u128..)
        .zip(rows)
        .map(|(number, (minutes, provider, alert_type, amount, currency, bin, last_four, descriptor, order))| {
            let window = avert::domain::alert::default_window(&provider);
            let deadline = now + Duration::minutes(minutes);
            Alert {
                id: AlertId(Uuid::from_u128(number)),
                provider_id: format!("{:X}", 0x8F2C_77AA_0193_u64 + u64::try_from(number * 7_919).unwrap()),
                provider,
                alert_type,
                alert_time: Some(deadline - window),
                transaction_time: Some(deadline - window - Duration::hours(30)),
                issuer: "Emirates NBD".to_owned(),
                card_bin: bin.to_owned(),
                card_last_four: last_four.to_owned(),
                card_expiration_date: Some("12/27".to_owned()),
                merchant_descriptor: descriptor.to_owned(),
                merchant_name: "ACME Travel FZ-LLC".to_owned(),
                merchant_id: "M-100".to_owned(),
                merchant_order_id: Some(order.to_owned()).filter(|order| !order.is_empty()),
                mcc: Some("4722".to_owned()),
                amount: Some(amount.parse().unwrap()),
                currency: Currency::new(currency),
                transaction_type: "eCommerce".to_owned(),
                initiated_by: "issuer".to_owned(),
                auth_code: Some("093112".to_owned()),
                acquirer_reference_number: Some(format!("743204561182003199452{number:02}")),
                reason_code: Some("10.4".to_owned()),
                created_at: Some(deadline - window),
                updated_at: Some(deadline - window),
                deadline: Deadline::At(deadline),
                ..Alert::new(AlertId(Uuid::from_u128(number)), Ethoca, Fraud)
            }
        })
        .collect();
    alerts[12].rule_name = Some("Above 10 AED".to_owned());
    alerts
}

/// A morning whose first alert has an open double at its own network; both ids.
pub fn morning_of_twins(now: Timestamp) -> (Vec<Alert>, [AlertId; 2]) {
    let mut alerts = morning(now);
    let other = refunded_sibling(&alerts[0], 1_001, now);
    let twin = Alert { status: AlertStatus::Open, outcome: None, provider_id: "TWIN".to_owned(), ..other };
    let ids = [alerts[0].id, twin.id];
    alerts.push(twin);
    (alerts, ids)
}

/// An answered alert on the same payment as another one, at another network.
pub fn refunded_sibling(of: &Alert, number: u128, now: Timestamp) -> Alert {
    let id = AlertId(Uuid::from_u128(number));
    let at = now - Duration::hours(3);
    Alert {
        id,
        provider: Provider::Ethoca,
        alert_type: AlertType::EthocaConfirmedFraud,
        provider_id: "5F2RE396".to_owned(),
        status: AlertStatus::Resolved,
        updated_at: Some(at),
        outcome: Some(Outcome {
            id: OutcomeId(Uuid::from_u128(number)),
            alert_id: id,
            provider_alert_id: "5F2RE396".to_owned(),
            status: "success".to_owned(),
            outcome: "resolved".to_owned(),
            refunded: "refunded".to_owned(),
            comments: "Refunded by the shop on the customer's word".to_owned(),
            dispute_reason_code: None,
            action_time: Some(at),
            amount_stopped: None,
        }),
        ..of.clone()
    }
}

/// A delivery of an alert's event.
pub fn delivery(
    alert: AlertId,
    kind: EventKind,
    state: DeliveryState,
    attempts: u32,
    last_result: Option<&str>,
    due: Option<Timestamp>,
) -> Delivery {
    Delivery {
        id: DeliveryId(Uuid::from_u128(7)),
        event: EventId(Uuid::from_u128(8)),
        kind,
        at: noon() - Duration::minutes(5),
        alert,
        test: false,
        endpoint: EndpointId(Uuid::from_u128(9)),
        url: "https://shop.example/hooks/alerts".to_owned(),
        state,
        attempts,
        due,
        last_result: last_result.map(str::to_owned),
        delivered_at: None,
    }
}

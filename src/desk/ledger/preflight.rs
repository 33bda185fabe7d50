//! Preflight check: reads the alert and the others on its payment right before each answer is sent. Somebody else may
//! have answered or refunded since the form was filled in, and an expected refund may be missing.

use std::{collections::HashMap, time::Duration};

use super::{
    history::{History, KnownAnswer},
    sender::AnswerSender,
};
use crate::{
    domain::{
        Alert, AlertId, Resolution,
        duplicate::{self, KnownRefunds},
        sanitize,
    },
    lists::same_payments,
    service::{Deployment, ServiceError},
};

/// Timeout of one check, 60 s. One that timed out is repeated while there is time.
pub const LONGEST: Duration = Duration::from_secs(60);

/// Least timeout of one check, 5 s, where the deadline is known in whole hours only.
pub const LEAST: Duration = Duration::from_secs(5);

/// Preflight check of one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Preflight {
    /// Alert as it was when the answer was made.
    pub alert: Alert,
    pub resolution: Resolution,
    /// True where it has waited for the refund that it rests on, which was with the network.
    pub waited: bool,
    /// Refunds on its payment that were known when it was made: those that its user confirmed, or that it rests on.
    pub known: KnownRefunds,
    /// Answers from the journal to other alerts that may be on its payment: the service's lists may be behind.
    pub answers: HashMap<AlertId, KnownAnswer>,
    /// Timeout.
    pub within: Duration,
}

/// Result of a preflight check.
#[derive(Debug, Clone, PartialEq)]
pub enum PreflightResult {
    /// No objection.
    Clear,
    /// Its alert was answered meanwhile.
    Answered(Box<Alert>),
    /// Objection: the alert changed, the payment may have been refunded, or the refund that it rests on is missing.
    Against(String),
    /// Objection, in words, with the other alert on the payment that is refunded.
    Refunded(Box<Alert>, String),
    /// It has to wait, with the reason: the refund that it rests on is with its network.
    Waits(String),
    /// Failed, with the reason and whether it is repeated.
    InPart(String, PreflightRetry),
}

impl PreflightResult {
    /// Returns the reason for which the answer is not sent.
    pub fn objection(&self) -> Option<String> {
        match self {
            Self::Against(why) | Self::Waits(why) | Self::Refunded(_, why) => Some(why.clone()),
            Self::Clear | Self::Answered(_) | Self::InPart(..) => None,
        }
    }
}

/// Repetition of a preflight check that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreflightRetry {
    /// Soon: the service is busy or slow.
    Soon,
    /// After the time that the service asked for.
    After(Duration),
    /// Never: the error is permanent, and the answer is sent without the check.
    Never,
}

impl PreflightRetry {
    fn of(error: &ServiceError) -> Self {
        match error {
            ServiceError::Throttled { wait, .. } => Self::After(*wait),
            ServiceError::Unavailable(_) => Self::Soon,
            _ => Self::Never,
        }
    }
}

impl Preflight {
    /// Builds the check of an answer, with the refunds that were known and the answers in the history.
    pub fn of(alert: &Alert, resolution: &Resolution, known: &KnownRefunds, history: &History) -> Self {
        let answers = history.answers_near(alert, &known.alerts);
        let (alert, resolution, known) = (alert.clone(), resolution.clone(), known.clone());
        Self { alert, resolution, waited: false, known, answers, within: LONGEST }
    }

    /// Returns true where the refund of this other alert matters: what rests on a refund asks of any, another answer of
    /// those that were not confirmed.
    fn asks_of(&self, other: &Alert) -> bool {
        self.resolution.rests_on_another() || !self.known.alerts.contains(&other.id)
    }

    /// Describes the risk of sending it after another refund of the payment: `same payment: ETHOCA 7 is refunded`.
    fn risk(&self, refund: &str) -> String {
        let risk = if self.resolution.gives_money_back() { "possible double refund" } else { "same payment" };
        format!("{risk}: {refund}")
    }

    /// Returns true where one of these was expected to be refunded and is not.
    fn misses_a_refund(&self, found: &[Alert]) -> bool {
        let is_refunded = |other: &Alert| {
            duplicate::Duplicate::of(&self.alert, other, None).is_some_and(|double| double.is_refunded())
        };
        !self.known.by_order && found.iter().any(|other| self.known.alerts.contains(&other.id) && !is_refunded(other))
    }

    /// Reads the alert, the others on its payment and the unfinished refunds.
    async fn ask(&self, deployment: &Deployment) -> Result<Payment, ServiceError> {
        let (alert, query) = (&self.alert, duplicate::query(&self.alert));
        match deployment.alerts.get(alert.id).await {
            Ok(now) => {
                if now.outcome.is_some() {
                    return Ok(Payment::Told(PreflightResult::Answered(Box::new(now))));
                }
                if let Some(changed) = now.changed_since(alert) {
                    return Ok(Payment::Told(PreflightResult::Against(changed)));
                }
            }
            // The reply to the answer itself says so.
            Err(ServiceError::AlertNotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let asked = vec![(alert.id, query)];
        let found = same_payments(&*deployment.alerts, deployment.duplicates.as_deref(), asked).await;
        let mut found = found.into_iter().next().map_or(Ok(Vec::new()), |(_, found)| found)?;
        // What may be another payment's refund matters to a refund, and to what rests on one.
        let cautious = self.resolution.gives_money_back() || self.resolution.rests_on_another();
        let evidence = if cautious { duplicate::evidence } else { duplicate::sure_evidence };
        found.retain(|other| evidence(alert, other).is_some());
        let known = |other: &Alert| KnownAnswer::given(self.answers.get(&other.id), other).into_owned();
        let found: Vec<Alert> = found.iter().map(known).collect();
        let rests_on_refund = self.resolution.rests_on_another();
        if let Some(other) = found.iter().find(|other| self.asks_of(other) && other.was_refunded()) {
            let result = match rests_on_refund {
                true => PreflightResult::Clear,
                false => {
                    let why = self.risk(&format!("{} is refunded", called(other)));
                    PreflightResult::Refunded(Box::new(other.clone()), why)
                }
            };
            return Ok(Payment::Told(result));
        }
        if let Some(attempts) = &deployment.attempts {
            let attempts = attempts.unfinished().await?;
            let refunds = |other: &Alert| {
                attempts.iter().any(|attempt| attempt.alert == other.id && attempt.resolution.gives_money_back())
            };
            if let Some(other) = found.iter().find(|other| self.asks_of(other) && refunds(other)).map(called) {
                let result = match rests_on_refund {
                    true => PreflightResult::Waits(format!("the refund of {other} is not recorded")),
                    false => PreflightResult::Against(self.risk(&format!("{other} is sending or unconfirmed"))),
                };
                return Ok(Payment::Told(result));
            }
        }
        if rests_on_refund && (self.waited || self.misses_a_refund(&found)) {
            return Ok(Payment::Told(PreflightResult::Against("its refund is not recorded".to_owned())));
        }
        Ok(Payment::Open(found))
    }
}

impl AnswerSender {
    /// Checks an answer right before it is sent: by the service, and by the shop's orders.
    pub async fn check(&self, check: &Preflight) -> PreflightResult {
        let failed = |error: ServiceError| (error.to_string(), PreflightRetry::of(&error));
        let (others, mut untold) = match tokio::time::timeout(check.within, check.ask(&self.deployment)).await {
            Ok(Ok(Payment::Told(result))) => return result,
            Ok(Ok(Payment::Open(others))) => (others, None),
            Ok(Err(error)) => (Vec::new(), Some(failed(error))),
            Err(_) => (Vec::new(), Some(("no reply in time".to_owned(), PreflightRetry::Soon))),
        };
        // What the orders know of a refund matters to another one alone.
        if check.resolution.gives_money_back() {
            match self.advice(&check.alert, &others) {
                Ok(Some((order, advice))) if advice.was_refunded_before() && !check.known.by_order => {
                    let order = sanitize::line(&order);
                    return PreflightResult::Against(check.risk(&format!("order {order} was {}", advice.why)));
                }
                Ok(_) => {}
                Err(error) => untold = untold.or_else(|| Some(failed(error))),
            }
        }
        let in_part = |(why, again): (String, _)| PreflightResult::InPart(why.trim_end_matches('.').to_owned(), again);
        untold.map_or(PreflightResult::Clear, in_part)
    }
}

/// Names an alert by its network and its id there.
fn called(other: &Alert) -> String {
    format!("{} {}", sanitize::line(other.provider.as_str()), sanitize::line(&other.provider_id))
}

/// Result of the service's part of a check.
enum Payment {
    /// The check is complete.
    Told(PreflightResult),
    /// The other alerts on the payment, none of them refunded.
    Open(Vec<Alert>),
}

//! The last look for doubles, right before a refund leaves: others may have refunded the payment since its form was filled in.

use std::time::Duration;

use super::known_refunds::KnownRefunds;
use crate::desk::same_payment::same_payment;
use crate::domain::{Alert, OrderAdvice, ResolutionAttempt, duplicate, sanitize};
use crate::service::{Deployment, ServiceError};

/// A last look takes no longer: what could not be looked for by then leaves without it.
pub const LONGEST: Duration = Duration::from_secs(60);

/// So long it takes at least where only whole hours are known: the window may close any moment, or be open for long.
pub const LEAST: Duration = Duration::from_secs(5);

/// What is compared before a refund leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LastLook {
    /// The alert that is refunded.
    pub alert: Alert,
    /// The refunds on its payment that were known and confirmed.
    pub known: KnownRefunds,
    /// How long it may take: no longer than the refund can wait for it.
    pub within: Duration,
}

/// What a last look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// Nothing speaks against the refund.
    Clear,
    /// Why the refund does not leave: the payment was refunded otherwise, or may be.
    Against(String),
    /// What could not be looked for again, and why. A window that is missed costs more than a look: the refund leaves.
    InPart(String),
}

impl LastLook {
    /// Looks at the deployment and at the shop's orders, which `advise` asks for an alert with others on its payment.
    pub async fn look<A>(&self, deployment: &Deployment, advise: A) -> Looked
    where
        A: FnOnce(&Alert, &[Alert]) -> Result<Option<(String, OrderAdvice)>, ServiceError>,
    {
        let (mut others, mut untold) = (Vec::new(), None);
        match tokio::time::timeout(self.within, self.ask(deployment)).await {
            Ok(Ok(Payment::Refunded(why))) => return Looked::Against(why),
            Ok(Ok(Payment::Open(found))) => others = found,
            Ok(Err(error)) => untold = Some(error.to_string()),
            Err(_) if self.within < LONGEST => untold = Some("no answer in the time left".to_owned()),
            Err(_) => untold = Some(format!("no answer within {} s", LONGEST.as_secs())),
        }
        match advise(&self.alert, &others) {
            Ok(Some((order, advice))) if advice.was_refunded_before() && !self.known.by_order => {
                return Looked::Against(format!("may be paid twice: order {} was {}", sanitize::line(&order), advice.why));
            }
            Ok(_) => {}
            Err(error) => untold = untold.or(Some(error.to_string())),
        }
        untold.map_or(Looked::Clear, |why| Looked::InPart(why.trim_end_matches('.').to_owned()))
    }

    /// Asks the deployment for the others on the payment, and which refunds are on their way.
    async fn ask(&self, deployment: &Deployment) -> Result<Payment, ServiceError> {
        let (alert, query) = (&self.alert, duplicate::query(&self.alert));
        let mut found = same_payment(&*deployment.alerts, deployment.duplicates.as_deref(), alert.id, query).await?;
        found.retain(|other| duplicate::evidence(alert, other).is_some());
        let new: Vec<&Alert> = found.iter().filter(|other| !self.known.alerts.contains(&other.id)).collect();
        let called = |other: &Alert| format!("{} {}", sanitize::line(other.provider.as_str()), sanitize::line(&other.provider_id));
        if let Some(other) = new.iter().find(|other| other.was_refunded()) {
            return Ok(Payment::Refunded(format!("may be paid twice: {} is refunded", called(other))));
        }
        let Some(attempts) = &deployment.attempts else { return Ok(Payment::Open(found)) };
        let attempts = attempts.unfinished().await?;
        let refunds = |other: &Alert| {
            attempts.iter().any(|attempt: &ResolutionAttempt| attempt.alert == other.id && attempt.resolution.gives_money_back())
        };
        Ok(match new.iter().find(|other| refunds(other)) {
            Some(other) => {
                let why = format!("may be paid twice: a refund of {} is with its network, or may have arrived", called(other));
                Payment::Refunded(why)
            }
            None => Payment::Open(found),
        })
    }
}

/// A payment as the deployment knows it.
enum Payment {
    /// It was refunded by another alert that was not known, or may be: in words.
    Refunded(String),
    /// The others on it.
    Open(Vec<Alert>),
}

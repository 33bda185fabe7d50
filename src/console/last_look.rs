//! The last look for doubles, right before a refund leaves: others may have refunded the payment since its form was filled in.

use crate::desk::same_payment::same_payment;
use crate::domain::{Alert, AlertId, ResolutionAttempt, duplicate, sanitize};
use crate::service::Deployment;

/// What is compared before a refund leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LastLook {
    /// The alert that is refunded.
    pub alert: Alert,
    /// The alerts on its payment whose refund was known and confirmed.
    pub confirmed: Vec<AlertId>,
}

impl LastLook {
    /// Why the refund does not leave: another alert on the payment was refunded, or may be. What cannot be looked for keeps nothing here: its
    /// form has said so.
    pub async fn speaks_against(&self, deployment: &Deployment) -> Option<String> {
        let (alert, query) = (&self.alert, duplicate::query(&self.alert));
        let found = same_payment(&*deployment.alerts, deployment.duplicates.as_deref(), alert.id, query).await.ok()?;
        let is_new = |other: &&Alert| duplicate::evidence(alert, other).is_some() && !self.confirmed.contains(&other.id);
        let others: Vec<&Alert> = found.iter().filter(is_new).collect();
        let called = |other: &Alert| format!("{} {}", sanitize::line(other.provider.as_str()), sanitize::line(&other.provider_id));
        if let Some(other) = others.iter().find(|other| other.was_refunded()) {
            return Some(format!("may be paid twice: {} is refunded", called(other)));
        }
        let attempts = deployment.attempts.as_ref()?.unfinished().await.ok()?;
        let refunds = |other: &Alert| {
            attempts.iter().any(|attempt: &ResolutionAttempt| attempt.alert == other.id && attempt.resolution.gives_money_back())
        };
        let other = others.iter().find(|other| refunds(other))?;
        Some(format!("may be paid twice: a refund of {} is with its network, or may have arrived", called(other)))
    }
}

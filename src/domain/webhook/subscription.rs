//! Subscriptions: which events an endpoint gets, and in which form.

use crate::{EventKind, EventTemplate, FieldError, Provider};

/// Longest time before a deadline at which an alert can be called, in minutes: three days.
pub const MAX_MINUTES: u32 = 3 * 24 * 60;

/// Subscription of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Kinds of events; at least one.
    pub events: Vec<EventKind>,
    /// Providers of the alerts; empty for all.
    pub providers: Vec<Provider>,
    /// Template of the bodies; `None` for `event`, `timestamp`, `payload`.
    pub template: Option<EventTemplate>,
    /// Minutes before its deadline at which an alert without an answer is called.
    pub minutes: u32,
}

/// The two events of the interface, of all alerts.
impl Default for Subscription {
    fn default() -> Self {
        Self { events: EventKind::OF_INTERFACE.to_vec(), providers: Vec::new(), template: None, minutes: 30 }
    }
}

impl Subscription {
    /// Checks it.
    pub fn check(&self) -> Result<(), FieldError> {
        let known = EventKind::KNOWN.iter().map(EventKind::as_str).collect::<Vec<_>>().join(", ");
        if let Some(other) = self.events.iter().find(|event| !event.is_known()) {
            return Err(FieldError::new("events", format!("has {:?}, which is none of {known}", other.as_str())));
        }
        if self.events.is_empty() {
            return Err(FieldError::new("events", format!("is empty: at least one of {known} is needed")));
        }
        if self.template.is_some() && self.events.iter().any(EventKind::is_of_interface) {
            let why = "is for events about the work: alert.created and alert.resolved are sent as they are";
            return Err(FieldError::new("template", why));
        }
        if !(1..=MAX_MINUTES).contains(&self.minutes) {
            return Err(FieldError::new("minutes", format!("is {}: 1 to {MAX_MINUTES} are allowed", self.minutes)));
        }
        Ok(())
    }

    /// Returns true where the endpoint gets this event, of an alert of this provider where it is of one.
    pub fn takes(&self, kind: &EventKind, provider: Option<&Provider>) -> bool {
        let of_provider = provider.is_none_or(|provider| self.providers.contains(provider));
        self.events.contains(kind) && (self.providers.is_empty() || of_provider)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn subscription(events: &[EventKind]) -> Subscription {
        Subscription { events: events.to_vec(), ..Subscription::default() }
    }

    #[test]
    fn an_endpoint_gets_the_events_of_the_interface_where_nothing_else_is_said() {
        let default = Subscription::default();

        let taken = |kind: &EventKind| default.takes(kind, Some(&Provider::Ethoca));

        assert!(taken(&EventKind::AlertCreated) && taken(&EventKind::AlertResolved));
        assert!(!taken(&EventKind::AlertExpiring) && !default.takes(&EventKind::EndpointFailing, None));
    }

    #[test]
    fn named_providers_leave_out_the_alerts_of_others_and_nothing_else() {
        let subscription = Subscription {
            providers: vec![Provider::Cdrn],
            ..subscription(&[EventKind::AlertExpiring, EventKind::EndpointFailing])
        };

        assert!(subscription.takes(&EventKind::AlertExpiring, Some(&Provider::Cdrn)));
        assert!(!subscription.takes(&EventKind::AlertExpiring, Some(&Provider::Ethoca)));
        assert!(subscription.takes(&EventKind::EndpointFailing, None));
    }

    #[rstest]
    #[case(subscription(&[]), "events")]
    #[case(subscription(&[EventKind::parse("alert.lost")]), "events")]
    #[case(Subscription { template: Some(EventTemplate::Slack), ..Subscription::default() }, "template")]
    #[case(Subscription { minutes: 0, ..Subscription::default() }, "minutes")]
    #[case(Subscription { minutes: MAX_MINUTES + 1, ..Subscription::default() }, "minutes")]
    fn what_cannot_be_is_refused_by_its_field(#[case] subscription: Subscription, #[case] field: &str) {
        assert_eq!(subscription.check().unwrap_err().field, field);
    }
}

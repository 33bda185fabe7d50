//! Alert networks: the provider trait with its capabilities, and the choice of the provider for a network.
//!
//! A call to a provider cannot join our transaction. So its result is one of three things and never less: accepted,
//! declined, or indeterminate ([`SubmitResult`]). The provider's [`Capabilities`] limit what may be done about an
//! indeterminate one.

pub mod guarded;
pub mod http;
pub mod simulator;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use crate::domain::{Alert, AlertId, AlertType, Answers, AttemptId, Money, Origin, Provider, Resolution};

pub use guarded::{GuardLimits, Guarded};
pub use http::HttpProvider;
pub use simulator::Simulator;

/// A provider's capabilities: what it can do about a call whose answer was lost. Nothing by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// True where it can be asked about the fate of a submission.
    pub lookup: bool,
    /// The same submission sent twice under one attempt id counts once and gets the same answer.
    pub idempotent: bool,
    /// The same submission sent twice counts once, and the second one is told that the alert was answered already, but
    /// not by whom.
    pub final_error_only: bool,
    /// The consistency lag: how long after a call has ended a decision may still appear in look-ups; until then "not
    /// known" is no answer.
    pub consistency_lag: Duration,
}

/// A submission: a decision on its way to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The provider's idempotency key: the same for every repeat of this decision.
    pub attempt: AttemptId,
    /// Our id of the alert.
    pub alert: AlertId,
    pub provider: Provider,
    /// The alert's id at the network; empty where the alert came without one.
    pub provider_id: String,
    /// The kind of alert: networks word their answers by it.
    pub alert_type: AlertType,
    /// The disputed money, where it is known.
    pub money: Option<Money>,
    /// The merchant's resolution.
    pub resolution: Resolution,
    /// Source that brought the alert, where one did.
    pub origin: Option<Origin>,
    /// Trace context of the request ([`Actor::trace`](crate::domain::Actor::trace)).
    pub trace: String,
}

impl Submission {
    /// The submission of a decision on an alert, without a trace.
    pub fn of(attempt: AttemptId, alert: &Alert, resolution: Resolution) -> Self {
        Self {
            attempt,
            alert: alert.id,
            provider: alert.provider.clone(),
            provider_id: alert.provider_id.clone(),
            alert_type: alert.alert_type.clone(),
            money: alert.money(),
            resolution,
            origin: alert.origin.clone(),
            trace: String::new(),
        }
    }
}

/// The result of a submission: accepted, declined or indeterminate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitResult {
    /// Accepted: the decision is applied.
    Accepted,
    /// Declined: the decision is not applied and will not be.
    Declined(Declined),
    Indeterminate(Cause),
}

/// Reason for which a call definitely did not apply a decision. The text is fit for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declined {
    /// The call never left: name not found, no connection, no TLS. Says nothing about earlier calls.
    NotSent(String),
    /// The provider turned the call away before it looked at the decision: a credential, too many calls. Says nothing
    /// about earlier calls.
    TurnedAway(String),
    /// The provider refused the decision.
    Refused(String),
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(why) => write!(f, "it could not be reached: {why}"),
            Self::TurnedAway(why) => write!(f, "it turned the call away: {why}"),
            Self::Refused(why) => write!(f, "it refused: {why}"),
        }
    }
}

/// Cause of an indeterminate result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// No answer within this time.
    TimedOut(Duration),
    /// The connection broke after sending; how.
    Broken(String),
    /// The provider failed with this status.
    ServerError(u16),
    /// An answer that makes no sense.
    Unreadable(String),
    /// The provider has taken the decision in, but not decided yet.
    Undecided,
    /// The provider says that the alert has an answer already: ours, or another's.
    AlreadyActioned,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut(limit) => write!(f, "the network gave no answer within {} s", limit.as_secs_f64()),
            Self::Broken(how) => write!(f, "the connection to the network broke before an answer came: {how}"),
            Self::ServerError(status) => write!(f, "the network answered {status}"),
            Self::Unreadable(what) => write!(f, "the network's answer could not be read: {what}"),
            Self::Undecided => f.write_str("the network has received the answer, but not applied it yet"),
            Self::AlreadyActioned => f.write_str("the network says that the alert was answered already"),
        }
    }
}

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUp {
    /// Our decision is applied.
    Applied,
    /// Another decision is applied, not ours; in words.
    AnsweredOtherwise(String),
    /// The provider knows of no decision; counts as declined only once the call's deadline and the consistency lag have
    /// passed.
    NotKnown,
    /// The provider has refused our decision for good; in words.
    Refused(String),
    /// The provider answers, but does not say, or not yet: it is still deciding, or takes no call of ours; in words.
    NotTold(String),
    /// The look-up itself failed; in words.
    Failed(String),
}

/// The provider of a network: takes decisions.
#[async_trait]
pub trait AlertProvider: Send + Sync + 'static {
    /// Capabilities of the provider after a lost answer.
    fn capabilities(&self) -> Capabilities;

    /// Sends a decision, once: no hidden retries. The caller cuts it off after its time-out; a call cut off is
    /// [`Cause::TimedOut`].
    async fn submit(&self, submission: &Submission) -> SubmitResult;

    /// Asks what became of a submission. Asked only where [`Capabilities::lookup`] is true.
    async fn look_up(&self, submission: &Submission) -> LookUp;
}

/// A page of pulled alerts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PulledPage {
    /// Alerts as JSON objects, not looked at yet.
    pub rows: Vec<String>,
    /// Cursor of the next page; nothing where the provider did not give one.
    pub cursor: Option<String>,
    /// True where the turn ends with it; one ends too with a page without rows, or without a cursor of its own.
    pub is_last: bool,
}

/// The alert source of a network: pages of alerts.
#[async_trait]
pub trait AlertSource: Send + Sync + 'static {
    /// Reads the alerts from a cursor on, from the first one where there is none; an empty page where there are no
    /// more.
    ///
    /// # Errors
    /// When there is no page; the text says why, in words fit for a user.
    async fn pull(&self, cursor: Option<&str>) -> Result<PulledPage, String>;
}

/// The provider of alerts that nobody waits for an answer to: the answer is recorded here, and reported to nobody.
struct RecordedHere;

#[async_trait]
impl AlertProvider for RecordedHere {
    fn capabilities(&self) -> Capabilities {
        Capabilities { idempotent: true, ..Capabilities::default() }
    }

    async fn submit(&self, _: &Submission) -> SubmitResult {
        SubmitResult::Accepted
    }

    async fn look_up(&self, _: &Submission) -> LookUp {
        LookUp::NotKnown
    }
}

/// The provider of alerts of a source that is not set up here: another engine's.
struct SetUpElsewhere;

#[async_trait]
impl AlertProvider for SetUpElsewhere {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn submit(&self, _: &Submission) -> SubmitResult {
        SubmitResult::Declined(Declined::NotSent("its source is not set up here".to_owned()))
    }

    async fn look_up(&self, _: &Submission) -> LookUp {
        LookUp::NotTold("its source is not set up here".to_owned())
    }
}

/// The registry of providers, by network, and by source where a source takes the answers itself.
#[derive(Clone)]
pub struct Providers {
    default: Arc<dyn AlertProvider>,
    by_network: HashMap<Provider, Arc<dyn AlertProvider>>,
    by_source: HashMap<String, Arc<dyn AlertProvider>>,
}

impl Providers {
    /// One provider for every network.
    pub fn all(default: Arc<dyn AlertProvider>) -> Self {
        Self { default, by_network: HashMap::new(), by_source: HashMap::new() }
    }

    /// Another provider for one network.
    #[must_use]
    pub fn with(mut self, network: Provider, provider: Arc<dyn AlertProvider>) -> Self {
        self.by_network.insert(network, provider);
        self
    }

    /// The provider of a source that takes the answers itself.
    #[must_use]
    pub fn with_source(mut self, source: &str, provider: Arc<dyn AlertProvider>) -> Self {
        self.by_source.insert(source.to_owned(), provider);
        self
    }

    /// Checks for the provider of a source.
    pub fn has_source(&self, source: &str) -> bool {
        self.by_source.contains_key(source)
    }

    /// Checks for a provider of the network's own, which is not the default one.
    pub fn has_own(&self, network: &Provider) -> bool {
        self.by_network.contains_key(network)
    }

    /// The provider that takes the answers to a network; of a source that keeps them here the one that sends nothing,
    /// and of one that takes them itself its own.
    pub fn answering_for(&self, network: &Provider, origin: Option<&Origin>) -> &dyn AlertProvider {
        match origin {
            Some(Origin { answers: Answers::Here, .. }) => &RecordedHere,
            Some(Origin { answers: Answers::Native, source, .. }) => {
                self.by_source.get(source).map_or(&SetUpElsewhere as &dyn AlertProvider, AsRef::as_ref)
            }
            Some(Origin { answers: Answers::Gateway, .. }) | None => {
                self.by_network.get(network).unwrap_or(&self.default).as_ref()
            }
        }
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers").field("own", &self.by_network.keys().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(Duration);

    #[async_trait]
    impl AlertProvider for Named {
        fn capabilities(&self) -> Capabilities {
            Capabilities { consistency_lag: self.0, ..Capabilities::default() }
        }
        async fn submit(&self, _: &Submission) -> SubmitResult {
            SubmitResult::Accepted
        }
        async fn look_up(&self, _: &Submission) -> LookUp {
            LookUp::NotKnown
        }
    }

    #[test]
    fn a_network_has_its_own_provider_or_the_default_one() {
        let providers = Providers::all(Arc::new(Named(Duration::from_secs(1))))
            .with(Provider::Cdrn, Arc::new(Named(Duration::from_secs(2))));
        let lag = |network| providers.answering_for(&network, None).capabilities().consistency_lag.as_secs();

        assert_eq!(lag(Provider::Cdrn), 2);
        assert_eq!(lag(Provider::Ethoca), 1);
        assert_eq!(lag(Provider::Other("RDR".to_owned())), 1);
        assert!(providers.has_own(&Provider::Cdrn) && !providers.has_own(&Provider::Ethoca));
    }
}

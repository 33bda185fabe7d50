//! Networks in trouble, as this console's own decisions found them: which does not answer, since when, and which took a
//! decision not.

use super::decisions::Decisions;
use super::unfinished::{Stage, Unfinished};
use crate::desk::Fate;
use crate::desk::ledger::sender::Landing;
use crate::domain::{AlertId, Provider, Timestamp};
use crate::service::{FoundOutBy, ServiceError};

/// What went wrong with a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionFault {
    /// The network did not answer, or with nothing that says what became of it.
    Unknown,
    /// The network took the decision not, or could not be reached.
    Declined,
    /// The service's own answer did not come, or says nothing: it is not known what became of it.
    Unheard,
    /// The service itself did not take it.
    Service,
}

#[derive(Debug, Clone)]
struct Noted {
    key: u64,
    alert: AlertId,
    provider: Provider,
    since: Timestamp,
    fault: DecisionFault,
}

/// What is wrong now: the fault, the networks, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkTrouble {
    pub fault: DecisionFault,
    /// Each once; none where it is not known which.
    pub networks: Vec<Provider>,
    pub since: Timestamp,
}

/// What became of decisions that did not go well.
#[derive(Debug, Default)]
pub struct NetworkTroubles {
    noted: Vec<Noted>,
}

impl NetworkTroubles {
    /// Notes the answer to a decision of this console.
    pub fn answered(
        &mut self,
        decisions: &Decisions,
        key: u64,
        answer: &Result<Landing, ServiceError>,
        now: Timestamp,
    ) {
        let Some(decision) = decisions.get(key) else { return };
        let provider = &decision.alert.provider;
        let fault = match answer {
            // What the alert was told before says nothing of its network now.
            Ok(landing) if landing.found => return,
            Ok(_) => {
                // It answers again.
                self.noted.retain(|noted| noted.provider != *provider);
                return;
            }
            // The network has answered: what is left is the service's own.
            Err(ServiceError::ProviderOutcomeUnknown(unknown)) if unknown.found_out_by() == FoundOutBy::Storing => {
                DecisionFault::Service
            }
            Err(ServiceError::ProviderOutcomeUnknown(_)) => DecisionFault::Unknown,
            Err(ServiceError::ProviderFailed(_)) => DecisionFault::Declined,
            Err(ServiceError::Indeterminate(_) | ServiceError::Unavailable(_) | ServiceError::Unreachable(_)) => {
                DecisionFault::Unheard
            }
            // What the alert itself was told by somebody else is no trouble.
            Err(
                ServiceError::AlreadyResolved(_) | ServiceError::ResolutionInProgress | ServiceError::WaitsForPerson(_),
            ) => return,
            Err(_) => DecisionFault::Service,
        };
        self.noted.retain(|noted| noted.key != key && decisions.get(noted.key).is_some());
        self.noted.push(Noted { key, alert: decision.alert.id, provider: provider.clone(), since: now, fault });
    }

    /// What is wrong now, the gravest first: own decisions that are not known or were not recorded, and those that the
    /// engine asks after. `network_of` knows the network of an alert that is at hand.
    pub fn now(
        &self,
        decisions: &Decisions,
        unfinished: &Unfinished,
        network_of: impl Fn(AlertId) -> Option<Provider>,
    ) -> Option<NetworkTrouble> {
        let fault = |noted: &Noted| match (decisions.get(noted.key).map(|decision| decision.fate), noted.fault) {
            (Some(Fate::Unconfirmed), fault) => Some(fault),
            // It was found out that it did not arrive.
            (Some(Fate::NotRecorded), DecisionFault::Unknown) => Some(DecisionFault::Declined),
            (Some(Fate::NotRecorded), DecisionFault::Unheard) => Some(DecisionFault::Service),
            (Some(Fate::NotRecorded), fault) => Some(fault),
            (_, fault) => unfinished.of(noted.alert).map(|_| fault),
        };
        let own =
            self.noted.iter().filter_map(|noted| Some((fault(noted)?, Some(noted.provider.clone()), noted.since)));
        // What an earlier console sent is as little known as what this one did.
        let noted = |key: u64| self.noted.iter().any(|noted| noted.key == key);
        let earlier = decisions.checked().filter(|decision| !noted(decision.key));
        let earlier = earlier.filter_map(|decision| {
            Some((DecisionFault::Unheard, Some(decision.alert.provider.clone()), decision.sent_at?))
        });
        let engines = unfinished.all().filter(|attempt| Stage::of(attempt) == Stage::Unknown);
        let engines = engines.map(|attempt| (DecisionFault::Unknown, network_of(attempt.alert), attempt.started_at));
        let all: Vec<_> = own.chain(earlier).chain(engines).collect();
        let fault = all.iter().map(|(fault, ..)| *fault).min()?;
        let gravest = || all.iter().filter(|(known, ..)| *known == fault);
        let mut networks: Vec<Provider> = Vec::new();
        for network in gravest().filter_map(|(_, network, _)| network.as_ref()) {
            if !networks.contains(network) {
                networks.push(network.clone());
            }
        }
        let since = gravest().map(|(.., since)| *since).min()?;
        Some(NetworkTrouble { fault, networks, since })
    }
}

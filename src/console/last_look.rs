//! The last look right before a decision leaves: another console of the desk may have answered its alert, and where a
//! refund is in question, others may have refunded the payment since its form was filled in, and what is to have been
//! refunded may not be.

use std::collections::HashMap;
use std::time::Duration;

use super::known_refunds::KnownRefunds;
use super::unfinished::elsewhere_in_words;
use crate::desk::Journal;
use crate::desk::coming::{ComingDecision, ComingStage, weightiest};
use crate::desk::known_answers::KnownAnswer;
use crate::desk::same_payment::same_payment;
use crate::domain::{Alert, AlertId, OrderAdvice, ResolutionAttempt, Timestamp, duplicate, sanitize};
use crate::service::{Deployment, ServiceError};

/// A last look takes no longer: what could not be looked for by then leaves without it.
pub const LONGEST: Duration = Duration::from_secs(60);

/// So long it takes at least where only whole hours are known: the window may close any moment, or be open for long.
pub const LEAST: Duration = Duration::from_secs(5);

/// Why a decision does not leave on which another console of the desk was faster.
const RECORDED_HERE: &str = "an answer on this alert was recorded at this desk meanwhile";

/// What it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookSort {
    /// A refund: the payment must not have been refunded otherwise.
    Refund,
    /// An answer that is true where another alert on the payment is refunded.
    RestsOnRefund {
        /// Whether it has waited for a refund that the engine had not finished.
        waited: bool,
    },
    /// Any other answer: the same, and the service is not asked.
    Plain,
}

/// What is compared before a decision leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LastLook {
    /// The alert that is answered.
    pub alert: Alert,
    /// Its name in the desk's journal.
    pub decision: String,
    pub sort: LookSort,
    /// The refunds on its payment that were known when it was staged: confirmed, or what it rests on.
    pub known: KnownRefunds,
    /// The answers to other alerts that may be on its payment, as this console knows them: the service's lists may be
    /// behind.
    pub answers: HashMap<AlertId, KnownAnswer>,
    /// How long it may take: no longer than the refund can wait for it.
    pub within: Duration,
}

/// Where the last look of a decision stands.
#[derive(Debug, Clone, PartialEq)]
pub enum LookStage {
    /// It is looked before it leaves.
    Due,
    /// It is being looked.
    Running,
    /// It was looked at this moment; and what could not be looked for.
    Done(Option<String>, Timestamp),
}

/// What a last look found.
#[derive(Debug, Clone, PartialEq)]
pub enum Looked {
    /// Nothing speaks against it.
    Clear,
    /// Its alert was answered meanwhile: the alert as it is.
    Answered(Box<Alert>),
    /// Why it does not leave: the payment was refunded otherwise, or may be; or what it rests on is not so.
    Against(String),
    /// The other alert on the payment that is refunded, so that it does not leave.
    PaidTwice(Box<Alert>),
    /// Why it does not leave yet: the refund that it rests on is with its network.
    Waits(String),
    /// Why it could not be looked for all of it, and whether it can be again.
    InPart(String, LookAgain),
}

/// Whether what could not be looked for can be again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookAgain {
    /// The service is busy, or slow.
    Soon,
    /// It wants to be left alone for so long.
    After(Duration),
    /// It does not answer this, or it is not there, which the decision itself is told then.
    Never,
}

impl LookAgain {
    fn of(error: &ServiceError) -> Self {
        match error {
            ServiceError::Throttled { wait, .. } => Self::After(*wait),
            ServiceError::Unavailable(_) => Self::Soon,
            _ => Self::Never,
        }
    }
}

impl LastLook {
    /// The same with the answers that the console knows of beside the journal on the disk.
    #[must_use]
    pub fn knowing(self, answers: impl FnOnce(&Alert, &[AlertId]) -> HashMap<AlertId, KnownAnswer>) -> Self {
        Self { answers: answers(&self.alert, &self.known.alerts), ..self }
    }

    /// Looks at the deployment, at the shop's orders, which `advise` asks for an alert with others on its payment, and
    /// at what the journal of this desk has: what its consoles have under way, and what they know to be answered while
    /// the service's lists are behind.
    pub async fn look<A>(&self, deployment: &Deployment, advise: A, journal: Option<&Journal>) -> Looked
    where
        A: FnOnce(&Alert, &[Alert]) -> Result<Option<(String, OrderAdvice)>, ServiceError>,
    {
        let mut again = LookAgain::Soon;
        let asking = async {
            match self.sort {
                LookSort::Plain => Ok(Payment::Open(Vec::new())),
                _ => self.ask(deployment).await,
            }
        };
        let payment = match tokio::time::timeout(self.within, asking).await {
            Ok(asked) => asked.map_err(|error| {
                again = LookAgain::of(&error);
                error.to_string()
            }),
            Err(_) if self.within < LONGEST => Err("no answer in the time left".to_owned()),
            Err(_) => Err(format!("no answer within {} s", LONGEST.as_secs())),
        };
        // Read last: what was staged here is in it, and what another console staged before that.
        let (coming, mut untold) = match journal.map(|journal| journal.coming_beside(&self.decision)) {
            Some(Ok((_, true))) => return Looked::Against(RECORDED_HERE.to_owned()),
            Some(Ok((coming, false))) => (self.before_it(coming), None),
            Some(Err(error)) => (Vec::new(), Some(error.to_string())),
            None => (Vec::new(), None),
        };
        let payment = payment.map(|payment| self.with_answers(payment, journal));
        if let Some(other) =
            weightiest(&coming, self.alert.id).filter(|other| !self.known.elsewhere.contains(&other.key))
        {
            return Looked::Against(elsewhere_in_words(other));
        }
        let mut others = Vec::new();
        match payment {
            Ok(payment) => match (self.with_coming(payment, &coming), self.sort) {
                (Payment::Another(changed), _) => return Looked::Against(changed),
                (Payment::Answered(alert), _) => return Looked::Answered(alert),
                (Payment::Refunded(_), LookSort::RestsOnRefund { .. }) => return Looked::Clear,
                (Payment::Refunded(other), _) => return Looked::PaidTwice(other),
                (Payment::OnItsWay(other), LookSort::RestsOnRefund { .. }) => {
                    return Looked::Waits(format!("the refund of {other} is not recorded"));
                }
                (Payment::OnItsWay(other), _) => {
                    return Looked::Against(format!(
                        "may be paid twice: a refund of {other} is with its network, or may have arrived"
                    ));
                }
                (Payment::Elsewhere(other), LookSort::RestsOnRefund { .. }) => {
                    return Looked::Waits(format!("the refund of {other} is not recorded"));
                }
                (Payment::Elsewhere(other), _) => return Looked::Against(format!("may be paid twice: {other}")),
                (Payment::Open(found), LookSort::RestsOnRefund { waited })
                    if waited || self.misses_a_refund(&found) =>
                {
                    return Looked::Against("the refund that it was to follow is not recorded".to_owned());
                }
                // Also where the journal cannot be read: the service takes one answer.
                (Payment::Open(_), LookSort::Plain) => return Looked::Clear,
                (Payment::Open(_), LookSort::RestsOnRefund { .. }) => {
                    return untold.map_or(Looked::Clear, |why| Looked::InPart(why, again));
                }
                (Payment::Open(found), LookSort::Refund) => others = found,
            },
            Err(why) => untold = Some(why),
        }
        if matches!(self.sort, LookSort::RestsOnRefund { .. }) {
            return untold.map_or(Looked::Clear, |why| Looked::InPart(why, again));
        }
        match advise(&self.alert, &others) {
            Ok(Some((order, advice))) if advice.was_refunded_before() && !self.known.by_order => {
                return Looked::Against(format!(
                    "may be paid twice: order {} was {}",
                    sanitize::line(&order),
                    advice.why
                ));
            }
            Ok(_) => {}
            Err(error) if untold.is_none() => (untold, again) = (Some(error.to_string()), LookAgain::of(&error)),
            Err(_) => {}
        }
        untold.map_or(Looked::Clear, |why| Looked::InPart(why.trim_end_matches('.').to_owned(), again))
    }

    /// Of what consoles of this desk have under way, what goes before this decision: all that has left, and what was
    /// staged before it. Of two that wait for each other one leaves.
    fn before_it(&self, coming: Vec<ComingDecision>) -> Vec<ComingDecision> {
        let own = coming.iter().position(|coming| coming.key == self.decision);
        let session = own.map(|own| coming[own].session);
        let is_before =
            |at: usize, other: &ComingDecision| other.stage != ComingStage::Staged || own.is_none_or(|own| at < own);
        let others = coming.into_iter().enumerate();
        others
            .filter(|(at, other)| Some(other.session) != session && is_before(*at, other))
            .map(|(_, other)| other)
            .collect()
    }

    /// Whether it asks of another alert on the payment: a refund asks of what was not confirmed, what rests on a refund
    /// of any.
    fn asks_of(&self, other: &Alert) -> bool {
        self.sort != LookSort::Refund || !self.known.alerts.contains(&other.id)
    }

    /// A payment with the answers that this console knows of, and its desk by the journal as it was just read.
    fn with_answers(&self, payment: Payment, journal: Option<&Journal>) -> Payment {
        let Payment::Open(found) = payment else { return payment };
        let known = |other: &Alert| KnownAnswer::given(self.answers.get(&other.id), other).into_owned();
        let answered =
            |other: Alert| journal.map_or_else(|| known(&other), |journal| known(&journal.as_answered(&other)));
        self.refunded_or_open(found.into_iter().map(answered).collect())
    }

    /// A payment of whose others one that is asked of is refunded, or none.
    fn refunded_or_open(&self, found: Vec<Alert>) -> Payment {
        match found.iter().find(|other| self.asks_of(other) && other.was_refunded()) {
            Some(other) => Payment::Refunded(Box::new(other.clone())),
            None => Payment::Open(found),
        }
    }

    /// A payment with the refunds that consoles of this desk have under way.
    fn with_coming(&self, payment: Payment, coming: &[ComingDecision]) -> Payment {
        let Payment::Open(found) = payment else { return payment };
        let refund = |other: &Alert| weightiest(coming, other.id).filter(|coming| coming.resolution.gives_money_back());
        let elsewhere = found
            .iter()
            .filter(|other| other.outcome.is_none())
            .filter(|other| self.asks_of(other))
            .find_map(|other| Some((other, refund(other)?)));
        match elsewhere.map(|(other, coming)| (called(other), elsewhere_in_words(coming))) {
            Some((other, _)) if matches!(self.sort, LookSort::RestsOnRefund { .. }) => Payment::Elsewhere(other),
            Some((other, words)) => Payment::Elsewhere(format!("{other}: {words}")),
            None => Payment::Open(found),
        }
    }

    /// Whether one of these was taken for refunded, or about to be, and is not.
    fn misses_a_refund(&self, found: &[Alert]) -> bool {
        let is_refunded =
            |other: &Alert| duplicate::Duplicate::of(&self.alert, other).is_some_and(|double| double.is_refunded());
        !self.known.by_order && found.iter().any(|other| self.known.alerts.contains(&other.id) && !is_refunded(other))
    }

    /// Asks the deployment for the alert as it is now, for the others on the payment, and which refunds are on their
    /// way.
    async fn ask(&self, deployment: &Deployment) -> Result<Payment, ServiceError> {
        let (alert, query) = (&self.alert, duplicate::query(&self.alert));
        match deployment.alerts.get(alert.id).await {
            Ok(now) => {
                if now.outcome.is_some() {
                    return Ok(Payment::Answered(Box::new(now)));
                }
                if let Some(changed) = now.changed_since(alert) {
                    return Ok(Payment::Another(changed));
                }
            }
            // That it is not there the decision itself is told.
            Err(ServiceError::AlertNotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let mut found = same_payment(&*deployment.alerts, deployment.duplicates.as_deref(), alert.id, query).await?;
        found.retain(|other| duplicate::evidence(alert, other).is_some());
        let payment = self.refunded_or_open(found);
        let (Payment::Open(found), Some(attempts)) = (&payment, &deployment.attempts) else { return Ok(payment) };
        let attempts = attempts.unfinished().await?;
        let refunds = |other: &Alert| {
            attempts
                .iter()
                .any(|attempt: &ResolutionAttempt| attempt.alert == other.id && attempt.resolution.gives_money_back())
        };
        let on_its_way = found.iter().find(|other| self.asks_of(other) && refunds(other)).map(called);
        Ok(on_its_way.map_or(payment, Payment::OnItsWay))
    }
}

/// An alert by its network and its id there.
pub fn called(other: &Alert) -> String {
    format!("{} {}", sanitize::line(other.provider.as_str()), sanitize::line(&other.provider_id))
}

/// A payment as the deployment knows it.
enum Payment {
    /// It is not the one that was decided on: what changed.
    Another(String),
    /// The alert has an outcome.
    Answered(Box<Alert>),
    /// It was refunded by this other alert.
    Refunded(Box<Alert>),
    /// A refund of this other alert is with its network, or may have arrived.
    OnItsWay(String),
    /// Another console of this desk has a refund of another alert under way.
    Elsewhere(String),
    /// Neither: the others on it.
    Open(Vec<Alert>),
}

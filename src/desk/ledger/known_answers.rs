//! Known answers: the outcomes of alerts as the journal of a desk tells them, for where a list is behind and shows
//! none.

use std::{borrow::Cow, collections::HashMap};

use super::{
    fate::Fate,
    fold::{DecisionRecord, History},
    steps::{AnswerStep, JournalAlert},
};
use crate::domain::{
    Alert, AlertId, AlertStatus, Amount, OutcomeId, Resolution, Timestamp, decide, resolution::Verdict,
};

/// The answer to an alert, as far as the journal tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAnswer {
    /// Resolution that was given; `None` where another answered, and only the status that it led to is known.
    said: Option<Resolution>,
    status: AlertStatus,
    /// Time of the answer, where it is known.
    at: Option<Timestamp>,
}

impl KnownAnswer {
    /// Builds the answer that a decision's latest step tells of, known since that moment. `None` where it tells of
    /// none, or not of the money. Another's answer in the older dialect may be a refund whatever status it led to.
    pub fn of(said: Option<&Resolution>, step: &AnswerStep, at: Timestamp) -> Option<Self> {
        let status = AlertStatus::parse(step.status()?);
        let is_older = matches!(said, None | Some(Resolution::Older { .. }));
        let said = said.filter(|_| step.fate() == Fate::Recorded).cloned();
        if said.is_none() && is_older && status != AlertStatus::Refunded {
            return None;
        }
        Some(Self { said, status, at: matches!(step, AnswerStep::Recorded(_)).then_some(at) })
    }

    /// An alert with this answer, where it shows none.
    pub fn given<'a>(answer: Option<&Self>, alert: &'a Alert) -> Cow<'a, Alert> {
        let (Some(answer), None) = (answer, &alert.outcome) else { return Cow::Borrowed(alert) };
        let mut answered = alert.clone();
        let comments = answer.said.as_ref().map_or("", Resolution::comments);
        answer.verdict().record(&mut answered, OutcomeId::generate(), comments, answer.at);
        Cow::Owned(answered)
    }

    /// Returns its effect on the alert. The status tells it for another's answer: in the current dialect only a refund
    /// resolves.
    fn verdict(&self) -> Verdict {
        let is_refund = matches!(self.status, AlertStatus::Refunded | AlertStatus::Resolved);
        self.said.as_ref().map_or_else(
            || Verdict {
                status: self.status.clone(),
                outcome: self.status.as_str().to_ascii_lowercase(),
                refunded: if is_refund { "refunded" } else { "" },
                dispute_reason_code: None,
                amount_stopped: None,
            },
            decide,
        )
    }
}

impl From<&DecisionRecord> for Option<KnownAnswer> {
    fn from(record: &DecisionRecord) -> Self {
        let (at, step) = record.last();
        KnownAnswer::of(record.said.resolution().as_ref(), step, at)
    }
}

impl History {
    /// An alert as this desk knows it: with the outcome that its journal tells of, where the alert shows none.
    pub fn as_answered<'a>(&self, alert: &'a Alert) -> Cow<'a, Alert> {
        let record = self.answered_on(alert.id).filter(|_| alert.outcome.is_none());
        KnownAnswer::given(record.and_then(Into::into).as_ref(), alert)
    }

    /// The answers to other alerts that may be on an alert's payment as far as their records name it, and to those
    /// `also` names.
    pub fn answers_near(&self, alert: &Alert, also: &[AlertId]) -> HashMap<AlertId, KnownAnswer> {
        let amount = |named: &JournalAlert| named.amount.as_ref()?.parse().ok().map(|amount: Amount| amount.decimal());
        let is_near = |named: &JournalAlert| {
            let is_as_much = || alert.amount.is_some_and(|own| amount(named) == Some(own.decimal()));
            named.card_last_four == alert.card_last_four || also.contains(&named.id) || is_as_much()
        };
        let near = self
            .records()
            .iter()
            .map(|record| &record.said.alert)
            .filter(|named| named.id != alert.id && is_near(named));
        near.filter_map(|named| Some((named.id, self.answered_on(named.id).and_then(Into::into)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::Provider;
    use crate::domain::resolution::{Decision, OlderRefunded, OlderWord};

    fn older() -> Resolution {
        Resolution::Older {
            word: OlderWord::Missed,
            refunded: OlderRefunded::NotRefunded,
            amount_stopped: None,
            comments: String::new(),
        }
    }

    fn current() -> Resolution {
        Resolution::Current { decision: Decision::NotRefunded, comments: String::new() }
    }

    #[rstest]
    #[case::ones_own(current(), AnswerStep::Recorded("RESOLVED".to_owned()), Some(false))]
    #[case::anothers_that_resolved(current(), AnswerStep::Overtaken("RESOLVED".to_owned()), Some(true))]
    #[case::anothers_that_did_not(current(), AnswerStep::Answered("INVALID".to_owned()), Some(false))]
    #[case::anothers_in_older_words(older(), AnswerStep::Overtaken("RESOLVED".to_owned()), None)]
    #[case::anothers_refund_in_older_words(older(), AnswerStep::Overtaken("REFUNDED".to_owned()), Some(true))]
    #[case::ones_own_in_older_words(older(), AnswerStep::Recorded("RESOLVED".to_owned()), Some(false))]
    #[case::on_its_way(current(), AnswerStep::Sent, None)]
    fn an_answer_is_known_where_it_tells_of_the_money(
        #[case] said: Resolution,
        #[case] step: AnswerStep,
        #[case] refunded: Option<bool>,
    ) {
        let alert = Alert::new(AlertId::generate(), Provider::Ethoca, crate::domain::AlertType::EthocaConfirmedFraud);

        let answer = KnownAnswer::of(Some(&said), &step, Timestamp::UNIX_EPOCH);

        let answered = KnownAnswer::given(answer.as_ref(), &alert);
        assert_eq!(answered.outcome.is_some().then(|| answered.was_refunded()), refunded);
    }
}

//! Truth: what becomes known after the answer. Disputes, fraud reports and refunds as networks and payment providers
//! report them, their match with alerts, and the proof of a refund.

mod held;
mod matching;
#[cfg(test)]
mod tests;

use rust_decimal::Decimal;

use crate::{
    Alert, AlertId, Amount, Currency, FieldError, Money, Provider, Timestamp, closed_enum,
    duplicate::RefundTime,
    field::{Content, ID, NAME, WORD, record},
    identity::{CardDigits, Identifier},
    intake::check,
    order::{read_cells, transaction_key},
};

pub use held::{AnswerKind, HELD_DAYS, HeldCount, LEAD_TIMES};
pub use matching::{SAME_DISPUTE, alert_facts, evidence, matches};

closed_enum! {
    /// The kind of a report.
    #[derive(Default)]
    pub enum TruthKind {
        /// A chargeback, or an inquiry before one.
        #[default]
        Dispute = "dispute",
        /// A fraud report of an issuer (TC40, SAFE).
        Fraud = "fraud",
        /// A refund, as the payment provider tells what became of it.
        Refund = "refund",
    }
}

closed_enum! {
    /// The state of a refund; each later one replaces an earlier one, whatever order they are reported in.
    #[derive(PartialOrd, Ord)]
    pub enum RefundState {
        Pending = "pending",
        Succeeded = "succeeded",
        /// Failed or canceled: the money did not go back.
        Failed = "failed",
    }
}

record! {
    /// A report of what became of a payment: a dispute, a fraud report or a refund.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct TruthReport {
        /// Id at whoever reports it. With the kind it is the identity of the report, and nothing else is.
        id: String => Text "id".text(Content::Name, ID).required("the id of the dispute or the refund"),
        /// Reference of a refund, such as its own ARN.
        reference: Option<String> => Text "reference".text(Content::Code, ID),
        network: Option<String> => Text "network".text(Content::Prose, WORD),
        /// The acquirer's reference of the payment.
        arn: Option<String> => Text "arn".text(Content::Code, ID),
        transaction_id: Option<String> => Text "transaction_id".text(Content::Code, ID),
        order_id: Option<String> => Text "order_id".text(Content::Code, ID),
        /// Six or eight digits, never more of a card than that.
        card_bin: Option<String> => Text "card_bin".text(Content::Bin, 8),
        card_last_four: Option<String> => Text "card_last_four".text(Content::LastFour, 4),
        amount: Option<Amount> => Amount "amount",
        currency: Option<Currency> => Text "currency".text(Content::Currency, 3),
        reason: Option<String> => Text "reason".longest(NAME),
        /// Status in the words of whoever reports it.
        status: Option<String> => Text "status",
        /// Time of the dispute, the fraud report or the refund.
        at: Option<Timestamp> => Moment "at",
    }
    and {
        kind: TruthKind,
    }
}

impl RefundState {
    /// Returns the state of a word of a payment provider; a canceled refund has failed.
    pub fn of_word(word: &str) -> Option<Self> {
        let is_canceled = ["canceled", "cancelled"].iter().any(|canceled| word.eq_ignore_ascii_case(canceled));
        Self::known(word).or(is_canceled.then_some(Self::Failed))
    }
}

impl TruthReport {
    /// Returns a report from its cells, by the names of [`TruthReport::FIELDS`]; an empty one says nothing.
    ///
    /// # Errors
    /// When a cell is not allowed: the first such cell and the allowed values. No message repeats card data.
    pub fn of_cells<'a>(
        kind: TruthKind,
        cells: impl IntoIterator<Item = (&'static str, &'a str)>,
    ) -> Result<Self, FieldError> {
        Self { kind, ..read_cells(Self::FIELDS, cells)? }.validate()
    }

    /// Checks every field and cleans its text.
    ///
    /// # Errors
    /// When a field is not allowed: the first such field with the reason.
    pub fn validate(mut self) -> Result<Self, FieldError> {
        check(&mut self, Self::FIELDS, "")?;
        Identifier::Name.require(&self.id).map_err(|why| FieldError::new("id", why))?;
        if self.kind == TruthKind::Refund && self.refund_state().is_none() {
            let given = self.status.as_deref().map_or_else(|| "is missing".to_owned(), |word| format!("is {word:?}"));
            let why = format!("{given}: succeeded, pending, failed or canceled is allowed");
            return Err(FieldError::new("status", why));
        }
        Ok(self)
    }

    /// Returns the state of a refund; `None` of another report.
    pub fn refund_state(&self) -> Option<RefundState> {
        self.status.as_deref().filter(|_| self.kind == TruthKind::Refund).and_then(RefundState::of_word)
    }

    /// Returns the disputed or refunded money, where amount and currency are known.
    pub fn money(&self) -> Option<Money> {
        Some(Money { amount: self.amount?, currency: self.currency.clone()? })
    }

    /// Returns the known digits of the card.
    pub fn card_digits(&self) -> CardDigits<'_> {
        let (bin, last_four) = (self.card_bin.as_deref(), self.card_last_four.as_deref());
        CardDigits { bin: bin.unwrap_or_default(), last_four: last_four.unwrap_or_default() }
    }

    /// Takes over what another version of the report says; what that leaves out stays as it was, and a refund's state
    /// never goes back. Returns true where anything changed.
    pub fn update(&mut self, mut later: Self) -> bool {
        let before = self.clone();
        later.id.clear();
        if self.refund_state() > later.refund_state() {
            later.status = None;
        }
        for field in Self::FIELDS {
            if !(field.is_blank)(&later) {
                (field.take)(self, &mut later);
            }
        }
        *self != before
    }

    /// Returns true for a refund that goes by this reference.
    pub fn is_refund_called(&self, reference: &str) -> bool {
        let names = [Some(self.id.as_str()), self.reference.as_deref()];
        let reference = Identifier::Name.read(Some(reference));
        self.kind == TruthKind::Refund
            && names.into_iter().any(|name| reference.is_some() && Identifier::Name.read(name) == reference)
    }
}

/// Proof of a refund beside an answer: what the merchant says of it, and what its payment provider told since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundProof {
    /// The refund's id or reference at the payment provider.
    pub reference: String,
    pub amount: Option<Amount>,
    pub currency: Option<Currency>,
    pub state: RefundState,
}

impl RefundProof {
    /// Checks its fields.
    ///
    /// # Errors
    /// Where the reference identifies nothing or cannot be kept, or an amount comes without its currency.
    pub fn validate(self) -> Result<Self, FieldError> {
        let report = TruthReport {
            id: self.reference,
            amount: self.amount,
            currency: self.currency,
            status: Some(self.state.as_str().to_owned()),
            kind: TruthKind::Refund,
            ..TruthReport::default()
        };
        let named = |error: FieldError| {
            if error.field == "id" { FieldError { field: "reference".into(), ..error } } else { error }
        };
        let TruthReport { id: reference, amount, currency, .. } = report.validate().map_err(named)?;
        match (&amount, &currency) {
            (Some(_), None) => Err(FieldError::new("currency", "is missing: the currency of amount")),
            (None, Some(_)) => Err(FieldError::new("amount", "is missing: the amount in this currency")),
            _ => Ok(Self { reference, amount, currency, state: self.state }),
        }
    }

    /// Returns the refunded money, where it is known.
    pub fn money(&self) -> Option<Money> {
        Some(Money { amount: self.amount?, currency: self.currency.clone()? })
    }
}

/// Returns the time of the succeeded refunds of an alert's payment, the one that its proof tells of among them, where
/// they reach its amount. A refund of an unknown amount, in another currency or of another transaction proves nothing.
pub fn covered_at(alert: &Alert, reports: &[TruthReport], proof: Option<&RefundProof>) -> Option<RefundTime> {
    // A refund that is reported too counts once.
    let is_reported = |proof: &RefundProof| reports.iter().any(|report| report.is_refund_called(&proof.reference));
    let own = proof.filter(|proof| proof.state == RefundState::Succeeded && !is_reported(proof));
    let transaction = transaction_key(alert.transaction_id.as_deref());
    let is_of_it = |report: &&TruthReport| {
        let other = report.transaction_key().zip(transaction.as_ref()).is_some_and(|(other, own)| other != *own);
        report.refund_state() == Some(RefundState::Succeeded) && !other
    };
    let reported = reports
        .iter()
        .filter(is_of_it)
        .filter_map(|report| Some((RefundTime::of(alert.alert_time, report.at), report.money()?)));
    let own = own.and_then(RefundProof::money).map(|money| (RefundTime::Since, money));
    let refunds: Vec<_> = reported.chain(own).collect();
    let reaches = |times: &[RefundTime]| {
        let counted =
            refunds.iter().filter(|(time, money)| times.contains(time) && money.currency.is_same(&alert.currency));
        let sum: Decimal = counted.map(|(_, money)| money.amount.decimal()).sum();
        alert.amount.is_some_and(|disputed| sum > Decimal::ZERO && sum >= disputed.decimal())
    };
    let all = [RefundTime::Since, RefundTime::Before, RefundTime::Unknown];
    let one = all.into_iter().find(|time| reaches(&[*time]));
    one.or_else(|| reaches(&all).then_some(RefundTime::Unknown))
}

/// Result of recording reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TruthCounts {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Those of them that match at least one alert.
    pub matched: u64,
}

impl TruthCounts {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.matched += other.matched;
    }
}

closed_enum! {
    /// The contradiction between an answer and what became known.
    pub enum ContradictionKind {
        /// Refunded was reported, and the refund failed.
        NotPaid = "not_paid",
        /// Refunded or Invalid was reported, and the payment was disputed.
        Disputed = "disputed",
    }
}

/// An answer that what became known contradicts, with both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContradictedAnswer {
    pub kind: ContradictionKind,
    pub alert: AlertId,
    pub network: Provider,
    /// Id at that network.
    pub provider_id: String,
    pub answer: AnswerKind,
    pub answered_at: Option<Timestamp>,
    /// The dispute or the failed refund; `None` where only the proof says that the refund failed.
    pub report: Option<TruthReport>,
    /// The fact that the report matched by, in words; empty without a report.
    pub matched_by: String,
    pub refund: Option<RefundProof>,
}

impl ContradictedAnswer {
    /// Returns the id of the dispute or the failed refund; the proof's reference where only that is known.
    pub fn report_id(&self) -> &str {
        let proof = self.refund.as_ref().map(|proof| proof.reference.as_str());
        self.report.as_ref().map(|report| report.id.as_str()).or(proof).unwrap_or_default()
    }
}

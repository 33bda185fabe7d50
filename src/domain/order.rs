//! Orders of the merchant's own shop: what a desk knows of them, and the match between an alert and an order.

mod cells;
mod matching;

use std::borrow::Cow;

use crate::closed_enum;
use crate::{
    Amount, Currency, Money, Timestamp,
    duplicate::RefundTime,
    field::{Content, HoldsText, ID, NAME, WORD, record},
    identity::CardDigits,
    resolution::Decision,
};

pub(crate) use cells::read_cells;
pub(crate) use matching::compare;
pub use matching::{matches, transaction_key};

closed_enum! {
    /// The state of an order in the shop.
    pub enum OrderState {
        Paid = "paid",
        Shipped = "shipped",
        Delivered = "delivered",
        Refunded = "refunded",
        Cancelled = "cancelled",
    }
}

impl HoldsText for Option<OrderState> {
    fn held(&self) -> Option<&str> {
        self.map(OrderState::as_str)
    }

    fn hold(&mut self, text: Cow<'_, str>) {
        *self = OrderState::parse(&text);
    }
}

record! {
    /// An order of the merchant's shop, as far as its file says it.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct MerchantOrder {
        order_id: String => Text "order_id".text(Content::Code, ID).required("the order's number in the shop"),
        transaction_id: Option<String> => Text "transaction_id".text(Content::Code, ID),
        /// The acquirer's reference of the payment.
        arn: Option<String> => Text "arn".text(Content::Code, ID),
        auth_code: Option<String> => Text "auth_code".text(Content::Code, WORD),
        /// Six or eight digits, never more of a card than that.
        card_bin: Option<String> => Text "card_bin",
        card_last_four: Option<String> => Text "card_last_four",
        amount: Option<Amount> => Amount "amount",
        currency: Option<Currency> => Text "currency".text(Content::Currency, 3),
        paid_at: Option<Timestamp> => Moment "paid_at",
        descriptor: Option<String> => Text "descriptor".longest(NAME),
        state: Option<OrderState> => Word "state",
        /// Time from which it is in that state.
        state_at: Option<Timestamp> => Moment "state_at",
        refunded_amount: Option<Amount> => Amount "refunded_amount",
    }
    and {}
}

impl MerchantOrder {
    /// Returns the amount paid, where amount and currency are known.
    pub fn money(&self) -> Option<Money> {
        self.in_its_currency(self.amount)
    }

    /// Returns the known digits of the card that paid it.
    pub fn card_digits(&self) -> CardDigits<'_> {
        let (bin, last_four) = (self.card_bin.as_deref(), self.card_last_four.as_deref());
        CardDigits { bin: bin.unwrap_or_default(), last_four: last_four.unwrap_or_default() }
    }

    /// Returns the amount refunded, where amount and currency are known.
    pub fn refunded(&self) -> Option<Money> {
        self.in_its_currency(self.refunded_amount)
    }

    fn in_its_currency(&self, amount: Option<Amount>) -> Option<Money> {
        Some(Money { amount: amount?, currency: self.currency.clone()? })
    }

    /// Returns true where the other record, from a file, has an older and different state of the order.
    pub fn has_newer_state_than(&self, other: &Self) -> bool {
        let is_older = self.state_at.zip(other.state_at).is_some_and(|(known, told)| told < known);
        is_older && other.state.is_some() && other.state != self.state
    }

    /// Takes over what a later file says of the order; what that leaves out stays as it was, and so does a newer state.
    /// Returns true where anything changed.
    pub fn update(&mut self, mut later: Self) -> bool {
        let before = self.clone();
        later.order_id.clear();
        if self.has_newer_state_than(&later) {
            (later.state, later.state_at, later.refunded_amount) = (None, None, None);
        }
        // A state that is another one has a time of its own, or none that is known.
        if later.state.is_some_and(|state| Some(state) != self.state) {
            self.state_at = None;
        }
        for field in Self::FIELDS {
            if !(field.is_blank)(&later) {
                (field.take)(self, &mut later);
            }
        }
        *self != before
    }
}

closed_enum! {
    /// The evidence that an alert is on an order's payment, the weightiest first.
    #[derive(PartialOrd, Ord)]
    pub enum OrderEvidence {
        /// The transaction's id, dates added to it set aside.
        TransactionId = "transaction id",
        /// The order's own number, as given by the network.
        OrderNumber = "order number",
        /// The acquirer's reference and the card.
        ArnAndCard = "ARN and card",
        /// The acquirer's reference and the money, where one side has no card digits.
        ArnAndAmount = "ARN and amount",
        /// The authorization code and the card, within two days as far as the dates are known.
        AuthCodeAndCard = "auth code and card",
        /// Amount, currency and card, within three days as far as the dates are known.
        AmountAndCard = "amount and card",
        /// The card, and a statement's descriptor that begins alike.
        Descriptor = "card, descriptor alike",
    }
}

impl OrderEvidence {
    /// Returns true where an identifier proves it, and not the card and the money themselves.
    pub fn is_by_identifier(self) -> bool {
        self < Self::AmountAndCard
    }
}

closed_enum! {
    /// Confidence that an alert is on an order's payment; the surer one is the greater one.
    #[derive(PartialOrd, Ord)]
    pub enum MatchConfidence {
        /// Candidate, to be reviewed.
        Possible = "possible",
        Likely = "likely",
        VeryLikely = "strong",
        Certain = "exact",
    }
}

impl MatchConfidence {
    fn less(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }
}

/// The match between an alert and an order: why, and how sure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderMatch {
    pub order: MerchantOrder,
    pub evidence: OrderEvidence,
    pub confidence: MatchConfidence,
    /// True where a fact contradicts the identifier.
    pub is_contradicted: bool,
    /// Doubts in words: a fact against the match, or one that leaves it open.
    pub doubts: Vec<String>,
}

impl OrderMatch {
    /// Describes the confidence and its reason: `possible, amount and card; 2 orders fit alike`.
    pub fn words(&self) -> String {
        format!("{}, {}", self.confidence.as_str(), self.reason())
    }

    /// Describes the reason: `amount and card; 2 orders fit alike`.
    pub fn reason(&self) -> String {
        let doubts = self.doubts.iter().map(String::as_str);
        std::iter::once(self.evidence.as_str()).chain(doubts).collect::<Vec<_>>().join("; ")
    }
}

/// The decision that an order suggests for its alert, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderAdvice {
    pub decision: Decision,
    /// Reason in words: `refunded before the alert`.
    pub why: &'static str,
    /// Time of the order's refund, relative to its alert; `None` without one.
    pub refund: Option<RefundTime>,
    /// Moment of the refund, where it is known.
    pub refunded_at: Option<Timestamp>,
    /// True where the order was cancelled, and it is not known whether its money went back: check before a refund.
    pub leaves_refund_open: bool,
    /// True where a fact contradicts the match: then it warns and suggests nothing.
    pub only_warns: bool,
}

impl OrderAdvice {
    /// Returns true where the shop's money had gone back already, so that another refund would pay twice.
    pub fn was_refunded_before(&self) -> bool {
        self.refund.is_some() && self.decision != Decision::Refunded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::from_iso;

    #[test]
    fn a_later_file_changes_what_it_says_and_leaves_the_rest() {
        let mut order = MerchantOrder {
            order_id: "A-1".to_owned(),
            arn: Some("74320456118200319945216".to_owned()),
            state: Some(OrderState::Paid),
            state_at: from_iso("2026-03-01T10:00:00Z"),
            ..MerchantOrder::default()
        };
        let shipped = MerchantOrder { state: Some(OrderState::Shipped), ..MerchantOrder::default() };

        let changed = [order.update(shipped.clone()), order.update(shipped)];

        assert_eq!(changed, [true, false]);
        assert_eq!(
            (order.state, order.state_at),
            (Some(OrderState::Shipped), None),
            "the time was that of the other state"
        );
        assert_eq!(order.arn.as_deref(), Some("74320456118200319945216"));
    }

    #[test]
    fn a_match_says_why_and_what_it_leaves_open() {
        let doubts = ["no dates to compare", "2 orders fit alike"].map(str::to_owned).to_vec();
        let found = OrderMatch {
            order: MerchantOrder::default(),
            evidence: OrderEvidence::AmountAndCard,
            confidence: MatchConfidence::Possible,
            is_contradicted: false,
            doubts,
        };

        assert_eq!(found.reason(), "amount and card; no dates to compare; 2 orders fit alike");
    }
}

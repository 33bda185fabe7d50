//! Cautions: what speaks so much against an answer that it has to be confirmed once more.

use crate::domain::{Alert, Timestamp};

/// Why an answer has to be confirmed once more before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// This desk knows of an outcome that the list does not show.
    ListBehind,
    /// An earlier decision on the alert may have arrived.
    MayHaveArrived,
    /// The payment was refunded by another alert or by the shop, or probably by the network's own rule, and this answer
    /// says that money goes back.
    PaidTwice,
    /// The network's own rule has probably refunded, and the answer says nothing of it.
    NetworkRule,
    /// Money has gone back already, and the answer says otherwise.
    RefundDenied,
    /// The shop's order was cancelled, nothing tells whether its money went back, and the answer says that it goes
    /// back.
    RefundOpen,
    /// An order is matched exactly, and the answer says that the transaction was not found.
    OrderFound,
    /// The facts of the alert changed while its form was open.
    Changed,
    /// The window has closed.
    Closed,
    /// The network asks for no answer.
    Notice,
}

/// What an answer says of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaysOfMoney {
    /// It goes back because of this alert.
    pub refunds: bool,
    /// It had gone back before.
    pub refunded_before: bool,
}

impl Caution {
    /// What there is to know, in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ListBehind => "already answered, the list is behind",
            Self::MayHaveArrived => "an earlier answer is unconfirmed",
            Self::PaidTwice => "possible double refund",
            Self::NetworkRule => "probably refunded by the network's rule",
            Self::RefundDenied => "already refunded",
            Self::RefundOpen => "order cancelled, refund unknown",
            Self::OrderFound => "an order matches exactly",
            Self::Changed => "the alert changed",
            Self::Closed => "expired",
            Self::Notice => "no answer expected",
        }
    }

    /// Cautions of an answer to an alert by the alert's own facts, and by whether its payment was refunded elsewhere;
    /// the gravest first.
    pub fn against(alert: &Alert, says: SaysOfMoney, refunded_elsewhere: bool, now: Timestamp) -> Vec<Self> {
        let rule = alert.network_rule_applied();
        let cautions = [
            (says.refunds && (rule || refunded_elsewhere), Self::PaidTwice),
            (rule && !says.refunds && !says.refunded_before, Self::NetworkRule),
            (alert.is_closed(now), Self::Closed),
            (alert.alert_type.is_notice(), Self::Notice),
        ];
        cautions.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution).collect()
    }
}

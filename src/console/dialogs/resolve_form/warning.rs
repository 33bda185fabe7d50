//! What was found out about an alert while it is being answered.

use crate::domain::duplicate::Duplicate;
use crate::domain::resolution::InvalidReason;
use crate::domain::{Alert, OrderAdvice};

/// What was found out about an alert beyond its own facts; those the form reads itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormWarning {
    /// The search for duplicates has not come back yet.
    Searching,
    /// Another alert on the same payment.
    Duplicate(Duplicate),
    /// The order of the shop that matches, by its id, and what it says.
    Order(String, OrderAdvice),
    /// The order of the shop that matches was cancelled, and nothing tells whether its money went back: its id.
    Cancelled(String),
    /// What this desk knows of the alert's outcome, which the list does not show, in words.
    ListBehind(String),
    /// A decision of this console on the same alert whose answer never came.
    MayHaveArrived(String),
    /// The search for duplicates failed, and why.
    NotSearched(String),
    /// What another console on this desk has begun for the alert, in words.
    Other(String),
    /// What could not be compared or searched, in words: `ARN not checked`.
    NotCompared(String),
}

impl FormWarning {
    /// Whether money has gone back already, so that a refund must be confirmed.
    pub(super) fn is_refunded(&self) -> bool {
        match self {
            Self::Duplicate(duplicate) => duplicate.is_refunded(),
            Self::Order(_, order) => order.was_refunded_before(),
            Self::Searching
            | Self::Cancelled(_)
            | Self::ListBehind(_)
            | Self::MayHaveArrived(_)
            | Self::NotSearched(_)
            | Self::Other(_)
            | Self::NotCompared(_) => false,
        }
    }

    /// Whether a decision on the same alert may have arrived, or may yet.
    pub(super) fn may_arrive(&self) -> bool {
        matches!(self, Self::MayHaveArrived(_))
    }

    /// The other alert that it tells of.
    pub(super) fn duplicate(&self) -> Option<&Duplicate> {
        match self {
            Self::Duplicate(duplicate) => Some(duplicate),
            _ => None,
        }
    }

    /// What the order of the shop says.
    pub(super) fn order(&self) -> Option<&OrderAdvice> {
        match self {
            Self::Order(_, advice) => Some(advice),
            _ => None,
        }
    }

    /// Whether both tell of the same other alert, or of the same order.
    pub(super) fn is_same_duplicate(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Duplicate(one), Self::Duplicate(two)) => {
                one.provider == two.provider && one.provider_id == two.provider_id
            }
            (Self::Order(one, _), Self::Order(two, _)) => one == two,
            _ => false,
        }
    }

    /// Whether both tell that the same other alert was refunded.
    pub(super) fn is_same_refund(&self, other: &Self) -> bool {
        self.is_refunded() && other.is_refunded() && self.is_same_duplicate(other)
    }

    /// The reason of an INVALID answer that this warning speaks for by itself.
    pub(super) fn offers(&self, alert: &Alert) -> Option<InvalidReason> {
        match self {
            Self::Duplicate(duplicate) => duplicate.reason(alert),
            _ => None,
        }
    }
}

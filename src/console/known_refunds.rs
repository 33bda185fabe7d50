//! What was known of refunds on a payment when a further one was confirmed: the tick covers these, and no other.

use crate::domain::AlertId;

/// The refunds on an alert's payment that were known when its decision was staged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownRefunds {
    /// The other alerts whose refund is recorded, probable or on its way.
    pub alerts: Vec<AlertId>,
    /// True where the shop's orders say that money went back.
    pub by_order: bool,
}

impl KnownRefunds {
    /// Returns true where none of these is another one than was known.
    pub fn cover(&self, others: &Self) -> bool {
        (self.by_order || !others.by_order) && others.alerts.iter().all(|alert| self.alerts.contains(alert))
    }
}

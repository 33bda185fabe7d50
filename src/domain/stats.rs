//! Statistics of an organization's alerts: money at risk, and counts by day and kind.

use super::{AlertStatus, AlertType, Money, Provider};

/// Money that waits for an answer in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRisk {
    pub alerts: u64,
    pub money: Money,
}

/// How many alerts there are of one kind on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The UTC day of the alerts' time as days since 1970-01-01; `None` for alerts without a time.
    pub day: Option<i64>,
    pub provider: Provider,
    pub alert_type: AlertType,
    pub status: AlertStatus,
    /// The stored word of their outcome.
    pub outcome: Option<String>,
    pub expired: bool,
    pub alerts: u64,
}

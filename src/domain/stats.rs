//! Statistics of an organization's alerts: money at risk, and counts by day and kind.

use super::{AlertStatus, AlertType, Money, Provider};

/// Money that waits for an answer in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRisk {
    /// How many alerts.
    pub alerts: u64,
    /// Their sum.
    pub money: Money,
}

/// How many alerts there are of one kind on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The UTC day of the alerts' time as days since 1970-01-01; `None` for alerts without a time.
    pub day: Option<i64>,
    /// Their provider.
    pub provider: Provider,
    /// Their type.
    pub alert_type: AlertType,
    /// Their status.
    pub status: AlertStatus,
    /// The stored word of their outcome.
    pub outcome: Option<String>,
    /// Whether they have expired.
    pub expired: bool,
    /// How many.
    pub alerts: u64,
}

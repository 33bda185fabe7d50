//! Statistics of an organization's alerts: sums by currency, money at risk, and counts by day and kind.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{Alert, AlertStatus, AlertType, Amount, Currency, Money, Provider};

/// Money of open alerts in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRisk {
    pub alerts: u64,
    pub money: Money,
}

/// The sum of alerts in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrencySum {
    pub alerts: u64,
    /// The sum of those whose amount is known.
    pub money: Money,
    /// Number of those without a known amount.
    pub unpriced: u64,
}

impl CurrencySum {
    /// Returns the sums of these alerts, most alerts first, then by currency.
    pub fn of<'a>(alerts: impl IntoIterator<Item = &'a Alert>) -> Vec<Self> {
        // Alerts, millionths, and those without an amount: the whole is made an amount once, as stores make it.
        let mut sums: BTreeMap<&Currency, (u64, i128, u64)> = BTreeMap::new();
        for alert in alerts {
            let (alerts, sum, unpriced) = sums.entry(&alert.currency).or_default();
            let micros = alert.amount.and_then(Amount::micros);
            *alerts += 1;
            *sum += i128::from(micros.unwrap_or(0));
            *unpriced += u64::from(micros.is_none());
        }
        let of_currency = |(currency, (alerts, micros, unpriced)): (&Currency, (u64, i128, u64))| Self {
            alerts,
            money: Money { amount: Amount::from_micros(micros), currency: currency.clone() },
            unpriced,
        };
        let mut sums: Vec<Self> = sums.into_iter().map(of_currency).collect();
        sums.sort_by_key(|sum| Reverse(sum.alerts));
        sums
    }

    /// Returns these sums without those of some of their alerts; `None` where those are not all among them.
    pub fn without(sums: &[Self], others: &[Self]) -> Option<Vec<Self>> {
        let mut left = sums.to_vec();
        for other in others {
            let sum = left.iter_mut().find(|sum| sum.money.currency == other.money.currency)?;
            sum.alerts = sum.alerts.checked_sub(other.alerts)?;
            sum.unpriced = sum.unpriced.checked_sub(other.unpriced)?;
            let [all, some] = [&sum.money, &other.money].map(|money| money.amount.micros().map(i128::from));
            sum.money.amount = Amount::from_micros(all?.checked_sub(some?).filter(|micros| *micros >= 0)?);
        }
        left.retain(|sum| sum.alerts > 0);
        left.sort_by_key(|sum| Reverse(sum.alerts));
        Some(left)
    }
}

/// Number of alerts of one kind on one day.
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

//! Statistics of an organization's alerts: sums, counts, money at risk.

use std::{cmp::Reverse, collections::BTreeMap};

use chrono::Duration;

use crate::{Alert, AlertStatus, AlertType, Amount, Currency, Money, Provider};

/// A quarter of an hour: every time zone is whole quarters from UTC, so that hours of any are sums of these.
pub const QUARTER: Duration = Duration::minutes(15);

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
    /// Returns the sum of one alert.
    pub fn of_one(alert: &Alert) -> Self {
        let micros = alert.amount.and_then(Amount::micros);
        let amount = Amount::from_micros(micros.unwrap_or(0).into());
        let money = Money { amount, currency: alert.currency.clone() };
        Self { alerts: 1, money, unpriced: u64::from(micros.is_none()) }
    }

    /// Returns the sums of alerts by currency, most alerts first.
    pub fn of<'a>(alerts: impl IntoIterator<Item = &'a Alert>) -> Vec<Self> {
        Self::by_currency(alerts.into_iter().map(Self::of_one))
    }

    /// Returns sums by currency, most alerts first.
    pub fn by_currency(sums: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut found: BTreeMap<Currency, Self> = BTreeMap::new();
        for sum in sums {
            match found.get_mut(&sum.money.currency) {
                Some(known) => known.add(&sum),
                None => drop(found.insert(sum.money.currency.clone(), sum)),
            }
        }
        let mut found: Vec<Self> = found.into_values().collect();
        found.sort_by_key(|sum| Reverse(sum.alerts));
        found
    }

    /// Adds another sum in the same currency.
    pub fn add(&mut self, other: &Self) {
        self.alerts += other.alerts;
        self.unpriced += other.unpriced;
        self.money.amount = self.money.amount.saturating_add(other.money.amount);
    }

    /// Returns these sums without those of some of their alerts; `None` where those are not all among them.
    pub fn without(sums: &[Self], others: &[Self]) -> Option<Vec<Self>> {
        let mut left = sums.to_vec();
        for other in others {
            let sum = left.iter_mut().find(|sum| sum.money.currency == other.money.currency)?;
            sum.alerts = sum.alerts.checked_sub(other.alerts)?;
            sum.unpriced = sum.unpriced.checked_sub(other.unpriced)?;
            let rest = sum.money.amount.decimal().checked_sub(other.money.amount.decimal());
            sum.money.amount = rest.filter(|rest| rest.is_zero() || rest.is_sign_positive())?.into();
        }
        Some(Self::by_currency(left.into_iter().filter(|sum| sum.alerts > 0)))
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

//! Statistics of alerts in JSON: sums, counts by day and kind, money at risk.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    members::{Member, json_type, stands_for},
    text::Text,
};
use crate::domain::{AlertStatus, AlertType, Amount, AtRisk, Count, Currency, CurrencySum, Money, Provider};

/// Most hours ahead that money at risk can be asked for: ten years.
pub const MOST_HOURS: u32 = 87_600;

json_type! {
    /// Number of alerts, and the money of those that wait for an answer.
    pub struct CountsJson {
        pub total: u64,
        #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
        by_status: Map<String, Value>,
        #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
        by_provider: Map<String, Value>,
        pub days: Vec<CountJson>,
        pub at_risk: Vec<AtRiskJson>,
    }
}

json_type! {
    /// Number of alerts of one kind on one day.
    pub struct CountJson for Count {
        /// The UTC day of the alerts; null for those without a time.
        day: Option<Text<NaiveDate>>,
        provider: Text<Provider>,
        r#type = alert_type: Text<AlertType>,
        status: Text<AlertStatus>,
        outcome: Option<String>,
        expired: bool,
        alerts: u64,
    }
}

json_type! {
    /// Money that waits for an answer in one currency.
    pub struct AtRiskJson for AtRisk {
        #[serde(flatten)]
        money: MoneyJson,
        alerts: u64,
    }
}

json_type! {
    /// The sum of alerts in one currency.
    pub struct CurrencySumJson for CurrencySum {
        #[serde(flatten)]
        money: MoneyJson,
        alerts: u64,
        /// Those whose amount is not known.
        unpriced: u64,
    }
}

json_type! {
    /// A sum in one currency.
    pub(super) struct MoneyJson for Money {
        currency: Text<Currency>,
        /// The sum of those whose amount is known.
        amount: Text<Amount>,
    }
}

impl CountsJson {
    /// The counts, with what lapses soon.
    pub fn of(counts: Vec<Count>, at_risk: Vec<AtRisk>) -> Self {
        Self {
            total: counts.iter().map(|count| count.alerts).sum(),
            by_status: sums(&counts, |count| count.status.as_str()),
            by_provider: sums(&counts, |count| count.provider.as_str()),
            days: counts.into_iter().map(Into::into).collect(),
            at_risk: at_risk.into_iter().map(Into::into).collect(),
        }
    }
}

/// Sums by a word, in the order in which the words come up.
fn sums(counts: &[Count], word: impl Fn(&Count) -> &str) -> Map<String, Value> {
    let mut sums: Map<String, Value> = Map::new();
    for count in counts {
        let sum = sums.entry(word(count)).or_insert(Value::from(0));
        *sum = Value::from(sum.as_u64().unwrap_or(0) + count.alerts);
    }
    sums
}

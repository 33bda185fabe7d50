//! Statistics and insights of alerts in JSON.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        AlertStatus, AlertType, Amount, AtRisk, Calendar, CardScheme, Count, Currency, CurrencySum, DayCount, Insights,
        KindCount, Lapsing, Money, MonitoredCount, Provider, ResponseTime, Timestamp,
    },
    operator::text::{Member, Text, json_type, stands_for},
};

/// Most hours ahead that money at risk can be asked for: ten years.
pub const MOST_HOURS: u32 = 87_600;

json_type! {
    /// Number of alerts, and the money of those that wait for an answer.
    pub struct CountsJson {
        pub total: u64,
        by_status: BTreeMap<String, u64>,
        by_provider: BTreeMap<String, u64>,
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

fn sums(counts: &[Count], word: impl Fn(&Count) -> &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for count in counts {
        *sums.entry(word(count).to_owned()).or_default() += count.alerts;
    }
    sums
}

json_type! {
    /// Statistics of the alerts within a filter.
    pub struct InsightsJson for Insights {
        lapsing: Vec<LapsingJson>,
        kinds: Vec<KindCountJson>,
        /// Offset of the days, in minutes east of UTC.
        #[serde(default)]
        utc_offset = calendar: i32,
        /// The last 30 days; those without anything are left out.
        days: Vec<DayCountJson>,
        /// Response times of these days.
        response_times: Vec<ResponseTimeJson>,
        /// Alerts raised on these days whose answer has no time.
        undated: u64,
        /// Counts for the card schemes' monitoring programmes of this month, whatever the filter.
        monitored: Vec<MonitoredCountJson>,
        /// True where disputes of this month name a scheme: chargebacks are counted by them, and not by alerts.
        #[serde(default)]
        has_dispute_feed: bool,
        /// True where fraud reports of this month name one, likewise.
        #[serde(default)]
        has_fraud_feed: bool,
    }
}

json_type! {
    /// Money at risk within a quarter of an hour in one currency.
    struct LapsingJson for Lapsing {
        /// The beginning of the quarter; null for all that is due later than 72 hours ahead.
        quarter: Option<Text<Timestamp>>,
        /// True where it expires within 4 hours.
        soon: bool,
        #[serde(flatten)]
        sum: CurrencySumJson,
    }
}

json_type! {
    /// Counts of the alerts of one network and type.
    struct KindCountJson for KindCount {
        provider: Text<Provider>,
        r#type = alert_type: Text<AlertType>,
        /// Waiting for an answer.
        waiting: u64,
        /// Answered before their deadline.
        answered: u64,
        /// Answered after it.
        late: u64,
        /// Lapsed without an answer.
        missed: u64,
    }
}

json_type! {
    /// Alerts that came, were answered and expired on one day at one network.
    struct DayCountJson for DayCount {
        day: Text<NaiveDate>,
        provider: Text<Provider>,
        raised: u64,
        refunded: u64,
        not_refunded: u64,
        /// Neither of the two, as an answer of the older dialect says it.
        #[serde(default)]
        not_settled: u64,
        invalid: u64,
        missed: u64,
    }
}

json_type! {
    /// Number of answers that came so long after their alerts.
    struct ResponseTimeJson for ResponseTime {
        /// Rounded up: to 5 from two hours on, to 60 from three days on.
        minutes: u64,
        alerts: u64,
    }
}

json_type! {
    /// Counts for the monitoring programmes of one scheme.
    struct MonitoredCountJson for MonitoredCount {
        scheme: Text<CardScheme>,
        /// Reported fraud; without such reports the alerts of fraud.
        fraud_reports: u64,
        /// Disputes; without such reports the alerts answered with a chargeback, or not in time.
        chargebacks: u64,
    }
}

impl Member<Calendar> for i32 {
    fn of(field: Calendar) -> Self {
        field.minutes()
    }

    fn field(self) -> Calendar {
        Calendar::of_minutes(self).unwrap_or_default()
    }
}

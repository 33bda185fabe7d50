//! Insights in JSON: what lapses when, how alerts stand, what was answered and missed.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::members::{Member, json_type, stands_for};
use super::stats::MoneyJson;
use super::text::Text;
use crate::domain::{
    AlertType, Calendar, CardScheme, DayCount, Insights, KindCount, Lapsing, MonitoredCount, Provider, ResponseTime,
    Timestamp,
};

json_type! {
    /// Statistics of the alerts within a filter.
    pub struct InsightsJson for Insights {
        lapsing: Vec<LapsingJson>,
        kinds: Vec<KindCountJson>,
        /// How many minutes east of UTC the days are.
        #[serde(default)]
        utc_offset = calendar: i32,
        /// The last 30 days; those without anything are left out.
        days: Vec<DayCountJson>,
        /// How long the answers of these days took.
        response_times: Vec<ResponseTimeJson>,
        /// Alerts raised on these days whose answer has no time.
        undated: u64,
        /// What the card schemes' monitoring programmes may count of all alerts of this month, whatever the filter.
        monitored: Vec<MonitoredCountJson>,
    }
}

json_type! {
    /// What lapses within a quarter of an hour in one currency.
    struct LapsingJson for Lapsing {
        /// The beginning of the quarter; null for all that lapses later than 72 hours ahead.
        quarter: Option<Text<Timestamp>>,
        /// Whether it lapses within 4 hours.
        soon: bool,
        #[serde(flatten)]
        money: MoneyJson,
        alerts: u64,
        /// Those whose amount is not known.
        unpriced: u64,
    }
}

json_type! {
    /// How the alerts of one network and type stand.
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
    /// What came, was answered and lapsed on one day at one network.
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
    /// How many answers came so long after their alerts.
    struct ResponseTimeJson for ResponseTime {
        /// Rounded up: to 5 from two hours on, to 60 from three days on.
        minutes: u64,
        alerts: u64,
    }
}

json_type! {
    /// What monitoring programmes may count on one scheme's cards.
    struct MonitoredCountJson for MonitoredCount {
        scheme: Text<CardScheme>,
        fraud_reports: u64,
        /// Answered with a chargeback, or not in time.
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

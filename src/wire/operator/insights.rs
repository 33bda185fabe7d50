//! Insights in JSON: alerts due by hour, by network and type, answered and missed.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{
    members::{Member, json_type, stands_for},
    stats::MoneyJson,
    text::Text,
};
use crate::domain::{
    AlertType, Calendar, CardScheme, DayCount, Insights, KindCount, Lapsing, MonitoredCount, Provider, ResponseTime,
    Timestamp,
};

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
        /// Counts for the card schemes' monitoring programmes, of all alerts of this month, whatever the filter.
        monitored: Vec<MonitoredCountJson>,
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
        money: MoneyJson,
        alerts: u64,
        /// Those whose amount is not known.
        unpriced: u64,
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

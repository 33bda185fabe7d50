//! Rules that the engine answers by in JSON.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{
    stats::MoneyJson,
    text::{Member, Text, json_type, stands_for},
};
use crate::domain::{
    Amount,
    rule::automatic::{RuleDay, RuleLimits, RuleState, RuleStatus, StopReason},
    time::Timestamp,
};

json_type! {
    /// A rule that answers by itself, with its state and what it did.
    pub struct RuleJson for RuleStatus {
        name: String,
        query: String,
        /// Its answer, in words.
        answer: String,
        limits: RuleLimitsJson,
        state: Text<RuleState>,
        since: Text<Timestamp>,
        /// Reason of the stop; null where it is not stopped.
        reason: Option<Text<StopReason>>,
        #[serde(flatten)]
        today: RuleDayJson,
        /// Alerts that it would have answered while its line was dry.
        would_have_answered: u64,
    }
}

json_type! {
    /// Limits of an automatic rule.
    #[cfg_attr(test, schemars(inline))]
    struct RuleLimitsJson for RuleLimits {
        /// Most answers of a UTC day.
        per_day: u32,
        /// Most money of the alerts that it answers on a UTC day.
        amount_per_day: MoneyJson,
        /// Day from which it answers; null for 24 hours after its line was first seen.
        from: Option<Text<NaiveDate>>,
        /// True where refunds are made elsewhere, and no report of them is asked for.
        refunds_elsewhere: bool,
    }
}

json_type! {
    #[cfg_attr(test, schemars(inline))]
    struct RuleDayJson for RuleDay {
        /// Answers of this UTC day.
        answered_today = answered: u64,
        /// Money of the alerts that it answered on this UTC day, in the currency of its limit.
        amount_today = amount: Text<Amount>,
    }
}

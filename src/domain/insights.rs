//! Insights: statistics of the alerts within a filter. They count due alerts by time, all alerts by state, and answered
//! and missed ones by day. Response times and the counts for the card schemes' monitoring programmes are among them.
//!
//! Stores answer the same through indexes; [`Insights::of`] and [`monitored`] are what they are tested against. Days
//! are those of a [`Calendar`].

use std::collections::BTreeMap;

use chrono::{Datelike, Duration, DurationRound, Months, NaiveDate};

use crate::{
    Alert, AlertStatus, AlertType, Calendar, CardScheme, Currency, CurrencySum, Deadline, MonitoredCount,
    OlderRefunded, Provider, QUARTER, Timestamp, TruthKind, is_refund, later_by,
};

/// Number of days that are listed one by one, today among them.
pub const INSIGHT_DAYS: i64 = 30;

/// Hours ahead in which due alerts are counted by the quarter of an hour.
pub const LAPSE_HOURS: i64 = 72;

/// Hours ahead whose alerts are counted separately: those due soon are the next work.
pub const SOON_HOURS: i64 = 4;

/// Alerts that expire within one quarter of an hour in one currency. Notices do not expire: they expect no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lapsing {
    /// Beginning of the quarter; `None` for all alerts due later than [`LAPSE_HOURS`] ahead.
    pub quarter: Option<Timestamp>,
    /// True where they expire within [`SOON_HOURS`].
    pub soon: bool,
    pub sum: CurrencySum,
}

/// Numbers of alerts of one network and type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindCount {
    pub provider: Provider,
    pub alert_type: AlertType,
    /// Waiting for an answer.
    pub waiting: u64,
    /// Answered before their deadline.
    pub answered: u64,
    /// Answered after it.
    pub late: u64,
    /// Expired without an answer.
    pub missed: u64,
}

/// Numbers of alerts that came, were answered and expired on one day at one network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DayCount {
    /// The day as days since 1970-01-01, by the calendar of the insights.
    pub day: i64,
    pub provider: Provider,
    /// Alerts raised that day.
    pub raised: u64,
    pub refunded: u64,
    pub not_refunded: u64,
    /// Neither of the two: an answer of the older dialect.
    pub not_settled: u64,
    pub invalid: u64,
    /// Alerts whose time ran out that day, answered since or not; of notices nothing is missed.
    pub missed: u64,
}

/// Number of answers with one response time, counted from the alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseTime {
    /// Whole minutes, rounded up: to 5 from two hours on, to 60 from three days on.
    pub minutes: u64,
    pub alerts: u64,
}

/// Insights: statistics of the alerts within a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insights {
    /// Calendar by which the days are counted.
    pub calendar: Calendar,
    /// Due alerts by time, then by currency.
    pub lapsing: Vec<Lapsing>,
    /// Numbers of alerts by network and type.
    pub kinds: Vec<KindCount>,
    /// Numbers of the last [`INSIGHT_DAYS`], by day and network; days without anything are left out.
    pub days: Vec<DayCount>,
    /// Response times of the answers of the last [`INSIGHT_DAYS`], shortest first.
    pub response_times: Vec<ResponseTime>,
    /// Alerts raised on these days whose answer has no time.
    pub undated: u64,
    /// Counts for monitoring programmes of this month, whatever the filter.
    pub monitored: Vec<MonitoredCount>,
    /// True where disputes of this month name a scheme: chargebacks are counted by them, and not by alerts.
    pub has_dispute_feed: bool,
    /// True where fraud reports of this month name one, likewise.
    pub has_fraud_feed: bool,
}

/// Returns the first of the days of a calendar that are listed one by one.
pub fn first_day(calendar: Calendar, now: Timestamp) -> i64 {
    calendar.day_of(now) - INSIGHT_DAYS + 1
}

/// Returns the first moment of a moment's UTC month, and the first moment after it.
pub fn month_of(now: Timestamp) -> (Timestamp, Timestamp) {
    let first = now.date_naive().with_day(1).unwrap_or_default();
    let next = first.checked_add_months(Months::new(1)).unwrap_or(NaiveDate::MAX);
    let start = |day: NaiveDate| Calendar::UTC.day_start(day.to_epoch_days().into());
    (start(first), start(next))
}

/// Returns the moment from which [`Lapsing`] is no longer split by the quarter.
pub fn last_quarter(now: Timestamp) -> Timestamp {
    later_by(quarter_of(now), Duration::hours(LAPSE_HOURS))
}

/// Returns the end of the time in which alerts are due soon.
pub fn soon(now: Timestamp) -> Timestamp {
    later_by(now, Duration::hours(SOON_HOURS))
}

/// Returns the beginning of the quarter of an hour that a moment is in.
pub fn quarter_of(moment: Timestamp) -> Timestamp {
    moment.duration_trunc(QUARTER).unwrap_or(moment)
}

/// Returns the number of alerts that expire within [`SOON_HOURS`], by the quarter hour of their deadline, whatever the
/// currency.
pub fn due_soon(rows: &[Lapsing]) -> BTreeMap<Timestamp, u64> {
    let mut due = BTreeMap::new();
    for row in rows.iter().filter(|row| row.soon) {
        if let Some(quarter) = row.quarter {
            *due.entry(quarter).or_default() += row.sum.alerts;
        }
    }
    due
}

/// Returns true for an alert whose time ran out, by its status or as the service tells it.
fn is_lapsed(status: &AlertStatus, expired: bool) -> bool {
    expired || *status == AlertStatus::Expired
}

/// Returns true for a type that reports fraud, which the schemes count separately.
pub fn is_fraud(alert_type: &AlertType) -> bool {
    matches!(alert_type, AlertType::EthocaConfirmedFraud | AlertType::VerifiFraudNotice)
}

/// A gatherer of insights: rows that a store has counted are added one by one.
#[derive(Debug, Default)]
pub struct InsightsBuilder {
    calendar: Calendar,
    first_day: i64,
    lapsing: BTreeMap<(bool, Option<Timestamp>, bool, Currency), Lapsing>,
    kinds: BTreeMap<(Provider, AlertType), KindCount>,
    days: BTreeMap<(i64, Provider), DayCount>,
    response_times: BTreeMap<u64, u64>,
    monitored: BTreeMap<CardScheme, MonitoredCount>,
    has_dispute_feed: bool,
    has_fraud_feed: bool,
    undated: u64,
}

impl InsightsBuilder {
    /// Returns a builder without alerts.
    pub fn at(now: Timestamp, calendar: Calendar) -> Self {
        Self { calendar, first_day: first_day(calendar, now), ..Self::default() }
    }

    /// Alerts of one kind, raised on this day where it is known.
    pub fn add_kind(
        &mut self,
        kind: (Provider, AlertType, AlertStatus),
        has_outcome: bool,
        expired: bool,
        day: Option<i64>,
        alerts: u64,
    ) {
        let (provider, alert_type, status) = kind;
        if let Some(day) = day {
            self.on(day, &provider, |count| count.raised += alerts);
        }
        let key = (provider.clone(), alert_type.clone());
        let new = || KindCount { provider, alert_type, ..KindCount::default() };
        let count = self.kinds.entry(key).or_insert_with(new);
        *match (has_outcome, is_lapsed(&status, expired)) {
            (true, true) => &mut count.late,
            (true, false) => &mut count.answered,
            (false, true) => &mut count.missed,
            (false, false) if matches!(status, AlertStatus::Open | AlertStatus::New) => &mut count.waiting,
            // Lists of other deployments leave outcomes out: the status alone says that there is one.
            (false, false) => {
                self.undated += if day.is_some_and(|day| day >= self.first_day) { alerts } else { 0 };
                &mut count.answered
            }
        } += alerts;
    }

    /// Answers given on this day, so many minutes after their alerts where that is known; `refunded` is the outcome's
    /// own word.
    pub fn add_answers(
        &mut self,
        day: i64,
        provider: &Provider,
        answer: (&AlertStatus, &str),
        minutes: Option<i64>,
        alerts: u64,
    ) {
        if day < self.first_day {
            return;
        }
        let (status, refunded) = answer;
        self.on(day, provider, |count| {
            let number = if *status == AlertStatus::Invalid {
                &mut count.invalid
            } else if is_refund(status, refunded) {
                &mut count.refunded
            } else if refunded.eq_ignore_ascii_case(OlderRefunded::NotSettled.as_str()) {
                &mut count.not_settled
            } else {
                &mut count.not_refunded
            };
            *number += alerts;
        });
        if let Some(minutes) = minutes {
            *self.response_times.entry(rounded_up(minutes.max(0).unsigned_abs())).or_default() += alerts;
        }
    }

    /// Alerts whose time ran out on this day.
    pub fn add_missed(&mut self, day: i64, provider: &Provider, alerts: u64) {
        self.on(day, provider, |count| count.missed += alerts);
    }

    /// Alerts raised on these days whose answer has no time.
    pub fn add_undated(&mut self, alerts: u64) {
        self.undated += alerts;
    }

    /// Adds alerts that expire.
    pub fn add_lapsing(&mut self, lapsing: Lapsing) {
        let key = (lapsing.quarter.is_none(), lapsing.quarter, !lapsing.soon, lapsing.sum.money.currency.clone());
        match self.lapsing.get_mut(&key) {
            None => drop(self.lapsing.insert(key, lapsing)),
            Some(known) => known.sum.add(&lapsing.sum),
        }
    }

    /// Adds reports of this month on cards with this BIN, or of this network where no BIN is known. From the first one
    /// on that tells either, alerts that tell of the same are not counted: reports are added before alerts.
    pub fn add_reported(&mut self, kind: TruthKind, card: &str, network: &str, reports: u64) {
        let is = |wanted| kind == wanted && [card, network] != ["", ""];
        let (is_fraud, is_dispute) = (is(TruthKind::Fraud), is(TruthKind::Dispute));
        self.has_fraud_feed |= is_fraud;
        self.has_dispute_feed |= is_dispute;
        let scheme = CardScheme::of_card(card).or_else(|| CardScheme::of_word(network));
        self.count_monitored(scheme, is_fraud, is_dispute, reports);
    }

    /// Adds alerts of this month on cards with this BIN, as far as no reports tell of it. `is_chargeback` where they
    /// became one or will, because no answer came in time.
    pub fn add_monitored(&mut self, card: &str, is_fraud: bool, is_chargeback: bool, alerts: u64) {
        let (is_fraud, is_chargeback) = (is_fraud && !self.has_fraud_feed, is_chargeback && !self.has_dispute_feed);
        self.count_monitored(CardScheme::of_card(card), is_fraud, is_chargeback, alerts);
    }

    fn count_monitored(&mut self, scheme: Option<CardScheme>, is_fraud: bool, is_chargeback: bool, number: u64) {
        let Some(scheme) = scheme.filter(|_| is_fraud || is_chargeback) else { return };
        let count = self.monitored.entry(scheme).or_insert(MonitoredCount { scheme, fraud_reports: 0, chargebacks: 0 });
        count.fraud_reports += u64::from(is_fraud) * number;
        count.chargebacks += u64::from(is_chargeback) * number;
    }

    fn on(&mut self, day: i64, provider: &Provider, count: impl FnOnce(&mut DayCount)) {
        if day < self.first_day {
            return;
        }
        let new = || DayCount { day, provider: provider.clone(), ..DayCount::default() };
        count(self.days.entry((day, provider.clone())).or_insert_with(new));
    }

    /// Returns the finished insights.
    pub fn finish(self) -> Insights {
        let times = self.response_times.into_iter();
        Insights {
            calendar: self.calendar,
            lapsing: self.lapsing.into_values().collect(),
            kinds: self.kinds.into_values().collect(),
            days: self.days.into_values().collect(),
            response_times: times.map(|(minutes, alerts)| ResponseTime { minutes, alerts }).collect(),
            undated: self.undated,
            monitored: self.monitored.into_values().collect(),
            has_dispute_feed: self.has_dispute_feed,
            has_fraud_feed: self.has_fraud_feed,
        }
    }
}

/// Rounds minutes as in [`ResponseTime`].
fn rounded_up(minutes: u64) -> u64 {
    match minutes {
        ..120 => minutes,
        120..4_320 => minutes.next_multiple_of(5),
        _ => minutes.next_multiple_of(60),
    }
}

impl Insights {
    /// Returns those of these alerts, without the counts for monitoring programmes.
    pub fn of<'a>(alerts: impl IntoIterator<Item = &'a Alert>, now: Timestamp, calendar: Calendar) -> Self {
        let mut found = InsightsBuilder::at(now, calendar);
        for alert in alerts {
            let outcome = alert.outcome.as_ref();
            let day = alert.alert_time.map(|at| calendar.day_of(at));
            let kind = (alert.provider.clone(), alert.alert_type.clone(), alert.status.clone());
            found.add_kind(kind, outcome.is_some(), alert.expired_at.is_some(), day, 1);
            if let Some(expired) = alert.expired_at.filter(|_| !alert.alert_type.is_notice()) {
                found.add_missed(calendar.day_of(expired), &alert.provider, 1);
            }
            match outcome.map(|outcome| (outcome, outcome.action_time)) {
                Some((outcome, Some(at))) => {
                    let minutes = alert.alert_time.map(|raised| (at - raised).num_minutes());
                    found.add_answers(
                        calendar.day_of(at),
                        &alert.provider,
                        (&alert.status, &outcome.refunded),
                        minutes,
                        1,
                    );
                }
                Some((_, None)) if day.is_some_and(|day| day >= found.first_day) => found.add_undated(1),
                Some((_, None)) | None => {}
            }
            if let Some(lapsing) = Lapsing::of(alert, now) {
                found.add_lapsing(lapsing);
            }
        }
        found.finish()
    }
}

impl Lapsing {
    /// Returns the deadline and money of an alert; `None` where it is not open or expects no answer.
    fn of(alert: &Alert, now: Timestamp) -> Option<Self> {
        let deadline = match alert.deadline {
            Deadline::At(moment) => moment,
            // Hours are rounded down: this is the earliest that it can be.
            Deadline::HoursLeft(hours @ 0..) => {
                later_by(now, Duration::try_hours(hours)?).max(now + Duration::seconds(1))
            }
            Deadline::HoursLeft(..0) | Deadline::Unknown => return None,
        };
        let waits = alert.outcome.is_none() && alert.expired_at.is_none() && alert.status == AlertStatus::Open;
        if !waits || deadline <= now || alert.alert_type.is_notice() {
            return None;
        }
        let quarter = Some(quarter_of(deadline)).filter(|quarter| *quarter < last_quarter(now));
        Some(Self { quarter, soon: deadline <= soon(now), sum: CurrencySum::of_one(alert) })
    }
}

/// Returns the counts for monitoring programmes of those of these alerts that were raised this month.
pub fn monitored<'a>(alerts: impl IntoIterator<Item = &'a Alert>, now: Timestamp) -> Vec<MonitoredCount> {
    let (from, until) = month_of(now);
    let mut found = InsightsBuilder::at(now, Calendar::UTC);
    for alert in alerts.into_iter().filter(|alert| alert.alert_time.is_some_and(|at| (from..until).contains(&at))) {
        let is_missed = alert.outcome.is_none() && is_lapsed(&alert.status, alert.expired_at.is_some());
        let is_chargeback = alert.status == AlertStatus::Chargeback || is_missed;
        found.add_monitored(&alert.card_bin, is_fraud(&alert.alert_type), is_chargeback, 1);
    }
    found.finish().monitored
}

/// Returns the nearest-rank percentile of response times, in minutes, for a share in thousandths. `None` where there
/// are no answers.
pub fn percentile(times: &[ResponseTime], per_mille: u64) -> Option<u64> {
    let all: u64 = times.iter().map(|time| time.alerts).sum();
    let rank = (all * per_mille).div_ceil(1_000).max(1);
    let mut before = 0;
    times.iter().find_map(|time| {
        before += time.alerts;
        (before >= rank).then_some(time.minutes)
    })
}

#[cfg(test)]
mod tests;

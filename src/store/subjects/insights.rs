//! Statistics of the alerts within a filter, each through the index of what is asked, and what monitoring programmes
//! may count of all.

use crate::{
    alert_rows::{DAY_MICROS, NO_DAY, SUMS, currency_sum, micros, moment, notices, word, word_key, word_keys},
    cells::{StoredRow, cell},
    domain::{
        AlertStatus, AlertType, Calendar, Insights, Lapsing, Provider, TruthKind,
        insights::{InsightsBuilder, first_day, is_fraud, last_quarter, month_of, quarter_of, soon},
        stats::QUARTER,
        time::Timestamp,
    },
    error::Work,
    subjects::truth::NOT_PREVENTED,
};

/// The alerts within a filter, as a database finds them.
pub(crate) trait InsightScope: Send {
    /// Counts the alerts by kind, from the counts where those know it.
    fn kinds(&mut self, days: ToldDays) -> impl Future<Output = Work<Vec<CountedKind>>> + Send;

    /// The rows of a SELECT of some of them, `a`, with more conditions and what follows these.
    fn rows<T: Send>(
        &mut self,
        of: Reach,
        select: &str,
        tests: &str,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> impl Future<Output = Work<Vec<T>>> + Send;
}

/// Alerts that are asked for, which have an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that wait for an answer.
    Waiting,
    /// Those with an outcome, `o`.
    Answered,
    /// Those that have expired.
    Expired,
    /// Everything that was raised within these moments, whatever the filter.
    Raised(Timestamp, Timestamp),
    /// Reports `t` of these moments.
    Reported(Timestamp, Timestamp),
}

impl Reach {
    /// FROM and WHERE of what is asked for whatever the filter.
    pub(crate) fn unfiltered(self, organization: i64) -> Option<String> {
        let (tables, time, from, until) = match self {
            Self::Raised(from, until) => ("alert a/*-*/ INDEXED BY alert_by_time/*+*/", "a.alert_time", from, until),
            Self::Reported(from, until) => ("truth t", "t.at", from, until),
            Self::Waiting | Self::Answered | Self::Expired => return None,
        };
        let (from, until) = (micros(from), micros(until));
        let mut sql =
            format!("FROM {tables} WHERE organization = {organization} AND {time} >= {from} AND {time} < {until}");
        if matches!(self, Self::Reported(..)) {
            // None was recorded before it happened, but for clocks that differ.
            sql.push_str(&format!(" AND t.recorded_at >= {}", from - DAY_MICROS));
        }
        Some(sql)
    }
}

/// Number of alerts of a kind on a day.
pub(crate) struct CountedKind {
    pub(crate) day: i64,
    pub(crate) kind: (Provider, AlertType, AlertStatus),
    pub(crate) has_outcome: bool,
    pub(crate) expired: bool,
    pub(crate) alerts: u64,
}

/// The days that are reported one by one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToldDays {
    pub(crate) calendar: Calendar,
    now: Timestamp,
}

impl ToldDays {
    /// Beginning of the first of them.
    pub(crate) fn begin(self) -> Timestamp {
        self.calendar.day_start(first_day(self.calendar, self.now))
    }

    /// The day of a column of moments, in SQL.
    pub(crate) fn of(self, column: &str) -> String {
        format!("({column} + {}) / {DAY_MICROS}", i64::from(self.calendar.minutes()) * 60_000_000)
    }

    /// The day of an alert, in SQL; all that are not told one by one are as none.
    pub(crate) fn of_alert(self) -> String {
        let (since, day) = (micros(self.begin()), self.of("a.alert_time"));
        format!("CASE WHEN a.alert_time >= {since} THEN {day} ELSE {NO_DAY} END")
    }
}

/// Nothing, of an organization that is not there.
pub(crate) fn none(calendar: Calendar, now: Timestamp) -> Insights {
    InsightsBuilder::at(now, calendar).finish()
}

/// Statistics of the alerts within a filter, and what monitoring programmes may count of all.
pub(crate) async fn insights(scope: &mut impl InsightScope, calendar: Calendar, now: Timestamp) -> Work<Insights> {
    let mut found = InsightsBuilder::at(now, calendar);
    let days = ToldDays { calendar, now };
    for CountedKind { day, kind, has_outcome, expired, alerts } in scope.kinds(days).await? {
        found.add_kind(kind, has_outcome, expired, Some(day).filter(|day| *day != NO_DAY), alerts);
    }
    add_lapsing(scope, now, &mut found).await?;
    add_answers(scope, days, &mut found).await?;
    add_missed(scope, days, &mut found).await?;
    add_monitored(scope, now, &mut found).await?;
    Ok(found.finish())
}

async fn add_lapsing(scope: &mut impl InsightScope, now: Timestamp, found: &mut InsightsBuilder) -> Work<()> {
    let (quarter, last, soon) = (QUARTER.num_microseconds().unwrap_or(1), micros(last_quarter(now)), micros(soon(now)));
    let select = format!(
        "CASE WHEN a.open_deadline < {last} THEN a.open_deadline / {quarter} END, a.open_deadline <= {soon}, {SUMS}"
    );
    let tests = format!(
        " AND a.status = {} AND a.expired_at IS NULL AND a.open_deadline > {} AND a.type NOT IN ({}) GROUP BY 1, 2, 3",
        word_key(AlertStatus::Open.as_str()),
        micros(now),
        notices()
    );
    let read = |row: &StoredRow<'_>| {
        let quarters: Option<i64> = row.get(0)?;
        let quarter = quarters.map(|quarters| moment(quarters * quarter)).transpose()?.map(quarter_of);
        Ok(Lapsing { quarter, soon: row.get(1)?, sum: currency_sum(row, 2)? })
    };
    scope.rows(Reach::Waiting, &select, &tests, read).await?.into_iter().for_each(|row| found.add_lapsing(row));
    Ok(())
}

async fn add_answers(scope: &mut impl InsightScope, days: ToldDays, found: &mut InsightsBuilder) -> Work<()> {
    let (since, day) = (micros(days.begin()), days.of("o.action_time"));
    let select = format!(
        "{day}, {}, {}, o.refunded, (o.action_time - a.alert_time) / 60000000, count(*)",
        word("a.provider"),
        word("a.status")
    );
    let tests = format!(" AND o.action_time >= {since} GROUP BY 1, a.provider, a.status, 4, 5");
    let read = |row: &StoredRow<'_>| {
        let (provider, status) = (Provider::parse(row.get(1)?), AlertStatus::parse(row.get(2)?));
        Ok((row.get(0)?, provider, status, row.get::<String>(3)?, row.get(4)?, row.get(5)?))
    };
    for (day, provider, status, refunded, minutes, alerts) in scope.rows(Reach::Answered, &select, &tests, read).await?
    {
        found.add_answers(day, &provider, (&status, &refunded), minutes, alerts);
    }
    let undated = format!(" AND o.action_time IS NULL AND a.alert_time >= {since}");
    let undated = scope.rows(Reach::Answered, "count(*)", &undated, cell::<u64>).await?;
    found.add_undated(undated.into_iter().sum());
    Ok(())
}

async fn add_missed(scope: &mut impl InsightScope, days: ToldDays, found: &mut InsightsBuilder) -> Work<()> {
    let select = format!("{}, {}, count(*)", days.of("a.expired_at"), word("a.provider"));
    let tests = format!(
        " AND a.expired_at IS NOT NULL AND a.expired_at >= {} AND a.type NOT IN ({}) GROUP BY 1, a.provider",
        micros(days.begin()),
        notices()
    );
    let read = |row: &StoredRow<'_>| Ok((row.get(0)?, Provider::parse(row.get(1)?), row.get(2)?));
    for (day, provider, alerts) in scope.rows(Reach::Expired, &select, &tests, read).await? {
        found.add_missed(day, &provider, alerts);
    }
    Ok(())
}

async fn add_monitored(scope: &mut impl InsightScope, now: Timestamp, found: &mut InsightsBuilder) -> Work<()> {
    let (from, until) = month_of(now);
    let select = "t.kind, coalesce(substr(t.card_bin, 1, 4), ''), coalesce(t.network, ''), count(*)";
    let tests = format!(" AND t.kind <> 'refund' AND {NOT_PREVENTED} GROUP BY 1, 2, 3");
    let read = |row: &StoredRow<'_>| {
        Ok((TruthKind::parse(row.get(0)?), row.get::<String>(1)?, row.get::<String>(2)?, row.get(3)?))
    };
    for (kind, card, network, reports) in scope.rows(Reach::Reported(from, until), select, &tests, read).await? {
        kind.into_iter().for_each(|kind| found.add_reported(kind, &card, &network, reports));
    }
    let fraud = AlertType::KNOWN.iter().filter(|word| is_fraud(word)).map(AlertType::as_str);
    let fraud = format!("a.type IN ({})", word_keys(fraud));
    // An expired alert without an answer counts as a chargeback.
    let lost = format!(
        "(a.status = {} OR a.outcome IS NULL AND (a.status = {} OR a.expired_at IS NOT NULL))",
        word_key(AlertStatus::Chargeback.as_str()),
        word_key(AlertStatus::Expired.as_str())
    );
    let select = format!("substr(a.card_bin, 1, 4), {fraud}, {lost}, count(*)");
    let tests = format!(" AND ({fraud} OR {lost}) GROUP BY 1, 2, 3");
    let read = |row: &StoredRow<'_>| Ok((row.get::<String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    for (card, is_fraud, is_chargeback, alerts) in scope.rows(Reach::Raised(from, until), &select, &tests, read).await?
    {
        found.add_monitored(&card, is_fraud, is_chargeback, alerts);
    }
    Ok(())
}

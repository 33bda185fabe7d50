//! Statistics of the alerts within a filter: how they stand from the counts where those know it, the rest through the
//! index of what is asked.

use super::conditions::{Wanted, notices};
use super::counts::{DAY_MICROS, NO_DAY};
use super::fault::Work;
use super::statements::{Sql, Value, micros, moment};
use super::unit::Unit;
use crate::domain::insights::{
    InsightsBuilder, QUARTER, first_day, is_fraud, last_quarter, month_of, quarter_of, soon,
};
use crate::domain::time::Timestamp;
use crate::domain::{
    AlertFilter, AlertStatus, AlertType, Amount, Calendar, Currency, Insights, Lapsing, Money, OrganizationId, Provider,
};

/// Statistics of the alerts within a filter, and what monitoring programmes may count of all.
pub(super) async fn insights(
    unit: &Unit<'_>,
    organization: OrganizationId,
    filter: &AlertFilter,
    calendar: Calendar,
    now: Timestamp,
) -> Work<Insights> {
    let mut found = InsightsBuilder::at(now, calendar);
    let days = Days { calendar, now };
    let Some(organization) = unit.organization(organization).await? else { return Ok(found.finish()) };
    let wanted = Wanted::new(&unit.conn, organization, filter, now).await?;
    add_kinds(unit, &wanted, days, &mut found).await?;
    add_lapsing(unit, &wanted, now, &mut found).await?;
    add_answers(unit, &wanted, days, &mut found).await?;
    add_missed(unit, &wanted, days, &mut found).await?;
    add_monitored(unit, organization, now, &mut found).await?;
    Ok(found.finish())
}

/// The days that are told one by one.
#[derive(Debug, Clone, Copy)]
struct Days {
    calendar: Calendar,
    now: Timestamp,
}

impl Days {
    /// When the first of them begins.
    fn begin(self) -> Timestamp {
        self.calendar.day_start(first_day(self.calendar, self.now))
    }

    /// The day of a column of moments, in SQL.
    fn of(self, column: &str) -> String {
        format!("({column} + {}) / {DAY_MICROS}", i64::from(self.calendar.minutes()) * 60_000_000)
    }
}

async fn add_kinds(unit: &Unit<'_>, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> Work<()> {
    if !wanted.is_counted() {
        return add_counted_now(unit, wanted, days, found).await;
    }
    let mut sql =
        Sql::new("SELECT a.day, a.provider, a.type, a.status, a.outcome IS NOT NULL, a.expired, sum(a.alerts)::bigint");
    wanted.push_counts(&mut sql);
    if days.calendar.is_utc() {
        sql.push(" GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(a.alerts) > 0");
        return add_cells(unit, &sql, found).await;
    }
    // The counts are of UTC days: of those that are told one by one the alerts are counted.
    let counted_before = micros(days.begin()).div_euclid(DAY_MICROS);
    sql.push(&format!(
        " AND (a.day < {counted_before} OR a.day = {NO_DAY}) GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(a.alerts) > 0"
    ));
    add_cells(unit, &sql, found).await?;
    let (from, until) = wanted.alert_time();
    let since = from.max(Some(counted_before * DAY_MICROS));
    add_counted_now(unit, &wanted.within((since, until)), days, found).await
}

/// The cells of what the counts know nothing of; all days that are not told one by one are as none.
async fn add_counted_now(unit: &Unit<'_>, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> Work<()> {
    let (since, day) = (micros(days.begin()), days.of("a.alert_time"));
    let mut sql = Sql::new(&format!(
        "SELECT CASE WHEN a.alert_time >= {since} THEN {day} ELSE {NO_DAY} END, a.provider, a.type, a.status, \
            a.outcome IS NOT NULL, \
         a.expired_at IS NOT NULL, count(*)"
    ));
    wanted.push_alerts(&mut sql);
    sql.push(" GROUP BY 1, 2, 3, 4, 5, 6");
    add_cells(unit, &sql, found).await
}

async fn add_cells(unit: &Unit<'_>, sql: &Sql, found: &mut InsightsBuilder) -> Work<()> {
    let kinds = unit
        .conn
        .made(sql, |row| {
            let kind = (
                Provider::parse(row.try_get(1)?),
                AlertType::parse(row.try_get(2)?),
                AlertStatus::parse(row.try_get(3)?),
            );
            Ok((row.try_get::<_, i64>(0)?, kind, row.try_get(4)?, row.try_get(5)?, row.try_get::<_, i64>(6)?))
        })
        .await?;
    for (day, kind, has_outcome, expired, alerts) in kinds {
        found.add_kind(kind, has_outcome, expired, Some(day).filter(|day| *day != NO_DAY), alerts.unsigned_abs());
    }
    Ok(())
}

async fn add_lapsing(unit: &Unit<'_>, wanted: &Wanted, now: Timestamp, found: &mut InsightsBuilder) -> Work<()> {
    let (quarter, last, soon) = (QUARTER.num_microseconds().unwrap_or(1), micros(last_quarter(now)), micros(soon(now)));
    let mut sql = Sql::new(&format!(
        "SELECT CASE WHEN a.open_deadline < {last} THEN a.open_deadline / {quarter} END, a.currency, count(*), \
         coalesce(sum(a.amount_micros / 1000000), 0)::bigint, coalesce(sum(a.amount_micros % 1000000), 0)::bigint, \
         count(a.amount_micros), \
         a.open_deadline <= {soon}"
    ));
    wanted.push_alerts(&mut sql);
    sql.with(" AND a.status = ", Value::Text(AlertStatus::Open.as_str().to_owned()));
    sql.with(" AND a.expired_at IS NULL AND a.open_deadline > ", Value::Number(micros(now)));
    sql.with(" AND a.type <> ALL(", Value::Texts(notices()));
    sql.push(") GROUP BY 1, 2, 7");
    let lapsing = unit
        .conn
        .made(&sql, |row| {
            let quarters: Option<i64> = row.try_get(0)?;
            let (alerts, whole, fraction): (i64, i64, i64) = (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
            let priced: i64 = row.try_get(5)?;
            let amount = Amount::from_micros(i128::from(whole) * 1_000_000 + i128::from(fraction));
            Ok(Lapsing {
                quarter: quarters.map(|quarters| moment(quarters * quarter)).transpose()?.map(quarter_of),
                soon: row.try_get(6)?,
                alerts: alerts.unsigned_abs(),
                money: Money { amount, currency: Currency::new(row.try_get::<_, String>(1)?) },
                unpriced: (alerts - priced).unsigned_abs(),
            })
        })
        .await?;
    lapsing.into_iter().for_each(|row| found.add_lapsing(row));
    Ok(())
}

async fn add_answers(unit: &Unit<'_>, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> Work<()> {
    let (since, day) = (micros(days.begin()), days.of("o.action_time"));
    let mut sql = Sql::new("WITH scope AS (SELECT a.key, a.provider, a.status, a.alert_time");
    wanted.push_alerts(&mut sql);
    sql.push(&format!(
        ") SELECT {day}, s.provider, s.status, o.refunded, (o.action_time - s.alert_time) / 60000000, count(*)
         FROM outcome o JOIN scope s ON s.key = o.alert"
    ));
    sql.with(" WHERE o.action_time >= ", Value::Number(since));
    sql.push(" GROUP BY 1, 2, 3, 4, 5");
    let answers = unit
        .conn
        .made(&sql, |row| {
            let (provider, status) = (Provider::parse(row.try_get(1)?), AlertStatus::parse(row.try_get(2)?));
            Ok((
                row.try_get(0)?,
                provider,
                status,
                row.try_get::<_, String>(3)?,
                row.try_get(4)?,
                row.try_get::<_, i64>(5)?,
            ))
        })
        .await?;
    for (day, provider, status, refunded, minutes, alerts) in answers {
        found.add_answers(day, &provider, (&status, &refunded), minutes, alerts.unsigned_abs());
    }
    let mut undated = Sql::new("WITH scope AS (SELECT a.key");
    wanted.push_alerts(&mut undated);
    undated.with(" AND a.alert_time >= ", Value::Number(since));
    undated.push(") SELECT count(*) FROM outcome o JOIN scope s ON s.key = o.alert WHERE o.action_time IS NULL");
    let undated: i64 = unit.conn.made(&undated, |row| Ok(row.try_get::<_, i64>(0)?)).await?.into_iter().sum();
    found.add_undated(undated.unsigned_abs());
    Ok(())
}

async fn add_missed(unit: &Unit<'_>, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> Work<()> {
    let mut sql = Sql::new(&format!("SELECT {}, a.provider, count(*)", days.of("a.expired_at")));
    wanted.push_alerts(&mut sql);
    sql.with(" AND a.expired_at >= ", Value::Number(micros(days.begin())));
    sql.with(" AND a.type <> ALL(", Value::Texts(notices()));
    sql.push(") GROUP BY 1, 2");
    let missed = unit
        .conn
        .made(&sql, |row| Ok((row.try_get(0)?, Provider::parse(row.try_get(1)?), row.try_get::<_, i64>(2)?)))
        .await?;
    for (day, provider, alerts) in missed {
        found.add_missed(day, &provider, alerts.unsigned_abs());
    }
    Ok(())
}

async fn add_monitored(unit: &Unit<'_>, organization: i64, now: Timestamp, found: &mut InsightsBuilder) -> Work<()> {
    let (from, until) = month_of(now);
    let fraud: Vec<String> =
        AlertType::KNOWN.iter().filter(|word| is_fraud(word)).map(|word| word.as_str().to_owned()).collect();
    let mut sql =
        Sql::new("SELECT left(m.card_bin, 4), m.fraud, m.lost, count(*) FROM (SELECT a.card_bin, a.type = ANY(");
    sql.value(Value::Texts(fraud));
    // What lapsed and has no answer counts as what became a chargeback.
    sql.with(") AS fraud, (a.status = ", Value::Text(AlertStatus::Chargeback.as_str().to_owned()));
    sql.with(" OR a.outcome IS NULL AND (a.status = ", Value::Text(AlertStatus::Expired.as_str().to_owned()));
    sql.push(" OR a.expired_at IS NOT NULL)) AS lost");
    sql.with(" FROM alert a WHERE a.organization = ", Value::Number(organization));
    sql.range("a.alert_time", (Some(micros(from)), Some(micros(until))));
    sql.push(") AS m WHERE m.fraud OR m.lost GROUP BY 1, 2, 3");
    let counted = unit
        .conn
        .made(&sql, |row| {
            Ok((row.try_get::<_, String>(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get::<_, i64>(3)?))
        })
        .await?;
    for (card, is_fraud, is_chargeback, alerts) in counted {
        found.add_monitored(&card, is_fraud, is_chargeback, alerts.unsigned_abs());
    }
    Ok(())
}

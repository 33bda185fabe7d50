//! Statistics of the alerts within a filter: how they stand from the counts where those know it, the rest through the
//! index of what is asked.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::counts::{Cell, DAY_MICROS, NO_DAY, NO_OUTCOME, day_of, day_start};
use super::interned::Dictionary;
use super::query::{Wanted, notice_keys};
use super::readers::Reader;
use super::selection::{BY_DEADLINE, BY_TIME, from_alerts, from_own_index, rows_index};
use super::sql::Sql;
use super::statements::{Statements as _, cell, micros, moment};
use crate::domain::insights::{
    InsightsBuilder, QUARTER, first_day, is_fraud, last_quarter, month_of, quarter_of, soon,
};
use crate::domain::time::Timestamp;
use crate::domain::{
    AlertFilter, AlertStatus, AlertType, Amount, Calendar, Currency, Insights, Lapsing, Money, OrganizationId, Provider,
};
use crate::store::StoreResult;

/// Statistics of the alerts within a filter, and what monitoring programmes may count of all.
pub(super) fn insights(
    reader: &mut Reader,
    organization: OrganizationId,
    filter: &AlertFilter,
    calendar: Calendar,
    now: Timestamp,
) -> StoreResult<Insights> {
    let mut found = InsightsBuilder::at(now, calendar);
    let days = Days { calendar, now };
    let Some(organization) = reader.organization(organization)? else { return Ok(found.finish()) };
    reader.refresh_counts(organization)?;
    let wanted = Wanted::new(reader, organization, filter, now)?;
    if !wanted.is_impossible() {
        add_kinds(reader, &wanted, days, &mut found)?;
        add_lapsing(reader, &wanted, now, &mut found)?;
        add_answers(reader, &wanted, days, &mut found)?;
        add_missed(reader, &wanted, days, &mut found)?;
    }
    let everything = Wanted::new(reader, organization, &AlertFilter::default(), now)?;
    add_monitored(reader, &everything, now, &mut found)?;
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

/// The words behind keys.
struct Words<'r> {
    conn: &'r rusqlite::Connection,
    dictionary: &'r mut Dictionary,
}

impl Words<'_> {
    fn provider(&mut self, key: i64) -> StoreResult<Provider> {
        Ok(Provider::parse(&self.dictionary.words.value(self.conn, key)?))
    }

    fn alert_type(&mut self, key: i64) -> StoreResult<AlertType> {
        Ok(AlertType::parse(&self.dictionary.words.value(self.conn, key)?))
    }

    fn status(&mut self, key: i64) -> StoreResult<AlertStatus> {
        Ok(AlertStatus::parse(&self.dictionary.words.value(self.conn, key)?))
    }
}

/// The rows of a statement that is made for what is wanted.
fn rows<T>(reader: &Reader, sql: &Sql, read: impl FnMut(&Row<'_>) -> StoreResult<T>) -> StoreResult<Vec<T>> {
    reader.conn.all(&sql.text, params_from_iter::<&Vec<Value>>(&sql.values), read)
}

/// Ends with a comparison with a value.
fn push_test(sql: &mut Sql, test: &str, value: i64) {
    sql.push(test);
    sql.value(value);
}

/// Leaves alerts out that ask for no answer.
fn push_no_notices(sql: &mut Sql, notices: &[i64]) {
    sql.push(&format!(" AND a.type NOT IN ({})", joined(notices)));
}

fn add_kinds(reader: &mut Reader, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> StoreResult<()> {
    let mut cells = Vec::new();
    let mut uncounted = Some(wanted.clone());
    if wanted.is_counted() {
        let (from, until) = wanted.alert_days();
        cells = reader.counts.cells(wanted.organization, &wanted.cells, from, until);
        uncounted = None;
    }
    if wanted.is_counted() && !days.calendar.is_utc() {
        // The counts are of UTC days: of those that are told one by one the alerts are counted.
        let counted_before = day_of(Some(days.begin()));
        cells.retain(|(day, ..)| *day < counted_before || *day == NO_DAY);
        let (from, until) = wanted.alert_time;
        let since = (from.max(Some(day_start(counted_before))), until);
        uncounted = Some(Wanted { alert_time: since, span: since, ..wanted.clone() });
    }
    if let Some(uncounted) = uncounted {
        cells.extend(
            counted_now(reader, &uncounted, days)?.into_iter().map(|((day, cell), alerts)| (day, cell, alerts)),
        );
    }
    let mut words = Words { conn: &reader.conn, dictionary: &mut reader.dictionary };
    for (day, cell, alerts) in cells {
        let kind = (words.provider(cell.provider)?, words.alert_type(cell.alert_type)?, words.status(cell.status)?);
        let day = Some(day).filter(|day| *day != NO_DAY);
        found.add_kind(kind, cell.outcome != NO_OUTCOME, cell.expired, day, alerts);
    }
    Ok(())
}

/// The cells of what the counts know nothing of; all days that are not told one by one are as none.
fn counted_now(reader: &Reader, wanted: &Wanted, days: Days) -> StoreResult<HashMap<(i64, Cell), u64>> {
    let (since, day) = (micros(days.begin()), days.of("a.alert_time"));
    let select = format!(
        "SELECT CASE WHEN a.alert_time >= {since} THEN {day} ELSE {NO_DAY} END, a.provider, a.type, a.status, \
         a.outcome IS NOT NULL, a.expired_at IS NOT NULL "
    );
    let sql = from_own_index(Sql::new(&select), wanted, rows_index(reader, wanted));
    // Counted here: a GROUP BY would put every row in order first.
    let mut cells = HashMap::new();
    rows(reader, &sql, |row| {
        let has_outcome: bool = row.get(4)?;
        let outcome = if has_outcome { NO_OUTCOME + 1 } else { NO_OUTCOME };
        let cell =
            Cell { provider: row.get(1)?, alert_type: row.get(2)?, status: row.get(3)?, outcome, expired: row.get(5)? };
        *cells.entry((row.get(0)?, cell)).or_default() += 1;
        Ok(())
    })?;
    Ok(cells)
}

fn add_lapsing(reader: &mut Reader, wanted: &Wanted, now: Timestamp, found: &mut InsightsBuilder) -> StoreResult<()> {
    let Some(open) = reader.dictionary.words.find(&reader.conn, AlertStatus::Open.as_str())? else { return Ok(()) };
    let (quarter, last, soon) = (QUARTER.num_microseconds().unwrap_or(1), micros(last_quarter(now)), micros(soon(now)));
    // In two parts, because the sum of many large amounts does not fit into SQLite's integers.
    let select = format!(
        "SELECT CASE WHEN a.open_deadline < {last} THEN a.open_deadline / {quarter} END, a.currency, count(*), \
         coalesce(sum(a.amount_micros / 1000000), 0), coalesce(sum(a.amount_micros % 1000000), 0), \
         count(a.amount_micros), a.open_deadline <= {soon} "
    );
    let mut sql = from_alerts(Sql::new(&select), wanted, Some(BY_DEADLINE));
    push_test(&mut sql, " AND a.status = ", open);
    push_test(&mut sql, " AND a.expired_at IS NULL AND a.open_deadline > ", micros(now));
    push_no_notices(&mut sql, &notice_keys(&reader.conn, &mut reader.dictionary)?);
    sql.push(" GROUP BY 1, 2, 7");
    let lapsing = rows(reader, &sql, |row| {
        let quarters: Option<i64> = row.get(0)?;
        let (alerts, whole, fraction, priced): (i64, i64, i64, i64) =
            (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
        let amount = Amount::from_micros(i128::from(whole) * 1_000_000 + i128::from(fraction));
        Ok(Lapsing {
            quarter: quarters.map(|quarters| moment(quarters * quarter)).transpose()?.map(quarter_of),
            soon: row.get(6)?,
            alerts: alerts.unsigned_abs(),
            money: Money { amount, currency: Currency::new(row.get::<_, String>(1)?) },
            unpriced: (alerts - priced).unsigned_abs(),
        })
    })?;
    lapsing.into_iter().for_each(|row| found.add_lapsing(row));
    Ok(())
}

/// FROM and WHERE of answers and their alerts, through the index of when they were given.
fn from_answers(mut sql: Sql, wanted: &Wanted) -> Sql {
    sql.push("FROM outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert");
    wanted.push_conditions(&mut sql, wanted.alert_time);
    wanted.push_text_tests(&mut sql);
    sql
}

fn add_answers(reader: &mut Reader, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> StoreResult<()> {
    let (since, day) = (micros(days.begin()), days.of("o.action_time"));
    let select =
        format!("SELECT {day}, a.provider, a.status, o.refunded, (o.action_time - a.alert_time) / 60000000, count(*) ");
    let mut sql = from_answers(Sql::new(&select), wanted);
    push_test(&mut sql, " AND o.action_time >= ", since);
    sql.push(" GROUP BY 1, 2, 3, 4, 5");
    let answers: Vec<(i64, i64, i64, String, Option<i64>, i64)> =
        rows(reader, &sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)))?;
    let mut undated = from_answers(Sql::new("SELECT count(*) "), wanted);
    push_test(&mut undated, " AND o.action_time IS NULL AND a.alert_time >= ", since);
    let undated: i64 = rows(reader, &undated, cell::<i64>)?.into_iter().sum();
    found.add_undated(undated.unsigned_abs());
    let mut words = Words { conn: &reader.conn, dictionary: &mut reader.dictionary };
    for (day, provider, status, refunded, minutes, alerts) in answers {
        let status = words.status(status)?;
        found.add_answers(day, &words.provider(provider)?, (&status, &refunded), minutes, alerts.unsigned_abs());
    }
    Ok(())
}

fn add_missed(reader: &mut Reader, wanted: &Wanted, days: Days, found: &mut InsightsBuilder) -> StoreResult<()> {
    let day = days.of("a.expired_at");
    let select = format!("SELECT {day}, a.provider, count(*) FROM alert a INDEXED BY alert_by_expired_at");
    let mut sql = Sql::new(&select);
    wanted.push_conditions(&mut sql, wanted.alert_time);
    wanted.push_text_tests(&mut sql);
    push_test(&mut sql, " AND a.expired_at IS NOT NULL AND a.expired_at >= ", micros(days.begin()));
    push_no_notices(&mut sql, &notice_keys(&reader.conn, &mut reader.dictionary)?);
    sql.push(" GROUP BY 1, 2");
    let missed: Vec<(i64, i64, i64)> = rows(reader, &sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut words = Words { conn: &reader.conn, dictionary: &mut reader.dictionary };
    for (day, provider, alerts) in missed {
        found.add_missed(day, &words.provider(provider)?, alerts.unsigned_abs());
    }
    Ok(())
}

fn add_monitored(
    reader: &mut Reader,
    everything: &Wanted,
    now: Timestamp,
    found: &mut InsightsBuilder,
) -> StoreResult<()> {
    let (from, until) = month_of(now);
    let words = Words { conn: &reader.conn, dictionary: &mut reader.dictionary };
    let mut fraud = Vec::new();
    for word in AlertType::KNOWN.iter().filter(|word| is_fraud(word)) {
        fraud.extend(words.dictionary.words.find(words.conn, word.as_str())?);
    }
    let mut key_of = |status: AlertStatus| words.dictionary.words.find(words.conn, status.as_str());
    let (chargeback, expired) =
        (key_of(AlertStatus::Chargeback)?.unwrap_or(-1), key_of(AlertStatus::Expired)?.unwrap_or(-1));
    let fraud = if fraud.is_empty() { "0".to_owned() } else { format!("a.type IN ({})", joined(&fraud)) };
    // What lapsed and has no answer counts as what became a chargeback. The index knows all but the card, which is read
    // of what counts alone.
    let lost = format!(
        "(a.status = {chargeback} OR a.outcome IS NULL AND (a.status = {expired} OR a.expired_at IS NOT NULL))"
    );
    let select = format!("SELECT substr(a.card_bin, 1, 4), {fraud}, {lost}, count(*) ");
    let month = Wanted { span: (Some(micros(from)), Some(micros(until))), ..everything.clone() };
    let mut sql = from_alerts(Sql::new(&select), &month, Some(BY_TIME));
    sql.push(&format!(" AND ({fraud} OR {lost}) GROUP BY 1, 2, 3"));
    let counted: Vec<(String, bool, bool, i64)> =
        rows(reader, &sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    for (card, is_fraud, is_chargeback, alerts) in counted {
        found.add_monitored(&card, is_fraud, is_chargeback, alerts.unsigned_abs());
    }
    Ok(())
}

fn joined(keys: &[i64]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

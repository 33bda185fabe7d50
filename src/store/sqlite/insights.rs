//! Statistics of the alerts within a filter: those that the counts know, the others through the index of the filter,
//! and sums by currency. Of few alerts their rows are read for the sums, of many two indexes.

use std::{cmp::Reverse, collections::HashMap};

use rusqlite::{Connection, Row};

use super::{
    counts::{Cell, NO_DAY, NO_OUTCOME, day_of, day_start, newest_key},
    intersection::{BY_DEADLINE, from_alerts, matched, own_index},
    list::{everything, planned},
    marks::Marks,
    query::Wanted,
    readers::Reader,
    sql::{Sql, Statements as _},
};
use crate::{
    StoreError, StoreResult,
    alert_rows::{SUMS, currency_sum},
    cells::StoredRow,
    domain::{
        AlertFilter, AlertStatus, AlertType, Amount, Calendar, Currency, CurrencySum, Insights, Money, OrganizationId,
        Provider, time::Timestamp,
    },
    error::Work,
    sql::driven,
    subjects::insights::{self, CountedKind, InsightScope, Reach, ToldDays},
};

/// Statistics of the alerts within a filter, and what monitoring programmes may count of all.
pub(crate) fn insights(
    reader: &mut Reader,
    organization: OrganizationId,
    filter: &AlertFilter,
    calendar: Calendar,
    now: Timestamp,
) -> StoreResult<Insights> {
    let Some(organization) = reader.organization(organization)? else { return Ok(insights::none(calendar, now)) };
    reader.refresh_counts(organization)?;
    let wanted = Wanted::new(reader, organization, filter, now)?;
    let mut scope = Scope { reader, wanted };
    driven(Box::pin(insights::insights(&mut scope, calendar, now)))
}

struct Scope<'r> {
    reader: &'r mut Reader,
    wanted: Wanted,
}

impl InsightScope for Scope<'_> {
    async fn kinds(&mut self, days: ToldDays) -> Work<Vec<CountedKind>> {
        Ok(if self.wanted.is_impossible() { Vec::new() } else { kinds(self.reader, &self.wanted, days)? })
    }

    async fn rows<T: Send>(
        &mut self,
        of: Reach,
        select: &str,
        tests: &str,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Vec<T>> {
        let wanted = &self.wanted;
        let mut sql = Sql::new(&format!("SELECT {select} "));
        if let Some(tables) = of.unfiltered(wanted.organization) {
            sql.push(&tables);
        } else if wanted.is_impossible() {
            return Ok(Vec::new());
        } else if of == Reach::Answered {
            sql.push("FROM outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert");
            wanted.push_conditions(&mut sql, wanted.alert_time);
        } else {
            let index = if of == Reach::Waiting { BY_DEADLINE } else { "alert_by_expired_at" };
            sql = from_alerts(sql, wanted, Some(index));
        }
        sql.push(tests);
        Ok(self.reader.conn.all(&sql.text, &sql.cells(), read)?)
    }
}

fn kinds(reader: &mut Reader, wanted: &Wanted, days: ToldDays) -> StoreResult<Vec<CountedKind>> {
    let mut cells = Vec::new();
    let mut uncounted = Some(wanted.clone());
    if wanted.is_counted() {
        cells = reader.counts.of(wanted.organization).cells(&wanted.cells, wanted.alert_days());
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
    let words = &mut reader.dictionary.words;
    let mut kinds = Vec::with_capacity(cells.len());
    for (day, cell, alerts) in cells {
        let mut word = |key| words.value(&reader.conn, key);
        let kind = (
            Provider::parse(&word(cell.provider)?),
            AlertType::parse(&word(cell.alert_type)?),
            AlertStatus::parse(&word(cell.status)?),
        );
        let has_outcome = cell.outcome != NO_OUTCOME;
        kinds.push(CountedKind { day, kind, has_outcome, expired: cell.expired, alerts });
    }
    Ok(kinds)
}

/// The cells of what the counts know nothing of.
fn counted_now(reader: &mut Reader, wanted: &Wanted, days: ToldDays) -> StoreResult<HashMap<(i64, Cell), u64>> {
    let select = format!("{}, a.provider, a.type, a.status, a.outcome, a.expired_at IS NOT NULL ", days.of_alert());
    // The index knows words and companies.
    let marks = if wanted.is_of_words() { None } else { matched(reader, wanted)? };
    let sql = match marks {
        Some(marks) => marks.rows(&select, wanted.organization),
        None => from_alerts(Sql::new(&format!("SELECT {select}")), wanted, Some(own_index(wanted))),
    };
    // Counted here: a GROUP BY would put every row in order first.
    let mut cells = HashMap::new();
    reader.conn.all(&sql.text, &sql.cells(), |row| {
        *cells.entry((row.get(0)?, Cell::read(row, 1)?)).or_default() += 1;
        Ok(())
    })?;
    Ok(cells)
}

/// Most alerts whose rows are read: that takes less than a tenth of a second.
const FEW: u64 = 60_000;

/// Count and sum of the alerts within a filter for each currency, largest count first.
pub(crate) fn sums(
    reader: &mut Reader,
    organization: OrganizationId,
    filter: &AlertFilter,
    now: Timestamp,
) -> StoreResult<Vec<CurrencySum>> {
    sums_by(FEW, reader, organization, filter, now)
}

fn sums_by(
    few: u64,
    reader: &mut Reader,
    organization: OrganizationId,
    filter: &AlertFilter,
    now: Timestamp,
) -> StoreResult<Vec<CurrencySum>> {
    let Some(organization) = reader.organization(organization)? else { return Ok(Vec::new()) };
    let Some(wanted) = planned(reader, organization, filter, now)? else { return Ok(Vec::new()) };
    let marks = match matched(reader, &wanted)? {
        Some(marks) => marks,
        None => everything(reader, &wanted)?,
    };
    if marks.len() > few {
        return marked_sums(&reader.conn, organization, &marks);
    }
    let mut sql = marks.rows(SUMS, organization);
    sql.push(" GROUP BY a.currency ORDER BY count(*) DESC, a.currency");
    reader.conn.all(&sql.text, &sql.cells(), |row| currency_sum(row, 0))
}

/// Sums what is marked by the indexes of currencies and of amounts: no row is read.
fn marked_sums(conn: &Connection, organization: i64, marks: &Marks) -> StoreResult<Vec<CurrencySum>> {
    let each = |column: &str, index: &str, take: &mut dyn FnMut(usize, &Row<'_>) -> rusqlite::Result<()>| {
        let mut statement = conn.prepare_cached(&format!(
            "SELECT a.key, a.{column} FROM alert a INDEXED BY {index} WHERE a.organization = ?1 ORDER BY a.{column}"
        ))?;
        let mut rows = statement.query([organization])?;
        while let Some(row) = rows.next()? {
            let key: i64 = row.get(0)?;
            if marks.has(key) {
                take(usize::try_from(key).unwrap_or_default(), row)?;
            }
        }
        Ok::<_, StoreError>(())
    };
    let mut sums: Vec<(CurrencySum, i128)> = Vec::new();
    // The place of each alert's sum.
    let mut places = vec![u32::MAX; usize::try_from(newest_key(conn)?).unwrap_or_default() + 1];
    each("currency", "alert_by_currency", &mut |key, row| {
        let code = row.get_ref(1)?.as_str()?;
        if sums.last().is_none_or(|(sum, _)| sum.money.currency.as_str() != code) {
            let money = Money { amount: Amount::from_micros(0), currency: Currency::new(code) };
            sums.push((CurrencySum { alerts: 0, money, unpriced: 0 }, 0));
        }
        places[key] = u32::try_from(sums.len() - 1).unwrap_or(u32::MAX);
        Ok(())
    })?;
    each("amount_micros", "alert_by_amount", &mut |key, row| {
        let amount: Option<i64> = row.get(1)?;
        if let Some((sum, micros)) = sums.get_mut(places[key] as usize) {
            sum.alerts += 1;
            sum.unpriced += u64::from(amount.is_none());
            *micros += i128::from(amount.unwrap_or_default());
        }
        Ok(())
    })?;
    sums.iter_mut().for_each(|(sum, micros)| sum.money.amount = Amount::from_micros(*micros));
    // They stand in the order of their codes.
    sums.sort_by_key(|(sum, _)| Reverse(sum.alerts));
    Ok(sums.into_iter().map(|(sum, _)| sum).collect())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::domain::{Alert, AlertId, AlertPatch, AlertStatus, AlertType, Currency, Deadline, Provider};
    use crate::sqlite::SqliteStore;
    use crate::sqlite::tests::open;
    use crate::{AlertStore as _, OrganizationStore as _};

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    /// In two currencies, of two networks; some without a time.
    fn alert(number: i64) -> Alert {
        Alert {
            provider_id: format!("P-{number}"),
            merchant_descriptor: if number % 3 == 0 { "ACME TRAVEL" } else { "ACME SHOP" }.to_owned(),
            alert_time: (number % 7 != 0).then(|| at(number * 5)),
            amount: Some(format!("{number}.25").parse().unwrap()),
            currency: Currency::new(if number % 4 == 0 { "EUR" } else { "USD" }),
            status: AlertStatus::Open,
            deadline: Deadline::At(at(1_000)),
            ..Alert::new(
                AlertId::generate(),
                if number % 2 == 0 { Provider::Ethoca } else { Provider::Cdrn },
                AlertType::EthocaConfirmedFraud,
            )
        }
    }

    /// The sums of filters, from rows alone and from indexes as early as can be; and what they are by the domain's own
    /// words.
    async fn told(store: &SqliteStore, organization: OrganizationId, alerts: &[Alert]) -> Vec<[Vec<CurrencySum>; 4]> {
        let filters = [
            AlertFilter::default(),
            AlertFilter { providers: vec![Provider::Cdrn], ..AlertFilter::default() },
            AlertFilter { q: Some("travel".to_owned()), ..AlertFilter::default() },
            AlertFilter { q: Some("travel".to_owned()), statuses: vec![AlertStatus::Open], ..AlertFilter::default() },
            AlertFilter { start_date: Some(at(30).date_naive()), ..AlertFilter::default() },
            AlertFilter { statuses: vec![AlertStatus::Resolved], ..AlertFilter::default() },
        ];
        let mut told = Vec::new();
        for filter in filters {
            let expected = CurrencySum::of(alerts.iter().filter(|alert| filter.matches(alert, at(0))));
            let sums = store.read_list(organization, move |reader| {
                let mut by = |few| sums_by(few, reader, organization, &filter, at(0));
                Ok([by(0)?, by(10)?, by(u64::MAX)?])
            });
            let [columns, either, rows] = sums.await.unwrap();
            told.push([columns, either, rows, expected]);
        }
        told
    }

    #[tokio::test]
    async fn sums_are_the_same_by_rows_and_by_columns_whatever_changes() {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let rows = |alerts: &[Alert]| alerts.iter().cloned().map(AlertPatch::of).collect::<Vec<_>>();
        let mut alerts: Vec<Alert> = (1..=40).map(alert).collect();
        store.ingest(organization, rows(&alerts[..30]), at(0)).await.unwrap();
        let mut steps = vec![told(&store, organization, &alerts[..30]).await];

        store.ingest(organization, rows(&alerts[30..]), at(0)).await.unwrap();
        steps.push(told(&store, organization, &alerts).await);
        alerts[0].amount = Some("1000000.5".parse().unwrap());
        alerts[6].currency = Currency::new("JPY");
        store.ingest(organization, rows(&[alerts[0].clone(), alerts[6].clone()]), at(0)).await.unwrap();
        steps.push(told(&store, organization, &alerts).await);

        for (step, told) in steps.into_iter().enumerate() {
            for (filter, [columns, either, rows, expected]) in told.into_iter().enumerate() {
                assert_eq!(
                    (&columns, &either, &rows),
                    (&expected, &expected, &expected),
                    "step {step}, filter {filter}"
                );
            }
        }
    }
}

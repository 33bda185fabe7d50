//! Sums by currency of the alerts within a filter: of few their rows are read, of many the amounts come from columns.

use rusqlite::{Connection, params_from_iter, types::Value};

use super::{
    intersection::{by_words_index, counted, from_own_index, matched},
    list::{everything, planned},
    readers::Reader,
    sql::{Sql, Statements as _},
};
use crate::{
    StoreResult,
    alert_rows::{SUMS, currency_sum},
    cells::StoredRow,
    domain::{AlertFilter, CurrencySum, OrganizationId, time::Timestamp},
};

/// Most alerts whose rows are read: that takes less than a tenth of a second.
const FEW: u64 = 20_000;

fn selected() -> Sql {
    Sql::new(&format!("SELECT {SUMS} "))
}

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
    let through_index = || from_own_index(selected(), &wanted, Some(by_words_index(&wanted)));
    if counted(reader, &wanted) <= few {
        return read(&reader.conn, through_index());
    }
    let marks = match matched(reader, &wanted)? {
        Some(marks) => marks,
        None => everything(reader, &wanted)?,
    };
    if marks.len() > few {
        return match reader.sums(organization, marks.keys())? {
            Some(sums) => Ok(sums),
            None => read(&reader.conn, through_index()),
        };
    }
    let mut of_marked = selected();
    of_marked.push("FROM json_each(");
    of_marked.value(marks.to_json());
    // Marks on texts alone may be on what another organization has.
    of_marked.push(") marked CROSS JOIN alert a ON a.key = marked.value WHERE a.organization = ");
    of_marked.value(organization);
    read(&reader.conn, of_marked)
}

fn read(conn: &Connection, mut sql: Sql) -> StoreResult<Vec<CurrencySum>> {
    sql.push(" GROUP BY a.currency ORDER BY count(*) DESC, a.currency");
    conn.all(&sql.text, params_from_iter::<&Vec<Value>>(&sql.values), |row| {
        Ok(currency_sum(&StoredRow::Sqlite(row), 0)?)
    })
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

    /// The sums of filters, from rows alone and from columns as early as can be; and what they are by the domain's own
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

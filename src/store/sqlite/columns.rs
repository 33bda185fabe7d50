//! A column cache: organization, words and company of every alert by the alert's key, as a number of two bytes. A
//! filter of these alone goes through it, and reads no row and no index.
//!
//! Of each organization it holds for one commit. A commit that changes an alert touches the counts of the alert's day
//! (`alert_count.changed`). So later only the days that were touched since are read again.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params_from_iter};

use super::{
    counts::{Cell, CellFilter, newest_key, on_day, touched_days},
    marks::Marks,
};
use crate::{StoreResult, cells::StoredRow};

/// Of more alerts no columns are kept. Reading them at first would take longer than anybody waits, and the memory would
/// be too much.
const MOST_ALERTS: u64 = 4_000_000;

/// The commit of an organization whose alerts the columns cannot hold.
const HOPELESS: i64 = i64::MAX;

/// Most touched days; where there are more, all of them are read again.
const MOST_DAYS: usize = 30;

/// Fields that lists filter alerts by, without dates and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    organization: i64,
    cell: Cell,
    company: Option<i64>,
}

/// The kinds of alerts.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// By organization, the newest commit that the column has seen; [`HOPELESS`] where it cannot hold its alerts.
    newest: HashMap<i64, i64>,
    kinds: Vec<Kind>,
    numbers: HashMap<Kind, u16>,
    /// By key, the place of the alert's kind, counted from 1; 0 for alerts that were not read.
    column: Vec<u16>,
}

impl Columns {
    /// Brings the kinds of an organization, which has so many alerts, to a commit; false where they are not of it then:
    /// there are too many alerts or kinds of them, or another reader is at a later commit.
    pub(super) fn bring_to(
        &mut self,
        conn: &Connection,
        (organization, alerts, newest): (i64, u64, i64),
    ) -> StoreResult<bool> {
        let known = self.newest.get(&organization).copied();
        if alerts > MOST_ALERTS || known.is_some_and(|known| known > newest) {
            return Ok(false);
        }
        if known != Some(newest) {
            let touched = known.map(|known| touched_days(conn, organization, known)).transpose()?;
            let days = touched.filter(|days| days.len() <= MOST_DAYS);
            // Where reading fails the organization counts as not read.
            self.newest.remove(&organization);
            let are_held = self.read(conn, organization, days)?;
            self.newest.insert(organization, if are_held { newest } else { HOPELESS });
            return Ok(are_held);
        }
        Ok(true)
    }

    /// Reads all alerts of an organization, or those of some days, until one cannot be held; tells whether all can.
    fn read(&mut self, conn: &Connection, organization: i64, days: Option<Vec<i64>>) -> StoreResult<bool> {
        let places = usize::try_from(newest_key(conn)?).unwrap_or_default() + 1;
        // Beside it there may be no room for as much again.
        self.column.reserve_exact(places.saturating_sub(self.column.len()));
        let spans = match days {
            None => vec![("", vec![organization])],
            Some(days) => days.iter().map(|day| on_day(organization, *day)).collect(),
        };
        for (condition, values) in spans {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT a.key, a.provider, a.type, a.status, a.outcome, a.expired_at IS NOT NULL, a.company
                FROM alert a INDEXED BY alert_by_time WHERE a.organization = ?1{condition}"
            ))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                // Keys count up from 1.
                let key = usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
                let Some(number) = self.number(kind(organization, row)?) else { return Ok(false) };
                if key >= self.column.len() {
                    self.column.resize(key + 1, 0);
                }
                self.column[key] = number;
            }
        }
        Ok(true)
    }

    /// Marks the keys of alerts with the wanted words and one of these companies, where these are given.
    pub(super) fn matching(&self, organization: i64, cells: &CellFilter, companies: Option<&Vec<i64>>) -> Marks {
        let is_wanted = |kind: &Kind| {
            let company = companies.is_none_or(|wanted| kind.company.is_some_and(|company| wanted.contains(&company)));
            kind.organization == organization && company && cells.matches(&kind.cell)
        };
        let wanted: Vec<bool> = std::iter::once(false).chain(self.kinds.iter().map(is_wanted)).collect();
        let block = |numbers: &[u16]| {
            let bits = numbers.iter().enumerate().map(|(bit, number)| usize::from(wanted[usize::from(*number)]) << bit);
            bits.fold(0, |block, bit| block | bit)
        };
        let bits = usize::BITS as usize;
        Marks::of_blocks(self.column.len().next_multiple_of(bits), self.column.chunks(bits).map(block))
    }

    fn number(&mut self, kind: Kind) -> Option<u16> {
        if let Some(number) = self.numbers.get(&kind) {
            return Some(*number);
        }
        let number = u16::try_from(self.kinds.len() + 1).ok()?;
        self.kinds.push(kind);
        self.numbers.insert(kind, number);
        Some(number)
    }
}

fn kind(organization: i64, row: &Row<'_>) -> StoreResult<Kind> {
    let row = StoredRow::Sqlite(row);
    Ok(Kind { organization, cell: Cell::read(&row, 1)?, company: row.get(6)? })
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use uuid::Uuid;

    use super::*;
    use crate::domain::time::Timestamp;
    use crate::domain::{Alert, AlertId, AlertPatch, AlertType, CompanyId, Deadline, OrganizationId, Provider};
    use crate::sqlite::SqliteStore;
    use crate::sqlite::tests::open;
    use crate::{AlertStore as _, OrganizationStore as _};

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    /// Of two networks, two types and two companies or none; one an hour, some without a time.
    fn alert(number: i64) -> Alert {
        let provider = if number % 2 == 0 { Provider::Ethoca } else { Provider::Verifi };
        Alert {
            provider_id: format!("P-{number}"),
            alert_time: (number % 7 != 0).then(|| at(number)),
            company_id: (number % 5 != 0)
                .then(|| CompanyId(Uuid::from_u128(u128::from(number.unsigned_abs() % 2 + 1)))),
            deadline: Deadline::At(at(100 + number)),
            ..Alert::new(AlertId::generate(), provider, AlertType::EthocaConfirmedFraud)
        }
    }

    /// The keys by every combination of words and companies: as the columns tell them, and as the table does.
    async fn told(store: &SqliteStore, organization: OrganizationId) -> Vec<(Vec<usize>, Vec<usize>)> {
        let read = store.read_list(organization, move |reader| {
            let organization = reader.organization(organization)?.unwrap();
            reader.refresh_counts(organization)?;
            let mut statement = reader
                .conn
                .prepare("SELECT key, provider, type, status, outcome, expired_at IS NOT NULL, company FROM alert")?;
            let (mut rows, mut all) = (statement.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                all.push((usize::try_from(row.get::<_, i64>(0)?).unwrap(), kind(organization, row)?));
            }
            drop(rows);
            drop(statement);
            let mut told = Vec::new();
            for (_, Kind { cell, company, .. }) in &all {
                let of_all = CellFilter {
                    providers: Some(vec![cell.provider]),
                    types: Some(vec![cell.alert_type]),
                    statuses: Some(vec![cell.status]),
                    outcomes: Some(vec![cell.outcome]),
                    expired: Some(cell.expired),
                };
                let of_status = CellFilter { statuses: Some(vec![cell.status]), ..CellFilter::default() };
                let companies = company.map(|company| vec![company]);
                for (cells, companies) in
                    [(of_all.clone(), None), (of_all, companies.clone()), (of_status, companies), Default::default()]
                {
                    let expected = all.iter().filter(|(_, kind)| {
                        let fits = |wanted: &Vec<i64>| kind.company.is_some_and(|company| wanted.contains(&company));
                        cells.matches(&kind.cell) && companies.as_ref().is_none_or(fits)
                    });
                    let mut expected: Vec<usize> = expected.map(|(key, _)| *key).collect();
                    expected.sort_unstable();
                    let found = reader.having(organization, &cells, companies.as_ref())?.unwrap();
                    let found = (0..60).filter(|key| found.has(i64::try_from(*key).unwrap()));
                    told.push((found.collect(), expected));
                }
            }
            Ok(told)
        });
        read.await.unwrap()
    }

    #[tokio::test]
    async fn columns_follow_whatever_is_taken_in_changed_or_lapses() {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let alerts: Vec<Alert> = (1..=40).map(alert).collect();
        let rows = |alerts: &[Alert]| alerts.iter().cloned().map(AlertPatch::of).collect::<Vec<_>>();
        store.ingest(organization, rows(&alerts[..30]), at(0)).await.unwrap();
        let mut steps = vec![told(&store, organization).await];

        store.ingest(organization, rows(&alerts[30..]), at(0)).await.unwrap();
        steps.push(told(&store, organization).await);
        store.expire_due(at(120), 100).await.unwrap();
        steps.push(told(&store, organization).await);
        let company = |number| Some(CompanyId(Uuid::from_u128(number)));
        let changed = [
            Alert { company_id: company(9), ..alerts[0].clone() },
            Alert { company_id: company(9), ..alerts[6].clone() },
            Alert { alert_type: AlertType::VerifiDispute, ..alerts[1].clone() },
            Alert { alert_time: Some(at(500)), ..alerts[33].clone() },
        ];
        store.ingest(organization, rows(&changed), at(0)).await.unwrap();
        steps.push(told(&store, organization).await);

        for (step, told) in steps.into_iter().enumerate() {
            assert!(told.len() > 100 && told.iter().any(|(_, expected)| expected.len() > 5));
            for (found, expected) in told {
                assert_eq!(found, expected, "after step {step}");
            }
        }
    }

    #[tokio::test]
    async fn what_trades_places_with_another_one_in_one_commit_is_read_again_as_well() {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let typed = |number, alert_type| Alert { alert_time: Some(at(1)), alert_type, ..alert(number) };
        let (one, other) = (AlertType::VerifiDispute, AlertType::VerifiCancel);
        let rows = |types: [AlertType; 2]| {
            [1, 3].into_iter().zip(types).map(|(number, of)| AlertPatch::of(typed(number, of))).collect()
        };
        store.ingest(organization, rows([one.clone(), other.clone()]), at(0)).await.unwrap();
        told(&store, organization).await;

        store.ingest(organization, rows([other, one]), at(0)).await.unwrap();

        for (found, expected) in told(&store, organization).await {
            assert_eq!(found, expected);
        }
    }
}

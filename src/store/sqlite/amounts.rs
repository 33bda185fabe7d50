//! A column cache: currency and amount of every alert by the alert's key, so that a sum of many reads no row.
//!
//! Like the columns of words it is of one commit. It follows later commits by the days with counts touched since: a
//! commit that changes an alert touches the counts of its day.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::{Arc, Mutex},
};

use rusqlite::{Connection, Row, params_from_iter};

use super::{
    counts::{on_day, places, touched_days},
    worker::locked,
};
use crate::{
    StoreResult,
    domain::{Amount, Currency, CurrencySum, Money},
};

/// Most alerts of which amounts are kept: of more the memory would be too much.
const MOST_ALERTS: u64 = 4_000_000;

/// Most touched days; where there are more, all of them are read again.
const MOST_DAYS: usize = 30;

/// A hundredth, in millionths.
const HUNDREDTH: i64 = 10_000;

/// Stands for the hundredths of an amount that is not known.
const UNPRICED: u32 = u32::MAX;

/// Stands for the hundredths of an amount that is stored apart.
const APART: u32 = u32::MAX - 1;

/// A column of amounts by key. Hundredths where these are exact and few, which is nearly always and half the memory;
/// otherwise apart.
#[derive(Debug, Default)]
struct AmountColumn {
    hundredths: Vec<u32>,
    micros: HashMap<usize, i64>,
}

impl AmountColumn {
    fn put(&mut self, key: usize, micros: Option<i64>) {
        if key >= self.hundredths.len() {
            self.hundredths.resize(key + 1, UNPRICED);
        }
        self.micros.remove(&key);
        let exact = |micros: i64| {
            (micros % HUNDREDTH == 0).then_some(micros / HUNDREDTH).and_then(|hundredths| hundredths.try_into().ok())
        };
        self.hundredths[key] = match micros.map(|micros| (micros, exact(micros))) {
            None => UNPRICED,
            Some((_, Some(hundredths))) if hundredths < APART => hundredths,
            Some((micros, _)) => {
                self.micros.insert(key, micros);
                APART
            }
        };
    }

    /// Millionths, where an amount is known.
    fn get(&self, key: usize) -> Option<i64> {
        match self.hundredths.get(key).copied().unwrap_or(UNPRICED) {
            UNPRICED => None,
            APART => self.micros.get(&key).copied(),
            hundredths => Some(i64::from(hundredths) * HUNDREDTH),
        }
    }
}

/// The amounts of one organization as of one commit.
#[derive(Debug, Default)]
struct Amounts {
    newest: i64,
    currencies: Vec<String>,
    numbers: HashMap<String, u16>,
    /// By key, the place of the alert's currency, counted from 1; 0 for alerts of other organizations.
    currency: Vec<u16>,
    amounts: AmountColumn,
}

impl Amounts {
    /// Reads all of them, from two indexes that know them. `None` where there are too many currencies.
    fn read(conn: &Connection, organization: i64, newest: i64) -> StoreResult<Option<Self>> {
        let mut amounts = Self { newest, ..Self::default() };
        let places = places(conn)?;
        amounts.currency.reserve_exact(places);
        amounts.amounts.hundredths.reserve_exact(places);
        let mut fits = true;
        each(
            conn,
            "SELECT a.key, a.currency FROM alert a INDEXED BY alert_by_currency WHERE a.organization = ?1",
            &[organization],
            |key, row| {
                match amounts.number(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?) {
                    Some(number) => amounts.put(key, number),
                    None => fits = false,
                }
                Ok(())
            },
        )?;
        each(
            conn,
            "SELECT a.key, a.amount_micros FROM alert a INDEXED BY alert_by_amount WHERE a.organization = ?1",
            &[organization],
            |key, row| {
                amounts.amounts.put(key, row.get(1)?);
                Ok(())
            },
        )?;
        Ok(fits.then_some(amounts))
    }

    /// Reads the rows that were touched since, or none of them where reading fails. Returns whether the columns are of
    /// the commit then.
    fn follow(&mut self, conn: &Connection, organization: i64, newest: i64) -> StoreResult<bool> {
        let days = touched_days(conn, organization, self.newest)?;
        if days.len() > MOST_DAYS {
            return Ok(false);
        }
        let (mut fits, mut read) = (true, Vec::new());
        for day in days {
            let (condition, values) = on_day(organization, day);
            let select = "SELECT a.key, a.currency, a.amount_micros FROM alert a INDEXED BY alert_by_time WHERE \
                a.organization = ?1";
            each(conn, &format!("{select}{condition}"), &values, |key, row| {
                // A currency that is known and that nothing has does no harm.
                match self.number(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?) {
                    Some(number) => read.push((key, number, row.get(2)?)),
                    None => fits = false,
                }
                Ok(())
            })?;
        }
        self.newest = newest;
        for (key, number, micros) in read {
            self.put(key, number);
            self.amounts.put(key, micros);
        }
        Ok(fits)
    }

    /// The number of a currency, which it gets where it has none; `None` where there are too many.
    fn number(&mut self, currency: &str) -> Option<u16> {
        if let Some(number) = self.numbers.get(currency) {
            return Some(*number);
        }
        let number = u16::try_from(self.currencies.len() + 1).ok()?;
        self.currencies.push(currency.to_owned());
        self.numbers.insert(currency.to_owned(), number);
        Some(number)
    }

    fn put(&mut self, key: usize, number: u16) {
        if key >= self.currency.len() {
            self.currency.resize(key + 1, 0);
        }
        self.currency[key] = number;
    }

    fn sums(&self, keys: impl Iterator<Item = usize>) -> Vec<CurrencySum> {
        // By the number of the currency: alerts, millionths, and those without an amount.
        let mut sums = vec![(0_u64, 0_i128, 0_u64); self.currencies.len() + 1];
        for key in keys {
            let number = self.currency.get(key).copied().unwrap_or(0);
            let micros = self.amounts.get(key);
            let (alerts, sum, unpriced) = &mut sums[usize::from(number)];
            *alerts += 1;
            *sum += i128::from(micros.unwrap_or(0));
            *unpriced += u64::from(micros.is_none());
        }
        let of_currencies =
            self.currencies.iter().zip(sums.into_iter().skip(1)).filter(|(_, (alerts, ..))| *alerts > 0);
        let mut sums: Vec<CurrencySum> = of_currencies
            .map(|(currency, (alerts, micros, unpriced))| CurrencySum {
                alerts,
                money: Money { amount: Amount::from_micros(micros), currency: Currency::new(currency.clone()) },
                unpriced,
            })
            .collect();
        sums.sort_by(|left, right| {
            (Reverse(left.alerts), left.money.currency.as_str())
                .cmp(&(Reverse(right.alerts), right.money.currency.as_str()))
        });
        sums
    }
}

/// Reads rows whose first column is an alert's key.
fn each(
    conn: &Connection,
    sql: &str,
    values: &[i64],
    mut take: impl FnMut(usize, &Row<'_>) -> StoreResult<()>,
) -> StoreResult<()> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        // Keys count up from 1.
        if let Ok(key) = usize::try_from(row.get::<_, i64>(0)?) {
            take(key, row)?;
        }
    }
    Ok(())
}

/// The amounts for all readers of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct AmountCache(Arc<Mutex<HashMap<i64, Amounts>>>);

impl AmountCache {
    /// The sums of these keys' alerts, as far as they are the organization's, which has so many. `newest` is the newest
    /// commit of the snapshot. `None` where no amounts of it are at hand: there are too many alerts or currencies, or
    /// they are of a later snapshot.
    pub(super) fn sums(
        &self,
        conn: &Connection,
        (organization, alerts, newest): (i64, u64, i64),
        keys: impl Iterator<Item = usize>,
    ) -> StoreResult<Option<Vec<CurrencySum>>> {
        if alerts > MOST_ALERTS {
            return Ok(None);
        }
        let mut all = locked(&self.0);
        let is_there = match all.get_mut(&organization) {
            Some(amounts) if amounts.newest > newest => return Ok(None),
            Some(amounts) => amounts.newest == newest || amounts.follow(conn, organization, newest)?,
            None => false,
        };
        if !is_there {
            all.remove(&organization);
            let Some(amounts) = Amounts::read(conn, organization, newest)? else { return Ok(None) };
            all.insert(organization, amounts);
        }
        Ok(all.get(&organization).map(|amounts| amounts.sums(keys)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_amount_is_told_as_it_was_put_last(
            put in prop::collection::vec((0_usize..20, prop::option::of(prop_oneof![
                0..10_000_i64,
                (0..100_000_i64).prop_map(|hundredths| hundredths * HUNDREDTH),
                (i64::from(APART) - 2..i64::from(UNPRICED) + 2).prop_map(|hundredths| hundredths * HUNDREDTH),
                Just(i64::MAX),
            ])), 0..60),
        ) {
            let mut column = AmountColumn::default();

            put.iter().for_each(|(key, micros)| column.put(*key, *micros));

            for key in 0..25 {
                let last = put.iter().rev().find(|(other, _)| *other == key).and_then(|(_, micros)| *micros);
                prop_assert_eq!(column.get(key), last);
            }
        }
    }
}

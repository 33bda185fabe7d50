//! A column cache: currency and amount of every alert by the alert's key, so that a sum of many reads no row.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::{Arc, Mutex},
};

use rusqlite::Connection;

use super::{
    columns::{FollowedColumns, KeyColumns, ReadScope, put},
    worker::locked,
};
use crate::{
    StoreResult,
    domain::{Amount, Currency, CurrencySum, Money},
};

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
        self.micros.remove(&key);
        let exact = |micros: i64| {
            (micros % HUNDREDTH == 0).then_some(micros / HUNDREDTH).and_then(|hundredths| hundredths.try_into().ok())
        };
        let hundredths = match micros.map(|micros| (micros, exact(micros))) {
            None => UNPRICED,
            Some((_, Some(hundredths))) if hundredths < APART => hundredths,
            Some((micros, _)) => {
                self.micros.insert(key, micros);
                APART
            }
        };
        put(&mut self.hundredths, key, hundredths, UNPRICED);
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

/// The amounts of alerts.
#[derive(Debug, Default)]
struct Amounts {
    /// Currencies by organization.
    currencies: Vec<(i64, Currency)>,
    numbers: HashMap<i64, HashMap<String, u16>>,
    /// By key, the place of the alert's currency, counted from 1; 0 for alerts that were not read.
    currency: Vec<u16>,
    amounts: AmountColumn,
}

impl KeyColumns for Amounts {
    fn read(&mut self, alerts: &ReadScope<'_>) -> StoreResult<bool> {
        alerts.reserve(&mut self.currency)?;
        alerts.reserve(&mut self.amounts.hundredths)?;
        let are_held = alerts.each("a.currency", "alert_by_currency", |key, row| {
            let code = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let Some(number) = self.number(alerts.organization, code) else { return Ok(false) };
            put(&mut self.currency, key, number, 0);
            Ok(true)
        })?;
        let amounts = &mut self.amounts;
        let priced = alerts.each("a.amount_micros", "alert_by_amount", |key, row| {
            amounts.put(key, row.get(1)?);
            Ok(true)
        });
        Ok(are_held && priced?)
    }
}

impl Amounts {
    /// The number of a currency, which it gets where it has none; `None` where there are too many.
    fn number(&mut self, organization: i64, code: &str) -> Option<u16> {
        let numbers = self.numbers.entry(organization).or_default();
        if let Some(number) = numbers.get(code) {
            return Some(*number);
        }
        let number = u16::try_from(self.currencies.len() + 1).ok()?;
        self.currencies.push((organization, Currency::new(code)));
        numbers.insert(code.to_owned(), number);
        Some(number)
    }

    /// The sums of these keys' alerts, as far as they are the organization's.
    fn sums(&self, organization: i64, keys: impl Iterator<Item = usize>) -> Vec<CurrencySum> {
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
        let own = self.currencies.iter().zip(sums.into_iter().skip(1));
        let own = own.filter(|((of, _), (alerts, ..))| *of == organization && *alerts > 0);
        let mut sums: Vec<CurrencySum> = own
            .map(|((_, currency), (alerts, micros, unpriced))| CurrencySum {
                alerts,
                money: Money { amount: Amount::from_micros(micros), currency: currency.clone() },
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

/// The amounts for all readers of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct AmountCache(Arc<Mutex<FollowedColumns<Amounts>>>);

impl AmountCache {
    /// The sums of these keys' alerts, as far as they are the organization's, in the snapshot that the connection reads
    /// from: of the organization, its number of alerts, and the newest commit. `None` where no amounts of that commit
    /// are at hand.
    pub(super) fn sums(
        &self,
        conn: &Connection,
        of: (i64, u64, i64),
        keys: impl Iterator<Item = usize>,
    ) -> StoreResult<Option<Vec<CurrencySum>>> {
        let mut known = locked(&self.0);
        Ok(known.bring_to(conn, of)?.then(|| known.columns.sums(of.0, keys)))
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

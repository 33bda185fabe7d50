//! Local conditions in the columns of `alert`, as tests of rows.

use std::ops::RangeInclusive;

use rusqlite::Connection;

use super::sql::Sql;
use super::statements::{Statements as _, cell, micros};
use crate::domain::{AlertStatus, CalendarDay, LocalConditions};
use crate::store::searched::{BLANKS, spellings};
use crate::store::{StoreError, StoreResult};

/// Conditions with names as alerts have them; none where anything will do.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    /// In millionths.
    pub(super) amounts: Option<RangeInclusive<i64>>,
    pub(super) currencies: Option<Vec<String>>,
    /// Every issuer's name that is wanted, as a JSON array: there may be any number.
    pub(super) issuers: Option<String>,
    pub(super) mccs: Option<Vec<String>>,
    /// Answered with a refund from the first moment on, before the second one.
    pub(super) refunded: Option<(i64, i64)>,
    /// Whether some condition is one that no alert fulfils.
    impossible: bool,
}

/// Every name of an issuer, each once, by jumping from one to the next along the index.
const ISSUERS: &str = "WITH RECURSIVE name (value) AS (
    SELECT min(issuer) FROM alert INDEXED BY alert_by_issuer WHERE organization = ?1
    UNION ALL
    SELECT (SELECT min(a.issuer) FROM alert a INDEXED BY alert_by_issuer WHERE a.organization = ?1 AND a.issuer > \
    name.value)
    FROM name WHERE name.value IS NOT NULL
) SELECT value FROM name WHERE value IS NOT NULL";

impl Conditions {
    /// Reads conditions. Names of issuers are compared here, as the domain does it; whether notices are wanted is a
    /// filter of types, and what lapses in an hour is one of deadlines.
    pub(super) fn read(conn: &Connection, organization: i64, asked: &LocalConditions) -> StoreResult<Self> {
        let LocalConditions { amounts: _, currencies, issuers, mccs, notices: _, refunded, lapses: _ } = asked;
        let amounts = asked.micros();
        let mut impossible = amounts.as_ref().is_some_and(RangeInclusive::is_empty);
        let some = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty());
        let issuers = if issuers.is_empty() {
            None
        } else {
            let mut names: Vec<String> = conn.all(ISSUERS, [organization], cell)?;
            names.retain(|name| asked.wants_issuer(name));
            impossible |= names.is_empty();
            Some(serde_json::to_string(&names).map_err(|error| StoreError::Corrupt(error.to_string()))?)
        };
        let currencies = some(spellings(currencies));
        let refunded = refunded.map(CalendarDay::range).map(|(from, until)| (micros(from), micros(until)));
        Ok(Self { amounts, currencies, issuers, mccs: some(mccs.clone()), refunded, impossible })
    }

    /// Whether nothing is asked.
    pub(super) fn is_any(&self) -> bool {
        let Self { amounts, currencies, issuers, mccs, refunded, impossible: _ } = self;
        amounts.is_none() && currencies.is_none() && issuers.is_none() && mccs.is_none() && refunded.is_none()
    }

    /// Whether no alert can fulfil them.
    pub(super) fn is_impossible(&self) -> bool {
        self.impossible
    }

    /// Adds them as tests of rows that come from elsewhere.
    pub(super) fn push_tests(&self, sql: &mut Sql) {
        self.push_amounts(sql);
        self.push_currencies(sql);
        self.push_issuers(sql);
        self.push_mccs(sql);
        if self.refunded.is_some() {
            sql.push(" AND EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key");
            self.push_refunded(sql);
            sql.push(")");
        }
    }

    pub(super) fn push_amounts(&self, sql: &mut Sql) {
        if let Some(amounts) = &self.amounts {
            sql.push(" AND a.amount_micros BETWEEN ");
            sql.value(*amounts.start());
            sql.push(" AND ");
            sql.value(*amounts.end());
        }
    }

    pub(super) fn push_currencies(&self, sql: &mut Sql) {
        if let Some(currencies) = &self.currencies {
            sql.one_text_of(" AND a.currency", currencies);
        }
    }

    pub(super) fn push_issuers(&self, sql: &mut Sql) {
        if let Some(issuers) = &self.issuers {
            sql.push(" AND a.issuer IN (SELECT value FROM json_each(");
            sql.value(issuers.clone());
            sql.push("))");
        }
    }

    /// Tests of an outcome and its alert, as the domain's `is_refund` has it.
    pub(super) fn push_refunded(&self, sql: &mut Sql) {
        if let Some((from, until)) = self.refunded {
            sql.push(" AND o.action_time >= ");
            sql.value(from);
            sql.push(" AND o.action_time < ");
            sql.value(until);
            sql.push(" AND lower(o.refunded) = 'refunded' AND a.status IS NOT (SELECT key FROM word WHERE value = ");
            sql.value(AlertStatus::Invalid.as_str().to_owned());
            sql.push(")");
        }
    }

    pub(super) fn push_mccs(&self, sql: &mut Sql) {
        if let Some(mccs) = &self.mccs {
            sql.push(" AND trim(a.mcc, ");
            sql.value(BLANKS.clone());
            sql.one_text_of(")", mccs);
        }
    }
}

//! Local conditions in the columns of `alert`, as tests of rows.

use std::ops::RangeInclusive;

use rusqlite::Connection;

use super::sql::Sql;
use super::statements::{Statements as _, cell};
use crate::domain::LocalConditions;
use crate::store::StoreResult;
pub(super) use crate::store::filter::Conditions;
use crate::store::filter::ISSUERS;
use crate::store::searched::BLANKS;

/// Reads conditions.
pub(super) fn read(conn: &Connection, organization: i64, asked: &LocalConditions) -> StoreResult<Conditions> {
    let names = (!asked.issuers.is_empty()).then(|| conn.all(ISSUERS, [organization], cell)).transpose()?;
    Ok(Conditions::of(asked, names))
}

impl Conditions {
    /// Returns whether no alert can fulfil them.
    pub(super) fn is_impossible(&self) -> bool {
        self.amounts.as_ref().is_some_and(RangeInclusive::is_empty) || self.issuers.as_ref().is_some_and(Vec::is_empty)
    }

    /// Adds them as tests of rows that come from elsewhere.
    pub(super) fn push_tests(&self, sql: &mut Sql) {
        self.push_amounts(sql);
        self.push_currencies(sql);
        self.push_issuers(sql);
        self.push_mccs(sql);
        if self.answered.is_some() {
            sql.push(" AND EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key");
            self.push_answered(sql);
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
            // As a JSON array: there may be any number.
            sql.value(serde_json::Value::from(issuers.as_slice()).to_string());
            sql.push("))");
        }
    }

    /// Adds the test of an outcome's time.
    pub(super) fn push_answered(&self, sql: &mut Sql) {
        if let Some((from, until)) = self.answered {
            sql.push(" AND o.action_time >= ");
            sql.value(from);
            sql.push(" AND o.action_time < ");
            sql.value(until);
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

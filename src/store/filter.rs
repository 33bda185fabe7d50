//! A filter of alerts in the values that rows hold, except for words and ids, which each database stores in its own
//! way.

use std::ops::RangeInclusive;

use chrono::{NaiveDate, NaiveTime};

use crate::{
    alert_rows::micros,
    domain::{AlertFilter, CalendarDay, LocalConditions, filter::wanted_text, time::Timestamp},
    searched::{DESCRIPTOR_MARK, searchable, spellings},
};

/// A half-open range: from the first on, before the second.
pub(super) type Range = (Option<i64>, Option<i64>);

/// The ranges and texts of a filter.
pub(super) struct FilterRanges {
    pub(super) alert_time: Range,
    pub(super) transaction_time: Range,
    /// Open deadlines up to this moment, or any.
    pub(super) expires: Option<Option<i64>>,
    /// Of those, from this moment on.
    pub(super) expires_from: Option<i64>,
    /// Texts that the searched text has to contain: `q`, and the beginning of the descriptor.
    pub(super) texts: Vec<String>,
}

impl FilterRanges {
    /// Reads a filter. What is passed over here is of words, ids and conditions.
    pub(super) fn of(filter: &AlertFilter, now: Timestamp) -> Self {
        let AlertFilter {
            start_date,
            end_date,
            transaction_start_date,
            transaction_end_date,
            providers: _,
            types: _,
            statuses: _,
            descriptor,
            outcomes: _,
            expired: _,
            expires_in: _,
            companies: _,
            q,
            conditions: _,
        } = filter;
        let deadlines = filter.open_deadlines(now);
        let q = wanted_text(q.as_ref()).map(searchable);
        let descriptor = wanted_text(descriptor.as_ref()).map(searchable);
        let descriptor = descriptor.map(|prefix| format!("{DESCRIPTOR_MARK}{prefix}"));
        Self {
            alert_time: days(*start_date, *end_date),
            transaction_time: days(*transaction_start_date, *transaction_end_date),
            expires: deadlines.map(|range| range.until.map(micros)),
            expires_from: deadlines.and_then(|range| range.from).map(micros),
            texts: q.into_iter().chain(descriptor).collect(),
        }
    }
}

/// Whole UTC days, both ends included.
fn days(start: Option<NaiveDate>, end: Option<NaiveDate>) -> Range {
    let midnight = |day: NaiveDate| micros(day.and_time(NaiveTime::MIN).and_utc());
    // A bound that is given is never dropped, not even after the last day there is: alerts without a time do not match
    // it.
    (start.map(midnight), end.map(|day| day.succ_opt().map_or(i64::MAX, midnight)))
}

/// Returns whether an index of trigrams knows a text.
pub(super) fn is_indexed(text: &str) -> bool {
    text.chars().nth(2).is_some()
}

/// Local conditions, with names as alerts have them; none where anything will do.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    /// In millionths.
    pub(super) amounts: Option<RangeInclusive<i64>>,
    pub(super) currencies: Option<Vec<String>>,
    /// Every issuer's name that is wanted.
    pub(super) issuers: Option<Vec<String>>,
    pub(super) mccs: Option<Vec<String>>,
    /// Answered from the first moment on, before the second one.
    pub(super) answered: Option<(i64, i64)>,
}

/// Every name of an issuer, each once, by jumping from one to the next along the index.
pub(super) const ISSUERS: &str = "WITH RECURSIVE name (value) AS (
    SELECT min(issuer) FROM alert/*-*/ INDEXED BY alert_by_issuer/*+*/ WHERE organization = ?1
    UNION ALL
    SELECT (SELECT min(a.issuer) FROM alert a/*-*/ INDEXED BY alert_by_issuer/*+*/
        WHERE a.organization = ?1 AND a.issuer > name.value)
    FROM name WHERE name.value IS NOT NULL
) SELECT value FROM name WHERE value IS NOT NULL";

impl Conditions {
    /// Reads conditions, with the names of all issuers where any is asked for: these are compared here, as the domain
    /// does it. The condition on notices is a filter of types, and the one on the next hours is a filter of deadlines.
    pub(super) fn of(asked: &LocalConditions, names: Option<Vec<String>>) -> Self {
        let LocalConditions { amounts: _, currencies, issuers: _, mccs, notices: _, answered, due: _ } = asked;
        let some = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty());
        Self {
            amounts: asked.micros(),
            currencies: some(spellings(currencies)),
            issuers: names.map(|names| names.into_iter().filter(|name| asked.wants_issuer(name)).collect()),
            mccs: some(mccs.clone()),
            answered: answered.map(CalendarDay::range).map(|(from, until)| (micros(from), micros(until))),
        }
    }

    /// Returns whether nothing is asked for.
    pub(super) fn is_any(&self) -> bool {
        let Self { amounts, currencies, issuers, mccs, answered } = self;
        amounts.is_none() && currencies.is_none() && issuers.is_none() && mccs.is_none() && answered.is_none()
    }
}

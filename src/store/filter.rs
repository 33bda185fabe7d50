//! A filter of alerts in the values that rows hold, and the text that searches look into. Words and ids each database
//! stores in its own way.

use std::{ops::RangeInclusive, sync::LazyLock};

use chrono::{NaiveDate, NaiveTime};

use crate::{
    alert_rows::micros,
    composed::{Range, Sql},
    domain::{
        Alert, AlertFilter, CalendarDay, Currency, LocalConditions, MatchGrade, Outcome,
        filter::{last_within, search_fields, wanted_text},
        find::{FindField, find_fields, outcome_fields},
        fold::{fold, search_key},
        time::Timestamp,
    },
};

/// The ranges and texts of a filter.
pub(super) struct FilterRanges {
    pub(super) alert_time: Range,
    pub(super) transaction_time: Range,
    /// Open deadlines up to this moment, or any.
    pub(super) expires: Option<Option<i64>>,
    /// Texts that the searched text has to contain: `q`, and the beginning of the descriptor.
    pub(super) texts: Vec<String>,
}

impl FilterRanges {
    /// Reads a filter. What is passed over here is of words, ids and conditions.
    pub(super) fn of(filter: &AlertFilter, now: Timestamp) -> Self {
        let q = wanted_text(filter.q.as_ref()).map(searchable);
        let descriptor = wanted_text(filter.descriptor.as_ref()).map(searchable);
        let descriptor = descriptor.map(|prefix| format!("{DESCRIPTOR_MARK}{prefix}"));
        Self {
            alert_time: days(filter.start_date, filter.end_date),
            transaction_time: days(filter.transaction_start_date, filter.transaction_end_date),
            expires: filter.expires_in.map(|hours| last_within(hours, now).map(micros)),
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

/// Adds the tests of expiry, of the time of the transaction, and of open deadlines up to a moment or any.
pub(super) fn push_times(sql: &mut Sql, expired: Option<bool>, transaction: Range, expires: Option<Option<i64>>) {
    match expired {
        Some(true) => sql.push(" AND a.expired_at IS NOT NULL"),
        Some(false) => sql.push(" AND a.expired_at IS NULL"),
        None => {}
    }
    sql.range("a.transaction_time", transaction);
    match expires {
        Some(Some(limit)) => sql.with(" AND a.expired_at IS NULL AND a.open_deadline <= ", limit),
        Some(None) => sql.push(" AND a.expired_at IS NULL AND a.open_deadline IS NOT NULL"),
        None => {}
    }
}

/// A local condition, with names as alerts have them.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// In millionths.
    Amounts(RangeInclusive<i64>),
    Currencies(Vec<String>),
    /// Every issuer's name that is wanted.
    Issuers(Vec<String>),
    Mccs(Vec<String>),
    /// Answered within these moments.
    Answered(Range),
}

/// A SELECT of every value of a text column of an organization's alerts, each once, by jumping from one to the next
/// along the column's index.
pub(super) fn distinct(column: &str) -> String {
    let alerts = format!("FROM alert a/*-*/ INDEXED BY alert_by_{column}/*+*/ WHERE a.organization = ?1");
    format!(
        "WITH RECURSIVE name (value) AS (
            SELECT min(a.{column}) {alerts}
            UNION ALL
            SELECT (SELECT min(a.{column}) {alerts} AND a.{column} > name.value) FROM name
            WHERE name.value IS NOT NULL
        ) SELECT value FROM name WHERE value IS NOT NULL"
    )
}

impl Condition {
    /// Reads conditions, with the names of all issuers where any is asked for: these are compared here, as the domain
    /// does it. The condition on notices is a filter of types.
    pub(super) fn all_of(asked: &LocalConditions, names: Option<Vec<String>>) -> Vec<Self> {
        let LocalConditions { amounts: _, currencies, issuers: _, mccs, notices: _, answered } = asked;
        let some = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty());
        let issuers = names.map(|names| names.into_iter().filter(|name| asked.wants_issuer(name)).collect());
        let answered = answered.map(CalendarDay::range).map(|(from, until)| (Some(micros(from)), Some(micros(until))));
        [
            asked.micros().map(Self::Amounts),
            some(spellings(currencies)).map(Self::Currencies),
            issuers.map(Self::Issuers),
            some(mccs.clone()).map(Self::Mccs),
            answered.map(Self::Answered),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns whether no alert can fulfil it.
    pub(super) fn is_impossible(&self) -> bool {
        match self {
            Self::Amounts(amounts) => amounts.is_empty(),
            Self::Issuers(issuers) => issuers.is_empty(),
            _ => false,
        }
    }

    /// Tables with the index of SQLite to find alerts `a` by, where there is one; of answers with their outcome `o`.
    pub(super) fn tables(&self) -> Option<&'static str> {
        Some(match self {
            Self::Amounts(_) => "alert a INDEXED BY alert_by_amount",
            Self::Currencies(_) => "alert a INDEXED BY alert_by_currency",
            Self::Issuers(_) => "alert a INDEXED BY alert_by_issuer",
            Self::Mccs(_) => return None,
            Self::Answered(_) => "outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert",
        })
    }

    /// Adds it as a test of rows of [`Self::tables`].
    pub(super) fn push(&self, sql: &mut Sql) {
        match self {
            Self::Amounts(amounts) => {
                sql.with(" AND a.amount_micros BETWEEN ", *amounts.start());
                sql.with(" AND ", *amounts.end());
            }
            Self::Currencies(currencies) => sql.one_of(" AND a.currency", currencies.iter().cloned()),
            Self::Issuers(issuers) => {
                // As a JSON array: there may be any number.
                let issuers = serde_json::Value::from(issuers.as_slice()).to_string();
                sql.push(" AND a.issuer /*-*/IN (SELECT value FROM json_each(");
                sql.with("/*+= ANY (ARRAY(SELECT json_array_elements_text(*/", issuers);
                sql.push("/*-*/))/*+::text::json)))*/");
            }
            Self::Mccs(mccs) => {
                sql.with(" AND trim(a.mcc, ", BLANKS.clone());
                sql.one_of(")", mccs.iter().cloned());
            }
            Self::Answered(range) => sql.range("o.action_time", *range),
        }
    }

    /// Adds it as a test of alerts `a` that come from elsewhere.
    pub(super) fn push_test(&self, sql: &mut Sql) {
        let is_of_outcome = matches!(self, Self::Answered(_));
        sql.push(if is_of_outcome { " AND EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key" } else { "" });
        self.push(sql);
        sql.push(if is_of_outcome { ")" } else { "" });
    }
}

/// Stands between the fields of [`search_text`]. No field has it: see [`searchable`].
const SEPARATOR: char = '\u{1f}';

/// Stands before and behind each field of [`find_text`]: twice, so that one or two characters at an end make a trigram
/// too.
pub(super) const EDGE: &str = "\u{1f}\u{1f}";

/// Stands before the descriptor in [`search_text`], so that its beginning can be searched for.
pub(super) const DESCRIPTOR_MARK: char = '\u{1d}';

/// The share of a search over all fields: alerts that wait for an answer come before the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchShare {
    Waiting,
    Rest,
}

impl SearchShare {
    pub(super) const ALL: [Self; 2] = [Self::Waiting, Self::Rest];
}

/// Every blank, for a database that takes them off the ends of a text.
pub(super) static BLANKS: LazyLock<String> =
    LazyLock::new(|| (0..=0x3000).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect());

/// Every spelling of these codes in letters of either case: an index knows each as it came.
pub(super) fn spellings(codes: &[Currency]) -> Vec<String> {
    let each = |code: &Currency| {
        let begun = vec![String::new()];
        code.as_str().chars().fold(begun, |begun, letter| {
            let mut both = vec![letter.to_ascii_uppercase(), letter.to_ascii_lowercase()];
            both.dedup();
            begun.iter().flat_map(|text| both.iter().map(move |letter| format!("{text}{letter}"))).collect()
        })
    };
    codes.iter().flat_map(each).collect()
}

/// Returns text as the list operation searches it: in lower case, with separators and characters replaced that an index
/// cannot hold.
pub(super) fn searchable(text: &str) -> String {
    kept(fold(text))
}

/// Returns text as the search over all fields knows it: its search key, with the same characters replaced.
pub(super) fn find_key(text: &str) -> String {
    kept(search_key(text))
}

/// Replaces separators, and characters that an index cannot hold.
fn kept(text: String) -> String {
    let replace = |c: char| match c {
        '\0' | SEPARATOR | DESCRIPTOR_MARK => '\u{1e}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    if text.chars().all(|c| replace(c) == c) { text } else { text.chars().map(replace).collect() }
}

/// Returns the text that searches look into: the four fields, separated, so that nothing matches across two of them.
pub(super) fn search_text(alert: &Alert) -> String {
    let [provider_id, descriptor, card_bin, card_last_four] = search_fields(alert).map(searchable);
    format!("{provider_id}{SEPARATOR}{DESCRIPTOR_MARK}{descriptor}{SEPARATOR}{card_bin}{SEPARATOR}{card_last_four}")
}

/// Returns the text that a search over all fields looks into.
pub(super) fn find_text(alert: &Alert) -> String {
    edged(find_fields(alert))
}

/// Returns the text that an outcome adds to its alert's, between edges of its own; `None` where it adds nothing. No
/// trigram stands in two fields. So the trigrams of an answered alert are those of the alert before and these.
pub(super) fn outcome_text(outcome: &Outcome) -> Option<String> {
    let mut fields = outcome_fields(outcome).peekable();
    fields.peek().is_some().then(|| edged(fields))
}

fn edged<'a>(fields: impl IntoIterator<Item = FindField<'a>>) -> String {
    let mut text = EDGE.to_owned();
    for field in fields {
        text.push_str(&find_key(&field.value));
        text.push_str(EDGE);
    }
    text
}

/// Returns the pattern that [`find_text`] has to contain so that a text matches at least as well as this.
pub(super) fn find_pattern(text: &str, grade: MatchGrade) -> String {
    match (grade, find_key(text)) {
        (MatchGrade::Whole, text) => format!("{EDGE}{text}{EDGE}"),
        (MatchGrade::Prefix, text) => format!("{EDGE}{text}"),
        (MatchGrade::Inside, text) => text,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::attempt::record_outcome;
    use crate::domain::resolution::Decision;
    use crate::domain::time::Timestamp;
    use crate::domain::{AlertId, AlertType, AttemptId, Provider, Resolution};

    fn trigrams(text: &str) -> BTreeSet<String> {
        text.chars().collect::<Vec<_>>().windows(3).map(|trigram| trigram.iter().collect()).collect()
    }

    #[test]
    fn an_answer_adds_the_text_of_its_outcome_and_takes_nothing_away() {
        let mut alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
        let before = find_text(&alert);
        let resolution =
            Resolution::Current { decision: Decision::Refunded, comments: "Café’s till ½ \u{301}".to_owned() };

        record_outcome(&mut alert, AttemptId::generate(), &resolution, Timestamp::UNIX_EPOCH);

        let added = alert.outcome.as_ref().and_then(outcome_text).unwrap();
        let both: BTreeSet<String> = trigrams(&before).union(&trigrams(&added)).cloned().collect();
        assert_eq!(trigrams(&find_text(&alert)), both);
        // So that an index that counts them can take out all at once what was put in twice.
        let count = |text: &str| text.chars().count() - 2;
        assert_eq!(count(&find_text(&alert)), count(&before) + count(&added));
    }

    #[test]
    fn no_blank_is_forgotten() {
        assert_eq!(
            BLANKS.chars().count(),
            (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()).count()
        );
    }
}

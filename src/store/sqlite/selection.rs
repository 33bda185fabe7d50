//! The FROM and WHERE of a filter, and the index that it goes by.

use rusqlite::Connection;

use super::{
    marks::ROW,
    query::Wanted,
    readers::Reader,
    sql::{Sql, Statements as _, cell},
};
use crate::StoreResult;

/// The index of the alert time, which knows every word of an alert.
pub(super) const BY_TIME: &str = "alert_by_time";

/// The index of alerts that wait for an answer.
pub(super) const BY_DEADLINE: &str = "alert_by_open_deadline";

/// The index that knows every word of what matches, and the company.
pub(super) fn by_words_index(wanted: &Wanted) -> &'static str {
    if is_by_deadline(wanted) { BY_DEADLINE } else { BY_TIME }
}

/// Returns whether the index of alerts that wait for an answer knows all that is asked for; it knows no companies.
pub(super) fn is_by_deadline(wanted: &Wanted) -> bool {
    wanted.waits && wanted.companies.is_none()
}

/// Number of alerts by the counts that may match.
pub(super) fn counted(reader: &Reader, wanted: &Wanted) -> u64 {
    let (from, until) = wanted.alert_days();
    reader.counts.total(wanted.organization, &wanted.cells, from, until)
}

/// Returns whether reading the row of each that may match is less than going through all there are.
pub(super) fn is_little(reader: &Reader, wanted: &Wanted) -> bool {
    u128::from(counted(reader, wanted)) * ROW < u128::from(reader.counts.all(wanted.organization))
}

/// The index to go by where rows are read for conditions: that of words where little is left by them, else none.
pub(super) fn rows_index(reader: &Reader, wanted: &Wanted) -> Option<&'static str> {
    (wanted.conditions.is_any() || is_little(reader, wanted)).then(|| by_words_index(wanted))
}

/// Returns whether there is one organization alone.
pub(super) fn has_one_organization(conn: &Connection) -> StoreResult<bool> {
    conn.one("SELECT count(*) = 1 FROM organization", [], cell)
}

/// The keys of everything that matches, to be marked.
pub(super) fn matching(wanted: &Wanted) -> Sql {
    if !wanted.is_texts_only() {
        return from_own_index(Sql::new("SELECT a.key "), wanted, Some(by_words_index(wanted)));
    }
    let key = if wanted.indexed_texts().is_some() { "t.rowid" } else { "s.alert" };
    // Alerts of other organizations are not met on an index of this one's.
    from_texts(Sql::new(&format!("SELECT {key} ")), wanted, true)
}

/// FROM and WHERE of texts and nothing else, without touching the wide rows.
pub(super) fn from_texts(mut sql: Sql, wanted: &Wanted, one_organization: bool) -> Sql {
    match wanted.indexed_texts() {
        Some(phrases) if one_organization && wanted.short_texts().next().is_none() => {
            sql.push("FROM alert_trigram t WHERE t.text MATCH ");
            sql.value(phrases);
            return sql;
        }
        Some(phrases) => {
            sql.push("FROM alert_trigram t CROSS JOIN alert_search s ON s.alert = t.rowid WHERE t.text MATCH ");
            sql.value(phrases);
        }
        None => sql.push("FROM alert_search s WHERE 1"),
    }
    push_short_tests(&mut sql, wanted);
    sql.push(" AND s.organization = ");
    sql.value(wanted.organization);
    sql
}

fn push_short_tests(sql: &mut Sql, wanted: &Wanted) {
    for text in wanted.short_texts() {
        sql.push(" AND instr(s.text, ");
        sql.value(text.clone());
        sql.push(") > 0");
    }
}

/// FROM and WHERE through the index of the condition that leaves least to look at; through `otherwise` where no
/// condition has one.
pub(super) fn from_own_index(mut sql: Sql, wanted: &Wanted, otherwise: Option<&str>) -> Sql {
    if wanted.expires.is_some() {
        return from_alerts(sql, wanted, Some(BY_DEADLINE));
    }
    if let Some(phrases) = wanted.indexed_texts() {
        sql.push("FROM alert_trigram t CROSS JOIN alert a ON a.key = t.rowid");
        if wanted.short_texts().next().is_some() {
            sql.push(" CROSS JOIN alert_search s ON s.alert = t.rowid");
        }
        wanted.push_conditions(&mut sql, wanted.alert_time);
        push_short_tests(&mut sql, wanted);
        sql.push(" AND t.text MATCH ");
        sql.value(phrases);
        return sql;
    }
    if wanted.transaction_time != (None, None) {
        return from_alerts(sql, wanted, Some("alert_by_transaction_time"));
    }
    if wanted.short_texts().next().is_some() && wanted.cells.is_any() {
        sql.push("FROM alert_search s CROSS JOIN alert a ON a.key = s.alert");
        wanted.push_conditions(&mut sql, wanted.alert_time);
        push_short_tests(&mut sql, wanted);
        return sql;
    }
    from_alerts(sql, wanted, otherwise)
}

/// FROM and WHERE through this index, or through none.
pub(super) fn from_alerts(mut sql: Sql, wanted: &Wanted, index: Option<&str>) -> Sql {
    sql.push("FROM alert a ");
    match index {
        Some(index) => sql.push(&format!("INDEXED BY {index}")),
        None => sql.push("NOT INDEXED"),
    }
    wanted.push_conditions(&mut sql, if index == Some(BY_TIME) { wanted.span } else { wanted.alert_time });
    if index == Some(BY_DEADLINE) {
        // The index holds nothing else, and is used only where this is said.
        sql.push(" AND a.open_deadline IS NOT NULL");
    }
    wanted.push_text_tests(&mut sql);
    sql
}

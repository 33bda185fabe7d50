//! The alerts within a filter, as statistics ask for them. The counts give those that they know; the rest comes through
//! the index of the filter.

use std::collections::HashMap;

use rusqlite::{Row, params_from_iter, types::Value};

use super::{
    counts::{Cell, NO_DAY, NO_OUTCOME, day_of, day_start},
    intersection::{BY_DEADLINE, BY_TIME, from_alerts, from_own_index, rows_index},
    query::Wanted,
    readers::Reader,
    sql::{Sql, Statements as _, micros},
};
use crate::{
    StoreResult,
    cells::StoredRow,
    domain::{AlertFilter, AlertStatus, AlertType, Calendar, Insights, OrganizationId, Provider, time::Timestamp},
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
    let everything = Wanted::new(reader, organization, &AlertFilter::default(), now)?;
    let mut scope = Scope { reader, wanted, everything };
    driven(Box::pin(insights::insights(&mut scope, calendar, now)))
}

struct Scope<'r> {
    reader: &'r mut Reader,
    wanted: Wanted,
    /// All that the organization has.
    everything: Wanted,
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
        let select = Sql::new(&format!("SELECT {select} "));
        let mut sql = match of {
            Reach::Raised(from, until) => {
                let span = (Some(micros(from)), Some(micros(until)));
                from_alerts(select, &Wanted { span, ..self.everything.clone() }, Some(BY_TIME))
            }
            _ if wanted.is_impossible() => return Ok(Vec::new()),
            Reach::Waiting => from_alerts(select, wanted, Some(BY_DEADLINE)),
            Reach::Answered => {
                let answers = "FROM outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert";
                from(select, answers, wanted)
            }
            Reach::Expired => from(select, "FROM alert a INDEXED BY alert_by_expired_at", wanted),
        };
        sql.push(tests);
        Ok(rows(self.reader, &sql, |row| Ok(read(&StoredRow::Sqlite(row))?))?)
    }
}

/// The rows of a statement that is made for what is wanted.
fn rows<T>(reader: &Reader, sql: &Sql, read: impl FnMut(&Row<'_>) -> StoreResult<T>) -> StoreResult<Vec<T>> {
    reader.conn.all(&sql.text, params_from_iter::<&Vec<Value>>(&sql.values), read)
}

fn from(mut sql: Sql, tables: &str, wanted: &Wanted) -> Sql {
    sql.push(tables);
    wanted.push_conditions(&mut sql, wanted.alert_time);
    wanted.push_text_tests(&mut sql);
    sql
}

fn kinds(reader: &mut Reader, wanted: &Wanted, days: ToldDays) -> StoreResult<Vec<CountedKind>> {
    let mut cells = Vec::new();
    let mut uncounted = Some(wanted.clone());
    if wanted.is_counted() {
        let (from, until) = wanted.alert_days();
        cells = reader.counts.cells(wanted.organization, &wanted.cells, from, until);
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
fn counted_now(reader: &Reader, wanted: &Wanted, days: ToldDays) -> StoreResult<HashMap<(i64, Cell), u64>> {
    let select = format!(
        "SELECT {}, a.provider, a.type, a.status, a.outcome IS NOT NULL, a.expired_at IS NOT NULL ",
        days.of_alert()
    );
    let sql = from_own_index(Sql::new(&select), wanted, rows_index(reader, wanted));
    // Counted here: a GROUP BY would put every row in order first.
    let mut cells = HashMap::new();
    rows(reader, &sql, |row| {
        let has_outcome: bool = row.get(4)?;
        let outcome = if has_outcome { NO_OUTCOME + 1 } else { NO_OUTCOME };
        let cell =
            Cell { provider: row.get(1)?, alert_type: row.get(2)?, status: row.get(3)?, outcome, expired: row.get(5)? };
        *cells.entry((row.get(0)?, cell)).or_default() += 1;
        Ok(())
    })?;
    Ok(cells)
}

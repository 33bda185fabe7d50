//! The alerts within a filter, as statistics ask for them: from the counts where those know it, the rest from the
//! alerts.

use super::{
    conditions::Wanted,
    connection::Unit,
    counts::{DAY_MICROS, NO_DAY},
};
use crate::{
    alert_rows::micros,
    cells::StoredRow,
    composed::Sql,
    domain::{AlertFilter, AlertStatus, AlertType, Calendar, Insights, OrganizationId, Provider, time::Timestamp},
    error::Work,
    subjects::insights::{self, CountedKind, InsightScope, Reach, ToldDays},
};

/// Statistics of the alerts within a filter, and what monitoring programmes may count of all.
pub(crate) async fn insights(
    unit: &Unit<'_>,
    organization: OrganizationId,
    filter: &AlertFilter,
    calendar: Calendar,
    now: Timestamp,
) -> Work<Insights> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(insights::none(calendar, now)) };
    let wanted = Wanted::new(&unit.conn, organization, filter, now).await?;
    insights::insights(&mut Scope { unit, wanted }, calendar, now).await
}

struct Scope<'u> {
    unit: &'u Unit<'u>,
    wanted: Wanted,
}

impl InsightScope for Scope<'_> {
    async fn kinds(&mut self, days: ToldDays) -> Work<Vec<CountedKind>> {
        if !self.wanted.is_counted() {
            return self.counted_now(&self.wanted, days).await;
        }
        let mut sql = Sql::new(
            "SELECT a.day, a.provider, a.type, a.status, a.outcome IS NOT NULL, a.expired, sum(a.alerts)::bigint",
        );
        self.wanted.push_counts(&mut sql);
        // The counts are of UTC days: on the days that are reported one by one the alerts are counted.
        let counted_before = micros(days.begin()).div_euclid(DAY_MICROS);
        if !days.calendar.is_utc() {
            sql.push(&format!(" AND (a.day < {counted_before} OR a.day = {NO_DAY})"));
        }
        sql.push(" GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(a.alerts) > 0");
        let mut kinds = self.cells(&sql).await?;
        if !days.calendar.is_utc() {
            let (from, until) = self.wanted.alert_time;
            let since = from.max(Some(counted_before * DAY_MICROS));
            kinds.extend(self.counted_now(&self.wanted.within((since, until)), days).await?);
        }
        Ok(kinds)
    }

    async fn rows<T: Send>(
        &mut self,
        of: Reach,
        select: &str,
        tests: &str,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Vec<T>> {
        let mut sql = Sql::default();
        if let Some(tables) = of.unfiltered(self.wanted.organization) {
            sql.push(&format!("SELECT {select} {tables}"));
        } else if of == Reach::Answered {
            sql.push("WITH scope AS (SELECT a.key, a.provider, a.status, a.alert_time");
            self.wanted.push_alerts(&mut sql);
            sql.push(&format!(") SELECT {select} FROM outcome o JOIN scope a ON a.key = o.alert WHERE true"));
        } else {
            sql.push(&format!("SELECT {select}"));
            self.wanted.push_alerts(&mut sql);
        }
        sql.push(tests);
        self.unit.conn.made(&sql, read).await
    }
}

impl Scope<'_> {
    /// Counts the alerts that the table of counts knows nothing of.
    async fn counted_now(&self, wanted: &Wanted, days: ToldDays) -> Work<Vec<CountedKind>> {
        let mut sql = Sql::new(&format!(
            "SELECT {}, a.provider, a.type, a.status, a.outcome IS NOT NULL, a.expired_at IS NOT NULL, count(*)",
            days.of_alert()
        ));
        wanted.push_alerts(&mut sql);
        sql.push(" GROUP BY 1, 2, 3, 4, 5, 6");
        self.cells(&sql).await
    }

    async fn cells(&self, sql: &Sql) -> Work<Vec<CountedKind>> {
        let read = |row: &StoredRow<'_>| {
            let kind = (Provider::parse(row.get(1)?), AlertType::parse(row.get(2)?), AlertStatus::parse(row.get(3)?));
            let (has_outcome, expired) = (row.get(4)?, row.get(5)?);
            Ok(CountedKind { day: row.get(0)?, kind, has_outcome, expired, alerts: row.get(6)? })
        };
        self.unit.conn.made(sql, read).await
    }
}
